// Handles the signal that batch systems send before they kill a job, so that all workers react to it at the same point
// of the program.
#pragma once

#include <atomic>
#include <csignal>
#include <partita/comm/world.hpp>
#include <partita/core/config.hpp>

namespace partita {

/// While this object lives, the signal does not end this worker, and the object remembers that the signal has arrived.
/// A call: `if (stop.received_by_any_worker()) { save_and_leave(); }`.
/// Requires: one object at a time, destroyed before its world. mpirun sends SIGTERM to all workers and kills them a
///           second later, unless a larger timeout is given (--mca odls_base_sigkill_timeout 60).
/// Cost:     that of an agreement for each call of `received_by_any_worker`.
class stop_signal {
 public:
  PARTITA_DECL explicit stop_signal(world everyone, int number = SIGTERM);  ///< handles the signal `number`
  stop_signal(const stop_signal&) = delete;
  stop_signal& operator=(const stop_signal&) = delete;
  ~stop_signal() { ::sigaction(number_, &previous_action_, nullptr); }

  /// Whether any worker of the world has received the signal so far; the same result on all workers. Collective.
  PARTITA_DECL bool received_by_any_worker() const;
  /// The old name of received_by_any_worker().
  PARTITA_FORMER_NAME("use received_by_any_worker") bool on_any() const { return received_by_any_worker(); }

 private:
  PARTITA_DECL static std::atomic<bool>& signal_flag();  ///< Whether this process has received the signal.

  world everyone_;                       ///< the workers that call received_by_any_worker()
  int number_;                           ///< the number of the signal, for example SIGTERM
  struct sigaction previous_action_ {};  ///< how the process handled the signal before
};

}  // namespace partita

#ifndef PARTITA_CORE
#include <partita/comm/impl/stop_signal.ipp>
#endif
