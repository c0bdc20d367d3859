// Plans as text: they list senders, receivers and data, and report if nothing moves.
#include <partita/explain/plan_text.hpp>

#include <boost/test/unit_test.hpp>
#include <sstream>
#include <string>

namespace {

using namespace partita;

const grid two_by_two(extents<2, 2>{});
const grid columns(extents<1, 3>{});
const auto in_quarters = decomposition<2>::balanced({6, 8}, {2, 2});
const auto in_columns = decomposition<2>::balanced({6, 8}, {1, 3});

template <class Small, class Large>
group_plan groups_of(const grid<Small>& small, const grid<Large>& large, std::size_t worker,
                     group_plan::kind movement = group_plan::kind::broadcast) {
  return plan_groups(small, large, worker_pairing<Large::rank()>(small.shape(), large.shape(), false, false), worker,
                     movement);
}

const grid three(extents<1, 3>{});
const grid two_by_three(extents<2, 3>{});
const grid one(extents<1>{});
const grid six(extents<6>{});

template <class T>
std::string streamed(const T& plan) {
  std::ostringstream out;
  out << plan;
  return out.str();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(plans_in_words)

BOOST_AUTO_TEST_CASE(a_repartition_has_a_line_for_each_box_and_a_sum) {
  BOOST_TEST(to_text(plan_repartition(two_by_two, in_quarters, columns, in_columns, 1)) ==
             "worker 1, tensor 6 x 8: gives 3 x 4, takes 6 x 3\n"
             "  to worker 2    [0, 3) x [6, 8)  6 elements in 3 runs of 2\n"
             "  stays          [0, 3) x [4, 6)  6 elements in 3 runs of 2\n"
             "  from worker 0  [0, 3) x [3, 4)  3 elements in 3 runs of 1\n"
             "  from worker 2  [3, 6) x [3, 4)  3 elements in 3 runs of 1\n"
             "  from worker 3  [3, 6) x [4, 6)  6 elements in 3 runs of 2\n"
             "  in all: sends 6 elements to 1 worker, receives 12 elements from 3 workers, copies 6 elements here\n");
}

BOOST_AUTO_TEST_CASE(bytes_are_told_if_the_size_of_an_element_is_given) {
  BOOST_TEST(to_text(plan_repartition(two_by_two, in_quarters, columns, in_columns, 3), sizeof(float)) ==
             "worker 3, tensor 6 x 8: gives 3 x 4\n"
             "  to worker 1  [3, 6) x [4, 6)  6 elements (24 bytes) in 3 runs of 2\n"
             "  to worker 2  [3, 6) x [6, 8)  6 elements (24 bytes) in 3 runs of 2\n"
             "  in all: sends 12 elements (48 bytes) to 2 workers, receives 0 elements (0 bytes) from 0 workers, "
             "copies 0 elements (0 bytes) here\n");
}

BOOST_AUTO_TEST_CASE(an_identity_moves_nothing) {
  BOOST_TEST(to_text(plan_repartition(two_by_two, in_quarters, two_by_two, in_quarters, 1)) ==
             "worker 1, tensor 6 x 8: gives 3 x 4, takes 3 x 4\n"
             "  identity: nothing moves, 12 elements copied here\n");
}

BOOST_AUTO_TEST_CASE(a_worker_of_neither_partition_takes_no_part) {
  BOOST_TEST(to_text(plan_repartition(two_by_two, in_quarters, columns, in_columns, 4)) ==
             "worker 4, tensor 6 x 8: takes no part\n");
  BOOST_TEST(to_text(groups_of(three, two_by_three, 6)) == "worker 6 in broadcast: takes no part\n");
}

BOOST_AUTO_TEST_CASE(a_peer_with_many_boxes_is_named_once) {
  const grid pair(extents<2>{});
  const auto cyclic = decomposition<1>::block_cyclic({8}, {2}, {2});
  BOOST_TEST(to_text(plan_repartition(pair, cyclic, grid(extents<1>{}, workers{2}),
                                      decomposition<1>::balanced({8}, {1}), 0)) ==
             "worker 0, tensor 8: gives 4\n"
             "  to worker 2  [0, 2)  2 elements\n"
             "               [4, 6)  2 elements\n"
             "  in all: sends 4 elements to 1 worker, receives 0 elements from 0 workers, copies 0 elements here\n");
}

BOOST_AUTO_TEST_CASE(a_scalar_is_one_element) {
  const grid here(extents<>{}, workers{0});
  const grid there(extents<>{}, workers{1});
  const decomposition<0> whole{};
  BOOST_TEST(to_text(plan_repartition(here, whole, there, whole, 0)) ==
             "worker 0, scalar: gives scalar\n"
             "  to worker 1  scalar  1 element\n"
             "  in all: sends 1 element to 1 worker, receives 0 elements from 0 workers, copies 0 elements here\n");
}

BOOST_AUTO_TEST_CASE(a_broadcast_names_the_group_and_the_way_along_the_tree) {
  BOOST_TEST(to_text(groups_of(one, six, 0)) ==
             "worker 0 in broadcast: gives its block to workers 0 to 5; sends it to workers 4, 2, 1\n");
  BOOST_TEST(to_text(groups_of(one, six, 2)) ==
             "worker 2 in broadcast: takes the block of worker 0; sends it on to worker 3\n");
  BOOST_TEST(to_text(groups_of(one, six, 3)) ==
             "worker 3 in broadcast: takes the block of worker 0; by way of worker 2\n");
}

BOOST_AUTO_TEST_CASE(a_sum_is_told_from_the_broadcast_that_is_its_adjoint) {
  BOOST_TEST(to_text(groups_of(three, two_by_three, 1, group_plan::kind::sum_reduce)) ==
             "worker 1 in sum_reduce: takes the sum of the blocks of workers 1, 4; receives from worker 4\n");
  BOOST_TEST(to_text(groups_of(three, two_by_three, 4, group_plan::kind::sum_reduce)) ==
             "worker 4 in sum_reduce: gives its block to the sum of worker 1\n");
}

BOOST_AUTO_TEST_CASE(a_worker_in_two_groups_has_a_line_for_each) {
  const grid shifted(extents<1, 3>{}, workers(1, 4));
  BOOST_TEST(to_text(groups_of(shifted, two_by_three, 1)) ==
             "worker 1 in broadcast:\n"
             "  gives its block to workers 0, 3; sends it to workers 3, 0\n"
             "  takes the block of worker 2\n");
}

BOOST_AUTO_TEST_CASE(a_group_of_one_keeps_its_block) {
  BOOST_TEST(to_text(groups_of(three, three, 2)) == "worker 2 in broadcast: keeps its block; nothing moves\n");
}

BOOST_AUTO_TEST_CASE(an_all_sum_goes_up_and_down_one_tree) {
  BOOST_TEST(to_text(plan_sum_groups(six, {false}, 2)) ==
             "worker 2 in all_sum_reduce: takes the sum of the blocks of workers 0 to 5; by way of worker 0, exchanges "
             "with worker 3\n");
}

BOOST_AUTO_TEST_CASE(each_worker_of_a_tree_knows_its_part) {
  const auto of = [](group_plan::kind movement, std::size_t worker) {
    return streamed(groups_of(one, six, worker, movement));
  };
  const auto sum = [&](std::size_t worker) { return of(group_plan::kind::sum_reduce, worker); };
  BOOST_TEST(sum(0) ==
             "worker 0 in sum_reduce: takes the sum of the blocks of workers 0 to 5; receives from workers 1, "
             "2, 4\n");
  BOOST_TEST(sum(4) == "worker 4 in sum_reduce: gives its block to the sum of worker 0; receives from worker 5\n");
  BOOST_TEST(sum(5) == "worker 5 in sum_reduce: gives its block to the sum of worker 0; by way of worker 4\n");
  BOOST_TEST(sum(1) == "worker 1 in sum_reduce: gives its block to the sum of worker 0\n");
  const auto all = [](std::size_t worker) { return streamed(plan_sum_groups(six, {false}, worker)); };
  const std::string gets = " in all_sum_reduce: takes the sum of the blocks of workers 0 to 5; ";
  BOOST_TEST(all(0) == "worker 0" + gets + "exchanges with workers 1, 2, 4\n");
  BOOST_TEST(all(1) == "worker 1" + gets + "by way of worker 0\n");
  BOOST_TEST(all(4) == "worker 4" + gets + "by way of worker 0, exchanges with worker 5\n");
  BOOST_TEST(all(5) == "worker 5" + gets + "by way of worker 4\n");
  // a root that has no block of its own gives its block to the others only
  BOOST_TEST(streamed(groups_of(grid(extents<1>{}, workers{6}), six, 6)) ==
             "worker 6 in broadcast: gives its block to workers 0 to 5; sends it to workers 3, 1, 0\n");
}

BOOST_AUTO_TEST_CASE(other_algorithms_of_a_linear_layer_name_their_workers) {
  linear_plan plan{2, column_parallel, true, true, {{0, 0}, {4, 8}}, {}, {}, {0, 1, 2, 3}};
  BOOST_TEST(to_text(plan) ==
             "worker 2 in linear: multiplies by W [0, 4) x [0, 8) and adds the bias\n"
             "worker 2 gathers x among workers 0 to 3\n");
  plan.algorithm = row_parallel, plan.has_bias = false, plan.members = {1, 2};
  BOOST_TEST(to_text(plan) ==
             "worker 2 in linear: multiplies by W [0, 4) x [0, 8)\n"
             "worker 2 scatters the sum of y among workers 1, 2\n");
  plan.members.clear(), plan.holds_weights = false;
  BOOST_TEST(to_text(plan) == "worker 2 in linear: holds no weights\n");
  linear_choice choice{true, row_parallel, {1, 4}, {1, 2, 3, 4, 5, 0}};
  const std::string rest =
      "; the busiest worker: 1 floating-point operations, 2 bytes sent and 3 received in 4 messages, "
      "5 bytes held\n";
  BOOST_TEST(streamed(choice) == "row_parallel with p_w = 1 x 4" + rest);
  choice.algorithm = weight_stationary, choice.p_w = {2, 3};
  BOOST_TEST(streamed(choice) == "weight_stationary with p_w = 2 x 3" + rest);
  BOOST_TEST(streamed(linear_cost{.messages = 1}) ==
             "0 floating-point operations, 0 bytes sent and 0 received in 1 message, 0 bytes held\n");
}

BOOST_AUTO_TEST_CASE(a_turned_tensor_has_its_extents_in_both_orders) {
  const auto whole = decomposition<2>::balanced({6, 8}, {2, 2}), turned = decomposition<2>::balanced({8, 6}, {2, 2});
  const std::string all = streamed(plan_repartition(two_by_two, whole, two_by_two, turned, 1, {1, 0}));
  BOOST_TEST(all.starts_with("worker 1, tensor 6 x 8 turned to 8 x 6: gives 3 x 4, takes 4 x 3\n"), all);
  const decomposition<2> empty = decomposition<2>::balanced({0, 8}, {2, 2});
  BOOST_TEST(streamed(plan_repartition(two_by_two, empty, two_by_two, empty, 1)) ==
             "worker 1, tensor 0 x 8: gives 0 x 4, takes 0 x 4\n  identity: nothing moves\n");
}

/// A part is contiguous in its block as far as it has whole trailing dimensions, and along the dimension before these.
BOOST_AUTO_TEST_CASE(parts_are_contiguous_along_whole_trailing_dimensions) {
  const auto run = [](std::array<std::size_t, 3> part, std::array<std::size_t, 3> block) {
    return detail::contiguous_elements(part, block);
  };
  BOOST_TEST(run({2, 3, 4}, {2, 3, 4}) == 24U);
  BOOST_TEST(run({1, 3, 4}, {2, 3, 4}) == 12U);
  BOOST_TEST(run({2, 1, 4}, {2, 3, 4}) == 4U);
  BOOST_TEST(run({2, 2, 4}, {2, 3, 4}) == 8U);
  BOOST_TEST(run({2, 3, 1}, {2, 3, 4}) == 1U);
  BOOST_TEST(run({2, 3, 3}, {2, 3, 4}) == 3U);
  BOOST_TEST(detail::contiguous_elements(std::array<std::size_t, 0>{}, std::array<std::size_t, 0>{}) == 1U);
}

BOOST_AUTO_TEST_CASE(a_linear_layer_has_its_weights_and_both_movements) {
  const grid above(extents<1, 3>{});
  const linear_plan plan{4,
                         weight_stationary,
                         true,
                         false,
                         {{4, 4}, {8, 8}},
                         groups_of(above, two_by_three, 4),
                         groups_of(above, two_by_three, 4, group_plan::kind::sum_reduce)};
  BOOST_TEST(to_text(plan) ==
             "worker 4 in linear: multiplies by W [4, 8) x [4, 8)\n"
             "worker 4 in broadcast: takes the block of worker 1\n"
             "worker 4 in sum_reduce: gives its block to the sum of worker 1\n");
  BOOST_TEST(to_text(linear_plan{}) ==
             "worker 0 in linear: holds no weights\nworker 0 in broadcast: takes no part\nworker 0 in broadcast: takes "
             "no part\n");
  BOOST_TEST(streamed(plan) == std::string(to_text(plan)));
}

BOOST_AUTO_TEST_CASE(lists_of_workers_are_ranges_from_four_on) {
  const auto written = [](const std::vector<std::size_t>& ids) {
    return streamed(detail::list_of_workers(ids.data(), ids.size()));
  };
  BOOST_TEST(written({5}) == "worker 5");
  BOOST_TEST(written({5, 6}) == "workers 5, 6");
  BOOST_TEST(written({5, 6, 7}) == "workers 5, 6, 7");
  BOOST_TEST(written({5, 6, 7, 8}) == "workers 5 to 8");
  BOOST_TEST(written({5, 6, 7, 9}) == "workers 5, 6, 7, 9");
  BOOST_TEST(written({4, 6, 7, 8}) == "workers 4, 6, 7, 8");
  std::vector<std::size_t> even;
  std::string listed = "workers ";
  for (std::size_t k = 0; k < 12; ++k) even.push_back(2 * k), listed += (k == 0 ? "" : ", ") + std::to_string(2 * k);
  BOOST_TEST(written(even) == listed);  // 12 are all listed
  even.push_back(99);
  BOOST_TEST(written(even) == listed + " and 1 more");
}

BOOST_AUTO_TEST_CASE(messages_between_nodes_say_how_many_boxes_they_hold) {
  const auto written = [](const std::vector<crossing_box>& boxes) {
    return to_text(node_messages(boxes, true, 0, 8, [](std::size_t worker) { return worker / 2; }), 8);
  };
  BOOST_TEST(streamed(written({{0, 2, 4, 0, 0}})).find(" in 1 box") != std::string::npos);
  BOOST_TEST(streamed(written({{0, 2, 4, 0, 0}})).find(" in 1 boxes") == std::string::npos);
  BOOST_TEST(streamed(written({{0, 2, 4, 0, 0}, {0, 2, 4, 0, 1}})).find(" in 2 boxes") != std::string::npos);
  node_messages all;
  all.messages = {{0, 2, 1, 0, 1, 4, false}, {1, 3, 1, 1, 3, 1, true}};
  BOOST_TEST(to_text(all) ==
             "worker 0 to worker 2: 4 elements in 1 box\n"
             "worker 1 to worker 3: 1 element in 2 boxes, joint\n");
  BOOST_TEST(to_text(all, 8) ==
             "worker 0 to worker 2: 4 elements (32 bytes) in 1 box\n"
             "worker 1 to worker 3: 1 element (8 bytes) in 2 boxes, joint\n");
}

BOOST_AUTO_TEST_CASE(long_lists_of_workers_are_cut) {
  std::vector<std::size_t> odd;
  for (std::size_t k = 0; k < 40; ++k) odd.push_back(2 * k + 1);
  const grid forty(extents<40>{}, workers(odd));
  BOOST_TEST(to_text(groups_of(grid(extents<1>{}, workers{1}), forty, 3)) ==
             "worker 3 in broadcast: takes the block of worker 1\n");
  BOOST_TEST(
      streamed(groups_of(grid(extents<1>{}, workers{1}), forty, 1)).find("19, 21, 23 and 28 more; sends it to") !=
      std::string::npos);
}

BOOST_AUTO_TEST_CASE(the_cost_over_all_workers_is_told_in_two_lines) {
  BOOST_TEST(to_text(cost_of(two_by_two, in_quarters, columns, in_columns), 4) ==
             "33 elements (132 bytes) moved in 6 messages, 15 elements (60 bytes) kept, by 4 workers\n"
             "  the busiest sends 12 elements (48 bytes), receives 12 elements (48 bytes); a worker exchanges with at "
             "most 3 other workers\n");
  BOOST_TEST(to_text(cost_of(two_by_two, in_quarters, two_by_two, in_quarters)) ==
             "0 elements moved in 0 messages, 48 elements kept, by 4 workers\n");
  const grid four(extents<4>{}, workers(0, 4));
  const grid another(extents<1>{}, workers{9});
  const auto whole = decomposition<1>::balanced({8}, {1}), parts = decomposition<1>::balanced({8}, {4});
  const std::string scattered =
      "8 elements moved in 4 messages, 0 elements kept, by 5 workers\n"
      "  the busiest sends 8 elements, receives 2 elements; a worker exchanges with at most 4 other workers\n";
  BOOST_TEST(to_text(cost_of(another, whole, four, parts)) == scattered.c_str());
  const std::string gathered =
      "8 elements (64 bytes) moved in 4 messages, 0 elements (0 bytes) kept, by 5 workers\n"
      "  the busiest sends 2 elements (16 bytes), receives 8 elements (64 bytes); a worker exchanges with at most 4 "
      "other workers\n";
  BOOST_TEST(to_text(cost_of(four, parts, another, whole), 8) == gathered.c_str());
}

BOOST_AUTO_TEST_CASE(an_element_wise_plan_has_a_line_for_each_operand) {
  const auto all = resolve_array_broadcast(shape_list{4U, 6U}, shape_list{6U}, {1});
  const grid four(extents<2, 2>{});
  const elementwise_plan plan{all.result,
                              {2U, 2U},
                              plan_operand(four, {4U, 6U}, all.lhs, four, all.result),
                              plan_operand(one, {6U}, all.rhs, four, all.result)};
  BOOST_TEST(to_text(plan) ==
             "lhs: extents [4, 6] over [2, 2]: stays\n"
             "rhs: extents [6] over [1]: repartition, then worker broadcast\n"
             "result: extents [4, 6] over [2, 2]\n");
  BOOST_TEST(streamed(plan) == std::string(to_text(plan)));
}

BOOST_AUTO_TEST_CASE(what_is_streamed_is_the_text) {
  const auto plan = plan_repartition(two_by_two, in_quarters, columns, in_columns, 1);
  BOOST_TEST(streamed(plan) == std::string(to_text(plan)));
  const auto groups = groups_of(one, six, 2);
  BOOST_TEST(streamed(groups) == std::string(to_text(groups)));
  const auto cost = cost_of(two_by_two, in_quarters, columns, in_columns);
  BOOST_TEST(streamed(cost) == std::string(to_text(cost)));
}

BOOST_AUTO_TEST_SUITE_END()
