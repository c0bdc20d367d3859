// Makes a write above the file size limit of the process (ulimit -f) an error of the call, instead of a signal that
// ends the program.
#pragma once

#include <csignal>
#include <partita/core/config.hpp>

namespace partita::detail {

/// While this object lives, a call of this thread that would make a file too large fails with EFBIG. The system sends
/// SIGXFSZ to the thread that makes the call; this object blocks the signal in that thread and discards it at the end.
/// Ignoring the signal instead would also disable the program's handler in all other threads.
class file_size_errors {
 public:
  PARTITA_DECL file_size_errors();  ///< Blocks SIGXFSZ in this thread.
  file_size_errors(const file_size_errors&) = delete;
  file_size_errors& operator=(const file_size_errors&) = delete;
  PARTITA_INLINE ~file_size_errors();

 private:
  sigset_t blocked_signals_, previous_mask_;  ///< SIGXFSZ alone; the signal mask of the thread before
  bool has_blocked_signal_ = false;           ///< whether this object has blocked the signal
};

}  // namespace partita::detail

#ifndef PARTITA_CORE
#include <partita/comm/impl/file_size_errors.ipp>
#endif
