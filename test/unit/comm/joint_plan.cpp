// Joint messages of the workers of two nodes, executed in memory for all workers of simulated nodes: every box arrives
// where the plans say, in one message for each pair of nodes, or in a few if they are long.
#include <partita/comm/detail/exchange/joint_plan.hpp>
#include <partita/comm/side_by_side.hpp>
#include <partita/plan/repartition_plan.hpp>

#include "random_grid.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <utility>
#include <vector>

namespace {

using namespace partita;
using partita::detail::block_memory;
using partita::detail::box_list;
using partita::detail::element_kind;
using partita::detail::joint_plan;
using partita::detail::listed_box;
using partita::detail::lowered_plan;
using grid_shape = dynamic_extents<2>;

using element = std::uint32_t;
constexpr auto kind = element_kind::moved<element>();

struct simulated_worker {
  lowered_plan plan{2};
  joint_plan joint;
  std::vector<element> x, y;
  std::vector<char> leaving, arriving;
  std::vector<std::ptrdiff_t> strides;

  block_memory block() { return {reinterpret_cast<char*>(x.data()), strides.data()}; }
  block_memory result() { return {reinterpret_cast<char*>(y.data()), plan.received_strides.data()}; }
};

/// Copies a box out of `from` to its position in dense memory of another worker.
void put(const listed_box& b, const block_memory& from, char* base, std::ptrdiff_t offset,
         const std::ptrdiff_t* strides) {
  std::ptrdiff_t dense[most_dimensions] = {};
  partita::detail::dense_strides(b.shape, 2, dense);
  kind.copy(base + offset * static_cast<std::ptrdiff_t>(sizeof(element)), strides,
            partita::detail::box_address(b, from, 2, sizeof(element)), from.strides == nullptr ? dense : from.strides,
            b.shape, 2, sizeof(element), stores::cached);
}

/// Executes the steps of all workers, one step after the other. Returns the number of messages between nodes.
std::size_t carry_out(std::vector<simulated_worker>& all) {
  for (simulated_worker& w : all) {
    w.leaving.assign(w.joint.leaving_bytes, 0), w.arriving.assign(w.joint.arriving_bytes, 0);
    const joint_plan& j = w.joint;
    for (std::size_t k = 0; k < j.direct_plan.sends.size(); ++k) {
      auto& to = all[j.direct_plan.sends[k].worker];
      put(j.direct_plan.sends[k], w.block(), to.result().data, j.direct_plan.peer_offset(k),
          j.direct_plan.peer_strides(k));
    }
    for (std::size_t k = 0; k < j.direct_plan.kept.size(); ++k)
      put(j.direct_plan.kept[k], w.block(), w.result().data,
          partita::detail::box_offset(j.direct_plan.kept_destinations[k], w.result().strides, 2), w.result().strides);
  }
  for (simulated_worker& w : all) {
    const joint_plan& j = w.joint;
    std::map<std::size_t, std::size_t> met;
    for (std::size_t k = 0; k < j.collecting_boxes.sends.size(); ++k) {
      const listed_box b = j.collecting_boxes.sends[k];
      simulated_worker& owner = all[b.worker];
      put(b, w.block(), owner.leaving.data(), j.collecting_boxes.peer_offset(k), j.collecting_boxes.peer_strides(k));
      // what the owner expects of this worker stands in the same order
      const box_list& expected = owner.joint.collecting_boxes.receives;
      std::size_t& next = met[b.worker];
      while (next < expected.size() && expected[next].worker != w.plan.worker) ++next;
      BOOST_REQUIRE(next < expected.size());
      BOOST_TEST(std::equal(b.shape, b.shape + 2, expected[next].shape));
      BOOST_TEST(static_cast<std::ptrdiff_t>(expected[next].stage / sizeof(element)) ==
                 j.collecting_boxes.peer_offset(k));
      ++next;
    }
    for (std::size_t k = 0; k < j.own_leaving_boxes.size(); ++k)
      partita::detail::pack_box(kind, j.own_leaving_boxes[k], 2, w.block(),
                                w.leaving.data() + j.own_leaving_boxes[k].stage, true, stores::cached);
  }
  std::size_t messages = 0;
  for (simulated_worker& w : all) {
    std::map<std::size_t, std::size_t> met;
    for (std::size_t k = 0; k < w.joint.leaving_messages.size(); ++k, ++messages) {
      const listed_box m = w.joint.leaving_messages[k];
      simulated_worker& to = all[m.worker];
      const box_list& expected = to.joint.arriving_messages;
      std::size_t& next = met[m.worker];
      while (next < expected.size() && expected[next].worker != w.plan.worker) ++next;
      BOOST_REQUIRE(next < expected.size());
      BOOST_REQUIRE(m.shape[0] == expected[next].shape[0]);
      std::copy_n(w.leaving.data() + m.stage, m.shape[0], to.arriving.data() + expected[next].stage);
      ++next;
    }
  }
  for (simulated_worker& w : all) {
    const joint_plan& j = w.joint;
    for (std::size_t k = 0; k < j.distributing_boxes.sends.size(); ++k)
      put(j.distributing_boxes.sends[k], {w.arriving.data(), nullptr},
          all[j.distributing_boxes.sends[k].worker].result().data, j.distributing_boxes.peer_offset(k),
          j.distributing_boxes.peer_strides(k));
    for (std::size_t k = 0; k < j.own_arriving_boxes.size(); ++k)
      partita::detail::pack_box(kind, j.own_arriving_boxes[k], 2, w.result(),
                                w.arriving.data() + j.own_arriving_boxes[k].stage, false, stores::cached);
  }
  return messages;
}

struct counted {
  std::size_t messages, most_of_an_owner;
};

/// A matrix from one partition of workers on these nodes to another; `element_at(i, j)` is i · columns + j + 1.
counted move(const std::vector<std::size_t>& nodes, const grid<grid_shape>& from, const grid<grid_shape>& to,
             const std::array<std::size_t, 2>& extents) {
  const auto of_x = decomposition<2>::balanced(extents, from.shape()),
             of_y = decomposition<2>::balanced(extents, to.shape());
  const auto plan_of = [&](std::size_t worker) { return plan_repartition(from, of_x, to, of_y, worker); };
  std::vector<lowered_plan> plans;
  for (std::size_t w = 0; w < nodes.size(); ++w) plans.push_back(partita::detail::lowered(plan_of(w)));
  std::vector<simulated_worker> all(nodes.size());
  const auto block = [&](const grid<grid_shape>& p, const decomposition<2>& cuts, std::size_t worker) {
    std::vector<element> elements;
    if (p.place(worker) == p.size()) return elements;
    const auto at = p.index(p.place(worker));
    const interval rows = balanced_part(extents[0], p.shape()[0], at[0]),
                   columns = balanced_part(extents[1], p.shape()[1], at[1]);
    BOOST_TEST(cuts.shape(at)[0] == rows.size());
    for (std::size_t i = rows.start; i < rows.stop; ++i)
      for (std::size_t j = columns.start; j < columns.stop; ++j)
        elements.push_back(static_cast<element>(i * extents[1] + j + 1));
    return elements;
  };
  for (std::size_t w = 0; w < nodes.size(); ++w) {
    all[w].plan = plans[w];
    all[w].x = block(from, of_x, w);
    all[w].y.assign(block(to, of_y, w).size(), 0);
    all[w].strides.resize(2);
    partita::detail::dense_strides(plans[w].source_shape.data(), 2, all[w].strides.data());
  }
  std::vector<int> first_of;  // the lowest worker of each one's node
  for (const std::size_t node : nodes)
    first_of.push_back(static_cast<int>(std::find(nodes.begin(), nodes.end(), node) - nodes.begin()));
  for (std::size_t w = 0; w < nodes.size(); ++w) {
    std::vector<lowered_plan> of_node;
    for (std::size_t other = 0; other < nodes.size(); ++other)
      if (nodes[other] == nodes[w]) of_node.push_back(plans[other]);
    all[w].joint = partita::detail::joint_planner(w, sizeof(element), std::move(of_node), first_of).make_joint_plan();
  }
  counted c{carry_out(all), 0};
  for (std::size_t w = 0; w < nodes.size(); ++w) {
    BOOST_TEST(all[w].y == block(to, of_y, w), boost::test_tools::per_element());
    c.most_of_an_owner = std::max(c.most_of_an_owner, all[w].joint.leaving_messages.size());
  }
  return c;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(boxes_that_travel_in_joint_messages)

BOOST_AUTO_TEST_CASE(all_boxes_arrive_whatever_nodes_and_partitions) {
  std::mt19937 random(3);
  for (int trial = 0; trial < 60; ++trial) {
    std::vector<std::size_t> nodes(2 + random() % 20);
    const std::size_t most = 1 + random() % 5;
    for (std::size_t& node : nodes) node = random() % most;
    const auto from = test::random_grid(nodes.size(), random), to = test::random_grid(nodes.size(), random);
    const std::size_t rows = random() % 40, columns = 1 + random() % 40;
    move(nodes, from, to, {rows, columns});
  }
}

BOOST_AUTO_TEST_CASE(one_message_goes_from_node_to_node_and_every_worker_has_some_to_post) {
  std::vector<std::size_t> nodes;
  for (std::size_t w = 0; w < 64; ++w) nodes.push_back(w / 8);
  const grid<grid_shape> rows(grid_shape(64, 1)), columns(grid_shape(1, 64));
  const counted c = move(nodes, rows, columns, {128, 128});
  BOOST_TEST(c.messages == 8U * 7U);
  BOOST_TEST(c.most_of_an_owner == 1U);  // the seven of a node by seven of its workers
}

BOOST_AUTO_TEST_CASE(long_messages_are_a_few_that_other_workers_post) {
  std::vector<std::size_t> nodes;
  for (std::size_t w = 0; w < 50; ++w) nodes.push_back(w < 30 ? 0 : 1);
  const grid<grid_shape> rows(grid_shape(50, 1)), columns(grid_shape(1, 50));
  const counted c = move(nodes, rows, columns, {700, 700});  // 470 KB each way
  BOOST_TEST(c.messages == 4U);
  BOOST_TEST(c.most_of_an_owner == 1U);
}

BOOST_AUTO_TEST_CASE(what_is_long_for_each_pair_goes_directly) {
  const std::vector<std::size_t> nodes{0, 0, 1, 1};
  const grid<grid_shape> rows(grid_shape(4, 1)), columns(grid_shape(1, 4));
  BOOST_TEST(move(nodes, rows, columns, {200, 200}).messages == 0U);
  BOOST_TEST(move(nodes, rows, columns, {8, 8}).messages == 2U);
}

/// Beside each other, blocks are found by their distance from the first one that has elements.
BOOST_AUTO_TEST_CASE(blocks_side_by_side_are_addressed_from_the_first_one_that_is_there) {
  std::vector<element> memory(100);
  for (unsigned there = 0; there < 8; ++there) {
    const auto at = [&](unsigned k, std::size_t offset) {
      return (there >> k & 1U) != 0 ? memory.data() + offset : nullptr;
    };
    const strided<element, 2> a{at(0, 50), {2, 3}, {4, 1}};
    const strided<element, 1> b{at(1, 20), {5}, {2}}, c{at(2, 90), {7}, {-1}};
    const detail::blocks_side_by_side<element, 2, 1, 1> all(a, b, c);
    BOOST_TEST(all.data == (a.data != nullptr ? a.data : b.data != nullptr ? b.data : c.data));
    const auto distance = [&](const element* one) { return one == nullptr ? 0 : one - all.data; };
    BOOST_TEST((all.dimensions == 6 && all.shape == std::array<std::size_t, 6>{2, 3, 5, 7, 0, 0}));
    BOOST_TEST((all.strides == std::array<std::ptrdiff_t, 6>{4, 1, 2, -1, distance(b.data), distance(c.data)}));
  }
}

BOOST_AUTO_TEST_SUITE_END()
