// Messages between nodes: both nodes compute the same messages, every box between nodes is in exactly one message, and
// workers that take part in a message send and receive it, for all numbers of nodes.
#include <partita/plan/node_messages.hpp>
#include <partita/plan/repartition_plan.hpp>

#include "random_grid.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <tuple>
#include <vector>

namespace {

using namespace partita;
using grid_shape = dynamic_extents<2>;

std::vector<std::size_t> members_of(const std::vector<std::size_t>& nodes, std::size_t node) {
  std::vector<std::size_t> members;
  for (std::size_t w = 0; w < nodes.size(); ++w)
    if (nodes[w] == node) members.push_back(w);
  return members;
}

/// A message between two nodes.
using seen = std::tuple<std::size_t, std::size_t, bool, std::vector<std::array<std::size_t, 3>>>;
seen as_seen(const node_messages& all, const node_message& m) {
  std::vector<std::array<std::size_t, 3>> boxes;
  for (std::size_t b = m.first_box; b < m.end_box; ++b)
    boxes.push_back({all.boxes[b].from, all.boxes[b].to, all.boxes[b].elements});
  return {m.from, m.to, m.is_joint, boxes};
}

struct sums {
  std::size_t messages = 0, joined = 0;
};

/// Checks all messages of an exchange of these plans on these nodes.
sums expect_laws(const std::vector<std::size_t>& nodes, std::size_t element,
                 const std::vector<exchange_plan<2>>& plans) {
  sums counted;
  const auto node_of = [&](std::size_t worker) { return nodes[worker]; };
  const auto plan_of = [&](std::size_t worker) { return plans[worker]; };
  const std::set<std::size_t> there(nodes.begin(), nodes.end());
  std::multiset<seen> left, arrived;
  for (const std::size_t node : there) {
    const auto members = members_of(nodes, node);
    const node_messages out = plan_node_messages(members, true, element, plan_of, node_of),
                        in = plan_node_messages(members, false, element, plan_of, node_of);
    std::set<std::pair<std::size_t, std::size_t>> once;  // plan and box
    std::size_t at = 0;
    node_messages::posted_counts posted;
    for (const node_message& m : out.messages) {
      BOOST_TEST(m.first_box == at);
      BOOST_TEST(m.end_box > m.first_box);
      at = m.end_box;
      std::size_t elements = 0;
      std::set<std::size_t> from, to;
      for (std::size_t b = m.first_box; b < m.end_box; ++b) {
        const crossing_box& box = out.boxes[b];
        BOOST_TEST(once.emplace(box.plan, box.box).second);
        const transfer<2>& send = plans[members[box.plan]].sends[box.box];
        BOOST_TEST((box.from == members[box.plan] && box.to == send.worker && box.elements == send.where.volume()));
        BOOST_TEST((nodes[box.to] == m.other_node && nodes[box.from] == node));
        elements += box.elements, from.insert(box.from), to.insert(box.to);
      }
      BOOST_TEST(m.elements == elements);
      BOOST_TEST((from.contains(m.from) && to.contains(m.to)));
      if (!m.is_joint) BOOST_TEST((from.size() == 1 && to.size() == 1));
      ++counted.messages, counted.joined += m.is_joint ? 1 : 0;
      left.insert(as_seen(out, m));
    }
    std::size_t crossing = 0;
    for (const std::size_t w : members) {
      for (const transfer<2>& send : plans[w].sends) crossing += nodes[send.worker] != node ? 1 : 0;
      const auto own = out.count_posted(w);
      posted.messages += own.messages, posted.boxes += own.boxes, posted.elements += own.elements;
    }
    BOOST_TEST((once.size() == crossing && posted.boxes == crossing && posted.messages == out.messages.size()));
    for (const node_message& m : in.messages) arrived.insert(as_seen(in, m));
  }
  BOOST_TEST((left == arrived));
  return counted;
}
std::vector<exchange_plan<2>> plans_of(const grid<grid_shape>& from, const grid<grid_shape>& to,
                                       const std::array<std::size_t, 2>& extents, std::size_t workers_there) {
  const auto of_x = decomposition<2>::balanced(extents, from.shape()),
             of_y = decomposition<2>::balanced(extents, to.shape());
  std::vector<exchange_plan<2>> plans;
  for (std::size_t w = 0; w < workers_there; ++w) plans.push_back(plan_repartition(from, of_x, to, of_y, w));
  return plans;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(messages_of_nodes)

BOOST_AUTO_TEST_CASE(both_nodes_come_to_the_same_messages_and_every_box_is_in_one) {
  std::mt19937 random(7);
  std::size_t joined = 0, own = 0;
  for (int trial = 0; trial < 80; ++trial) {
    std::vector<std::size_t> nodes(2 + random() % 20);
    const std::size_t most = 1 + random() % 5;
    for (std::size_t& node : nodes) node = random() % most;  // uneven, mixed, some of them empty
    const std::size_t longest = trial % 2 == 0 ? 40 : 400;
    // one after another: in a call compilers would draw these in an order of their own
    const auto from = test::random_grid(nodes.size(), random), to = test::random_grid(nodes.size(), random);
    const std::size_t rows = random() % longest, columns = 1 + random() % longest;
    auto plans = plans_of(from, to, {rows, columns}, nodes.size());
    const sums there = expect_laws(nodes, sizeof(double), plans);
    joined += there.joined, own += there.messages - there.joined;
    for (auto& plan : plans) plan = reversed(plan);
    expect_laws(nodes, sizeof(double), plans);
  }
  BOOST_TEST((joined > 50 && own > 50));
}

BOOST_AUTO_TEST_CASE(long_ones_are_lanes_of_about_equal_length_with_owners_of_their_own) {
  std::vector<std::size_t> nodes;
  for (std::size_t w = 0; w < 50; ++w) nodes.push_back(w < 30 ? 0 : 1);
  const auto plans = plans_of(grid(grid_shape(50, 1)), grid(grid_shape(1, 50)), {700, 700}, 50);
  BOOST_TEST(expect_laws(nodes, 4, plans).messages == 4U);
  const auto out = plan_node_messages(
      members_of(nodes, 0), true, 4, [&](std::size_t w) { return plans[w]; }, [&](std::size_t w) { return nodes[w]; });
  BOOST_REQUIRE(out.messages.size() == 2U);
  BOOST_TEST(out.messages[0].from != out.messages[1].from);
  BOOST_TEST(out.messages[0].to != out.messages[1].to);
  const std::size_t a = out.messages[0].elements, b = out.messages[1].elements;
  BOOST_TEST((a > b ? a - b : b - a) < (a + b) / 50);
}

BOOST_AUTO_TEST_CASE(nodes_that_do_not_join_have_a_message_for_each_pair) {
  const auto plans = plans_of(grid(grid_shape(4, 1)), grid(grid_shape(1, 4)), {8, 8}, 4);
  std::vector<crossing_box> all;
  for (std::size_t b = 0; b < plans[0].sends.size(); ++b) all.push_back({0, plans[0].sends[b].worker, 4, 0, b});
  const auto node_of = [](std::size_t worker) { return worker / 2; };
  BOOST_TEST(node_messages(all, true, 0, 8, node_of, false).messages.size() == 2U);
  BOOST_TEST(node_messages(all, true, 0, 8, node_of).messages.size() == 1U);
}

BOOST_AUTO_TEST_CASE(messages_are_joined_if_the_traffic_between_the_nodes_says_so) {
  std::mt19937_64 random(7);
  std::size_t joined = 0, apart = 0;
  for (std::size_t turn = 0; turn < 2000; ++turn) {
    const std::size_t senders = 1 + random() % 8, receivers = 1 + random() % 8, most = std::size_t{1} << random() % 18;
    std::vector<crossing_box> boxes;
    std::set<std::size_t> from, to;
    std::set<std::pair<std::size_t, std::size_t>> pairs;
    node_traffic traffic;
    for (std::size_t b = 0, all = 1 + random() % 40; b < all; ++b) {
      boxes.push_back({random() % senders, 8 + random() % receivers, 1 + random() % most, 0, b});
      from.insert(boxes[b].from), to.insert(boxes[b].to), pairs.emplace(boxes[b].from, boxes[b].to);
      traffic.bytes += 8 * boxes[b].elements;
    }
    std::sort(boxes.begin(), boxes.end(), [](const crossing_box& a, const crossing_box& b) {
      return std::pair(a.from, a.to) < std::pair(b.from, b.to);
    });
    traffic.senders = from.size(), traffic.receivers = to.size(), traffic.worker_pairs = pairs.size();
    const node_messages out(boxes, true, 0, 8, [](std::size_t worker) { return worker / 8; });
    const std::size_t lanes = traffic.joint_message_count();
    for (const node_message& one : out.messages) BOOST_TEST(one.is_joint == (lanes > 0));
    BOOST_TEST((lanes > 0 ? out.messages.size() <= lanes : out.messages.size() == pairs.size()));
    ++(lanes > 0 ? joined : apart);
  }
  BOOST_TEST(joined > 200U);
  BOOST_TEST(apart > 200U);
}

/// A box without elements is in no message, also where other boxes of its workers are, and where there is no other.
BOOST_AUTO_TEST_CASE(boxes_without_elements_are_in_no_message) {
  const auto node_of = [](std::size_t worker) { return worker / 2; };
  const std::vector<crossing_box> full{{0, 2, 4, 0, 0}, {0, 3, 6, 0, 2}, {1, 3, 5, 1, 0}};
  std::vector<crossing_box> all = full, empty{{0, 2, 0, 0, 1}, {1, 2, 0, 1, 1}, {1, 4, 0, 1, 2}};
  all.insert(all.begin() + 1, empty[0]);
  all.insert(all.end(), {empty[1], empty[2]});
  for (const bool joins : {false, true}) {
    const node_messages with(all, true, 0, 8, node_of, joins), without(full, true, 0, 8, node_of, joins);
    BOOST_TEST(with.boxes.size() == full.size());
    BOOST_TEST(with.messages.size() == (joins ? 1U : 3U));
    for (std::size_t k = 0; k < with.messages.size(); ++k)
      BOOST_TEST((as_seen(with, with.messages[k]) == as_seen(without, without.messages[k])));
    const node_messages none(empty, true, 0, 8, node_of, joins);
    BOOST_TEST((none.boxes.empty() && none.messages.empty()));
  }
}

BOOST_AUTO_TEST_SUITE_END()
