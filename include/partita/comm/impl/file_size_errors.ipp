// Defines the functions that comm/file_size_errors.hpp declares.
#pragma once

#include <cerrno>
#include <csignal>
#include <ctime>
#include <partita/comm/file_size_errors.hpp>

namespace partita::detail {

PARTITA_DEF file_size_errors::file_size_errors() {
  sigset_t pending;
  ::sigemptyset(&signals_);
  ::sigaddset(&signals_, SIGXFSZ);
  has_blocked_ = ::sigpending(&pending) == 0 && ::sigismember(&pending, SIGXFSZ) == 0 &&
                 ::pthread_sigmask(SIG_BLOCK, &signals_, &before_) == 0 && ::sigismember(&before_, SIGXFSZ) == 0;
}

file_size_errors::~file_size_errors() {
  if (!has_blocked_) return;  // the program blocks the signal itself
  const int error = errno;
  const std::timespec at_once{};
  while (::sigtimedwait(&signals_, nullptr, &at_once) < 0 && errno == EINTR) {
  }
  ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  errno = error;
}

}  // namespace partita::detail
