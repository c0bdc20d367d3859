// Waits for a pending collective to complete.
#pragma once

#include <memory>
#include <partita/comm/detail/node/flag.hpp>
#include <partita/comm/detail/world/leak_on_purpose.hpp>
#include <partita/comm/detail/world/mpi_call.hpp>
#include <partita/comm/mpi.hpp>
#include <utility>

namespace partita::detail {

/// Waits for a pending operation of MPI, and reports a long wait.
inline void wait_for_request(MPI_Request& request, bool oversubscribed) {
  int done = 0;
  for (backoff p(oversubscribed);; p.pause()) {
    check(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
    if (done != 0) return;
  }
}

/// Waits for a collective, and reports a long wait. If the wait is given up, the memory that MPI uses is never freed.
template <class Held>
void finish_collective(MPI_Request& request, std::unique_ptr<Held>& buffers) {
  try {
    wait_for_request(request, false);
  } catch (...) {
    leak_on_purpose(std::move(buffers));
    throw;
  }
}

/// The result of a wait for a collective that some workers may never enter.
enum class wait_result { completed_in_time, timed_out, wait_failed };

/// Waits for a collective for a limited time. If the collective has not completed then, MPI may still use its buffers.
inline wait_result wait_with_time_limit(MPI_Request& request, double max_seconds) {
  const double start = MPI_Wtime();
  int done = 0;
  while (done == 0 && MPI_Wtime() - start < max_seconds)
    if (MPI_Test(&request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS) return wait_result::wait_failed;
  return done != 0 ? wait_result::completed_in_time : wait_result::timed_out;
}

}  // namespace partita::detail
