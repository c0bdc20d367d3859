// Repartitions whose policies are invalid by their types are compile-time errors.
//
// expect PERMUTES_TOO_FEW: requires one entry for each dimension of the partitions; name those that stay, too
// lines PERMUTES_TOO_FEW: 12
// expect PERMUTES_TOO_MANY: requires one entry for each dimension of the partitions; name those that stay, too
// lines PERMUTES_TOO_MANY: 12
// expect PERMUTES_ONE_TWICE: requires each of 0, 1, ..., rank - 1 once; permute<1, 0> transposes a matrix
// lines PERMUTES_ONE_TWICE: 12
// expect PERMUTES_WHAT_IS_NOT_THERE: requires each of 0, 1, ..., rank - 1 once
// lines PERMUTES_WHAT_IS_NOT_THERE: 12
// expect TWO_PERMUTATIONS: requires at most one permute<...>, one source_cuts
// lines TWO_PERMUTATIONS: 12
// expect TWO_RESULTS: requires at most one permute<...>, one source_cuts.{5} and one result_cuts
// lines TWO_RESULTS: 12
// expect TWO_STRATEGIES: requires at most one permute<...>.* one strategy and one choice of messages
// lines TWO_STRATEGIES: 12
// expect TWO_FORMS: requires at most one permute<...>.* one strategy and one choice of messages
// lines TWO_FORMS: 12
// expect CUTS_OF_ANOTHER_RANK: requires one cut for each dimension of the partitions
// lines CUTS_OF_ANOTHER_RANK: 12
// expect SOURCE_OF_ANOTHER_RANK: requires one cut for each dimension of the partitions
// lines SOURCE_OF_ANOTHER_RANK: 12
// expect POLICY_OF_ANOTHER_KERNEL: requires policies among discard_batch, permute<...>, source_cuts.{5},
//   result_cuts.{5}, strategy and messages
// lines POLICY_OF_ANOTHER_KERNEL: 12
// expect SEQUENTIAL_TOO: permute<...> with each of 0, 1, ..., rank - 1 once
// lines SEQUENTIAL_TOO: 12
// expect PARTITIONS_OF_TWO_RANKS: requires partitions of equal rank; reshape.. one of them with extents of 1
// lines PARTITIONS_OF_TWO_RANKS: 12
// expect BLOCK_OF_ANOTHER_RANK: requires a block of the rank of its partitions
// lines BLOCK_OF_ANOTHER_RANK: 12
// expect ADJOINT_RANK: requires a block of the rank of its partitions
// lines ADJOINT_RANK: 12
// expect ELEMENTS: partita::repartition\(p_x, p_y\)\(x\): requires elements that MPI can move
// lines ELEMENTS: 12
// expect PLAN: partita::repartition::plan\(extents\): requires extents of the rank of the partitions
// lines PLAN: 12
// first BRACES: partita::repartition\(p_x, p_y, policies...\): requires two partitions
// lines BRACES: 12
#include <partita/kernel/repartition.hpp>
#include <partita/kernel/sequentially.hpp>

using namespace partita;

struct unknown_to_mpi {
  double* somewhere = nullptr;
};

void calls(const world& everyone, const xt::xtensor<float, 2>& x,
           [[maybe_unused]] const xt::xtensor<unknown_to_mpi, 2>& pointers, const decomposition<2>& cuts) {
  const auto p = everyone.partition<2, 1>();
  const repartition legal(p, p, permute<1, 0>, source_cuts(cuts), result_cuts(cut::at({3, 1}), cut::balanced(5, 1)),
                          discard_batch, strategy::message, message_form::chunked);
  legal(x);
#if defined(PERMUTES_TOO_FEW)
  repartition(p, p, permute<0>);
#elif defined(PERMUTES_TOO_MANY)
  repartition(p, p, permute<1, 0, 2>);
#elif defined(PERMUTES_ONE_TWICE)
  repartition(p, p, permute<1, 1>);
#elif defined(PERMUTES_WHAT_IS_NOT_THERE)
  repartition(p, p, permute<0, 2>);
#elif defined(TWO_STRATEGIES)
  repartition(p, p, strategy::message, strategy::mixed);
#elif defined(TWO_FORMS)
  repartition(p, p, message_form::packed, message_form::typed);
#elif defined(TWO_PERMUTATIONS)
  repartition(p, p, permute<1, 0>, permute<0, 1>);
#elif defined(TWO_RESULTS)
  repartition(p, p, result_cuts(cuts), result_cuts(cuts));
#elif defined(CUTS_OF_ANOTHER_RANK)
  repartition(p, p, result_cuts(cut::at({3, 1})));
#elif defined(SOURCE_OF_ANOTHER_RANK)
  repartition(p, p, source_cuts(decomposition<3>::balanced({4, 5, 6}, {2, 1, 1})));
#elif defined(POLICY_OF_ANOTHER_KERNEL)
  repartition(p, p, transpose_src);
#elif defined(SEQUENTIAL_TOO)
  sequentially::repartition(p, p, permute<1, 1>);
#elif defined(PARTITIONS_OF_TWO_RANKS)
  repartition(p, everyone.partition<2>());
#elif defined(BLOCK_OF_ANOTHER_RANK)
  legal(xt::xtensor<float, 3>());
#elif defined(ADJOINT_RANK)
  legal.adjoint(xt::xtensor<float, 3>());
#elif defined(ELEMENTS)
  repartition(p, p)(pointers);
#elif defined(PLAN)
  static_cast<void>(legal.plan(extents<48>{}));
#elif defined(BRACES)
  repartition refused({2, 1}, {1, 2});
#endif
}

int main() {}
