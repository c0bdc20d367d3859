// Ends a job in which workers wait for one that cannot continue.
#pragma once

#include <cstdlib>
#include <partita/comm/detail/diagnostics/call_log.hpp>
#include <partita/comm/mpi.hpp>
#include <partita/core/error.hpp>

namespace partita::detail {

/// Prints an error and ends the MPI job of all workers of a communicator.
[[noreturn]] inline void end_job(MPI_Comm workers, const text& message) noexcept {
  print_line(message);
  MPI_Abort(workers, 1);
  std::abort();
}

}  // namespace partita::detail
