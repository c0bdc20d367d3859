// Joint messages of the workers of two nodes, executed in memory for all workers of simulated nodes: every box arrives
// where the plans say, in one message for each pair of nodes, or in a few if they are long.
#include <partita/comm/detail/exchange/joint_plan.hpp>
#include <partita/comm/side_by_side.hpp>
#include <partita/plan/repartition_plan.hpp>

#include "random_grid.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <array>
#include <complex>
#include <cstdint>
#include <map>
#include <random>
#include <type_traits>
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
      BOOST_TEST(static_cast<std::ptrdiff_t>(expected[next].staging_offset / sizeof(element)) ==
                 j.collecting_boxes.peer_offset(k));
      ++next;
    }
    for (std::size_t k = 0; k < j.own_leaving_boxes.size(); ++k)
      partita::detail::pack_box(kind, j.own_leaving_boxes[k], 2, w.block(),
                                w.leaving.data() + j.own_leaving_boxes[k].staging_offset, true, stores::cached);
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
      std::copy_n(w.leaving.data() + m.staging_offset, m.shape[0], to.arriving.data() + expected[next].staging_offset);
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
                                w.arriving.data() + j.own_arriving_boxes[k].staging_offset, false, stores::cached);
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

/// Complex numbers may begin where a real number may: then no whole number of elements leads from one to the other.
BOOST_AUTO_TEST_CASE(blocks_are_whole_elements_apart_or_not) {
  std::vector<double> memory(40);
  const auto at = [&](std::size_t k) {
    return strided<std::complex<double>, 1>{reinterpret_cast<std::complex<double>*>(memory.data() + k), {2}, {1}};
  };
  const auto apart = [&](std::size_t a, std::size_t b, std::size_t c) {
    return detail::are_whole_elements_apart(std::array{at(a), at(b), at(c)});
  };
  for (std::size_t a = 0; a < 4; ++a)
    for (std::size_t b = 0; b < 4; ++b)
      for (std::size_t c = 0; c < 4; ++c) BOOST_TEST(apart(a + 4, b + 20, c) == (a % 2 == b % 2 && a % 2 == c % 2));
  BOOST_TEST(detail::are_whole_elements_apart(std::array{at(3)}));
  BOOST_TEST(detail::are_whole_elements_apart(std::array<strided<float, 2>, 2>{}));
}

BOOST_AUTO_TEST_CASE(the_last_value_that_is_not_larger_is_found) {
  std::mt19937 random(5);
  for (std::size_t n = 1; n < 20; ++n) {
    std::vector<std::size_t> values(n, 1);
    for (std::size_t k = 1; k < n; ++k) values[k] = values[k - 1] + 1 + random() % 3;
    for (std::size_t value = 1; value < values.back() + 3; ++value) {
      std::size_t expected = 0;
      for (std::size_t k = 0; k < n; ++k) expected = values[k] <= value ? k : expected;
      BOOST_TEST(detail::find_last_index(value, n, [&](std::size_t k) { return values[k]; }) == expected);
    }
  }
}

BOOST_AUTO_TEST_CASE(nodes_are_numbered_by_their_lowest_workers) {
  const std::vector<int> lowest{0, 1, 0, 3, 1, 3, 6, 0};
  const std::size_t expected[] = {0, 1, 0, 2, 1, 2, 3, 0};
  const detail::node_numbers node_of(lowest);
  for (std::size_t worker = 0; worker < lowest.size(); ++worker) BOOST_TEST(node_of(worker) == expected[worker]);
}

BOOST_AUTO_TEST_CASE(an_empty_copy_of_a_plan_has_its_properties_and_no_boxes) {
  const std::array<std::size_t, 2> shape{2, 3}, at{1, 0};
  const std::array<std::ptrdiff_t, 2> strides{7, 1};
  for (unsigned set = 0; set < 16; ++set) {
    lowered_plan plan(2);
    plan.worker = 5, plan.source_shape = {4, 5}, plan.received_shape = {6, 7}, plan.received_strides = {7, 1};
    plan.accumulate = (set & 1U) != 0, plan.has_several_blocks = (set & 2U) != 0, plan.is_polled = (set & 4U) != 0,
    plan.is_agreed_between_calls = (set & 8U) != 0;
    plan.add_send(3, shape.data(), at.data(), 9, strides.data()), plan.receives.add(3, shape.data(), at.data());
    plan.add_kept_box(shape.data(), at.data(), at.data()), plan.sum_positions = {0, 1};
    lowered_plan used(2);  // a plan that had other properties and boxes
    used.accumulate = !plan.accumulate, used.has_several_blocks = !plan.has_several_blocks;
    used.is_polled = !plan.is_polled, used.is_agreed_between_calls = !plan.is_agreed_between_calls;
    used.add_send(1, shape.data(), at.data(), 0, strides.data()), used.sum_positions = {8};
    used.add_kept_box(shape.data(), at.data(), at.data()), used.receives.add(1, shape.data(), at.data());
    used.copy_properties(plan);
    for (const lowered_plan& copy : {plan.make_empty_copy(), used}) {
      BOOST_TEST((copy.rank == 2 && copy.worker == 5));
      BOOST_TEST((copy.source_shape == plan.source_shape && copy.received_shape == plan.received_shape));
      BOOST_TEST((copy.received_strides == plan.received_strides && copy.accumulate == plan.accumulate));
      BOOST_TEST((copy.has_several_blocks == plan.has_several_blocks && copy.is_polled == plan.is_polled));
      BOOST_TEST(copy.is_agreed_between_calls == plan.is_agreed_between_calls);
      BOOST_TEST((copy.sends.empty() && copy.receives.empty() && copy.kept.empty() && copy.kept_destinations.empty()));
      BOOST_TEST((copy.peer_positions.empty() && copy.sum_positions.empty() && !copy.has_boxes()));
    }
    BOOST_TEST((plan.has_boxes() && plan.sends.size() == 1 && plan.peer_positions.size() == 3));
  }
}

BOOST_AUTO_TEST_CASE(each_sent_box_has_its_place_at_the_receiver_and_any_box_counts) {
  lowered_plan plan(2);
  const std::array<std::size_t, 2> shape{2, 3}, at{1, 0}, there{4, 5};
  for (std::size_t k = 0; k < 4; ++k) {
    const auto n = static_cast<std::ptrdiff_t>(k);
    const std::array<std::ptrdiff_t, 2> strides{10 * n, 100 * n};
    plan.add_send(k, shape.data(), at.data(), n - 2, strides.data(), 30 + k);
  }
  for (std::size_t k = 0; k < 4; ++k) {
    const auto n = static_cast<std::ptrdiff_t>(k);
    BOOST_TEST((plan.sends[k].worker == k && plan.sends[k].staging_offset == 30 + k));
    BOOST_TEST(
        (plan.peer_offset(k) == n - 2 && plan.peer_strides(k)[0] == 10 * n && plan.peer_strides(k)[1] == 100 * n));
  }
  BOOST_TEST(plan.has_boxes());
  plan.clear_boxes();
  BOOST_TEST(!plan.has_boxes());
  plan.receives.add(2, shape.data(), at.data());
  BOOST_TEST(plan.has_boxes());
  plan.clear_boxes();
  plan.worker = 6, plan.add_kept_box(shape.data(), at.data(), there.data());
  BOOST_TEST((plan.has_boxes() && plan.kept[0].worker == 6));
  BOOST_TEST((std::equal(at.begin(), at.end(), plan.kept[0].at)));
  BOOST_TEST((std::equal(there.begin(), there.end(), plan.kept_destinations[0].at)));
}

/// In a plan of several tensors each box is at the address that it has in its own tensor; the boxes of one worker
/// stand together, in the order of the tensors.
BOOST_AUTO_TEST_CASE(plans_side_by_side_have_the_boxes_of_all_tensors_worker_by_worker) {
  std::mt19937 random(17);
  for (int turn = 0; turn < 100; ++turn) {
    std::vector<element> memory(3000);
    const std::array<std::size_t, 3> ranks{2, 1, 3};
    std::vector<lowered_plan> plans;
    std::vector<std::vector<std::size_t>> shapes;
    std::vector<std::vector<std::ptrdiff_t>> strides(3);
    std::vector<element*> starts;
    for (std::size_t t = 0; t < 3; ++t) {
      lowered_plan plan(ranks[t]);
      plan.worker = 4, plan.accumulate = turn % 2 == 0;
      std::vector<std::size_t> shape(ranks[t]);
      for (std::size_t& n : shape) n = 2 + random() % 5;
      shapes.push_back(shape), starts.push_back(memory.data() + 1000 * ((t + static_cast<std::size_t>(turn)) % 3));
      strides[t].resize(ranks[t]);
      detail::dense_strides(shape.data(), ranks[t], strides[t].data());
      plan.source_shape = plan.received_shape = shape;
      const auto box = [&](auto add) {
        std::vector<std::size_t> extent(ranks[t]), at(ranks[t]), to(ranks[t]);
        for (std::size_t d = 0; d < ranks[t]; ++d) {
          extent[d] = 1 + random() % shape[d];
          at[d] = random() % (shape[d] - extent[d] + 1), to[d] = random() % (shape[d] - extent[d] + 1);
        }
        add(extent.data(), at.data(), to.data());
      };
      for (std::size_t worker = 0; worker < 4; ++worker) {
        for (std::size_t n = random() % 3; n > 0; --n)
          box([&](auto extent, auto at, auto) { plan.add_send(worker, extent, at, 0, strides[t].data()); });
        for (std::size_t n = random() % 3; n > 0; --n) {
          box([&](auto extent, auto at, auto) { plan.receives.add(worker, extent, at); });
          if (plan.accumulate) plan.sum_positions.push_back(10 * worker + t);
        }
      }
      for (std::size_t n = random() % 3; n > 0; --n)
        box([&](auto extent, auto at, auto to) { plan.add_kept_box(extent, at, to); });
      if (plan.accumulate) plan.sum_positions.push_back(70);
      plans.push_back(std::move(plan));
    }
    const auto block = [&]<std::size_t Rank>(std::size_t t, std::integral_constant<std::size_t, Rank>) {
      strided<element, Rank> b{starts[t], {}, {}};
      for (std::size_t d = 0; d < Rank; ++d) b.shape[d] = shapes[t][d], b.strides[d] = strides[t][d];
      return b;
    };
    const detail::blocks_side_by_side<element, 2, 1, 3> all(block(0, std::integral_constant<std::size_t, 2>()),
                                                            block(1, std::integral_constant<std::size_t, 1>()),
                                                            block(2, std::integral_constant<std::size_t, 3>()));
    const lowered_plan joined = detail::join_plans(plans);
    BOOST_TEST((joined.rank == 8 && joined.rank == all.dimensions && joined.worker == 4 && joined.has_several_blocks));
    BOOST_TEST(joined.accumulate == (turn % 2 == 0));
    struct found {
      std::size_t worker;
      char* address;
      std::vector<std::size_t> shape;
      bool operator==(const found&) const = default;
    };
    const block_memory together{reinterpret_cast<char*>(all.data), all.strides.data()};
    const auto found_in = [&](const box_list& boxes) {
      std::vector<found> list;
      for (std::size_t k = 0; k < boxes.size(); ++k) {
        const listed_box b = boxes[k];
        list.push_back({b.worker, detail::box_address(b, together, 8, sizeof(element)), {b.shape, b.shape + 8}});
      }
      return list;
    };
    const auto in_tensor = [&](std::size_t t, const listed_box& b) {
      const block_memory own{reinterpret_cast<char*>(starts[t]), strides[t].data()};
      std::vector<std::size_t> shape(8, 1);
      for (std::size_t d = 0; d < ranks[t]; ++d) shape[(t > 0 ? 2U : 0U) + (t > 1 ? 1U : 0U) + d] = b.shape[d];
      return found{b.worker, detail::box_address(b, own, ranks[t], sizeof(element)), shape};
    };
    std::vector<std::size_t> positions;
    for (box_list lowered_plan::*const list : {&lowered_plan::sends, &lowered_plan::receives}) {
      std::vector<found> expected;
      for (std::size_t worker = 0; worker < 4; ++worker)
        for (std::size_t t = 0; t < 3; ++t)
          for (std::size_t k = 0; k < (plans[t].*list).size(); ++k) {
            if ((plans[t].*list)[k].worker != worker) continue;
            expected.push_back(in_tensor(t, (plans[t].*list)[k]));
            if (list == &lowered_plan::receives && turn % 2 == 0) positions.push_back(plans[t].sum_positions[k]);
          }
      BOOST_TEST((found_in(joined.*list) == expected));
    }
    if (turn % 2 == 0) positions.push_back(70);
    BOOST_TEST((joined.sum_positions == positions));
    std::vector<found> kept, destinations, blocks;
    for (std::size_t t = 0; t < 3; ++t) {
      for (std::size_t k = 0; k < plans[t].kept.size(); ++k) {
        kept.push_back(in_tensor(t, plans[t].kept[k]));
        destinations.push_back(in_tensor(t, plans[t].kept_destinations[k]));
      }
      const std::vector<std::size_t> start(ranks[t], 0);
      blocks.push_back(in_tensor(t, {4, 0, shapes[t].data(), start.data()}));
    }
    BOOST_TEST((found_in(joined.kept) == kept));
    BOOST_TEST((found_in(joined.kept_destinations) == destinations));
    BOOST_TEST((found_in(joined.blocks) == blocks));
  }
}

BOOST_AUTO_TEST_SUITE_END()
