// Groups of workers whose blocks form one tensor: their members and the tensor.
#include <partita/plan/block_group.hpp>

#include <boost/test/unit_test.hpp>

using namespace partita;

BOOST_AUTO_TEST_SUITE(groups_of_blocks)

BOOST_AUTO_TEST_CASE(workers_that_agree_in_the_kept_dimensions_hold_one_tensor) {
  const grid p(extents<2, 3>{}, workers{5, 4, 3, 2, 1, 0});
  for (std::size_t worker = 0; worker < 6; ++worker) {
    const auto row = block_group_of(p, {true, false}, worker);
    BOOST_TEST(row.members.size() == 3U);
    BOOST_TEST(row.members[row.position] == worker);
    BOOST_TEST((row.shape == std::array<std::size_t, 2>{1, 3}));
    BOOST_TEST((row.members[0] == (worker > 2 ? 5U : 2U)));
  }
  BOOST_TEST(!block_group_of(p, {true, false}, 6).active());
}

BOOST_AUTO_TEST_CASE(blocks_that_fit_make_a_tensor_and_others_a_problem) {
  const std::array<std::size_t, 2> shape{1, 3};
  const auto whole = tensor_of_blocks<2>({{4, 2}, {4, 2}, {4, 1}}, shape);
  BOOST_TEST(whole.error_message.empty());
  BOOST_TEST((whole.extents == std::array<std::size_t, 2>{4, 5}));
  BOOST_TEST(whole.balanced(shape));
  BOOST_TEST((whole.parts[2] == box<2>{{0, 4}, {4, 5}}));
  BOOST_TEST(!tensor_of_blocks<2>({{4, 1}, {4, 3}, {4, 1}}, shape).balanced(shape));
  BOOST_TEST(!tensor_of_blocks<2>({{4, 1}, {3, 3}, {4, 1}}, shape).error_message.empty());
  BOOST_TEST(balanced_parts<2>({4, 5}, shape).balanced(shape));
}

BOOST_AUTO_TEST_SUITE_END()
