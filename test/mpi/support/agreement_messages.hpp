// How many messages a worker sends to agree on a call: for tests that count those of the call itself.
#pragma once

#include <mpi.h>
#include <cstddef>
#include <partita/comm/world.hpp>

namespace test {

/// Of this worker, once agreements are steady. All workers call it together.
inline std::size_t messages_of_an_agreement(const partita::world& everyone) {
  if (everyone.size() == 1) return 0;
  const partita::detail::node& members = partita::detail::node::of(everyone.state()->communicator());
  int own = members.size() == 1 || partita::detail::arena::of_environment(members).shared() ? 1 : 0, all = 0;
  PMPI_Allreduce(&own, &all, 1, MPI_INT, MPI_MIN, everyone.state()->communicator());
  if (all == 0) return 1;  // a collective of all
  std::size_t rounds = 0;
  for (std::size_t step = 1; step < members.firsts().size(); step *= 2) ++rounds;
  return members.place() == 0 ? rounds : 0;
}

}  // namespace test
