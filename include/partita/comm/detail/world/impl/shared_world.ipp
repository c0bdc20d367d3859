// Defines the functions that comm/detail/world/shared_world.hpp declares.
#pragma once

#include <new>
#include <partita/comm/detail/world/shared_world.hpp>

namespace partita::detail {

PARTITA_DEF std::shared_ptr<world_state> shared_world(MPI_Comm given, checks level, bool owns_communicator) {
  try {
    return std::make_shared<world_state>(given, level, owns_communicator);
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
