// Relabelled partitions: with the best order of workers fewer elements move, and the results are the same.
#include "mpi_test.hpp"
#include "refused.hpp"

#include <partita/kernel/relabelled.hpp>
#include <partita/kernel/repartition.hpp>

#include <numeric>
#include <vector>

namespace {

using namespace partita;

/// The number of elements that the plans of all workers send.
template <class R, std::size_t... E>
std::size_t sent_by_all(const world& everyone, const R& r, const extents<E...>& global) {
  const unsigned long long own = r.plan(global).elements_sent();
  unsigned long long all = 0;
  MPI_Allreduce(&own, &all, 1, MPI_UNSIGNED_LONG_LONG, MPI_SUM, everyone.communicator());
  return static_cast<std::size_t>(all);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(relabelled_partitions)

BOOST_AUTO_TEST_CASE(a_partition_in_reverse_is_brought_back_to_where_the_blocks_are) {
  const world everyone(test::workers());
  const std::size_t n = everyone.size();
  std::vector<std::size_t> reversed(n);
  std::iota(reversed.rbegin(), reversed.rend(), std::size_t{0});
  const extents<dynamic, 1> shape(n);
  const auto p_x = everyone.partition(shape), p_y = everyone.partition(shape, workers(reversed));
  const extents<dynamic, dynamic> global(5 * n + 1, std::size_t{3});
  const auto better = relabelled(p_x, p_y, global);
  BOOST_TEST((better == p_x));
  BOOST_TEST(cost_of(p_x, better, global).elements_moved == 0U);
  BOOST_TEST(repartition(p_x, better).plan(global).identity());
}

BOOST_AUTO_TEST_CASE(what_the_cost_says_is_what_the_plans_of_all_workers_send, *test::at_least(4)) {
  const world everyone(test::workers());
  const auto p_x = everyone.partition<2, 2>();
  const auto p_y = everyone.partition<4, 1>(workers{3, 1, 0, 2});
  const extents<9, 7> global;
  const auto better = relabelled(p_x, p_y, global);
  const std::size_t before = sent_by_all(everyone, repartition(p_x, p_y), global);
  const std::size_t after = sent_by_all(everyone, repartition(p_x, better), global);
  BOOST_TEST(before == cost_of(p_x, p_y, global).elements_moved);
  BOOST_TEST(after == cost_of(p_x, better, global).elements_moved);
  BOOST_TEST(after < before);
  // with a transposition, and with a block-cyclic result
  const extents<7, 9> flat;
  const auto turned = relabelled(p_x, p_y, flat, permute<1, 0>);
  BOOST_TEST(cost_of(p_x, turned, flat, permute<1, 0>).elements_moved ==
             sent_by_all(everyone, repartition(p_x, turned, permute<1, 0>), flat));
  const auto dealt = result_cuts(cut::block_cyclic(9, 4, 2), cut::balanced(7, 1));
  const auto cyclic = relabelled(p_x, p_y, global, dealt);
  BOOST_TEST(cost_of(p_x, cyclic, global, dealt).elements_moved ==
             sent_by_all(everyone, repartition(p_x, cyclic, dealt), global));
  BOOST_TEST(cost_of(p_x, cyclic, global, dealt).elements_moved <= cost_of(p_x, p_y, global, dealt).elements_moved);
}

BOOST_AUTO_TEST_CASE(cuts_of_another_tensor_are_refused) {
  const world everyone(test::workers());
  const auto one = everyone.partition<1>();
  const char* const words = "requires cuts that add up to the extents of the tensor; the result has extents [5]";
  test::expect_refused<shape_error>([&] { relabelled(one, one, extents<5>{}, result_cuts(cut::balanced(6, 1))); },
                                    words);
  test::expect_refused<shape_error>([&] { cost_of(one, one, extents<5>{}, result_cuts(cut::balanced(6, 1))); }, words);
}

BOOST_AUTO_TEST_SUITE_END()
