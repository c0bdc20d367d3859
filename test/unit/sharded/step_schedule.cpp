// The steps of a plan have the names, times and bytes of its events; their schedule is what overlapped_cost() counts.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstddef>
#include <partita/plan/complete.hpp>
#include <partita/plan/step_plan.hpp>
#include <partita/rule/sharding/rules.hpp>
#include <partita/sharded/step_schedule.hpp>
#include <string>
#include <vector>

using namespace partita;

namespace {

constexpr mesh four{axis{"a", 4}};

/// Layers whose weights are sharded, so that each layer moves its weights and, if they are parameters, their gradient.
graph layers_of(std::size_t layers, std::size_t width, std::size_t rows, bool are_parameters = true) {
  graph g(four);
  value x = g.input({rows, width}, four.layout("a", ""), "x");
  for (std::size_t l = 0; l < layers; ++l) {
    const value w = are_parameters ? g.parameter({width, width}) : g.input({width, width}, four.layout("a", ""), "w");
    if (are_parameters) g.constrain(w, four.layout("a", ""));
    x = g.apply(rules::relu, {g.apply(rules::matmul, {x, w})});
  }
  return g;
}
step_model model_of(double latency, double per_byte) {
  step_model model;
  model.links = mesh_links{{latency, per_byte}};
  return model;
}
bool are_close(double a, double b) { return std::abs(a - b) <= 1e-9 * std::max(std::abs(a), std::abs(b)); }

}  // namespace

BOOST_AUTO_TEST_SUITE(schedule_of_a_step)

BOOST_AUTO_TEST_CASE(steps_have_the_names_and_figures_of_their_events) {
  const graph g = layers_of(3, 64, 32);
  const completion done = complete(g);
  const step_plan plan = plan_step(done, model_of(1e-6, 1e-9));
  const std::vector<step_use> steps = steps_of(plan);
  BOOST_REQUIRE(steps.size() == plan.events.size());
  std::size_t moves = 0, updates = 0, backward = 0, received = 0;
  for (std::size_t k = 0; k < steps.size(); ++k) {
    const step_event& e = plan.events[k];
    const step_use& one = steps[k];
    const bool is_update = e.operation == step_event::none;
    const std::string of = is_update ? "update" : g.operation(e.operation).how.name();
    BOOST_TEST(std::string(one.name.c_str()) == (e.backward && !is_update ? "gradient of " + of : of));
    BOOST_TEST(one.is_backward == e.backward);
    BOOST_TEST(one.seconds == e.seconds);
    BOOST_TEST(one.moves == (e.kind == step_event::what::move || e.kind == step_event::what::window));
    BOOST_TEST(one.received == (one.moves ? e.bytes : 0));
    moves += one.moves, updates += is_update, backward += one.is_backward, received += one.received;
  }
  BOOST_TEST(moves > 0U);
  BOOST_TEST(updates > 0U);
  BOOST_TEST(backward > 0U);
  BOOST_TEST(backward < steps.size());
  BOOST_TEST(received == plan.bytes());
}

BOOST_AUTO_TEST_CASE(the_backward_pass_begins_when_the_forward_pass_has_ended) {
  for (const double latency : {0.0, 1e-6, 1e-4}) {
    const graph g = layers_of(4, 64, 32);
    const completion done = complete(g);
    const timetable times = schedule_of(plan_step(done, model_of(latency, 1e-9)));
    double forward_until = 0, backward_from = 1e300;
    bool has_begun = false;
    for (const timetable::entry& one : times.entries) {
      if (one.is_backward) backward_from = std::min(backward_from, one.from);
      else forward_until = std::max(forward_until, one.until);
      BOOST_TEST((!has_begun || one.is_backward));
      has_begun = has_begun || one.is_backward;
    }
    BOOST_TEST(forward_until > 0);
    BOOST_TEST(backward_from >= forward_until);
    BOOST_TEST(backward_from < times.seconds());
  }
}

BOOST_AUTO_TEST_CASE(the_cost_of_a_plan_is_that_of_its_schedule) {
  std::size_t hidden = 0, larger = 0;
  for (const double latency : {0.0, 1e-6, 1e-5})
    for (const double per_byte : {1e-10, 1e-9, 1e-8})
      for (const std::size_t rows : {8U, 512U, 9U, 513U}) {
        const graph g = layers_of(4, 64, rows / 8 * 8, rows % 8 == 0);
        const completion done = complete(g);
        const step_plan plan = plan_step(done, model_of(latency, per_byte));
        const timetable times = schedule_of(plan);
        const std::size_t in_order = schedule_of(plan, order_limits::in_program_order()).peak();
        const step_cost cost = overlapped_cost(plan);
        const std::size_t more = times.peak() > in_order ? times.peak() - in_order : 0;
        BOOST_TEST(are_close(cost.seconds(), times.seconds()));
        BOOST_TEST(cost.peak == plan.peak() + more);
        BOOST_TEST(cost.computing_seconds == plan.cost.computing_seconds);
        BOOST_TEST(cost.moving_seconds == plan.cost.moving_seconds);
        BOOST_TEST(cost.received_bytes == plan.cost.received_bytes);
        BOOST_TEST(cost.hidden_seconds >= 0);
        hidden += cost.hidden_seconds > 0, larger += more > 0;
        const timetable four_at_once = schedule_of(plan, order_limits{4});
        BOOST_TEST(times.seconds() == four_at_once.seconds());
        BOOST_TEST(times.peak() == four_at_once.peak());
      }
  BOOST_TEST(hidden > 0U);
  BOOST_TEST(larger > 0U);
}

BOOST_AUTO_TEST_SUITE_END()
