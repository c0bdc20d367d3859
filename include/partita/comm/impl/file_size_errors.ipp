// Defines the functions that comm/file_size_errors.hpp declares.
#pragma once

#include <cerrno>
#include <csignal>
#include <ctime>
#include <partita/comm/file_size_errors.hpp>

namespace partita::detail {

PARTITA_DEF file_size_errors::file_size_errors() {
  sigset_t pending;
  ::sigemptyset(&blocked_signals_);
  ::sigaddset(&blocked_signals_, SIGXFSZ);
  has_blocked_signal_ = ::sigpending(&pending) == 0 && ::sigismember(&pending, SIGXFSZ) == 0 &&
                        ::pthread_sigmask(SIG_BLOCK, &blocked_signals_, &previous_mask_) == 0 &&
                        ::sigismember(&previous_mask_, SIGXFSZ) == 0;
}

file_size_errors::~file_size_errors() {
  if (!has_blocked_signal_) return;  // the program itself blocks the signal, or the signal was pending
  const int error = errno;
  const std::timespec at_once{};
  while (::sigtimedwait(&blocked_signals_, nullptr, &at_once) < 0 && errno == EINTR) {
  }
  ::pthread_sigmask(SIG_SETMASK, &previous_mask_, nullptr);
  errno = error;
}

}  // namespace partita::detail
