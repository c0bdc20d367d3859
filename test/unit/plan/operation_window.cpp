// The figures of a window's exchange are those of the plans that carry it out, on every worker; and a rule with windows
// shards an operand and its result alike, whatever their extents are.
#include <partita/plan/operation_window.hpp>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <partita/explain/completion_text.hpp>
#include <partita/plan/complete.hpp>
#include <partita/plan/mesh_boxes.hpp>
#include <partita/plan/plan_boxes.hpp>
#include <partita/rule/sharding/propagate.hpp>
#include <partita/rule/sharding/rules.hpp>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "random_cases.hpp"

using namespace partita;

namespace {

/// A window of random width around the block of each place of the mesh, within the tensor.
struct random_window final : operation_window {
  std::vector<short_list<interval>> wanted{};

  random_window(const sharding& lies, const shape_list& shape, std::mt19937& random)
      : operation_window(first_tensors(2), ~std::uint32_t{0}) {
    for (std::size_t place = 0; place < lies.on.size(); ++place) {
      auto box = mesh_block(lies, shape, place);
      for (std::size_t d = 0; d < shape.size(); ++d) {
        if (random() % 3 == 0) continue;
        const std::size_t before = random() % 4, after = random() % 4;
        box[d] = {box[d].start < before ? 0 : box[d].start - before, std::min(box[d].stop + after, shape[d])};
      }
      wanted.push_back(box);
    }
  }
  received_share receive_cost(std::size_t, std::size_t place, const sharding* lies,
                              const shape_list* shapes) const override {
    return detail::received_share_of_window(wanted[place], lies[0], shapes[0], place);
  }
};

}  // namespace

BOOST_AUTO_TEST_CASE(the_figures_of_windows_are_those_of_the_plans) {
  std::mt19937 random(17);
  std::size_t moved = 0;
  for (std::size_t k = 0; k < test::random_cases(400); ++k) {
    const mesh m{axis{"a", 1 + random() % 4}, axis{"b", 1 + random() % 3}};
    const shape_list shape{random() % 12, 1 + random() % 9};
    sharding lies(m, 2);
    for (std::size_t a = 0; a < 2; ++a) {
      axis_list cut = lies[random() % 2];
      const std::size_t d = random() % 3;
      if (d == 2) continue;
      cut = lies[d];
      cut.push_back(a);
      lies = lies.cut(d, cut);
    }
    const random_window window(lies, shape, random);
    const placed_mesh where(m);
    auto had = boxes_on_mesh(where, m.size(), lies, shape), wanted = had;
    for (std::size_t place = 0; place < m.size(); ++place) wanted[place].box = window.wanted[place];
    const box_overlaps boxes(had, wanted);
    std::size_t most = 0, messages = 0, together = 0;
    double seconds = 0;
    for (std::size_t place = 0; place < m.size(); ++place) {
      const auto plan = plan_boxes(boxes, place);
      const received_share share = window.receive_cost(0, place, &lies, &shape);
      BOOST_TEST(share.elements == plan.elements_received());
      BOOST_TEST(share.messages == plan.receives.size());
      most = std::max(most, share.elements), messages = std::max(messages, share.messages);
      together += share.elements;
      seconds = std::max(seconds, 5 * static_cast<double>(share.messages) + 8 * static_cast<double>(share.elements));
    }
    moved += most;
    if (lies.cut_axes() != 3) continue;     // else places with equal blocks may have different windows here
    const sharding twice[] = {lies, lies};  // operand and result
    const shape_list shapes[] = {shape, shape};
    // each message takes the slower axis, for its latency and for its bytes
    const mesh_links links{{5, 0.5}, {3, 1}};
    const exchange_cost all = window_cost(window, twice, shapes, 1, links, 8);
    BOOST_TEST(all.elements == most);
    BOOST_TEST(all.elements == boxes.max_received_elements());
    BOOST_TEST(all.messages == messages);
    BOOST_TEST(all.mean * static_cast<double>(m.size()) == static_cast<double>(together),
               boost::test_tools::tolerance(1e-12));
    BOOST_TEST(all.seconds == seconds);
  }
  BOOST_TEST(moved > 0U);
}

BOOST_AUTO_TEST_CASE(a_rule_with_windows_shards_operand_and_result_alike) {
  const mesh m{axis{"a", 2}, axis{"b", 3}};
  const shape_list x{8, 6}, y{5, 6};
  const rule whole = rules::slice({0})(shape_span(&x, 1));
  const rule windows = with_shardable_dimensions(whole, first_tensors(2), 1);
  const spec rows(m.layout("a", "b"), x);
  BOOST_TEST((propagate(m, whole, {rows}).operands[0] == m.layout("", "b")));
  BOOST_TEST((propagate(m, windows, {rows}).operands[0].same_layout(m.layout("a", "b"))));
  BOOST_TEST((propagate(m, windows, {rows}).results[0].same_layout(m.layout("a", "b"))));
  const spec unknown(x), result(m.layout("a", ""), y);  // and from the result back to the operand
  const propagation back = propagate(m, windows, spec_list(&unknown, 1), spec_list(&result, 1), direction::backward);
  BOOST_TEST((back.operands[0].same_layout(m.layout("a", ""))));
}

/// The text of a completed program ends with the number of its moves and their bytes: each move has its line, whether
/// it is a reshard or what the blocks of an operation read of others.
BOOST_AUTO_TEST_CASE(reshards_and_windows_are_counted_as_moves) {
  std::mt19937 random(5);
  const mesh m{axis{"a", 3}};
  const shape_list shape{12, 4};
  for (const bool reshards : {false, true}) {
    const random_window window(m.layout("a", ""), shape, random);
    graph g(m);
    const value x = g.input(shape, m.layout("a", ""), "x");
    const rule whole = rules::elementwise(shape_span(&shape, 1));
    const value y = g.apply(with_shardable_dimensions(whole, first_tensors(2), 3), {x}, "near", shape, &window);
    if (reshards) g.apply(rules::softmax(0), {y}, "softmax");
    const completion done = complete(g);
    const std::string all = to_text(done);
    std::size_t moves = 0;
    std::istringstream lines(all);
    for (std::string line; std::getline(lines, line);)
      moves += line.starts_with("before ") || line.starts_with("after ") || line.starts_with("inside ") ? 1U : 0U;
    BOOST_TEST(moves >= (reshards ? 2U : 1U), all);
    const std::string end = std::to_string(moves) + " moves, " + std::to_string(done.bytes()) + " bytes";
    BOOST_TEST(all.find(end) != std::string::npos, all);
    std::size_t bytes = 0;
    for (const graph_reshard& move : done.reshards) bytes += done.plan(move).bytes();
    for (std::size_t o = 0; o < g.operations(); ++o) bytes += done.window_bytes(o);
    BOOST_TEST((done.window_bytes(0) > 0 && done.bytes() == bytes));
  }
}
