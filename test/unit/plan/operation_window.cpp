// The figures of a window's exchange are those of the plans that carry it out, on every worker; and a rule with windows
// shards an operand and its result alike, whatever their extents are.
#include <partita/plan/operation_window.hpp>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <partita/explain/completion_text.hpp>
#include <partita/plan/complete.hpp>
#include <partita/plan/mesh_boxes.hpp>
#include <partita/plan/plan_boxes.hpp>
#include <partita/plan/step_plan.hpp>
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

namespace {

/// What the worker at a place receives of an operand: more with its coordinate along the first axis and with the number
/// of the operand.
struct window_by_coordinate final : operation_window {
  window_by_coordinate() : operation_window(first_tensors(3), 3) {}
  received_share receive_cost(std::size_t operand, std::size_t place, const sharding* lies,
                              const shape_list*) const override {
    const std::size_t along = coordinate_of(lies[0].on, place, 0);
    return {.elements = 10 * (operand + 1) * along, .messages = operand + along};
  }
};

/// The second worker receives many elements in one message, and the third one element in many messages.
struct uneven_window final : operation_window {
  uneven_window() : operation_window(first_tensors(2), 1) {}
  received_share receive_cost(std::size_t, std::size_t place, const sharding*, const shape_list*) const override {
    received_share share;
    if (place == 1) share = {.elements = 100, .messages = 1};
    if (place == 2) share = {.elements = 1, .messages = 50};
    return share;
  }
};

/// One more row on either side of each block of rows.
struct row_window final : operation_window {
  row_window() : operation_window(first_tensors(2), 1) {}
  received_share receive_cost(std::size_t, std::size_t place, const sharding* lies,
                              const shape_list* shapes) const override {
    short_list<interval> wanted = mesh_block(lies[0], shapes[0], place);
    if (wanted[0].start > 0) --wanted[0].start;
    if (wanted[0].stop < shapes[0][0]) ++wanted[0].stop;
    return detail::received_share_of_window(wanted, lies[0], shapes[0], place);
  }
};

/// Every operation takes a second.
struct one_second_each final : step_times {
  double seconds(std::size_t, const std::vector<sharding>&, tensor_set) override { return 1; }
  double seconds(const sharding&, const sharding&, const shape_list&) override { return 1; }
  double update_seconds(std::size_t) override { return 1; }
};

}  // namespace

BOOST_AUTO_TEST_CASE(windows_cost_what_the_busiest_worker_receives_of_all_operands_over_the_slowest_axis_in_use) {
  const mesh m{axis{"a", 3}, axis{"b", 2}, axis{"c", 2}};
  const shape_list shape{6, 4};
  const shape_list shapes[] = {shape, shape, shape};
  const sharding rows = m.layout("a", ""), whole = m.layout("", ""), both = m.layout("a", "b");
  const mesh_links links{{5, 0.5}, {100, 0.25}, {1000, 1000}};
  struct row {
    sharding lies[3];
    double latency, seconds_per_byte;
  };
  const row table[] = {{{rows, whole, rows}, 5, 0.5},   {{whole, rows, whole}, 5, 0.5},
                       {{whole, whole, rows}, 5, 0.5},  {{rows, whole, both}, 100, 0.5},
                       {{both, rows, whole}, 100, 0.5}, {{rows, whole, m.layout("", "b")}, 100, 0.5}};
  for (const row& one : table) {
    const exchange_cost cost = window_cost(window_by_coordinate(), one.lies, shapes, 2, links, 8);
    BOOST_TEST(cost.elements == 20U + 40U);
    BOOST_TEST(cost.messages == 2U + 3U);
    BOOST_TEST(cost.mean == 30);
    BOOST_TEST(cost.latency_seconds == 5 * one.latency);
    BOOST_TEST(cost.seconds == 5 * one.latency + 60 * 8 * one.seconds_per_byte);
  }
}

BOOST_AUTO_TEST_CASE(the_latencies_of_windows_are_those_of_the_worker_that_takes_longest) {
  const mesh m{axis{"a", 3}};
  const sharding lies[] = {m.layout("a"), m.layout("a")};
  const shape_list shapes[] = {shape_list{6}, shape_list{6}};
  const exchange_cost cost = window_cost(uneven_window(), lies, shapes, 1, {{1, 1}}, 1);
  BOOST_TEST(cost.seconds == 101);
  BOOST_TEST(cost.latency_seconds == 1);
  BOOST_TEST(cost.elements == 100U);
  BOOST_TEST(cost.messages == 50U);
}

BOOST_AUTO_TEST_CASE(an_operation_communicates_if_one_of_its_dimensions_is_sharded) {
  const mesh m{axis{"a", 2}, axis{"b", 2}, axis{"c", 2}};
  struct no_window final : operation_window {
    using operation_window::operation_window;
    received_share receive_cost(std::size_t, std::size_t, const sharding*, const shape_list*) const override {
      return {};
    }
  };
  for (tensor_set of = 0; of < 8; ++of)
    for (std::uint32_t along = 0; along < 8; ++along)
      for (std::uint32_t sharded = 0; sharded < 8; ++sharded) {
        const sharding layout =
            m.layout((sharded & 1U) != 0 ? "a" : "", (sharded & 2U) != 0 ? "b" : "", (sharded & 4U) != 0 ? "c" : "");
        for (std::size_t t = 0; t < 3; ++t)
          BOOST_TEST(no_window(of, along).is_needed(t, layout) == ((of >> t & 1U) != 0 && (along & sharded) != 0));
      }
}

/// The factor of a dimension that may be sharded has a letter of its own from 'h' on, and the last tensor's extent.
BOOST_AUTO_TEST_CASE(a_dimension_that_becomes_shardable_has_one_factor_in_all_tensors_of_its_set) {
  rule r;  // two dimensions that must not be sharded beside one that has the letter 'h'
  r.begin_operand();
  r.add_whole_dimension(8);
  const std::size_t h = r.add_factor(6, 'h');
  r.add_dimension(h);
  r.add_whole_dimension(9);
  r.begin_result();
  r.add_whole_dimension(5);
  r.add_dimension(h);
  r.add_whole_dimension(7);
  r.complete();
  const auto factor_of = [](const rule& one, std::size_t t, std::size_t d) { return one.term(one.at(t, d), 0); };
  BOOST_TEST((with_shardable_dimensions(r, first_tensors(2), 0) == r));
  BOOST_TEST((with_shardable_dimensions(r, 0, 7) == r));
  BOOST_TEST((with_shardable_dimensions(r, first_tensors(2), 0xfff8) == r));  // there is no such dimension
  for (const std::uint32_t along : {1U, 4U, 5U, 7U}) {
    const rule made = with_shardable_dimensions(r, first_tensors(2), along);
    for (const std::size_t d : {0U, 2U}) {
      const factor &one = made.factors[factor_of(made, 0, d)], &before = r.factors[factor_of(r, 0, d)];
      const bool is_shardable = (along >> d & 1U) != 0;
      BOOST_TEST((factor_of(made, 0, d) == factor_of(made, 1, d)) == is_shardable);
      BOOST_TEST((one.kind == (is_shardable ? factor_kind::pass_through : factor_kind::replicate)));
      BOOST_TEST(one.extents_may_differ == is_shardable);
      BOOST_TEST(one.size == (is_shardable ? 5 + d : before.size));
      BOOST_TEST(one.letter == (!is_shardable ? '_' : d == 2 && (along & 1U) != 0 ? 'j' : 'i'));
    }
    BOOST_TEST(made.factors[h].extents_may_differ == (along == 7));
    BOOST_TEST(made.factors[h].letter == 'h');
    BOOST_TEST(made.factors[h].size == 6U);
  }
  const rule of_operand = with_shardable_dimensions(r, 1, 1);  // the result keeps its own factor
  BOOST_TEST(factor_of(of_operand, 0, 0) != factor_of(of_operand, 1, 0));
  BOOST_TEST(of_operand.factors[factor_of(of_operand, 0, 0)].size == 8U);
}

BOOST_AUTO_TEST_CASE(a_step_receives_and_holds_its_windows_forward_and_for_each_gradient) {
  const mesh m{axis{"a", 3}};
  const shape_list shape{12, 4};
  const sharding rows = m.layout("a", "");
  const row_window window;
  for (const bool trains : {false, true})
    for (const bool is_complex : {false, true})
      for (const bool is_measured : {false, true}) {
        graph g(m);
        const value x = trains ? g.parameter(shape, rows, "x") : g.input(shape, rows, "x");
        g.set_complex(x, is_complex);
        const rule whole = rules::elementwise(shape_span(&shape, 1));
        g.apply(with_shardable_dimensions(whole, first_tensors(2), 1), {x}, "near", shape, &window);
        const completion done = complete(g);
        one_second_each times;
        step_model model;
        model.links = {{5, 0.5}}, model.element_bytes = 2;
        if (is_measured) model.times = &times;
        const step_plan plan = plan_step(done, model);
        const std::size_t element = is_complex ? 4 : 2, block = 4 * 4 * element;
        const std::size_t bytes = 2 * 4 * element;  // the worker in the middle receives two rows in two messages
        const double latency = is_measured ? 0 : 2 * 5,
                     seconds = is_measured ? 0 : latency + 0.5 * static_cast<double>(bytes);
        std::size_t windows = 0;
        for (const step_event& one : plan.events) {
          if (one.kind == step_event::what::compute && !one.backward) BOOST_TEST(one.bytes_held == 2 * block);
          if (one.kind != step_event::what::window) continue;
          BOOST_TEST(one.bytes == bytes);
          BOOST_TEST(one.seconds == seconds);
          BOOST_TEST(one.backward == (windows > 0));
          if (windows == 0) BOOST_TEST(one.bytes_held == 2 * block + bytes);
          ++windows;
        }
        BOOST_TEST(windows == (trains ? 2U : 1U));
        BOOST_TEST(plan.cost.movements == windows);
        BOOST_TEST(plan.cost.received_bytes == windows * bytes);
        BOOST_TEST(plan.cost.moving_seconds == static_cast<double>(windows) * seconds);
        BOOST_TEST(plan.cost.latency_seconds == static_cast<double>(windows) * latency);
        BOOST_TEST(done.window_bytes(0) == 2 * bytes);  // of real numbers of 4 bytes
      }
}
