// The examples of DistDL's page on its broadcast layer.
#include <partita/kernel/sequentially.hpp>
#include <partita/rule/worker_broadcast.hpp>

#include <boost/test/unit_test.hpp>
#include <vector>

namespace {

using namespace partita;
using numbers = std::vector<std::size_t>;
using block = xt::xtensor<int, 2>;

/// For each worker of p_y, the id of the worker of p_x that it receives from; empty if the broadcast is not legal.
template <std::size_t S, std::size_t L>
numbers heard(const std::size_t (&p_x)[S], const std::size_t (&p_y)[L], bool transpose_src = false,
              bool transpose_dest = false) {
  const auto small = index_from<S>(p_x);
  const auto large = index_from<L>(p_y);
  numbers from;
  if constexpr (S <= L) {
    if (!judge_worker_broadcast(small, large, transpose_src, transpose_dest)) return from;
    const worker_pairing<L> pairing(small, large, transpose_src, transpose_dest);
    for (std::size_t k = 0; k < volume_of(large); ++k) from.push_back(pairing.small_partner(index_of(k, large)));
  }
  return from;
}

/// Workers 0, 1 on a 2 x 1 partition p_x, workers 1, 2, 3, 4 on a 2 x 2 partition p_y, worker 5 on neither.
const grid two(extents<2, 1>{}, workers{0, 1});
const grid four(extents<2, 2>{}, workers(1, 5));
const std::vector<block> given{{{10, 11}},
                               {{20, 21}},
                               block::from_shape({1, 0}),
                               block::from_shape({1, 0}),
                               block::from_shape({1, 0}),
                               block::from_shape({3, 0})};

}  // namespace

BOOST_AUTO_TEST_SUITE(the_document_on_broadcast)

BOOST_AUTO_TEST_CASE(example_1_a_partition_of_shape_1_broadcasts_to_a_partition_of_shape_4) {
  BOOST_TEST(heard({1}, {4}) == (numbers{0, 0, 0, 0}));
}

BOOST_AUTO_TEST_CASE(example_2_a_partition_of_shape_1_is_extended_to_1x1_and_broadcasts_to_2x3) {
  BOOST_TEST(heard({1}, {2, 3}) == (numbers{0, 0, 0, 0, 0, 0}));
  BOOST_TEST(heard({1}, {2, 3}) == heard({1, 1}, {2, 3}));
}

BOOST_AUTO_TEST_CASE(example_3_a_partition_of_shape_3x1_broadcasts_to_3x4_along_its_rows) {
  BOOST_TEST(heard({3, 1}, {3, 4}) == (numbers{0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2}));
}

BOOST_AUTO_TEST_CASE(example_4_a_partition_of_shape_1x1x3_broadcasts_to_4x4x3_along_its_first_two_dimensions) {
  numbers expected;
  for (std::size_t k = 0; k < 48; ++k) expected.push_back(k % 3);
  BOOST_TEST(heard({1, 1, 3}, {4, 4, 3}) == expected);
}

BOOST_AUTO_TEST_CASE(example_5_a_partition_of_shape_1x1x3_does_not_broadcast_to_3x3x2) {
  BOOST_TEST(heard({1, 1, 3}, {3, 3, 2}).empty());
  const auto verdict =
      judge_worker_broadcast(std::array<std::size_t, 3>{1, 1, 3}, std::array<std::size_t, 3>{3, 3, 2}, false, false);
  BOOST_TEST((verdict.dimension == 2 && verdict.small_extent == 3 && verdict.large_extent == 2));
}

BOOST_AUTO_TEST_CASE(example_6_a_partition_of_shape_1x3_does_not_broadcast_to_3x1_but_does_if_one_is_transposed) {
  BOOST_TEST(heard({1, 3}, {3, 1}).empty());
  BOOST_TEST(heard({1, 3}, {3, 1}, true, false) == (numbers{0, 1, 2}));
  BOOST_TEST(heard({1, 3}, {3, 1}, false, true) == (numbers{0, 1, 2}));
  BOOST_TEST(heard({1, 3}, {3, 1}, true, true).empty());  // both reversed is as bad as none
}

BOOST_AUTO_TEST_CASE(with_transpose_src_a_shape_of_1x3x4_behaves_as_4x3x1_and_3x4_as_1x4x3) {
  BOOST_TEST(heard({1, 3, 4}, {4, 3, 2}, true) == heard({4, 3, 1}, {4, 3, 2}));
  BOOST_TEST(heard({3, 4}, {2, 4, 3}, true) == heard({1, 4, 3}, {2, 4, 3}));
  BOOST_TEST(!heard({3, 4}, {2, 4, 3}, true).empty());
}

BOOST_AUTO_TEST_CASE(example_7_a_partition_of_shape_1x3_broadcasts_to_3x4_with_transpose_src) {
  BOOST_TEST(heard({1, 3}, {3, 4}).empty());
  BOOST_TEST(heard({1, 3}, {3, 4}, true) == heard({3, 1}, {3, 4}));
}

BOOST_AUTO_TEST_CASE(example_8_a_partition_of_shape_4x1_broadcasts_to_3x4_with_transpose_dest) {
  BOOST_TEST(heard({4, 1}, {3, 4}).empty());
  BOOST_TEST(heard({4, 1}, {3, 4}, false, true) == (numbers{0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3}));
}

BOOST_AUTO_TEST_CASE(unlike_in_numpy_only_the_input_partition_may_have_shape_1_and_no_more_dimensions) {
  BOOST_TEST(heard({2}, {1}).empty());
  BOOST_TEST(heard({1, 2}, {2}).empty());
  BOOST_TEST(!heard({2}, {1, 2}).empty());
}

BOOST_AUTO_TEST_CASE(replicating_from_1x3_onto_4x3_makes_four_copies_of_each_subtensor) {
  BOOST_TEST(heard({1, 3}, {4, 3}) == (numbers{0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2}));
}

BOOST_AUTO_TEST_CASE(a_worker_gets_a_subtensor_a_zero_volume_with_its_batch_or_a_clone_as_it_is_active) {
  const auto y = sequentially::broadcast(two, four)(given);
  BOOST_TEST((y[0] == block::from_shape({1, 0})));       // only in p_x: zero volume, the batch kept
  BOOST_TEST((y[1] == given[0] && y[2] == given[0]));    // in both: may get other data than it gave
  BOOST_TEST((y[3] == given[1] && y[4] == given[1]));    // only in p_y
  BOOST_TEST((y[5] == given[5] && y[5].shape(0) == 3));  // in neither: what it gave
  BOOST_TEST((sequentially::broadcast(two, four, discard_batch)(given)[0].shape(0) == 0));
}

BOOST_AUTO_TEST_CASE(the_adjoint_sum_reduces_from_p_y_back_to_p_x) {
  std::vector<block> dy(6, block::from_shape({1, 0}));
  for (std::size_t k = 1; k < 5; ++k) dy[k] = block{{static_cast<int>(k), static_cast<int>(10 * k)}};
  const auto dx = sequentially::broadcast(two, four).adjoint(dy);
  BOOST_TEST((dx[0] == block{{1 + 2, 10 + 20}} && dx[1] == block{{3 + 4, 30 + 40}}));
  BOOST_TEST((dx[3].size() == 0 && dx[3].shape(0) == 1));
  BOOST_TEST((dx[5] == dy[5]));
}

BOOST_AUTO_TEST_SUITE_END()
