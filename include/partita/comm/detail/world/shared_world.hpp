// Makes a world_state that copies of a world share, and ends the job if a worker has no memory for it.
#pragma once

#include <memory>
#include <partita/comm/checks.hpp>
#include <partita/comm/detail/world/end_job.hpp>
#include <partita/comm/detail/world/world_state.hpp>
#include <partita/comm/mpi.hpp>
#include <partita/core/config.hpp>
#include <partita/core/error.hpp>

namespace partita::detail {

/// Makes the state that all copies of a world share. Collective. If one of several workers has no memory for the world,
/// that worker ends the job: the other workers wait for it, and no world exists yet in which it could report an error.
PARTITA_DECL std::shared_ptr<world_state> shared_world(MPI_Comm given, checks level, bool owns_communicator = false);

}  // namespace partita::detail

#ifndef PARTITA_CORE
#include <partita/comm/detail/world/impl/shared_world.ipp>
#endif
