// Plans of exchanges between boxes that are executed on simulated workers: every wanted element arrives once, sender
// and receiver agree on each box and on its position in both blocks, and replicas share the sending.
#include <partita/plan/mesh_boxes.hpp>
#include <partita/plan/plan_boxes.hpp>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <partita/comm/detail/exchange/lowered_plan.hpp>
#include <partita/explain/plan_text.hpp>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "random_cases.hpp"
#include "simulated_mesh.hpp"

namespace {

using namespace partita;
using simulated::number;
using boxes = std::vector<worker_box>;

std::size_t position(const shape_list& at, const shape_list& shape) {
  return place_in_block<dynamic>::of(at, shape).offset;
}
shape_list plus(const shape_list& a, const shape_list& b) {
  shape_list sum;
  for (std::size_t d = 0; d < a.size(); ++d) sum.push_back(a[d] + b[d]);
  return sum;
}

/// Executes the plans of all workers on their blocks, and adds what arrives to `got`. Throws if a pair of workers does
/// not agree on a box.
void execute(const std::vector<exchange_plan<dynamic>>& plans, const std::vector<std::vector<number>>& held,
             std::vector<std::vector<number>>& got) {
  for (std::size_t w = 0; w < plans.size(); ++w) {
    const auto& plan = plans[w];
    got[w].resize(simulated::tensor::volume(plan.destination_shape), -1);
    const auto write = [&](const shape_list& at, number value) {
      number& element = got[w][position(at, plan.destination_shape)];
      if (element != -1) throw std::runtime_error("an element arrives twice");
      element = value;
    };
    for (const auto& k : plan.kept)
      simulated::for_each_index(k.where.shape(), [&](const shape_list& i) {
        write(plus(k.destination_start, i), held[w][position(plus(k.source_start, i), plan.source_shape)]);
      });
    std::size_t of_pair = 0;  // both workers list the boxes of a pair in the same order
    for (std::size_t k = 0; k < plan.receives.size(); ++k) {
      const auto& r = plan.receives[k];
      of_pair = k > 0 && plan.receives[k - 1].worker == r.worker ? of_pair + 1 : 0;
      const auto& from = plans[r.worker];
      const auto first =
          std::find_if(from.sends.begin(), from.sends.end(), [&](const auto& t) { return t.worker == w; });
      const auto s = from.sends.end() - first > static_cast<std::ptrdiff_t>(of_pair)
                         ? first + static_cast<std::ptrdiff_t>(of_pair)
                         : from.sends.end();
      if (s == from.sends.end() || s->worker != w || !(s->where == r.where))
        throw std::runtime_error("a box is not sent");
      if (s->at_peer.offset != position(r.at, plan.destination_shape) ||
          r.at_peer.offset != position(s->at, from.source_shape))
        throw std::runtime_error("sender and receiver differ in a position");
      simulated::for_each_index(r.where.shape(), [&](const shape_list& i) {
        write(plus(r.at, i), held[r.worker][position(plus(s->at, i), from.source_shape)]);
      });
    }
  }
}

/// Element i of summand s of the global tensor.
number element(std::size_t summand_index, const shape_list& i) {
  number n = static_cast<number>(summand_index) + 1;
  for (const std::size_t k : i) n = n * 16 + static_cast<number>(k);
  return n;
}
std::vector<number> block_of(const worker_box& one) {
  std::vector<number> all;
  if (one.has_box)
    simulated::for_each_index(simulated::shape_of(one.box), [&](const shape_list& i) {
      all.push_back(element(one.summand_index, simulated::shifted(i, one.box, 1)));
    });
  return all;
}
void check(const box_overlaps& all, const std::string& name) {
  std::vector<exchange_plan<dynamic>> plans;
  std::vector<std::vector<number>> held, got(all.held_boxes().size());
  std::size_t sent = 0, received = 0, most = 0;
  std::vector<std::size_t> extents;
  for (const auto* side : {&all.held_boxes(), &all.wanted_boxes()})
    for (const worker_box& one : *side)
      for (std::size_t d = 0; one.has_box && d < one.box.size(); ++d) {
        if (extents.size() <= d) extents.resize(d + 1, 0);
        extents[d] = std::max(extents[d], one.box[d].stop);
      }
  for (std::size_t w = 0; w < all.held_boxes().size(); ++w) {
    plans.push_back(plan_boxes(all, w));
    if (!extents.empty()) BOOST_TEST((plans[w].extents == shape_list(extents)), name);
    BOOST_TEST((plans[w].gives == all.held_boxes()[w].has_box && plans[w].takes == all.wanted_boxes()[w].has_box),
               name);
    held.push_back(block_of(all.held_boxes()[w]));
    sent += plans[w].elements_sent(), received += plans[w].elements_received();
    for (const auto* moves : {&plans[w].sends, &plans[w].receives})
      BOOST_TEST(std::is_sorted(moves->begin(), moves->end(),
                                [](const auto& a, const auto& b) { return a.worker < b.worker; }),
                 name);
    most = std::max(most, plans[w].elements_received());
  }
  BOOST_TEST(sent == received, name);
  BOOST_TEST(most == all.max_received_elements(), name);
  execute(plans, held, got);
  for (std::size_t w = 0; w < got.size(); ++w)
    if (all.wanted_boxes()[w].has_box)
      BOOST_TEST((got[w] == block_of(all.wanted_boxes()[w])), name << ", worker " << w);
}
constexpr std::size_t nodes = 3;
/// The elements that each node must receive: of each box of which it has no copy, all that its workers want, once.
std::vector<std::size_t> missing(const box_overlaps& all, const std::vector<std::size_t>& node) {
  std::vector<std::size_t> elements(nodes, 0);
  std::vector<std::vector<number>> there(nodes);  // numbers of elements; they differ between summands
  for (std::size_t w = 0; w < node.size(); ++w)
    for (const number n : block_of(all.held_boxes()[w])) there[node[w]].push_back(n);
  for (std::size_t w = 0; w < node.size(); ++w)
    for (const number n : block_of(all.wanted_boxes()[w]))
      if (auto& here = there[node[w]]; std::find(here.begin(), here.end(), n) == here.end())
        here.push_back(n), ++elements[node[w]];
  return elements;
}
/// Executes both steps on workers that share nodes. Of windows that overlap, an element may be sent more than once.
void check_on_nodes(box_overlaps all, const std::vector<std::size_t>& node, const std::string& name) {
  const std::vector<std::size_t> least = missing(all, node);
  all.prefer_same_node(members_by_node(node));
  std::vector<exchange_plan<dynamic>> first, second;
  std::vector<std::vector<number>> held, got(node.size());
  std::vector<std::size_t> arrived(nodes, 0);
  for (std::size_t w = 0; w < node.size(); ++w) {
    first.push_back(plan_boxes(all, w)), second.push_back(plan_boxes(all, w, true));
    held.push_back(block_of(all.held_boxes()[w]));
    for (const auto& r : first[w].receives) arrived[node[w]] += node[r.worker] != node[w] ? r.where.volume() : 0;
    for (const auto& r : second[w].receives) BOOST_TEST(node[r.worker] == node[w], name);
  }
  BOOST_TEST(arrived == least, name << boost::test_tools::per_element());
  execute(first, held, got);
  const auto between = got;
  execute(second, between, got);
  for (std::size_t w = 0; w < got.size(); ++w)
    if (all.wanted_boxes()[w].has_box)
      BOOST_TEST((got[w] == block_of(all.wanted_boxes()[w])), name << ", worker " << w);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(planning_boxes)

BOOST_AUTO_TEST_CASE(a_shift_by_two_elements_takes_one_box_of_the_neighbour) {
  const boxes had{{{interval{0, 4}}, 0, true}, {{interval{4, 8}}, 0, true}},
      wanted{{{interval{2, 6}}, 0, true}, {{interval{6, 8}}, 0, true}};
  const exchange_plan<dynamic> plan = plan_boxes(box_overlaps(had, wanted), 0);
  BOOST_TEST(plan.sends.empty());
  BOOST_TEST(plan.receives.size() == 1U);
  BOOST_TEST(plan.receives[0].worker == 1U);
  BOOST_TEST((plan.receives[0].where == box<dynamic>{{4}, {6}}));
  BOOST_TEST((plan.receives[0].at == shape_list{2}));
  BOOST_TEST(plan.kept.size() == 1U);
  BOOST_TEST(plan.elements_received() == 2U);
  BOOST_TEST(plan.messages_received() == 1U);
  const std::string written(to_text(plan, 4).c_str());
  BOOST_TEST(written.find("from worker 1  [4, 6)  2 elements (8 bytes)") != std::string::npos, written);
}

BOOST_AUTO_TEST_CASE(random_reshards_of_placed_meshes_move_every_element_once) {
  std::mt19937_64 random(5);
  for (std::size_t k = 0; k < test::random_cases(400); ++k) {
    mesh m;
    const char* names[] = {"a", "b", "c"};
    for (std::size_t a = 0, rank = 1 + random() % 3; a < rank; ++a) m.push_back(axis(names[a], 1 + random() % 3));
    std::vector<std::size_t> ids(m.size() + random() % 3);
    std::iota(ids.begin(), ids.end(), std::size_t{0});
    std::shuffle(ids.begin(), ids.end(), random);
    const std::size_t workers = ids.size();
    ids.resize(m.size());
    const placed_mesh where(m, partita::workers(ids));
    shape_list shape;
    for (std::size_t rank = random() % 4; rank > 0; --rank) shape.push_back(random() % 8);
    const sharding from = simulated::random_sharding(m, shape.size(), random),
                   to = simulated::random_sharding(m, shape.size(), random);
    const box_overlaps all = overlaps_of({from, to, 0}, shape, where, workers);
    const text name = text() << "" << shape << " from " << from << " to " << to;
    check(all, name.c_str());
    std::vector<std::size_t> node(workers);
    for (std::size_t& n : node) n = random() % nodes;
    check_on_nodes(all, node, name.c_str());
    // Workers that hold copies receive from different copies where they can: no message leaves a group of workers whose
    // coordinates along the replicated axes are equal.
    for (std::size_t w = 0; w < m.size(); ++w)
      for (const auto& r : plan_boxes(all, where.worker(w)).receives)
        for (std::size_t a = 0; a < m.rank(); ++a)
          if ((from.cut_axes() >> a & 1U) == 0)
            BOOST_TEST(coordinate_of(m, where.place(r.worker), a) == coordinate_of(m, w, a));
  }
}

BOOST_AUTO_TEST_CASE(summands_that_stay_pending_move_among_the_workers_of_their_summand) {
  std::mt19937_64 random(11);
  const mesh m{axis{"a", 2}, axis{"b", 2}, axis{"c", 3}};
  std::size_t replicated = 0;  // the cases in which every summand has several copies
  for (std::size_t k = 0; k < test::random_cases(200); ++k) {
    std::vector<std::size_t> ids(m.size() + random() % 2), node(ids.size());
    std::iota(ids.begin(), ids.end(), std::size_t{0});
    std::shuffle(ids.begin(), ids.end(), random);
    for (std::size_t& n : node) n = random() % nodes;
    ids.resize(m.size());
    const shape_list shape{random() % 8, random() % 8};
    sharding from(m, 2), to(m, 2);
    const std::size_t summed = random() % m.rank();  // the axis over which both are partial
    from.pending[summed] = to.pending[summed] = pending_reduction::sum;
    for (std::size_t a = 0; a < m.rank(); ++a)
      for (sharding* const one : {&from, &to})
        if (const std::size_t d = random() % 3; a != summed && d < 2) one->cuts[d].push_back(a);
    replicated += (from.cut_axes() | std::uint32_t{1} << summed) != 7 ? 1 : 0;
    const box_overlaps all = overlaps_of({from, to, 0}, shape, placed_mesh(m, partita::workers(ids)), node.size());
    const text name = text() << "" << shape << " from " << from << " to " << to;
    check(all, name.c_str());
    check_on_nodes(all, node, name.c_str());
  }
  BOOST_TEST(replicated > 0U);
}

BOOST_AUTO_TEST_CASE(summands_are_gathered_along_a_leading_dimension) {
  const mesh m{axis{"a", 3}, axis{"b", 2}};
  const sharding from = m.layout("b").partial("a"), to = m.layout("a");
  const box_overlaps all = overlaps_of({from, to, 1}, {7}, placed_mesh(m), 6);
  check(all, "a partial vector");
  const auto plan = plan_boxes(all, 0);  // elements 0 to 3 of each of three summands, of which it holds one
  BOOST_TEST((plan.source_shape == shape_list{1, 4}));
  BOOST_TEST((plan.destination_shape == shape_list{3, 3}));
  BOOST_TEST(plan.elements_received() == 6U);
  BOOST_TEST(plan.receives.size() == 2U);
}

BOOST_AUTO_TEST_CASE(copies_without_a_number_serve_receivers_in_turn) {
  boxes had(5), wanted(5);
  for (const std::size_t w : {1U, 3U}) had[w] = {{interval{0, 6}}, 0, true};
  for (const std::size_t w : {0U, 2U, 4U, 3U}) wanted[w] = {{interval{0, 6}}, 0, true};
  const box_overlaps all(had, wanted);
  check(all, "two copies");
  BOOST_TEST(plan_boxes(all, 1).sends.size() == 3U);  // workers 0, 2 and 4 are even: they receive from the first copy
  BOOST_TEST(plan_boxes(all, 3).sends.empty());
}

BOOST_AUTO_TEST_CASE(copies_on_a_node_serve_its_receivers_in_turn) {
  boxes had(8), wanted(8);
  for (const std::size_t w : {0U, 1U, 3U, 7U}) had[w] = {{interval{0, 6}}, 0, true};
  for (const std::size_t w : {2U, 4U, 5U}) wanted[w] = {{interval{0, 6}}, 0, true};
  box_overlaps all(had, wanted);
  all.prefer_same_node(members_by_node({0, 1, 1, 1, 1, 1, 0, 0}));
  for (const std::size_t w : {2U, 4U, 5U})  // from workers 1 and 3, which are on their node
    BOOST_TEST(plan_boxes(all, w).receives.at(0).worker == (w % 2 == 0 ? 1U : 3U));
}

BOOST_AUTO_TEST_CASE(a_plan_of_run_time_rank_is_executed_like_others) {
  const boxes had{{{interval{0, 2}, {0, 3}}, 0, true}, {{interval{2, 4}, {0, 3}}, 0, true}},
      wanted{{{interval{0, 4}, {0, 1}}, 0, true}, {{interval{0, 4}, {1, 3}}, 0, true}};
  const auto low = detail::lowered(plan_boxes(box_overlaps(had, wanted), 0));
  BOOST_TEST(low.rank == 2U);
  BOOST_TEST(low.sends.size() == 1U);
  BOOST_TEST(low.peer_offset(0) == 0);
  BOOST_TEST(low.peer_strides(0)[0] == 2);
  BOOST_TEST(low.received_strides[0] == 1);
  const auto back = reversed(plan_boxes(box_overlaps(had, wanted), 0));
  BOOST_TEST(back.sends.size() == 1U);
  BOOST_TEST(back.accumulate);
}

BOOST_AUTO_TEST_CASE(workers_of_a_node_share_the_boxes_that_they_receive_from_another_node) {
  // Each of two workers holds a half; two workers of another node want both halves.
  boxes had(4), wanted(4);
  for (const std::size_t w : {0U, 1U}) had[w] = {{interval{3 * w, 3 * w + 3}}, 0, true};
  for (const std::size_t w : {2U, 3U}) wanted[w] = {{interval{0, 6}}, 0, true};
  box_overlaps all(had, wanted);
  all.prefer_same_node(members_by_node({0, 0, 1, 1}));
  for (const std::size_t w : {2U, 3U}) {  // one half comes from the other node, and the other half is passed on
    const auto first = plan_boxes(all, w), second = plan_boxes(all, w, true);
    BOOST_TEST_REQUIRE((first.receives.size() == 1U && second.receives.size() == 1U));
    BOOST_TEST(first.receives[0].worker == w - 2);
    BOOST_TEST(second.receives[0].worker == 5 - w);
    BOOST_TEST_REQUIRE(second.sends.size() == 1U);
    BOOST_TEST(second.sends[0].worker == 5 - w);
  }
}

BOOST_AUTO_TEST_CASE(boxes_of_a_mesh_are_listed_by_the_ids_of_its_workers) {
  const mesh line{axis{"a", 2}};
  const placed_mesh two(line, partita::workers{5, 2});
  for (const std::size_t world : {0U, 3U, 6U, 9U}) {
    const boxes all = boxes_on_mesh(two, world, line.layout("a"), {4});
    BOOST_TEST_REQUIRE(all.size() == std::max<std::size_t>(world, 6));
    for (std::size_t w = 0; w < all.size(); ++w) BOOST_TEST(all[w].has_box == (w == 2 || w == 5));
    BOOST_TEST((all[5].box[0] == interval{0, 2} && all[2].box[0] == interval{2, 4}));
  }
  const mesh square{axis{"a", 2}, axis{"b", 3}};  // the box of each coordinate along b belongs to another summand
  const boxes partial = boxes_on_mesh(placed_mesh(square), 6, square.layout("a").partial("b"), {4});
  for (std::size_t w = 0; w < 6; ++w) BOOST_TEST(partial[w].summand_index == w % 3);
}

BOOST_AUTO_TEST_CASE(summands_over_axes_that_stay_partial_are_gathered_apart) {
  const mesh square{axis{"a", 2}, axis{"b", 3}};
  const sharding from = square.layout("", "").partial("a").partial("b"), to = square.layout("a", "").partial("b");
  const box_overlaps all = overlaps_of({from, to, 1}, {5, 2}, placed_mesh(square), 6);
  check(all, "a sum over two axes");
  for (std::size_t w = 0; w < 6; ++w) {
    const auto plan = plan_boxes(all, w);
    BOOST_TEST_REQUIRE(plan.receives.size() == 1U);
    BOOST_TEST(plan.receives[0].worker == (w + 3) % 6);  // the other one along "a" with its coordinate along "b"
  }
}

BOOST_AUTO_TEST_SUITE_END()
