// Makes a world_state that copies of a world share, and ends the job if a worker has no memory for it.
#pragma once

#include <memory>
#include <new>
#include <partita/comm/checks.hpp>
#include <partita/comm/detail/end_job.hpp>
#include <partita/comm/detail/world_state.hpp>
#include <partita/comm/mpi.hpp>
#include <partita/core/error.hpp>

namespace partita::detail {

/// Collective. If one of several workers has no memory for the world, it ends the job: the other workers wait for it,
/// and there is no world yet in which it could report an error.
template <class = void>
std::shared_ptr<world_state> shared_world(MPI_Comm given, checks level, bool takes_over = false) {
  try {
    return std::make_shared<world_state>(given, level, takes_over);
  } catch (const std::bad_alloc&) {
    int size = 0, id = 0;
    MPI_Comm_size(given, &size);
    MPI_Comm_rank(given, &id);
    if (size > 1)
      end_job(given, text("partita: worker ")
                         << id << " has no memory to make a world of " << size
                         << " workers, and the others wait for it, so the job is ended; give each worker more memory");
    throw;
  }
}

}  // namespace partita::detail
