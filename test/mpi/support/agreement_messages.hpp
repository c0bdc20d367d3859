// The number of workers that take part in messages, and the number of messages of an agreement, for tests that count
// the messages of a call.
#pragma once

#include <mpi.h>
#include <cstddef>
#include <partita/comm/world.hpp>

namespace test {

/// The number of workers that get messages: the first worker of each node, which passes data to the others of its node;
/// or all workers, if some do not share memory with their node. Collective.
inline std::size_t workers_told_by_message(const partita::world& everyone) {
  const partita::detail::own_node& members = partita::detail::own_node::of(everyone.state()->communicator());
  int own = members.size() == 1 || partita::detail::arena::arena_by_environment(members).shared() ? 1 : 0, all = 0;
  PMPI_Allreduce(&own, &all, 1, MPI_INT, MPI_MIN, everyone.state()->communicator());
  const std::size_t nodes = members.lowest_workers().empty() ? 1 : members.lowest_workers().size();
  return all == 0 ? everyone.size() : nodes;
}

/// The number of messages that this worker sends in an agreement, after the first few agreements. Collective.
inline std::size_t messages_of_an_agreement(const partita::world& everyone) {
  if (everyone.size() == 1) return 0;
  const partita::detail::own_node& members = partita::detail::own_node::of(everyone.state()->communicator());
  const std::size_t nodes = members.lowest_workers().empty() ? 1 : members.lowest_workers().size();
  if (workers_told_by_message(everyone) != nodes) return 1;  // one collective of all workers
  return members.place() == 0 ? partita::detail::dissemination::choose_radix(nodes, members.link().cost).messages() : 0;
}

}  // namespace test
