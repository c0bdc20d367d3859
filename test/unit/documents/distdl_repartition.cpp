// The examples of DistDL's page on its repartition layer. The page has partitions and pictures; we have chosen the
// extents of the tensors.
#include <partita/kernel/sequentially.hpp>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <vector>

namespace {

using namespace partita;
template <std::size_t Rank>
using shape = std::array<std::size_t, Rank>;
template <std::size_t Rank>
using blocks = std::vector<xt::xtensor<int, Rank>>;

/// The block of a tensor that counts its elements in C order, or nothing.
template <std::size_t Rank>
xt::xtensor<int, Rank> counting(const box<Rank>& where, const shape<Rank>& extents) {
  auto block = xt::xtensor<int, Rank>::from_shape(where.shape());
  for (std::size_t k = 0; k < where.volume(); ++k) {
    auto i = index_of(k, where.shape());
    for (std::size_t d = 0; d < Rank; ++d) i[d] += where.start[d];
    block.data()[k] = static_cast<int>(flat_index(i, extents));
  }
  return block;
}

/// That tensor in balance over a grid, for a world of so many workers.
template <class Extents, std::size_t Rank>
blocks<Rank> balanced(const grid<Extents>& p, const shape<Rank>& extents, std::size_t workers) {
  const auto cuts = decomposition<Rank>::balanced(extents, p.shape());
  blocks<Rank> all(workers, xt::xtensor<int, Rank>::from_shape(shape<Rank>{}));
  for (std::size_t k = 0; k < p.size(); ++k) all[p.workers()[k]] = counting(cuts.block(p.index(k)), extents);
  return all;
}

/// Whether a balanced tensor of these extents comes from p_x to p_y whole and balanced, and back by the adjoint.
template <class P, class Q, std::size_t Rank>
bool arrives_and_comes_back(const grid<P>& p_x, const grid<Q>& p_y, const std::size_t (&given)[Rank]) {
  const shape<Rank> extents = index_from<Rank>(given);
  const std::size_t workers = std::max(p_x.size(), p_y.size());
  const auto x = balanced(p_x, extents, workers), expected = balanced(p_y, extents, workers);
  sequentially::repartition r(p_x, p_y);
  const auto y = r(x);
  const auto dx = r.adjoint(y);
  bool right = true;
  for (std::size_t k = 0; k < workers; ++k) {
    if (p_y.contains(k)) right = right && y[k] == expected[k];
    if (p_x.contains(k)) right = right && dx[k] == x[k];
  }
  return right;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(the_document_on_repartition)

BOOST_AUTO_TEST_CASE(the_all_to_all_of_16_numbers_over_4_workers_is_a_repartition_of_a_4x4_matrix) {
  const grid rows(extents<4, 1>{});
  const grid columns(extents<1, 4>{});
  sequentially::repartition r(rows, columns);
  const auto y = r(balanced(rows, shape<2>{4, 4}, 4));
  BOOST_TEST((y[1] == xt::xtensor<int, 2>{{1}, {5}, {9}, {13}}));  // what was column 1 is now contiguous
  for (std::size_t worker = 0; worker < 4; ++worker) {
    const auto plan = r.plan({4, 4}, worker);
    BOOST_TEST((plan.messages_sent() == 3 && plan.elements_sent() == 3 && plan.elements_kept() == 1));
  }
}

BOOST_AUTO_TEST_CASE(the_middle_worker_of_3x3_scatters_to_the_four_middle_workers_of_4x4) {
  const sequentially::repartition r(grid(extents<3, 3>{}), grid(extents<4, 4>{}, workers(9, 25)));
  const auto plan = r.plan({12, 12}, 4);
  std::vector<std::size_t> peers;
  for (const auto& one : plan.sends) {
    peers.push_back(one.worker - 9);
    BOOST_TEST(one.where.volume() == 4U);
  }
  BOOST_TEST(peers == (std::vector<std::size_t>{5, 6, 9, 10}));
  // the amount of overlap is different from pair to pair: a multi-dimensional MPI_Scatterv
  std::vector<std::size_t> sizes;
  for (const auto& one : r.plan({14, 14}, 4).sends) sizes.push_back(one.where.volume());
  BOOST_TEST(std::count(sizes.begin(), sizes.end(), sizes[0]) < static_cast<std::ptrdiff_t>(sizes.size()));
}

BOOST_AUTO_TEST_CASE(the_adjoint_follows_the_same_overlaps_as_a_gather) {
  const grid p_x(extents<3, 3>{});
  const grid p_y(extents<4, 4>{}, workers(9, 25));
  const auto there = sequentially::repartition(p_x, p_y).plan({12, 12}, 4);
  const auto back = sequentially::repartition(p_y, p_x).plan({12, 12}, 4);
  BOOST_TEST((there.messages_sent() == 4 && back.messages_received() == 4));
  BOOST_TEST(there.elements_sent() == back.elements_received());
  for (std::size_t k = 0; k < there.sends.size(); ++k) BOOST_TEST((there.sends[k].where == back.receives[k].where));
}

BOOST_AUTO_TEST_CASE(a_3_partition_becomes_1x1x3_without_a_repartition_and_is_then_an_input) {
  const grid three(extents<3>{}, workers{2, 0, 1});
  const auto extended = three.reshape(extents<1, 1, 3>{});
  BOOST_TEST((extended.workers() == three.workers()));
  BOOST_TEST(arrives_and_comes_back(extended, grid(extents<1, 2, 1>{}), {2, 4, 7}));
}

BOOST_AUTO_TEST_CASE(a_repartition_of_an_unbalanced_tensor_to_the_same_partition_rebalances_it) {
  const grid p(extents<3>{});
  const shape<1> extents{8};
  const blocks<1> x{counting<1>({{0}, {1}}, extents), counting<1>({{1}, {1}}, extents),
                    counting<1>({{1}, {8}}, extents)};
  sequentially::repartition r(p, p);
  BOOST_TEST((r(x) == balanced(p, extents, 3)));
  BOOST_TEST((r.adjoint(r(x)) == x));
}

BOOST_AUTO_TEST_CASE(example_1_a_5_partition_is_repartitioned_to_3) {
  BOOST_TEST(arrives_and_comes_back(grid(extents<5>{}), grid(extents<3>{}), {15}));
  BOOST_TEST(arrives_and_comes_back(grid(extents<5>{}), grid(extents<3>{}), {4}));  // fewer indices than workers
}

BOOST_AUTO_TEST_CASE(example_2_a_3x4_partition_is_repartitioned_to_4x2) {
  BOOST_TEST(arrives_and_comes_back(grid(extents<3, 4>{}), grid(extents<4, 2>{}), {12, 8}));
  BOOST_TEST(arrives_and_comes_back(grid(extents<3, 4>{}), grid(extents<4, 2>{}), {7, 5}));
}

BOOST_AUTO_TEST_CASE(example_3_a_3x2x2_partition_is_repartitioned_to_1x2x3) {
  BOOST_TEST(arrives_and_comes_back(grid(extents<3, 2, 2>{}), grid(extents<1, 2, 3>{}), {6, 4, 12}));
  BOOST_TEST(
      arrives_and_comes_back(grid(extents<3, 3, 2>{}), grid(extents<1, 2, 3>{}), {6, 4, 11}));  // as in the picture
}

BOOST_AUTO_TEST_CASE(example_4_one_worker_scatters_what_it_read_to_1x3x2) {
  const auto one = grid(extents<1>{}).reshape(extents<1, 1, 1>{});
  const grid many(extents<1, 3, 2>{});
  BOOST_TEST(arrives_and_comes_back(one, many, {2, 6, 5}));
  const auto plan = sequentially::repartition(one, many).plan({2, 6, 5}, 0);
  BOOST_TEST((plan.messages_sent() == 5 && plan.messages_received() == 0 && plan.elements_kept() == 2 * 2 * 3));
}

BOOST_AUTO_TEST_CASE(example_5_one_worker_gathers_from_1x3x2_what_it_writes) {
  const auto one = grid(extents<1>{}).reshape(extents<1, 1, 1>{});
  const grid many(extents<1, 3, 2>{});
  BOOST_TEST(arrives_and_comes_back(many, one, {2, 6, 5}));
  const auto plan = sequentially::repartition(many, one).plan({2, 6, 5}, 0);
  BOOST_TEST((plan.messages_received() == 5 && plan.messages_sent() == 0));
}

BOOST_AUTO_TEST_SUITE_END()
