// Makes private communicators of all workers of a communicator, or of some of its workers without the others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <partita/comm/detail/world/finish_collective.hpp>
#include <partita/comm/detail/world/mpi_call.hpp>
#include <partita/comm/mpi.hpp>
#include <partita/core/config.hpp>
#include <partita/core/error.hpp>
#include <partita/core/hash.hpp>
#include <partita/plan/workers.hpp>

namespace partita::detail {

/// Duplicates a communicator. Collective.
PARTITA_DECL MPI_Comm private_duplicate(MPI_Comm given);

/// The call world::part with these workers, for error messages.
PARTITA_DECL text describe_part(const workers& chosen);

/// A hash of the chosen workers in their order.
PARTITA_DECL std::uint64_t part_fingerprint(const workers& chosen);

/// Makes a communicator of the chosen workers, in the given order. Only the chosen workers call part_communicator.
/// Cost: one message from each chosen worker and back, and the cost of MPI_Comm_create_group.
PARTITA_DECL MPI_Comm part_communicator(MPI_Comm everyone, std::size_t id, const workers& chosen);

}  // namespace partita::detail

#ifndef PARTITA_CORE
#include <partita/comm/detail/world/impl/part_communicator.ipp>
#endif
