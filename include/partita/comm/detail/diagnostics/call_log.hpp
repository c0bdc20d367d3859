// Prints the last calls of a worker from its status slot. A worker prints its own calls when an uncaught exception ends
// it, unless another worker ended before. A worker also prints the last calls of another worker of its machine that has
// ended without printing them, or for which it waits a long time.
#pragma once

#include <cstdint>
#include <exception>
#include <partita/comm/detail/node/status_slot.hpp>
#include <partita/comm/detail/world/process.hpp>
#include <partita/core/config.hpp>
#include <partita/core/text.hpp>

namespace partita::detail {

/// Prints a line by a single write, so that lines of several workers do not mix, also in signal handlers.
PARTITA_DECL void print_line(text line);

/// The call log in a status slot. The log never allocates or locks, so a signal handler may print it.
class call_log {
 public:
  /// Prints the last calls of a worker, newest first: one line for each distinct call.
  PARTITA_DECL static void print_calls(const status_slot& of);
  PARTITA_DECL static text worker_name(const status_slot& of);  ///< For example "worker 3 (process 4711)".
  /// Prints the calls of a worker that has ended, unless another worker has already printed them.
  PARTITA_DECL static void print_calls_of_ended_worker(const status_slot& of);

  /// Installs, once, the handler of std::terminate and, if the program does not handle it, that of SIGTERM.
  PARTITA_DECL static void install_handlers();

 private:
  using standing = status_slot::standing;  ///< the state of a worker

  PARTITA_DECL static std::terminate_handler& previous_terminate_handler();  ///< The handler that the program had set.
  /// The call with this number, which counts all calls of the worker from 0 on; only the last calls are kept.
  static const status_slot::call& find_call(const status_slot& of, std::uint64_t number) {
    return of.last_calls[number % status_slot::kept_call_count];
  }
  /// Whether another worker ended before this worker, so that this worker's end is only a consequence, and is not
  /// reported in detail.
  PARTITA_DECL static bool has_other_worker_ended();
  /// Whether a worker's process has ended, by exit or in any other way.
  static bool has_ended(const status_slot& of) {
    return of.state == standing::has_ended || status_slots::has_ended(of.process);
  }
  /// Prints the uncaught exception, and stores it in `final_message` so that other workers can quote it.
  PARTITA_DECL static void report_exception(status_slot& own, bool continues_output);

  PARTITA_DECL [[noreturn]] static void handle_terminate();  ///< The handler of std::terminate.
  /// Handles SIGTERM, which mpirun sends to the other workers as soon as one worker has failed: the last moment at
  /// which they can report which worker has ended.
  PARTITA_DECL static void report_ended_workers_on_sigterm(int signal_number);
};

}  // namespace partita::detail

#ifndef PARTITA_CORE
#include <partita/comm/detail/diagnostics/impl/call_log.ipp>
#endif
