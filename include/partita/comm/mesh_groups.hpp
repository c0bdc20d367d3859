// The groups of workers along axes of a mesh.
#pragma once

#include <cstddef>
#include <partita/core/config.hpp>
#include <partita/plan/mesh_block.hpp>
#include <partita/plan/worker_groups.hpp>

namespace partita {

/// The groups of workers of a mesh whose positions differ only in the axes that `axes` names, for example "data" or
/// "data+model". Worker 0 of the mesh has the id `first` in the world. Throws partition_error for ids that MPI cannot
/// count.
PARTITA_DECL worker_groups groups_along(const mesh& m, const char* axes, std::size_t first = 0);

}  // namespace partita

#ifndef PARTITA_CORE
#include <partita/comm/impl/mesh_groups.ipp>
#endif
