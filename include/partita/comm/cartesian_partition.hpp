// A partition of the workers of a Cartesian communicator: each worker has its coordinates in that communicator.
#pragma once

#include <array>
#include <cstddef>
#include <partita/comm/mpi.hpp>
#include <partita/comm/partition.hpp>
#include <utility>

namespace partita {

/// The workers of a Cartesian communicator (of Boost.MPI, or an MPI_Comm from MPI_Cart_create or MPI_Cart_sub) as a
/// partition in world(communicator): `p.index()` equals the result of MPI_Cart_coords.
/// Requires: a communicator with a Cartesian topology of `Rank` dimensions [partition_error, on all workers].
/// Cost:     that of making a world. The communicator's periods are ignored: pass a boundary to halo_exchange instead.
template <std::size_t Rank>
dynamic_partition<Rank> cartesian_partition(const boost::mpi::communicator& communicator,
                                            checks level = checks::agree) {
  const MPI_Comm given = communicator;
  int topology = MPI_UNDEFINED, dimensions = 0;
  if (given != MPI_COMM_NULL) MPI_Topo_test(given, &topology);
  if (topology == MPI_CART) MPI_Cartdim_get(given, &dimensions);
  if (topology != MPI_CART)
    throw partition_error(
        "partita::cartesian_partition: requires a communicator with a Cartesian topology; make one by MPI_Cart_create, "
        "or arrange the workers of any other by world(communicator).partition(extents(...))");
  if (dimensions != static_cast<int>(Rank))
    throw partition_error(text("partita::cartesian_partition<")
                          << Rank << ">: requires a communicator of as many dimensions, got one of "
                          << static_cast<std::size_t>(dimensions) << "; name that number");
  std::array<int, Rank> sizes{}, periods{}, own{};
  MPI_Cart_get(given, static_cast<int>(Rank), sizes.data(), periods.data(), own.data());
  std::array<std::size_t, Rank> all{};
  for (std::size_t d = 0; d < Rank; ++d) all[d] = static_cast<std::size_t>(sizes[d]);
  const dynamic_extents<Rank> shape(all);
  return world(communicator, level).partition(shape);  // MPI numbers the workers in C order, as a partition does
}

}  // namespace partita
