// The state of this process: a worker, a worker that records a trace, a process after MPI_Finalize, or the forked child
// of a worker, which must not use its parent's communication.
#pragma once

#include <atomic>
#include <partita/comm/detail/world/mpi_call.hpp>
#include <partita/core/config.hpp>
#include <partita/core/error.hpp>

namespace partita::detail {

/// What this process may do. The state is shared by all worlds of the process.
class process {
 public:
  /// What this process is; unknown before the first call of the library.
  enum class standing { unknown_standing, worker, is_traced_worker, after_finalize, in_forked_child };

  /// Throws if this process cannot communicate. The state of MPI is cached, so that later calls cost one load. Requires
  /// that MPI is initialised [communication_error].
  PARTITA_DECL static void expect_worker(const char* call);
  /// Whether this process may still communicate with the other workers.
  PARTITA_DECL static bool is_worker();
  /// Whether this process is a worker whose calls are not traced. If the result is true, a call needs no further test
  /// of the process.
  static bool is_untraced_worker() { return current_state().load(std::memory_order_relaxed) == standing::worker; }
  /// Called when a trace begins: from now on the calls of this worker are recorded.
  PARTITA_DECL static void mark_as_traced();
  /// The function that is called when MPI_Finalize begins on this worker, or null; only the library sets it.
  PARTITA_DECL static std::atomic<void (*)()>& finalize_callback();
  /// Whether this process is the forked child of a worker.
  static bool is_forked() { return current_state().load(std::memory_order_relaxed) == standing::in_forked_child; }

 private:
  PARTITA_DECL static std::atomic<standing>& current_state();  ///< What this process is now.
  /// Finds the state at the first call of the library, and arranges that MPI_Finalize and fork() change it.
  PARTITA_DECL static void find_state(const char* call);
};

}  // namespace partita::detail

#ifndef PARTITA_CORE
#include <partita/comm/detail/world/impl/process.ipp>
#endif
