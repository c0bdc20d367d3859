// All-gather and reduce-scatter in two steps: on all numbers of nodes, every part is sent once to each other node and
// reaches every member once, and every block is in every sum once.
#include <partita/kernel/detail/wholes_by_node.hpp>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <map>
#include <random>
#include <set>
#include <tuple>

#include "random_cases.hpp"

namespace {

using namespace partita;

/// A group of workers in any order on any nodes, and how they share a tensor (parts may be empty).
struct trial {
  std::vector<std::size_t> members, node;
  tensor_parts<2> tensor;
  std::vector<two_step_plan<2>> gather, sum;  // by position

  explicit trial(unsigned seed) {
    std::mt19937 random(seed);
    const std::size_t n = 1 + random() % 9, nodes = 1 + random() % 4;
    for (std::size_t k = 0; k < n; ++k) members.push_back(3 * k + 1), node.push_back(10 * (random() % nodes));
    if (seed % 2 == 0) std::shuffle(members.begin(), members.end(), random);
    const std::array<std::size_t, 2> grid{n, 1};
    tensor = balanced_parts<2>({random() % 20, 3}, grid);
    const members_by_node by_node(node);
    for (std::size_t k = 0; k < n; ++k) {
      const block_group<2> group{members, k, grid};
      gather.push_back(plan_all_gather_by_node(group, tensor, by_node, members[k]));
      sum.push_back(plan_sums_by_node(group, tensor, by_node, members[k]));
    }
  }
  std::size_t position(std::size_t worker) const {
    return static_cast<std::size_t>(std::find(members.begin(), members.end(), worker) - members.begin());
  }
  std::size_t part_of(const box<2>& where) const {
    return static_cast<std::size_t>(std::find(tensor.parts.begin(), tensor.parts.end(), where) - tensor.parts.begin());
  }
};

/// What is sent, as (from, to, start of the box); both sides must say the same, in the same order for each pair.
using moves = std::vector<std::tuple<std::size_t, std::size_t, std::size_t>>;
moves moves_of(const trial& t, std::vector<two_step_plan<2>> trial::*which, exchange_plan<2> two_step_plan<2>::*step) {
  moves sent, received;
  for (const two_step_plan<2>& plan : t.*which) {
    for (const auto& s : (plan.*step).sends) sent.emplace_back((plan.*step).worker, s.worker, s.where.start[0]);
    for (const auto& r : (plan.*step).receives) received.emplace_back(r.worker, (plan.*step).worker, r.where.start[0]);
  }
  const auto by_pair = [](const auto& a, const auto& b) {
    return std::tie(std::get<0>(a), std::get<1>(a)) < std::tie(std::get<0>(b), std::get<1>(b));
  };
  std::stable_sort(sent.begin(), sent.end(), by_pair);
  std::stable_sort(received.begin(), received.end(), by_pair);
  BOOST_TEST((sent == received));
  return sent;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(wholes_by_node)

BOOST_AUTO_TEST_CASE(both_sides_of_every_pair_list_the_same_boxes_and_the_second_step_of_one_is_on_nodes) {
  for (unsigned seed = 0; seed < test::random_cases(200); ++seed) {
    const trial t(seed);
    const auto node = [&](std::size_t worker) { return t.node[t.position(worker)]; };
    moves_of(t, &trial::gather, &two_step_plan<2>::first_step);
    for (const auto& [from, to, start] : moves_of(t, &trial::gather, &two_step_plan<2>::second_step))
      BOOST_TEST(node(from) == node(to));
    for (const auto& [from, to, start] : moves_of(t, &trial::sum, &two_step_plan<2>::first_step))
      BOOST_TEST(node(from) == node(to));
    for (const auto& [from, to, start] : moves_of(t, &trial::sum, &two_step_plan<2>::second_step))
      BOOST_TEST(node(from) != node(to));
  }
}

BOOST_AUTO_TEST_CASE(every_part_travels_once_to_each_other_node_and_reaches_every_member_once) {
  for (unsigned seed = 0; seed < test::random_cases(200); ++seed) {
    const trial t(seed);
    std::map<std::pair<std::size_t, std::size_t>, std::size_t> arrived, crossed;  // by part and member, part and node
    for (const two_step_plan<2>& plan : t.gather) {
      const auto& whole = t.tensor.extents;
      BOOST_TEST((plan.first_step.extents == whole && plan.first_step.destination_shape == whole));
      BOOST_TEST((plan.first_step.source_shape == t.tensor.parts[t.position(plan.first_step.worker)].shape()));
      BOOST_TEST((plan.second_step.extents == whole && plan.second_step.source_shape == whole));
      BOOST_TEST((plan.second_step.destination_shape == whole));
      const std::size_t me = t.position(plan.first_step.worker);
      std::set<std::size_t> has{me};
      for (const auto& r : plan.first_step.receives) {
        const std::size_t part = t.part_of(r.where);
        ++arrived[{part, me}];
        has.insert(part);
        if (t.node[t.position(r.worker)] != t.node[me]) ++crossed[{part, t.node[me]}];
      }
      for (const auto& s : plan.second_step.sends) BOOST_TEST(has.count(t.part_of(s.where)) == 1U);
      for (const auto& r : plan.second_step.receives) ++arrived[{t.part_of(r.where), me}];
    }
    for (const auto& [which, times] : arrived) BOOST_TEST(times == 1U);
    for (const auto& [which, times] : crossed) BOOST_TEST(times == 1U);
    const auto parts = static_cast<std::size_t>(
        std::count_if(t.tensor.parts.begin(), t.tensor.parts.end(), [](const auto& b) { return !b.empty(); }));
    const std::set<std::size_t> nodes(t.node.begin(), t.node.end());
    BOOST_TEST(arrived.size() == parts * (t.members.size() - 1));
    BOOST_TEST(crossed.size() == parts * (nodes.size() - 1));
  }
}

BOOST_AUTO_TEST_CASE(every_block_is_in_every_sum_once_and_one_sum_of_a_node_travels) {
  for (unsigned seed = 0; seed < test::random_cases(200); ++seed) {
    const trial t(seed);
    std::map<std::pair<std::size_t, std::size_t>, std::vector<std::size_t>> partial;  // by member and part: whose
    const auto add = [&](std::size_t at, std::size_t part, std::size_t whose) { partial[{at, part}].push_back(whose); };
    for (const two_step_plan<2>& plan : t.sum) {
      const std::size_t me = t.position(plan.first_step.worker);
      std::size_t rows = 0;
      for (const auto& k : plan.first_step.kept) {
        add(me, t.part_of(k.where), me);
        BOOST_TEST(k.destination_start[0] == rows);  // side by side
        rows += k.where.shape()[0];
      }
      BOOST_TEST(plan.first_step.destination_shape[0] == rows);
      BOOST_TEST((plan.second_step.source_shape == plan.first_step.destination_shape));
      for (const auto& r : plan.first_step.receives) add(me, t.part_of(r.where), t.position(r.worker));
    }
    for (const two_step_plan<2>& plan : t.sum) {
      const std::size_t me = t.position(plan.second_step.worker);
      if (t.tensor.parts[me].empty()) continue;
      std::vector<std::size_t> all = partial[{me, me}];
      for (const auto& r : plan.second_step.receives) {
        const auto& more = partial[{t.position(r.worker), me}];
        all.insert(all.end(), more.begin(), more.end());
      }
      std::sort(all.begin(), all.end());
      for (std::size_t k = 0; k < all.size(); ++k) BOOST_TEST(all[k] == k);
      BOOST_TEST(all.size() == t.members.size());
      const std::set<std::size_t> nodes(t.node.begin(), t.node.end());
      BOOST_TEST(plan.second_step.receives.size() == nodes.size() - 1);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
