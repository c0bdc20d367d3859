// Makes a write above the file size limit of the process (ulimit -f) an error of the call, not a signal that ends the
// program.
#pragma once

#include <cerrno>
#include <csignal>
#include <ctime>

namespace partita::detail {

/// While this object lives, a call of this thread that would make a file too large fails with EFBIG. The system sends
/// SIGXFSZ to the thread that makes the call; this object blocks the signal in that thread and discards it at the end.
/// Ignoring the signal instead would change the whole process, and so the program's handler in other threads.
class file_size_errors {
 public:
  file_size_errors() {
    sigset_t pending;
    ::sigemptyset(&only_);
    ::sigaddset(&only_, SIGXFSZ);
    ours_ = ::sigpending(&pending) == 0 && ::sigismember(&pending, SIGXFSZ) == 0 &&
            ::pthread_sigmask(SIG_BLOCK, &only_, &before_) == 0 && ::sigismember(&before_, SIGXFSZ) == 0;
  }
  file_size_errors(const file_size_errors&) = delete;
  file_size_errors& operator=(const file_size_errors&) = delete;
  ~file_size_errors() {
    if (!ours_) return;  // the program blocks the signal itself
    const int error = errno;
    const std::timespec at_once{};
    while (::sigtimedwait(&only_, nullptr, &at_once) < 0 && errno == EINTR) {
    }
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    errno = error;
  }

 private:
  sigset_t only_, before_;
  bool ours_ = false;
};

}  // namespace partita::detail
