// Search finds the optimum: it is compared with all layouts of the inputs of small programs.
#include <partita/plan/search.hpp>
#include <partita/plan/search_judge.hpp>
#include <partita/plan/search_space.hpp>
#include <partita/plan/step_plan.hpp>
#include <partita/rule/sharding/rules.hpp>
#include <partita/sharded/step_schedule.hpp>

#include <algorithm>
#include <array>
#include <boost/test/unit_test.hpp>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "random_cases.hpp"
#include "refused.hpp"
#include "transformer.hpp"

namespace {

using namespace partita;

constexpr mesh two_by_two{axis{"a", 2}, axis{"b", 2}};

/// A program of up to `operations` operations on matrices of n x n, of which some are parameters.
graph random_program(std::mt19937_64& random, std::size_t n, std::size_t inputs, std::size_t operations,
                     bool trains = true) {
  graph g(two_by_two);
  std::vector<value> all;
  for (std::size_t k = 0; k < inputs; ++k)
    all.push_back(trains && k > 0 && random() % 3 != 0 ? g.parameter({n, n}) : g.input({n, n}));
  const auto any = [&] { return all[random() % all.size()]; };
  value x = all[0];
  for (std::size_t k = 0; k < operations; ++k) {
    switch (random() % 6) {
      case 0:
      case 1:
      case 2:
        x = g.apply(rules::matmul, {x, all[1 + random() % (inputs - 1)]});
        break;
      case 3:
        x = g.apply(rules::add, {x, any()});
        break;
      case 4:
        x = g.apply(random() % 2 == 0 ? rules::softmax() : rules::elementwise, {x});
        break;
      default:
        x = g.apply(rules::transpose({1, 0}), {x});
    }
    all.push_back(x);
  }
  return g;
}

/// All annotations of a matrix on two axes for which no block is empty.
std::vector<sharding> all_layouts(const mesh& m, std::size_t n) {
  std::vector<sharding> all;
  constexpr std::array<const char*, 5> cuts{"", "a", "b", "a+b", "b+a"};
  for (const std::string rows : cuts)
    for (const std::string columns : cuts) {
      bool twice = false;
      for (const char axis : {'a', 'b'})
        twice = twice || (rows.find(axis) != std::string::npos && columns.find(axis) != std::string::npos);
      const bool empty = n < 4 && (rows.size() > 1 || columns.size() > 1);
      if (!twice && !empty) all.push_back(m.layout(rows.c_str(), columns.c_str()));
    }
  return all;
}
/// The least seconds of all annotations of the inputs that do not need too much memory; the least memory that takes no
/// more seconds; and the fewest annotations that need no more memory then.
struct least {
  double seconds = -1;
  std::size_t peak = 0, annotations = 0;
};
least least_of_all(const graph& g, const step_model& model, std::size_t memory = ~std::size_t{0}) {
  std::vector<value> inputs;
  for (std::uint32_t v = 0; v < g.values(); ++v)
    if (g[value{v}].producer == graph::none) inputs.push_back({v});
  const std::vector<sharding> layouts = all_layouts(g.on(), g[inputs[0]].shape[0]);
  std::vector<std::size_t> at(inputs.size(), 0);  // 0: nothing is said
  least found;
  for (;;) {
    graph with = g;
    for (std::size_t k = 0; k < at.size(); ++k)
      if (at[k] > 0) with.constrain(inputs[k], layouts[at[k] - 1]);
    const completion done = complete(with);
    const step_plan plan = plan_step(done, model);
    const double apart = plan.seconds() - found.seconds, close = 1e-12 * plan.seconds();
    const std::size_t said = at.size() - static_cast<std::size_t>(std::count(at.begin(), at.end(), 0U));
    if (plan.peak() <= memory && (found.seconds < 0 || apart < -close)) found = {plan.seconds(), plan.peak(), said};
    else if (plan.peak() <= memory && apart <= close)
      std::tie(found.peak, found.annotations) =
          std::min(std::tuple(found.peak, found.annotations), std::tuple(plan.peak(), said));
    std::size_t k = 0;
    while (k < at.size() && ++at[k] > layouts.size()) at[k++] = 0;
    if (k == at.size()) return found;
  }
}
/// Links and speeds that make the choice hard: moving costs about as much as computing.
step_model random_model(std::mt19937_64& random) {
  constexpr std::array<double, 3> latencies{1e-8, 1e-6, 1e-4}, bytes{1e-11, 1e-9, 1e-8};
  step_model model;
  model.links = {{latencies[random() % 3], bytes[random() % 3]}, {latencies[random() % 3], bytes[random() % 3]}};
  model.states = random() % 3;
  return model;
}
bool close(double a, double b) { return a <= b * (1 + 1e-9) && b <= a * (1 + 1e-9); }

}  // namespace

BOOST_AUTO_TEST_SUITE(plan_search)

BOOST_AUTO_TEST_CASE(the_answer_is_the_optimum_of_all_there_are) {
  std::mt19937_64 random(11);
  const search_answer none;  // before a search
  BOOST_TEST(
      (!none.is_exact && none.program == nullptr && none.evaluated_candidates == 0 && none.annotations().empty()));
  for (std::size_t k = 0; k < 1 + test::random_cases(8); ++k) {
    const graph g = random_program(random, std::size_t{64} << random() % 4, 2, 1 + random() % 6);
    search_options how;
    how.model = random_model(random);
    const search_answer found = search(g, how.model.links, ~std::size_t{0}, how);
    BOOST_TEST(found.is_exact);
    const auto [least, peak, annotations] = least_of_all(g, how.model);
    BOOST_TEST(close(found.best.cost.seconds(), least), found.best.cost.seconds() << " and not " << least);
    BOOST_TEST(found.best.cost.peak == peak);               // of equally fast ones, the one that needs least memory
    BOOST_TEST(found.annotations().size() == annotations);  // and of those the one that says least
    const graph with = found.annotated();                   // and the annotations give what they promise
    const completion done = complete(with);
    BOOST_TEST(close(plan_step(done, how.model).seconds(), least));
  }
}

BOOST_AUTO_TEST_CASE(descending_finds_the_optimum_where_not_all_are_judged) {
  std::mt19937_64 random(12);
  for (std::size_t k = 0; k < 5; ++k) {
    const graph g = random_program(random, 2, 3, 1 + random() % 6);
    search_options how;
    how.model = random_model(random);
    how.most = 500;
    const search_answer found = search(g, how.model.links, ~std::size_t{0}, how);
    BOOST_TEST(!found.is_exact);
    BOOST_TEST(found.evaluated_candidates <= how.most);
    const double least = least_of_all(g, how.model).seconds;
    BOOST_TEST(close(found.best.cost.seconds(), least), found.best.cost.seconds() << " and not " << least);
  }
}

namespace {

/// Two layers with a sharded batch; only the weights have no annotations.
struct two_layers {
  graph g;
  value x, up_weight, down_weight, up, down;
  explicit two_layers(const mesh& m, const shape_list& of_x = {256, 64})
      : g(m),
        x(g.input(of_x, m.layout("a", ""), "x")),
        up_weight(g.parameter({64, 256}, "up_weight")),
        down_weight(g.parameter({256, 64}, "down_weight")),
        up(g.apply(rules::matmul, {x, up_weight}, "up")),
        down(g.apply(rules::matmul, {up, down_weight}, "down")) {}
};

}  // namespace

BOOST_AUTO_TEST_CASE(what_the_program_says_stays_and_the_rest_is_found) {
  two_layers p(two_by_two);
  p.g.constrain(p.up_weight, two_by_two.layout("", "b"));
  const search_answer found = search(p.g, {});
  for (const found_annotation& one : found.annotations()) BOOST_TEST((one.of == p.down_weight));
  const graph with = found.annotated();
  const completion done = complete(with);
  BOOST_TEST((done[p.x] == two_by_two.layout("a", "")));
  BOOST_TEST((done[p.up_weight] == two_by_two.layout("", "b")));
  BOOST_TEST(done[p.down_weight].cuts[0].contains(1));  // rows follow columns
  BOOST_TEST(found.runner_up.is_found);
  BOOST_TEST(found.runner_up.cost.seconds() >= found.best.cost.seconds());
}

BOOST_AUTO_TEST_CASE(the_answer_is_no_slower_than_columns_then_rows) {
  constexpr mesh m{axis{"a", 4}, axis{"b", 8}};
  const two_layers p(m);
  search_options how;
  how.most = 600;
  const search_answer found = search(p.g, {{1e-5, 1e-10}, {1e-6, 1e-11}}, ~std::size_t{0}, how);
  two_layers by_hand(m);
  by_hand.g.constrain(by_hand.up_weight, m.layout("", "b"));
  by_hand.g.constrain(by_hand.down_weight, m.layout("b", ""));
  const completion done = complete(by_hand.g);
  BOOST_TEST(found.best.cost.seconds() <= plan_step(done, found.model).seconds());
}

BOOST_AUTO_TEST_CASE(a_limit_that_whole_weights_break_cuts_the_state_of_the_optimiser) {
  two_layers p(two_by_two, {8, 64});
  p.g.constrain(p.up_weight, two_by_two.layout("", ""));
  p.g.constrain(p.down_weight, two_by_two.layout("", ""));
  search_options how;
  how.model.states = 2;
  const completion done = complete(p.g);
  const std::size_t plain = plan_step(done, how.model).peak();
  const search_answer roomy = search(p.g, {}, plain, how), tight = search(p.g, {}, plain - 1, how);
  BOOST_TEST(roomy.best.states.empty());
  BOOST_TEST(tight.best.states.size() == 2u);
  BOOST_TEST(tight.best.cost.peak < plain);
  BOOST_TEST(plan_step(done, how.model, tight.states(done)).peak() == tight.best.cost.peak);
  BOOST_CHECK_THROW(search(p.g, {}, 1000, how), partition_error);
}

/// The answer names the step without the limit, whose optimiser's states have the layouts of their parameters.
BOOST_AUTO_TEST_CASE(what_would_be_found_without_a_limit_has_the_cost_of_a_search_without_it) {
  std::size_t sharded = 0;
  const mesh_links links{{1e-6, 1e-10}, {1e-3, 1e-7}};  // moving whole weights along "b" takes long
  for (const std::size_t states : {0U, 1U, 2U})
    for (const std::size_t rows : {8U, 256U}) {
      two_layers p(two_by_two, {rows, 64});
      p.g.constrain(p.up_weight, two_by_two.layout("", ""));
      p.g.constrain(p.down_weight, two_by_two.layout("", ""));
      search_options how;
      how.model.states = states;
      const search_answer free = search(p.g, links, ~std::size_t{0}, how);
      BOOST_TEST(!free.best_without_limit.is_found);
      BOOST_TEST(!search(p.g, links, free.best.cost.peak, how).best_without_limit.is_found);
      if (states == 0) continue;
      const search_answer tight = search(p.g, links, free.best.cost.peak - 1, how);
      const search_candidate& other = tight.best_without_limit;
      BOOST_TEST(other.is_found == (tight.best.cost.seconds() > free.best.cost.seconds()));
      if (!other.is_found) continue;
      BOOST_TEST((other.cost == free.best.cost));
      BOOST_TEST((other.annotations == free.best.annotations));
      BOOST_TEST(other.states.empty());
      sharded += tight.best.states.empty() ? 0U : 1U;
    }
  BOOST_TEST(sharded > 0U);
}

/// Without the limit the states of the optimiser need not be sharded: what is said to be fastest then is not judged by
/// the time that it takes with sharded states, which have more messages.
BOOST_AUTO_TEST_CASE(what_is_fastest_without_a_limit_is_so_without_sharded_states_whatever_messages_take) {
  std::size_t told = 0;
  for (const double latency : {1e-7, 1e-6, 4e-6, 1.6e-5, 1e-4})
    for (const std::size_t rows : {8U, 64U, 256U}) {
      two_layers p(two_by_two, {rows, 64});
      search_options how;
      how.model.states = 2;
      const mesh_links links{{latency, 1e-9}, {latency, 1e-9}};
      const search_answer free = search(p.g, links, ~std::size_t{0}, how);
      for (const std::size_t percent : {99U, 80U, 60U, 50U}) {
        const std::size_t memory = free.best.cost.peak * percent / 100;
        try {
          const search_answer tight = search(p.g, links, memory, how);
          if (!tight.best_without_limit.is_found) continue;
          BOOST_TEST(tight.best_without_limit.cost.seconds() == free.best.cost.seconds(),
                     latency << " s, " << rows << " rows, " << percent << " percent");
          ++told;
        } catch (const partition_error&) {  // nothing fits into so little memory
        }
      }
    }
  BOOST_TEST(told > 5U);
}

BOOST_AUTO_TEST_CASE(the_second_best_is_no_other_description_of_the_best) {
  graph g(two_by_two);
  const value x = g.input({64, 64});
  g.apply(rules::matmul, {x, g.apply(rules::transpose({1, 0}), {x})});  // whatever cuts x must be moved
  const search_answer found = search(g, {{1, 0}, {1, 0}});
  BOOST_TEST(complete(found.annotated())[x].cut_axes() == 0U);
  BOOST_TEST(found.runner_up.is_found);
  BOOST_TEST(complete(found.annotated(found.runner_up))[x].cut_axes() != 0U);
}

BOOST_AUTO_TEST_CASE(a_state_is_not_cut_into_more_parts_than_it_has_indices) {
  constexpr mesh m{axis{"a", 4}};
  for (const std::size_t n : {std::size_t{3}, std::size_t{4}}) {
    graph g(m);
    const value x = g.input({8, n}, m.layout("a", ""), "x");
    const value w = g.parameter({n, 2}, m.layout("", ""), "w");
    g.apply(rules::matmul, {x, w});
    search_options how;
    how.model.states = 2;
    const completion done = complete(g);
    const std::size_t plain = plan_step(done, how.model).peak();
    if (n < 4) BOOST_CHECK_THROW(search(g, {}, plain - 1, how), partition_error);
    else BOOST_TEST(search(g, {}, plain - 1, how).best.states.size() == 1U);
  }
}

BOOST_AUTO_TEST_CASE(a_limit_gives_the_fastest_of_those_that_fit) {
  std::mt19937_64 random(13);
  const graph g = random_program(random, 64, 2, 5);
  step_model model;
  model.links = {{1e-6, 1e-9}, {1e-6, 1e-9}};
  const search_answer free = search(g, model.links);
  for (const std::size_t memory : {free.best.cost.peak, free.best.cost.peak * 3 / 4, free.best.cost.peak / 2}) {
    const double least = least_of_all(g, model, memory).seconds;
    if (least < 0) continue;  // nothing fits with states that lie as their parameters
    const search_answer found = search(g, model.links, memory);
    BOOST_TEST(found.best.cost.peak <= memory);
    BOOST_TEST(found.best.cost.seconds() <= least * (1 + 1e-9));
  }
}

/// For each step, which steps it needs: those that set what it reads, and what these need.
std::vector<std::vector<bool>> needs_of(const std::vector<step_use>& steps) {
  std::vector<std::vector<bool>> needs(steps.size(), std::vector<bool>(steps.size(), false));
  for (std::size_t b = 0; b < steps.size(); ++b)
    for (const std::uint32_t x : steps[b].reads) {
      std::size_t a = b;
      while (a-- > 0 && steps[a].sets != x) continue;
      if (a >= b) continue;  // no step sets it
      needs[b][a] = true;
      for (std::size_t k = 0; k < a; ++k) needs[b][k] = needs[b][k] || needs[a][k];
    }
  return needs;
}

/// Each event needs what it is made of, as moved to where it is used: an operation the results of others and their
/// cotangents, of all that read them; an update all contributions to the gradient; a move the last value.
bool needs_all(const step_plan& plan) {
  using what = step_event::what;
  const graph& g = *plan.completion->program;
  const auto needs = needs_of(steps_of(plan));
  bool right = true;
  for (std::size_t b = 0; b < plan.events.size(); ++b) {
    const step_event& later = plan.events[b];
    const auto reads = [&](std::uint32_t operation, std::uint32_t v) {
      bool any = false;
      for (std::size_t i = 0; i < g.operation(operation).operands; ++i)
        any = any || g.of(g.operation(operation), i).number == v;
      return any;
    };
    const auto makes = [&](std::uint32_t operation, std::uint32_t v) { return g[value{v}].producer == operation; };
    for (std::size_t a = 0; a < b; ++a) {
      const step_event& earlier = plan.events[a];
      bool needed = false;
      for (std::uint32_t v = 0; v < g.values(); ++v) {
        const bool is_made = earlier.kind == what::compute && !earlier.backward && makes(earlier.operation, v),
                   is_contributed = earlier.kind == what::compute && earlier.backward && reads(earlier.operation, v),
                   is_moved = earlier.kind == what::move && earlier.of == v;
        const bool is_of_cotangent = is_contributed || (is_moved && earlier.is_cotangent);
        if (later.kind == what::compute) needed = needed || (is_made && reads(later.operation, v));
        if (later.kind == what::compute && later.backward)
          needed = needed || (is_of_cotangent && makes(later.operation, v));
        if (later.kind == what::compute && is_moved && !earlier.is_cotangent)
          needed = needed || (earlier.operation == later.operation && earlier.backward == later.backward);
        if (later.kind == what::update && later.of == v) needed = needed || is_of_cotangent;
        if (later.kind == what::move && !later.is_cotangent && later.of == v)
          needed = needed || (earlier.kind == what::update && earlier.of == v);
      }
      right = right && (!needed || needs[b][a]);
    }
  }
  return right;
}

/// An operation reads a value that was moved for it where it was moved to, and not where it came from as well.
bool reads_copies_alone(const step_plan& plan) {
  using what = step_event::what;
  const graph& g = *plan.completion->program;
  const std::vector<step_use> steps = steps_of(plan);
  bool right = true;
  for (std::size_t a = 0; a < steps.size(); ++a) {
    const step_event& move = plan.events[a];
    if (move.kind != what::move || move.is_cotangent || move.operation == step_event::none) continue;
    if (g[value{move.of}].producer == move.operation) continue;  // moves its result
    for (std::size_t b = a + 1; b < steps.size(); ++b)
      if (plan.events[b].kind == what::compute && plan.events[b].operation == move.operation)
        for (const std::uint32_t block : steps[b].reads) right = right && block != steps[a].reads[0];
  }
  return right;
}

/// What moves has the bytes of its block in the layout that it gets.
bool moves_all_bytes(const step_plan& plan) {
  const graph& g = *plan.completion->program;
  const std::vector<step_use> steps = steps_of(plan);
  bool right = true;
  for (std::size_t k = 0; k < steps.size(); ++k)
    if (const step_event& e = plan.events[k]; e.kind == step_event::what::move)
      right = right && steps[k].bytes == g.block_bytes(value{e.of}, e.to, plan.model.element_bytes);
  return right;
}

/// What is computed has its bytes: all results of an operation forward, the cotangents of all its operands backward.
bool computes_all_bytes(const step_plan& plan) {
  const graph& g = *plan.completion->program;
  const std::vector<step_use> steps = steps_of(plan);
  bool right = true;
  for (std::size_t k = 0; k < steps.size(); ++k) {
    const step_event& e = plan.events[k];
    if (e.kind != step_event::what::compute) continue;
    const auto& node = g.operation(e.operation);
    std::size_t bytes = 0;
    for (std::size_t t = e.backward ? 0 : node.operands;
         t < (e.backward ? node.operands : node.operands + node.results); ++t)
      bytes += g.block_bytes(g.of(node, t), plan.completion->used_layout(e.operation, t), plan.model.element_bytes);
    right = right && steps[k].bytes == bytes;
  }
  return right;
}

BOOST_AUTO_TEST_CASE(a_schedule_takes_no_less_than_computing_or_moving_and_no_more_than_both) {
  std::mt19937_64 random(15);
  const std::vector<sharding> layouts = all_layouts(two_by_two, 64);
  std::size_t hidden = 0;
  for (std::size_t k = 0; k < test::random_cases(300); ++k) {
    graph g = random_program(random, 64, 3, 1 + random() % 6, random() % 4 != 0);
    for (std::uint32_t v = 0; v < 3; ++v)
      if (random() % 3 != 0) g.constrain(value{v}, layouts[random() % layouts.size()]);
    const completion done = complete(g);
    const step_model model = random_model(random);
    std::vector<sharding> states = done.layouts;
    for (sharding& one : states)
      if (random() % 3 == 0) one = layouts[random() % layouts.size()];
    const step_plan plan = plan_step(done, model, states);
    const double most = plan.seconds(), least = std::max(plan.cost.computing_seconds, plan.cost.moving_seconds);
    const timetable in_order = schedule_of(plan, order_limits::in_program_order());
    BOOST_TEST(close(in_order.seconds(), most));
    const step_cost cost = overlapped_cost(plan);
    BOOST_TEST(cost.seconds() <= most * (1 + 1e-9));
    BOOST_TEST(cost.seconds() >= least * (1 - 1e-9));
    BOOST_TEST(cost.seconds() >= schedule_of(plan).longest_chain * (1 - 1e-9));
    BOOST_TEST(cost.peak >= plan.peak());
    BOOST_TEST(cost.peak + in_order.peak() >= plan.peak() + schedule_of(plan).peak());
    BOOST_TEST(needs_all(plan));
    BOOST_TEST(reads_copies_alone(plan));
    BOOST_TEST(computes_all_bytes(plan));
    BOOST_TEST(moves_all_bytes(plan));
    hidden += cost.seconds() < most * (1 - 1e-9);
  }
  BOOST_TEST(hidden > 0u);
}

BOOST_AUTO_TEST_CASE(overlap_is_part_of_the_search_and_keeps_to_the_limit_of_memory) {
  std::mt19937_64 random(16);
  std::size_t faster = 0;
  for (std::size_t k = 0; k < 5; ++k) {
    const graph g = random_program(random, 64, 2, 2 + random() % 5);
    search_options how;
    how.model = random_model(random);
    const search_answer plain = search(g, how.model.links, ~std::size_t{0}, how);
    how.schedule = overlapped_cost;
    const search_answer free = search(g, how.model.links, ~std::size_t{0}, how);
    BOOST_TEST(free.best.cost.seconds() <= plain.best.cost.seconds() * (1 + 1e-9));
    faster += free.best.cost.seconds() < plain.best.cost.seconds() * (1 - 1e-9);
    const search_answer tight = search(g, how.model.links, plain.best.cost.peak, how);
    BOOST_TEST(tight.best.cost.peak <= plain.best.cost.peak);
    BOOST_TEST(tight.best.cost.seconds() <= plain.best.cost.seconds() * (1 + 1e-9));
  }
  BOOST_TEST(faster > 0u);
}

namespace {

/// Every part takes a second.
struct one_second_each final : step_times {
  std::size_t asked = 0;
  double seconds(std::size_t, const std::vector<sharding>&, tensor_set) override { return ++asked, 1; }
  double seconds(const sharding&, const sharding&, const shape_list&) override { return ++asked, 1; }
  double update_seconds(std::size_t) override { return ++asked, 1; }
};

}  // namespace

BOOST_AUTO_TEST_CASE(measured_times_replace_the_speeds_of_the_model) {
  const two_layers p(two_by_two);
  one_second_each times;
  step_model model;
  model.times = &times;
  const completion done = complete(p.g);
  const step_plan plan = plan_step(done, model);
  BOOST_TEST(times.asked == plan.events.size());
  BOOST_TEST(plan.seconds() == static_cast<double>(plan.events.size()));
  for (const step_event& one : plan.events) BOOST_TEST(one.seconds == 1.0);
  search_options how;
  how.model.times = &times;
  const search_answer found = search(p.g, {}, ~std::size_t{0}, how);
  const graph with = found.annotated();
  const completion best = complete(with);
  BOOST_TEST(found.best.cost.seconds() == plan_step(best, found.model).seconds());
}

namespace {

/// Each movement takes some seconds; the elements of each update are listed.
struct listed_updates final : step_times {
  double move_seconds = 0;
  std::vector<std::size_t> elements{};
  double seconds(std::size_t, const std::vector<sharding>&, tensor_set) override { return 1; }
  double seconds(const sharding&, const sharding&, const shape_list&) override { return move_seconds; }
  double update_seconds(std::size_t n) override { return elements.push_back(n), 1; }
};

}  // namespace

BOOST_AUTO_TEST_CASE(an_update_is_measured_for_as_many_elements_as_its_state_has_real_or_complex) {
  for (const std::size_t element_bytes : {2U, 4U, 8U})
    for (const bool complex_up : {false, true})
      for (const bool complex_down : {false, true}) {
        two_layers p(two_by_two);
        p.g.set_complex(p.up_weight, complex_up), p.g.set_complex(p.down_weight, complex_down);
        const completion done = complete(p.g);
        std::vector<sharding> states = done.layouts;
        states[p.up_weight.number] = two_by_two.layout("a", "b");
        states[p.down_weight.number] = two_by_two.layout("", "b");
        listed_updates times;
        step_model model;
        model.element_bytes = element_bytes, model.times = &times;
        plan_step(done, model, states);
        BOOST_TEST((times.elements == std::vector<std::size_t>{64 * 256 / 4, 256 * 64 / 2}));
      }
}

/// A measured movement may take less time than its messages take to start by the model.
BOOST_AUTO_TEST_CASE(of_a_measured_movement_no_more_time_is_that_of_latencies_than_it_takes) {
  two_layers p(two_by_two);
  p.g.constrain(p.up_weight, two_by_two.layout("", "b"));
  const completion done = complete(p.g);
  std::size_t shorter = 0, longer = 0;
  for (const double seconds : {0.0, 1e-9, 1.5e-6, 1.0}) {
    listed_updates times;
    times.move_seconds = seconds;
    step_model model;
    model.times = &times;
    const step_plan plan = plan_step(done, model);
    double latencies = 0, moving = 0;
    for (const step_event& one : plan.events) {
      if (one.kind != step_event::what::move) continue;
      const double latency = plan.plan(one).latency_seconds();
      latencies += std::min(latency, seconds), moving += seconds;
      ++(latency > seconds ? shorter : longer);
    }
    BOOST_TEST(plan.cost.latency_seconds == latencies);
    BOOST_TEST(plan.cost.moving_seconds == moving);
  }
  BOOST_TEST((shorter > 0U && longer > 0U));
}

BOOST_AUTO_TEST_CASE(a_transformer_is_laid_out_no_slower_than_columns_then_rows) {
  constexpr mesh cluster{axis{"data", 4}, axis{"model", 8}};
  search_options how;
  how.model.states = 2;
  how.most = 300;
  const mesh_links links{{1e-5, 1e-10}, {1e-6, 1e-11}};
  for (const std::size_t batch : {std::size_t{4}, std::size_t{32}}) {
    const graph g = test::transformer(cluster, 2, batch, false), by_hand = test::transformer(cluster, 2, batch, true);
    const search_answer found = search(g, links, ~std::size_t{0}, how);
    const completion done = complete(by_hand);
    BOOST_TEST(found.best.cost.seconds() <= plan_step(done, found.model).seconds());
    BOOST_TEST(found.evaluated_candidates <= how.most);
  }
}

BOOST_AUTO_TEST_CASE(what_a_step_takes_it_gives_back) {
  std::mt19937_64 random(14);
  const std::vector<sharding> layouts = all_layouts(two_by_two, 16);
  for (std::size_t k = 0; k < test::random_cases(600); ++k) {
    graph g = random_program(random, 16, 3, 1 + random() % 6, random() % 2 == 0);
    for (std::uint32_t v = 0; v < 3; ++v)
      if (random() % 3 != 0) g.constrain(value{v}, layouts[random() % layouts.size()]);
    step_model model;
    model.states = random() % 3;
    const completion done = complete(g);
    const step_plan plan = plan_step(done, model);
    const auto bytes_of = [&](std::uint32_t v, const sharding& s) { return g.block_bytes(value{v}, s, 4); };
    std::vector<std::size_t> last_reader(g.values(), g.operations());  // as many as there are: no operation reads it
    for (std::uint32_t o = 0; o < g.operations(); ++o)
      for (std::size_t i = 0; i < g.operation(o).operands; ++i) last_reader[g.operand(g.operation(o), i).number] = o;
    // 1. What is there before the step stays.
    std::size_t kept = 0, gradients = 0;
    bool trains = false, updates = false;
    for (std::uint32_t v = 0; v < 3; ++v) {
      const bool is_parameter = g[value{v}].is_parameter;
      kept += bytes_of(v, done[value{v}]) * (is_parameter ? 1 + model.states : 1);
      trains = trains || is_parameter;
    }
    for (std::size_t e = 0; e < plan.events.size(); ++e) {
      const step_event& one = plan.events[e];
      const std::size_t own = bytes_of(one.of, done[value{one.of}]);
      if (one.kind == step_event::what::update) {
        // 2. After the step the gradients are there, too, in the layouts in which they arrived. An update reads the
        // parameter and its gradient and writes the parameter; it reads and writes each state.
        const step_event* const before = e == 0 ? nullptr : &plan.events[e - 1];
        const bool moved = before != nullptr && before->kind == step_event::what::move && before->is_cotangent &&
                           before->operation == step_event::none && before->of == one.of;
        gradients += moved ? bytes_of(one.of, before->from) : own;
        updates = true;
        BOOST_TEST(close(one.seconds, static_cast<double>((3 + 2 * model.states) * own) / model.memory_bytes));
      } else if (one.kind == step_event::what::compute && !trains) {
        // 3. Without parameters: what is still read, what no operation reads, and copies that were moved for this
        // operation.
        std::size_t held = kept;
        for (std::uint32_t v = 3; v < one.of; ++v)
          if (last_reader[v] >= one.operation) held += bytes_of(v, done[value{v}]);
        for (const graph_reshard& move : done.reshards)
          if (move.operation == one.operation && move.of != one.of) held += bytes_of(move.of, move.to);
        BOOST_TEST(one.bytes_held ==
                   held + bytes_of(one.of, done.used_layout(one.operation, g.operation(one.operation).operands)));
      }
    }
    if (updates) BOOST_TEST(plan.events.back().bytes_held == kept + gradients);
    for (const step_event& one : plan.events) BOOST_TEST((one.bytes_held >= kept && one.bytes_held <= plan.peak()));
  }
}

BOOST_AUTO_TEST_CASE(a_worker_holds_the_bytes_of_the_largest_block) {
  for (const mesh& m : {mesh{axis{"a", 2}, axis{"b", 2}}, mesh{axis{"a", 3}, axis{"b", 4}}})
    for (const std::size_t n : {4U, 5U, 7U, 12U, 13U})
      for (const sharding& s : all_layouts(m, n)) {
        const shape_list shape{n, n + 1};
        std::size_t largest = 0;
        for (std::size_t k = 0; k < m.size(); ++k) {
          const auto block = mesh_block(s, shape, k);
          largest = std::max(largest, block[0].size() * block[1].size());
        }
        graph of_one(m);
        BOOST_TEST(of_one.block_bytes(of_one.input(shape), s, 8) == 8 * largest,
                   "" << n << " in " << (text() << "" << s).c_str());
      }
}

BOOST_AUTO_TEST_CASE(a_move_that_was_priced_before_costs_what_its_plan_says) {
  const mesh m{axis("a", 2), axis("b", 3)};
  std::vector<sharding> all;
  for (const sharding& s : {m.layout("", ""), m.layout("a", ""), m.layout("", "a"), m.layout("b", "a")}) {
    all.push_back(s);
    for (const char* name : {"a", "b"})
      if (state_of(s, name[0] == 'a' ? 0 : 1) == axis_state::replicated) all.push_back(sharding(s).partial(name));
  }
  const step_model model;
  detail::move_costs prices(m, model);
  std::size_t priced = 0;
  for (int round = 0; round < 2; ++round)
    for (const sharding& from : all)
      for (const sharding& to : all)
        for (const shape_list& shape : {shape_list{6, 12}, shape_list{12, 6}, shape_list{7, 5}})
          for (const std::size_t bytes : {4U, 8U}) {
            if (to.is_partial() && !(from.pending == to.pending)) continue;  // nothing becomes partial
            const reshard_plan plan = plan_reshard(m, from, to, shape, model.links, bytes);
            const detail::move_cost& price = prices(from, to, shape, bytes);
            BOOST_TEST((price.seconds == plan.seconds() && price.bytes == plan.bytes()));
            ++priced;
          }
  BOOST_TEST(priced > 100U);
}

BOOST_AUTO_TEST_CASE(layers_that_are_alike_are_laid_out_alike_first) {
  graph g(two_by_two);
  value x = g.input({64, 64}, "x");
  for (std::size_t layer = 0; layer < 6; ++layer)
    x = g.apply(rules::matmul, {x, g.parameter({64, 64}, "weight")}, "layer");
  search_options how;
  how.most = 300;  // of 12^7
  const search_answer found = search(g, {}, ~std::size_t{0}, how);
  graph by_hand = g;
  by_hand.constrain(value{0}, two_by_two.layout("a+b", ""));
  BOOST_TEST(found.best.cost.seconds() <= plan_step(complete(by_hand), found.model).seconds());
}

/// Inputs are one choice if nothing tells them apart where they are read first: each property by itself does.
BOOST_AUTO_TEST_CASE(inputs_are_laid_out_together_if_and_only_if_they_are_read_alike) {
  enum { nothing, shape, parameter, rule_of_it, name, operand, cases };
  for (int other = nothing; other < cases; ++other) {
    graph g(two_by_two);
    const auto read = [&](bool differs) {
      const auto is = [&](int what) { return differs && other == what; };
      const shape_list own{is(shape) ? 16U : 8U, 8U};
      const value x = is(parameter) ? g.parameter(own) : g.input(own);
      const value beside = g.input(own, sharding(two_by_two, 2));  // which has its layout
      const char* const called = is(name) ? "another" : "one";
      if (is(operand)) g.apply(rules::add, {beside, x}, called);
      else g.apply(is(rule_of_it) ? rules::multiply : rules::add, {x, beside}, called);
    };
    read(false), read(true);
    const detail::search_space<graph> space(g);
    BOOST_TEST(space.choices.size() == 2U);
    BOOST_TEST(space.groups.size() == (other == nothing ? 1U : 2U), "property " << other);
  }
}

/// Each axis that replicates a parameter shards the parameter's states, along the dimension with the longest blocks.
BOOST_AUTO_TEST_CASE(states_that_do_not_fit_are_sharded_along_their_longest_blocks) {
  struct row {
    shape_list weight;
    sharding state;
  };
  const row table[] = {{{64, 256}, two_by_two.layout("", "a+b")},
                       {{256, 64}, two_by_two.layout("a+b", "")},
                       {{64, 64}, two_by_two.layout("a", "b")},  // the first of dimensions of equal length
                       {{64, 128}, two_by_two.layout("b", "a")}};
  for (const row& one : table) {
    graph g(two_by_two);
    const value x = g.input({8, one.weight[0]}, two_by_two.layout("a", ""), "x");
    const value w = g.parameter(one.weight, two_by_two.layout("", ""), "w");
    g.apply(rules::matmul, {x, w});
    search_options how;
    how.model.states = 2;
    const std::size_t plain = plan_step(complete(g), how.model).peak();
    const search_answer tight = search(g, {}, plain - 1, how);
    BOOST_TEST_REQUIRE(tight.best.states.size() == 1U);
    BOOST_TEST((tight.best.states[0].of == w));
    BOOST_TEST((tight.best.states[0].layout == one.state), (text() << "" << tight.best.states[0].layout).c_str());
  }
}

BOOST_AUTO_TEST_CASE(the_least_memory_that_a_refusal_names_is_enough_and_a_byte_less_is_not) {
  for (const std::size_t states : {0U, 2U}) {
    graph g(two_by_two);
    const value x = g.input({8, 64}, two_by_two.layout("a", ""), "x");
    g.apply(rules::matmul, {x, g.parameter({64, 256}, two_by_two.layout("", ""), "w")});
    search_options how;
    how.model.states = states;
    const auto said = [&](std::size_t memory) {
      return test::refused<partition_error>([&] { search(g, {}, memory, how); });
    };
    const std::string words = "but the least that was found holds ", message = said(1000);
    BOOST_TEST(message.find("requires a program that fits into 1000 bytes of each worker, " + words) !=
               std::string::npos);
    const std::size_t least = std::stoul(message.substr(message.find(words) + words.size()));
    BOOST_TEST(search(g, {}, least, how).best.cost.peak == least);
    BOOST_TEST(said(least - 1).find(words + std::to_string(least) + ";") != std::string::npos);
  }
}

/// A layout is made of lists of different axes, without an axis of one worker; no list has more workers than indices,
/// and only the first two axes of a list may be exchanged.
BOOST_AUTO_TEST_CASE(the_layouts_to_choose_from_are_all_without_empty_blocks) {
  for (const mesh& on : {mesh{axis{"a", 2}, axis{"b", 3}}, mesh{axis{"a", 2}, axis{"b", 1}, axis{"c", 2}},
                         mesh{axis{"a", 2}, axis{"b", 2}, axis{"c", 3}}})
    for (const shape_list& shape : {shape_list{4, 6}, shape_list{2}, shape_list{12}, shape_list{1, 8},
                                    shape_list{dynamic, 8}, shape_list{4, 4, 2}, shape_list{}}) {
      std::vector<sharding> expected;
      std::size_t all = 1;
      for (std::size_t a = 0; a < on.rank(); ++a) all *= shape.size() + 1;
      for (std::size_t code = 0; code < all; ++code)
        for (std::size_t exchanged = 0; exchanged < std::size_t{1} << shape.size(); ++exchanged) {
          sharding s(on, shape.size());
          bool is_allowed = true;
          for (std::size_t a = 0, rest = code; a < on.rank(); ++a, rest /= shape.size() + 1) {
            const std::size_t d = rest % (shape.size() + 1);
            if (d == shape.size()) continue;
            is_allowed = is_allowed && on.size(a) > 1;
            s.cuts[d].push_back(a);
          }
          for (std::size_t d = 0; d < shape.size(); ++d) {
            const axis_list cut = s.cuts[d];
            is_allowed = is_allowed && (cut.empty() || (shape[d] != dynamic && on.size(cut) <= shape[d]));
            if ((exchanged >> d & 1U) == 0) continue;
            is_allowed = is_allowed && cut.size() > 1;
            if (!is_allowed) break;
            s.cuts[d] = axis_list(cut[1]);
            s.cuts[d].append(cut);  // which appends no axis twice
          }
          if (is_allowed) expected.push_back(s);
        }
      const std::vector<sharding> found = detail::layout_options(on, shape).layouts;
      BOOST_TEST(found.size() == expected.size());
      for (const sharding& s : expected)
        BOOST_TEST(std::count(found.begin(), found.end(), s) == 1, (text() << "" << s).c_str());
    }
}

BOOST_AUTO_TEST_CASE(a_search_of_all_candidates_evaluates_each_of_them_once) {
  graph g(two_by_two);
  const value x = g.input({64, 64}, "x"), w = g.input({64, 64}, "w");
  g.apply(rules::matmul, {x, w});
  const detail::search_space<graph> space(g);
  BOOST_TEST_REQUIRE(space.choices.size() == 2U);
  const std::size_t each = space.choices[0].size(), all = each * each;
  BOOST_TEST(each == all_layouts(two_by_two, 64).size() + 1);
  for (const std::size_t most : {std::size_t{1}, each, all - 1, all, all + 1, 2 * all})
    BOOST_TEST(space.size(most) == std::min(most, all));
  search_options how;
  for (const std::size_t most : {all - 1, all + 1, 2 * all}) {
    how.most = most;
    const search_answer found = search(g, {}, ~std::size_t{0}, how);
    BOOST_TEST(found.is_exact == (most > all));
    BOOST_TEST((found.is_exact ? found.evaluated_candidates == all : found.evaluated_candidates <= most));
  }
}

BOOST_AUTO_TEST_CASE(moves_that_were_priced_keep_their_prices_while_the_table_of_prices_grows) {
  const mesh line{axis{"a", 2}};
  const sharding from = line.layout("a"), to = line.layout("");
  step_model model;
  model.links = {{3, 0.5}};
  detail::move_costs prices(line, model);
  for (const int round : {0, 1, 0})
    for (std::size_t n = 1 + static_cast<std::size_t>(round); n < 1400; n += 2) {
      const std::size_t received = n / 2 + n % 2;  // the second worker lacks the longer half
      const detail::move_cost& price = prices(from, to, {n}, 4);
      BOOST_TEST(price.bytes == 4 * received);
      BOOST_TEST(price.latency_seconds == 3);
      BOOST_TEST(price.seconds == model.links.step + (3 + 0.5 * static_cast<double>(4 * received)));
    }
}

BOOST_AUTO_TEST_CASE(the_usual_machine_is_a_core_with_memory_for_numbers_of_four_bytes) {
  const step_model usual;
  BOOST_TEST(usual.multiply_adds == 1e11);
  BOOST_TEST(usual.memory_bytes == 1e10);
  BOOST_TEST(usual.element_bytes == 4U);
  BOOST_TEST(usual.states == 0U);
  BOOST_TEST((usual.links == mesh_links() && usual.times == nullptr));
  BOOST_TEST(search_options().most == 4096U);
}

BOOST_AUTO_TEST_SUITE_END()
