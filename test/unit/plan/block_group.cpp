// Groups of workers whose blocks form one tensor: their members and the tensor.
#include <partita/plan/block_group.hpp>

#include <array>
#include <boost/test/unit_test.hpp>
#include <vector>

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

BOOST_AUTO_TEST_CASE(staggered_blocks_are_parts_where_they_lie) {
  const auto tensor = tensor_of_blocks<2>({{3, 4}, {2, 3}, {1, 4}, {2, 3}}, {2, 2});
  BOOST_TEST(tensor.error_message.empty());
  BOOST_TEST((tensor.extents == std::array<std::size_t, 2>{4, 7}));
  const std::vector<box<2>> expected{box<2>{{0, 0}, {3, 4}}, box<2>{{0, 4}, {2, 7}}, box<2>{{3, 0}, {4, 4}},
                                     box<2>{{2, 4}, {4, 7}}};
  BOOST_TEST((tensor.parts == expected));
  BOOST_TEST(!tensor.balanced({2, 2}));
}

BOOST_AUTO_TEST_CASE(balanced_parts_are_products_of_balanced_ranges_in_the_order_of_the_places) {
  const auto tensor = balanced_parts<2>({4, 5}, {2, 3});
  BOOST_TEST(tensor.error_message.empty());
  BOOST_TEST((tensor.extents == std::array<std::size_t, 2>{4, 5}));
  BOOST_TEST_REQUIRE(tensor.parts.size() == 6U);
  for (std::size_t i = 0; i < 2; ++i)
    for (std::size_t j = 0; j < 3; ++j) {
      const interval rows = balanced_part(4, 2, i), columns = balanced_part(5, 3, j);
      BOOST_TEST((tensor.parts[3 * i + j] == box<2>{{rows.start, columns.start}, {rows.stop, columns.stop}}));
    }
}

/// Sums are in the order of the members, which a plan lists if it is not that of their ids. Empty parts do not move.
BOOST_AUTO_TEST_CASE(a_gather_lists_the_order_of_its_members_unless_it_is_that_of_their_ids) {
  for (const workers& ids : {workers(0, 3), workers{2, 5, 9}, workers{4, 0, 2}, workers{0, 4, 2}, workers{4, 2, 0}}) {
    const grid p(extents<3, 1>{}, ids);
    const auto tensor = tensor_of_blocks<2>({{1, 5}, {0, 5}, {2, 5}}, {3, 1});
    const std::vector<std::size_t> members{ids[0], ids[1], ids[2]};
    const bool is_ascending = ids[0] < ids[1] && ids[1] < ids[2];
    for (std::size_t k = 0; k < 3; ++k) {
      const auto plan = plan_allgather(block_group_of(p, {false, false}, ids[k]), tensor, ids[k]);
      BOOST_TEST((plan.order == (is_ascending ? std::vector<std::size_t>{} : members)));
      BOOST_TEST(plan.worker == ids[k]);
      BOOST_TEST((plan.gives && plan.takes && !plan.one_to_one));
      BOOST_TEST(plan.kept.size() == (k == 1 ? 0U : 1U));
      BOOST_TEST(plan.sends.size() == (k == 1 ? 0U : 2U));
      BOOST_TEST(plan.receives.size() == (k == 1 ? 2U : 1U));
      for (const auto* moves : {&plan.sends, &plan.receives})
        for (std::size_t i = 1; i < moves->size(); ++i) BOOST_TEST((*moves)[i - 1].worker < (*moves)[i].worker);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
