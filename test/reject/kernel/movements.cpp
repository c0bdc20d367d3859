// Movements whose types show that they are illegal do not compile, and the sentence names the rule and the way out.
//
// expect BROADCAST_RANK: broadcast.p_x, p_y.: requires rank.p_x. <= rank.p_y.; use sum_reduce for the opposite direction
// expect BROADCAST_EXTENTS: broadcast.p_x, p_y.: requires every extent of p_x, extended on the left with ones, to be 1 or the extent of p_y; pass transpose_src or transpose_dest
// expect BROADCAST_LEFT: broadcast.p_x, p_y.: requires every extent of p_x, extended on the left with ones
// expect BROADCAST_TRANSPOSED: broadcast.p_x, p_y.: requires every extent of p_x
// expect BROADCAST_KNOWN_PART: broadcast.p_x, p_y.: requires every extent of p_x
// expect BROADCAST_POLICY: broadcast.p_x, p_y, policies....: requires policies among transpose_src, transpose_dest, discard_batch
// expect BROADCAST_ELEMENT: broadcast.p_x, p_y..x.: requires elements that MPI can move: arithmetic, std::complex, or a type declared with BOOST_IS_MPI_DATATYPE
// expect BROADCAST_ADJOINT_OF_BOOL: broadcast.p_x, p_y..adjoint.dy.: requires elements that can be summed; bool cannot
// expect REDUCE_RANK: sum_reduce.p_x, p_y.: requires rank.p_y. <= rank.p_x.
// expect REDUCE_EXTENTS: sum_reduce.p_x, p_y.: requires every extent of p_y
// expect REDUCE_POLICY: sum_reduce.p_x, p_y, policies....: requires policies among
// expect REDUCE_BOOL: sum_reduce.p_x, p_y..x.: requires elements that can be summed; bool cannot
// expect ALL_REDUCE_DIMENSION: all_sum_reduce.p, dimensions<...>.: requires dimensions below rank.p.
// expect ALL_REDUCE_TWICE: all_sum_reduce.p, dimensions<...>.: requires each dimension once
// expect GATHER_DIMENSION: all_gather.p, dimensions<...>.: requires dimensions below rank.p.
// expect GATHER_TWICE: all_gather.p, dimensions<...>.: requires each dimension once
// expect GATHER_TENSOR_RANK: all_gather.p, dimensions<...>..x.: requires a block of the rank of its partition; reshape
// expect GATHER_ELEMENT: all_gather.p, dimensions<...>..x.: requires elements that MPI can move
// expect GATHER_ADJOINT_OF_BOOL: all_gather.p, dimensions<...>..adjoint.dy.: requires elements that can be summed; bool cannot
// expect SCATTER_DIMENSION: reduce_scatter.p, dimensions<...>.: requires dimensions below rank.p.
// expect SCATTER_TWICE: reduce_scatter.p, dimensions<...>.: requires each dimension once
// expect SCATTER_TENSOR_RANK: reduce_scatter.p, dimensions<...>..x.: requires a block of the rank of its partition; reshape
// expect SCATTER_BOOL: reduce_scatter.p, dimensions<...>..x.: requires elements that can be summed; bool cannot
// expect REPARTITION_RANKS: repartition.p_x, p_y.: requires partitions of equal rank; reshape.. one of them
// expect REPARTITION_TENSOR_RANK: repartition.p_x, p_y..x.: requires a block of the rank of its partitions
// expect REPARTITION_ELEMENT: repartition.p_x, p_y..x.: requires elements that MPI can move
// expect REPARTITION_PLAN: repartition::plan.extents.: requires extents of the rank of the partitions
// expect DYNAMIC_WITHOUT_EXTENT: partition<E...>..: requires extents that are all known; pass extents<dynamic, ...>.n. as an argument
#include <partita/kernel/all_gather.hpp>
#include <partita/kernel/all_sum_reduce.hpp>
#include <partita/kernel/broadcast.hpp>
#include <partita/kernel/reduce_scatter.hpp>
#include <partita/kernel/repartition.hpp>
#include <partita/kernel/sum_reduce.hpp>

using namespace partita;

struct unknown_to_mpi {
  const char* where = nullptr;
};

int main() {
  const world everyone;
  const auto p_2x3 = everyone.partition<2, 3>();
  const auto p_1x3 = everyone.partition<1, 3>();
  const auto p_3x4 = everyone.partition<3, 4>();
  const auto p_2 = everyone.partition<2>();
  const auto p_1x1x2 = everyone.partition<1, 1, 2>();
  const auto p_nx2 = everyone.partition(extents<dynamic, 2>(1));
  const xt::xtensor<double, 2> x = xt::ones<double>({2, 2});
  const xt::xtensor<bool, 2> flags = xt::zeros<bool>({2, 2});
  const xt::xtensor<double, 3> cube = xt::ones<double>({2, 2, 2});
  const xt::xtensor<unknown_to_mpi, 2> strange({2, 2});

  broadcast legal(p_1x3, p_2x3);
  legal(flags);
#if defined(BROADCAST_RANK)
  broadcast wrong(p_1x1x2, p_2);
#elif defined(BROADCAST_EXTENTS)
  broadcast wrong(p_1x3, p_3x4);
#elif defined(BROADCAST_LEFT)
  broadcast wrong(p_2, p_2x3);
#elif defined(BROADCAST_TRANSPOSED)
  broadcast wrong(p_1x3, p_2x3, transpose_src);
#elif defined(BROADCAST_KNOWN_PART)
  broadcast wrong(p_nx2, p_2x3);
#elif defined(BROADCAST_POLICY)
  broadcast wrong(p_1x3, p_2x3, 7);
#elif defined(BROADCAST_ELEMENT)
  legal(strange);
#elif defined(BROADCAST_ADJOINT_OF_BOOL)
  legal.adjoint(flags);
#elif defined(REDUCE_RANK)
  sum_reduce wrong(p_2, p_1x1x2);
#elif defined(REDUCE_EXTENTS)
  sum_reduce wrong(p_3x4, p_1x3);
#elif defined(REDUCE_POLICY)
  sum_reduce wrong(p_2x3, p_1x3, dimensions<0>);
#elif defined(REDUCE_BOOL)
  sum_reduce(p_2x3, p_1x3)(flags);
#elif defined(ALL_REDUCE_DIMENSION)
  all_sum_reduce wrong(p_2x3, dimensions<2>);
#elif defined(ALL_REDUCE_TWICE)
  all_sum_reduce wrong(p_2x3, dimensions<1, 1>);
#elif defined(GATHER_DIMENSION)
  all_gather wrong(p_2x3, dimensions<0, 2>);
#elif defined(GATHER_TWICE)
  all_gather wrong(p_2x3, dimensions<1, 1>);
#elif defined(GATHER_TENSOR_RANK)
  all_gather(p_2x3, dimensions<1>)(cube);
#elif defined(GATHER_ELEMENT)
  all_gather(p_2x3, dimensions<1>)(strange);
#elif defined(GATHER_ADJOINT_OF_BOOL)
  all_gather(p_2x3, dimensions<1>).adjoint(flags);
#elif defined(SCATTER_DIMENSION)
  reduce_scatter wrong(p_2x3, all_dimensions_but<2>);
#elif defined(SCATTER_TWICE)
  reduce_scatter wrong(p_2x3, dimensions<0, 0>);
#elif defined(SCATTER_TENSOR_RANK)
  reduce_scatter(p_2x3, dimensions<1>)(cube);
#elif defined(SCATTER_BOOL)
  reduce_scatter(p_2x3, dimensions<1>)(flags);
#elif defined(REPARTITION_RANKS)
  repartition wrong(p_2, p_2x3);
#elif defined(REPARTITION_TENSOR_RANK)
  repartition(p_1x3, p_2x3)(cube);
#elif defined(REPARTITION_ELEMENT)
  repartition(p_1x3, p_2x3)(strange);
#elif defined(REPARTITION_PLAN)
  repartition(p_1x3, p_2x3).plan(extents<4, 4, 4>{});
#elif defined(DYNAMIC_WITHOUT_EXTENT)
  everyone.partition<dynamic, 2>();
#endif
}
