// Step plans: the forward and backward movements of a step and the memory of a worker, before the step runs.
#include <partita/plan/step_plan.hpp>
#include <partita/rule/sharding/rules.hpp>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

namespace {

using namespace partita;

constexpr mesh m{axis{"data", 2}, axis{"model", 4}};

/// Two layers, the first cut by columns and the second by rows.
struct two_layers {
  graph g{m};
  value x = g.input({16, 32}, m.layout("data", ""), "x");
  value up_weight = g.parameter({32, 64}, m.layout("", "model"), "up_weight");
  value down_weight = g.parameter({64, 32}, m.layout("model", ""), "down_weight");
  value up = g.apply(rules::matmul, {x, up_weight}, "up");
  value down = g.apply(rules::matmul, {up, down_weight}, "down");
};

/// The moves of a step: back or not, of what, cotangent or not, from and to.
std::vector<std::string> moves_of(const step_plan& plan) {
  std::vector<std::string> all;
  for (const step_event& one : plan.events) {
    if (one.kind != step_event::what::move) continue;
    text t;
    t << (one.backward ? "back " : "") << (one.is_cotangent ? "d " : "")
      << (*plan.completion->program)[value{one.of}].name << ' ' << one.from << " -> " << one.to;
    all.emplace_back(t.c_str());
  }
  return all;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(plan_step_plan)

BOOST_AUTO_TEST_CASE(columns_then_rows_sum_once_forward_and_each_gradient_once_over_the_data) {
  const two_layers p;
  const completion done = complete(p.g);
  const step_plan plan = plan_step(done);
  const std::vector<std::string> expected{
      "down (data, ) partial sum over model -> (data, )",
      "back d up_weight (, model) partial sum over data -> (, model)",
      "back d down_weight (model, ) partial sum over data -> (model, )",
  };
  BOOST_TEST(moves_of(plan) == expected, boost::test_tools::per_element());
  // rings: 2 (p - 1) / p of the blocks
  BOOST_TEST(plan.bytes() == 2 * 3 * (8 * 32 * 4) / 4 + 2 * (2 * 1 * (32 * 16 * 4) / 2));
  BOOST_TEST(plan.cost.movements == 3u);
}

BOOST_AUTO_TEST_CASE(complex_values_have_twice_the_bytes_and_their_products_four_times_the_multiply_adds) {
  const auto planned = [](bool of_x, bool of_weights, double multiply_adds, double bytes_a_second) {
    two_layers p;
    p.g = graph(m);
    p.x = p.g.input({16, 32}, m.layout("data", ""), "x");
    p.up_weight = p.g.input({32, 64}, m.layout("", "model"), "up_weight");
    p.down_weight = p.g.input({64, 32}, m.layout("model", ""), "down_weight");
    p.g.set_complex(p.x, of_x), p.g.set_complex(p.up_weight, of_weights), p.g.set_complex(p.down_weight, of_weights);
    p.g.apply(rules::matmul, {p.g.apply(rules::matmul, {p.x, p.up_weight}, "up"), p.down_weight}, "down");
    const completion done = complete(p.g);
    const step_plan plan = plan_step(done, {.multiply_adds = multiply_adds, .memory_bytes = bytes_a_second});
    BOOST_TEST(plan.bytes() == done.bytes());
    BOOST_TEST(plan.bytes() == plan.plan(plan.events.back()).bytes());
    return plan.cost;
  };
  constexpr double no_time = 1e300;
  const auto times = [&](bool x, bool weights) { return planned(x, weights, 1, no_time).computing_seconds; };
  BOOST_TEST(planned(false, false, 1, no_time).received_bytes == 2 * 3 * (8 * 32 * 4) / 4);
  BOOST_TEST(planned(true, true, 1, no_time).received_bytes == 2 * planned(false, false, 1, no_time).received_bytes);
  BOOST_TEST(planned(true, false, 1, no_time).received_bytes == 2 * planned(false, false, 1, no_time).received_bytes);
  BOOST_TEST(planned(true, true, 1, no_time).peak == 2 * planned(false, false, 1, no_time).peak);
  BOOST_TEST(planned(true, true, no_time, 1).computing_seconds ==
             2 * planned(false, false, no_time, 1).computing_seconds);
  BOOST_TEST(times(false, false) == 2.0 * 8 * 32 * 16);
  BOOST_TEST(times(true, false) == 2 * times(false, false));
  BOOST_TEST(times(false, true) == (2 + 4) / 2 * times(false, false));  // the second product is complex by complex
  BOOST_TEST(times(true, true) == 4 * times(false, false));
}

BOOST_AUTO_TEST_CASE(the_gradient_of_an_input_of_columns_is_summed_over_them) {
  graph g(m);
  const value x = g.parameter({16, 32}, m.layout("data", ""), "x");
  const value w = g.input({32, 64}, m.layout("", "model"), "w");
  g.apply(rules::matmul, {x, w}, "y");
  const completion done = complete(g);
  const std::vector<std::string> expected{"back d x (data, ) partial sum over model -> (data, )"};
  BOOST_TEST(moves_of(plan_step(done)) == expected, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_weight_that_is_gathered_forward_has_its_gradient_scattered) {
  graph g(m);
  const value x = g.input({64, 8}, m.layout("data", ""), "x");
  const value w = g.parameter({8, 4}, m.layout("", "data"), "w");
  g.apply(rules::matmul, {x, w}, "y");
  const completion done = complete(g);
  const step_plan plan = plan_step(done);
  const std::vector<std::string> expected{"w (, data) -> (, )", "back d w (, ) partial sum over data -> (, data)"};
  BOOST_TEST(moves_of(plan) == expected, boost::test_tools::per_element());
  for (const step_event& one : plan.events)
    if (one.kind == step_event::what::move && one.backward)
      BOOST_TEST((plan.plan(one)[0].done == reshard_step::what::reduce_scatter));
}

BOOST_AUTO_TEST_CASE(cotangents_of_a_value_that_is_read_twice_are_added_before_they_are_summed) {
  graph g(m);
  const value x = g.input({16, 32}, m.layout("data", ""), "x");
  const value w = g.parameter({32, 32}, m.layout("", ""), "w");
  const value h = g.apply(rules::matmul, {x, w}, "h");
  g.apply(rules::matmul, {h, w}, "y");
  const completion done = complete(g);
  const std::vector<std::string> expected{"back d w (, ) partial sum over data -> (, )"};
  BOOST_TEST(moves_of(plan_step(done)) == expected, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_program_without_parameters_has_no_way_back_and_moves_what_its_completion_moves) {
  graph g(m);
  const value x = g.input({16, 32}, m.layout("data", "model"), "x");
  const value w = g.input({32, 8}, m.layout("", "model"), "w");
  const value y = g.apply(rules::matmul, {x, w}, "y");
  g.apply(rules::softmax(), {y});
  const completion done = complete(g);
  const step_plan plan = plan_step(done);
  for (const step_event& one : plan.events) BOOST_TEST(!one.backward);
  BOOST_TEST(plan.bytes() == done.bytes());
  BOOST_TEST(plan.cost.movements == done.reshards.size());
}

/// Blocks without elements need no computation and no memory.
BOOST_AUTO_TEST_CASE(a_step_of_empty_blocks_costs_nothing) {
  static_assert(step_cost{} == step_cost{0, 0, 0, 0, 0, 0, 0});
  graph g{m};
  const value x = g.input({0, 32}, m.layout("data", ""), "x");
  g.apply(rules::matmul, {x, g.parameter({32, 0}, m.layout("", "model"), "w")}, "y");
  const step_plan plan = plan_step(complete(g));
  BOOST_TEST(plan.peak() == 0U);
  BOOST_TEST(plan.cost.computing_seconds == 0);
  BOOST_TEST(plan.cost.received_bytes == 0U);
}

BOOST_AUTO_TEST_CASE(a_worker_holds_its_blocks_until_nobody_reads_them) {
  graph g(m);
  const value x = g.input({16, 32}, m.layout("data", ""), "x");
  const value y = g.apply(rules::elementwise, {x}, "y");
  const value z = g.apply(rules::elementwise, {y}, "z");
  g.apply(rules::elementwise, {z}, "last");
  const completion done = complete(g);
  const std::size_t block = 8 * 32 * 4;
  BOOST_TEST(plan_step(done).peak() == 3 * block);  // x, what is read and what is made

  graph h(m);  // with a parameter all is kept for the way back, and its gradient stands beside it
  const value p = h.parameter({16, 32}, m.layout("data", ""), "p");
  h.apply(rules::elementwise, {h.apply(rules::elementwise, {p}, "y")}, "z");
  const completion trained = complete(h);
  BOOST_TEST(plan_step(trained).peak() == 5 * block);  // p y z, and two cotangents
  step_model adam;
  adam.states = 2;
  BOOST_TEST(plan_step(trained, adam).peak() == 7 * block);
}

BOOST_AUTO_TEST_CASE(a_state_that_is_cut_further_is_held_once_and_takes_the_same_bytes) {
  const two_layers p;
  const completion done = complete(p.g);
  step_model adam;
  adam.states = 2;
  std::vector<sharding> states = done.layouts;
  states[p.up_weight.number] = m.layout("data", "model");
  const step_plan plain = plan_step(done, adam), cut = plan_step(done, adam, states);
  BOOST_TEST(cut.bytes() == plain.bytes());  // reduce_scatter and all_gather are an all_reduce
  BOOST_TEST(cut.peak() + 2 * (32 * 16 * 4) / 2 == plain.peak());
  BOOST_CHECK_THROW(plan_step(done, adam, {m.layout("", "")}), shape_error);
}

BOOST_AUTO_TEST_CASE(the_work_of_a_product_is_divided_by_all_axes_that_cut_it) {
  const auto seconds = [](const sharding& x, const sharding& w) {
    graph g(m);
    g.apply(rules::matmul, {g.input({64, 64}, x), g.input({64, 64}, w)});
    step_model model;
    model.memory_bytes = 1e300;
    model.multiply_adds = 1;
    return plan_step(complete(g), model).cost.computing_seconds;
  };
  BOOST_TEST(seconds(m.layout("", ""), m.layout("", "")) == 64. * 64 * 64);
  BOOST_TEST(seconds(m.layout("data", ""), m.layout("", "model")) == 64. * 64 * 64 / 8);
  BOOST_TEST(seconds(m.layout("", "data+model"), m.layout("data+model", "")) == 64. * 64 * 64 / 8);
}

/// The loops of a product are the factors of the two operands that have most together, if no tensor has as many.
BOOST_AUTO_TEST_CASE(a_product_of_several_operands_takes_the_loops_of_its_largest_pair) {
  const rule of_three("ij,jk,kl->il");
  for (std::size_t code = 0; code < 81; ++code) {
    std::size_t size[4], rest = code;
    for (std::size_t& n : size) n = std::size_t{1} << 2 * (rest % 3), rest /= 3;
    graph g(m);
    const auto [i, j, k, l] = size;
    g.apply(of_three, {g.input({i, j}), g.input({j, k}), g.input({k, l})}, "y");
    const rule& how = g.operation(0).how;
    const auto elements = [&](std::uint32_t factors) {
      std::size_t n = 1;
      for (std::size_t f = 0; f < how.factor_count; ++f) n *= (factors >> f & 1U) != 0 ? how.factors[f].size : 1;
      return n;
    };
    std::size_t most = 0, of_tensors = 0;
    for (std::size_t t = 0; t < 4; ++t) of_tensors = std::max(of_tensors, elements(how.factors_of(t)));
    for (std::size_t a = 0; a < 3; ++a)
      for (std::size_t b = 0; b < a; ++b) most = std::max(most, elements(how.factors_of(a) | how.factors_of(b)));
    const std::uint32_t loops = detail::step_estimate<graph>(g).operations[0].product_factors;
    BOOST_TEST((most > of_tensors ? elements(loops) == most : loops == 0U), code);
  }
}

/// A gradient reads the values of all operands, but that of a sum or a movement the indices at most; it is taken of
/// every operand that depends on a parameter and is not an index.
BOOST_AUTO_TEST_CASE(gradients_read_what_they_need_and_are_not_taken_of_indices) {
  struct row {
    operation how;
    std::vector<shape_list> shapes;
    tensor_set read, wanted;
  };
  const shape_list x{4, 6}, some{3};
  const row rows[] = {
      {rules::add, {x, x}, 0, 0b11},
      {rules::transpose({1, 0}), {x}, 0, 0b1},
      {rules::concatenate(0), {x, x}, 0, 0b11},
      {rules::multiply, {x, x}, 0b11, 0b11},
      {rules::matmul, {x, {6, 8}}, 0b11, 0b11},
      {rules::softmax(), {x}, 0b1, 0b1},
      {rules::gather(0), {x, some}, 0b11, 0b01},
      {rules::scatter_nd_add, {x, {3, 1}, {3, 6}}, 0b010, 0b101},
  };
  for (const row& one : rows) {
    const tensor_set all = first_tensors(one.shapes.size());
    for (tensor_set parameters = 0; parameters <= all; ++parameters) {
      graph g(m);
      std::vector<value> operands;
      for (std::size_t i = 0; i < one.shapes.size(); ++i)
        operands.push_back(contains(parameters, i) ? g.parameter(one.shapes[i]) : g.input(one.shapes[i]));
      if (operands.size() == 1) g.apply(one.how, {operands[0]});
      if (operands.size() == 2) g.apply(one.how, {operands[0], operands[1]});
      if (operands.size() == 3) g.apply(one.how, {operands[0], operands[1], operands[2]});
      const detail::step_estimate<graph> estimate(g);
      const detail::operation_estimate& facts = estimate.operations[0];
      BOOST_TEST(facts.wanted == (one.wanted & parameters), one.how.name);
      if (facts.wanted != 0) BOOST_TEST((facts.read_operands & all) == one.read, one.how.name);
    }
  }
}

BOOST_AUTO_TEST_CASE(the_cost_of_a_step_adds_up_its_events_and_each_move_is_that_of_its_plan) {
  const two_layers p;
  const completion done = complete(p.g);
  for (const std::size_t element_bytes : {2U, 4U, 8U})
    for (const bool has_other_states : {false, true}) {
      const step_model model{.links = {{3, 0.5}, {2, 0.25}},
                             .multiply_adds = 1024,
                             .memory_bytes = 512,
                             .element_bytes = element_bytes,
                             .states = 1};
      std::vector<sharding> states = done.layouts;
      if (has_other_states) states[p.up_weight.number] = m.layout("data", "model");
      const step_plan plan = plan_step(done, model, states);
      step_cost sum;
      for (const step_event& one : plan.events) {
        sum.peak = std::max(sum.peak, one.bytes_held);
        if (one.kind != step_event::what::move) {
          sum.computing_seconds += one.seconds;
          continue;
        }
        const reshard_plan move = plan.plan(one);
        BOOST_TEST(move.bytes() == one.bytes);
        BOOST_TEST(move.seconds() == one.seconds);
        sum.moving_seconds += one.seconds, sum.latency_seconds += move.latency_seconds();
        sum.received_bytes += one.bytes, sum.movements += 1;
      }
      BOOST_TEST(plan.cost.computing_seconds == sum.computing_seconds);
      BOOST_TEST(plan.cost.moving_seconds == sum.moving_seconds);
      BOOST_TEST(plan.cost.latency_seconds == sum.latency_seconds);
      BOOST_TEST(plan.cost.hidden_seconds == 0);
      BOOST_TEST(plan.cost.received_bytes == sum.received_bytes);
      BOOST_TEST(plan.cost.movements == sum.movements);
      BOOST_TEST(plan.peak() >= sum.peak);
      BOOST_TEST(plan.seconds() == sum.computing_seconds + sum.moving_seconds);
      BOOST_TEST(plan.bytes() == sum.received_bytes);
    }
}

BOOST_AUTO_TEST_CASE(gradients_take_the_time_of_their_operation_once_for_each_operand) {
  for (const bool of_x : {false, true})
    for (const bool of_w : {false, true}) {
      graph g(m);
      const sharding rows = m.layout("data", ""), columns = m.layout("", "model");
      const value x = of_x ? g.parameter({16, 32}, rows) : g.input({16, 32}, rows);
      const value w = of_w ? g.parameter({32, 64}, columns) : g.input({32, 64}, columns);
      const value y = g.apply(rules::matmul, {x, w}, "y");
      g.apply(rules::multiply, {y, y}, "square");
      const completion done = complete(g);
      const step_plan plan = plan_step(done);
      std::vector<double> forward(g.operations(), 0), backward(g.operations(), 0);
      for (const step_event& one : plan.events)
        if (one.kind == step_event::what::compute) (one.backward ? backward : forward)[one.operation] += one.seconds;
      const double operands[] = {(of_x ? 1. : 0.) + (of_w ? 1. : 0.), of_x || of_w ? 2. : 0.};
      for (std::size_t o = 0; o < 2; ++o) {
        BOOST_TEST(forward[o] > 0);
        BOOST_TEST(backward[o] == operands[o] * forward[o]);
      }
    }
}

BOOST_AUTO_TEST_CASE(the_work_of_the_largest_block_is_counted_if_blocks_are_uneven) {
  const auto seconds = [](const sharding& x, const sharding& w) {
    graph g(m);
    g.apply(rules::matmul, {g.input({5, 7}, x), g.input({7, 3}, w)});
    return plan_step(complete(g), {.multiply_adds = 1, .memory_bytes = 1e300}).cost.computing_seconds;
  };
  BOOST_TEST(seconds(m.layout("", ""), m.layout("", "")) == 5 * 7 * 3);
  BOOST_TEST(seconds(m.layout("data", ""), m.layout("", "")) == 3 * 7 * 3);
  BOOST_TEST(seconds(m.layout("data", ""), m.layout("", "model")) == 3 * 7 * 1);
  BOOST_TEST(seconds(m.layout("", "model"), m.layout("model", "")) == 5 * 2 * 3);
  BOOST_TEST(seconds(m.layout("", "data+model"), m.layout("data+model", "")) == 5 * 1 * 3);
}

/// An operation always makes its first result, and others only if they are read.
BOOST_AUTO_TEST_CASE(further_results_are_made_and_held_if_an_operation_reads_them) {
  const std::size_t block = 16 * 32 * 4;
  for (const bool reads_first : {false, true})
    for (const bool reads_second : {false, true}) {
      graph g(m);
      const value x = g.input({16, 32}, "x");
      const operation_results both = g.apply(rule("ab->ab,ab"), {x}, "both");
      if (reads_first) g.apply(rules::elementwise, {both[0]});
      if (reads_second) g.apply(rules::elementwise, {both[1]});
      const completion done = complete(g);
      const step_plan plan = plan_step(done, {.memory_bytes = 1});
      const std::size_t made = reads_second ? 2 : 1;
      BOOST_TEST(plan.events[0].bytes_held == (1 + made) * block);
      BOOST_TEST(plan.events[0].seconds == static_cast<double>((1 + made) * block));
      BOOST_TEST(plan.peak() == (1 + made + (reads_first || reads_second ? 1 : 0)) * block);
    }
}

/// Two operations read a value in other layouts than it has. Their cotangents are moved to its layout and added there.
BOOST_AUTO_TEST_CASE(cotangents_in_different_layouts_are_moved_to_that_of_their_value) {
  graph g(m);
  const value w = g.parameter({16, 16}, m.layout("", ""), "w");
  const value rows = g.apply(rules::elementwise, {w}, "rows"), columns = g.apply(rules::elementwise, {w}, "columns");
  g.constrain(rows, m.layout("data", ""));
  g.constrain(columns, m.layout("", "model"));
  const completion done = complete(g);
  const step_plan plan = plan_step(done);
  const std::vector<std::string> expected{"w (, ) -> (data, )", "w (, ) -> (, model)", "back d w (, model) -> (, )",
                                          "back d w (data, ) -> (, )"};
  BOOST_TEST(moves_of(plan) == expected, boost::test_tools::per_element());
}

/// Operations that look elements up by index multiply nothing, whichever operand has the indices.
BOOST_AUTO_TEST_CASE(a_lookup_by_index_takes_no_multiply_adds) {
  const auto seconds = [](const operation& op, std::initializer_list<shape_list> operands) {
    graph g(m);
    std::vector<value> of;
    for (const shape_list& shape : operands) of.push_back(g.input(shape));
    of.size() == 2 ? g.apply(op, {of[0], of[1]}) : g.apply(op, {of[0], of[1], of[2]});
    const completion done = complete(g);
    return plan_step(done, {.multiply_adds = 1, .memory_bytes = 1e300}).cost.computing_seconds;
  };
  BOOST_TEST(seconds(rules::embedding(), {{16, 8}, {100, 32}}) < 1);
  BOOST_TEST(seconds(rules::vocabulary_embedding, {{100, 32}, {16, 8}}) < 1);
  BOOST_TEST(seconds(rules::gather(0), {{100, 32}, {16}}) < 1);
  BOOST_TEST(seconds(rules::gather(1), {{32, 100}, {16}}) < 1);
  BOOST_TEST(seconds(rules::where, {{16, 32}, {16, 32}, {16, 32}}) < 1);
  BOOST_TEST(seconds(rules::matmul, {{16, 8}, {8, 32}}) == 16.0 * 8 * 32);
}

BOOST_AUTO_TEST_SUITE_END()
