// A step plan and the result of a search, as text and as a drawing.
#include <partita/explain/step_picture.hpp>
#include <partita/rule/sharding/rules.hpp>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <string>

namespace {

using namespace partita;

constexpr mesh m{axis{"data", 2}, axis{"model", 4}};

struct one_layer {
  graph g{m};
  value x = g.input({64, 32}, m.layout("data", ""), "x"), w = g.parameter({32, 128}, "w");
  value y = g.apply(rules::matmul, {x, w}, "y");
};

std::string first_lines(const std::string& all, std::size_t n) {
  std::size_t end = 0;
  for (; n > 0; --n) end = all.find('\n', end) + 1;
  return all.substr(0, end);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(explain_step_text)

BOOST_AUTO_TEST_CASE(quantities_have_three_figures) {
  BOOST_TEST((detail::seconds_text(1.9282) == "1.93 s"));
  BOOST_TEST((detail::seconds_text(2.504e-5) == "25.0 us"));
  BOOST_TEST((detail::seconds_text(9.9951e-4) == "1.00 ms"));
  BOOST_TEST((detail::seconds_text(3.2e-7) == "320 ns"));
  BOOST_TEST((detail::seconds_text(0) == "0.00 ns"));
  BOOST_TEST((detail::bytes_text(999) == "999 B"));
  BOOST_TEST((detail::bytes_text(3145728) == "3.15 MB"));
  BOOST_TEST((detail::bytes_text(1048) == "1.05 kB"));
  BOOST_TEST((detail::percentage(0.0573) == "5.73 %"));
}

/// Three figures as far as they are needed, and the unit in which the number is below 1000.
BOOST_AUTO_TEST_CASE(each_quantity_has_its_unit) {
  for (const auto& [seconds, words] : {std::pair{0.0, "0.00 ns"},
                                       {1e-9, "1.00 ns"},
                                       {9.99e-8, "99.9 ns"},
                                       {9.994e-7, "999 ns"},
                                       {9.996e-7, "1.00 us"},
                                       {1.5e-6, "1.50 us"},
                                       {2e-5, "20.0 us"},
                                       {1e-3, "1.00 ms"},
                                       {0.25, "250 ms"},
                                       {1.0, "1.00 s"},
                                       {12.34, "12.3 s"},
                                       {999.0, "999 s"},
                                       {5000.0, "5000 s"}})
    BOOST_TEST(std::string(detail::seconds_text(seconds)) == words);
  for (const auto& [bytes, words] : {std::pair<std::size_t, const char*>{0, "0 B"},
                                     {1, "1 B"},
                                     {999, "999 B"},
                                     {1000, "1.00 kB"},
                                     {12345, "12.3 kB"},
                                     {999499, "999 kB"},
                                     {999500, "1.00 MB"},
                                     {320000000, "320 MB"},
                                     {1000000000, "1.00 GB"},
                                     {2500000000000, "2.50 TB"},
                                     {7000000000000000, "7000 TB"}})
    BOOST_TEST(std::string(detail::bytes_text(bytes)) == words);
  for (const auto& [number, words] : {std::pair{0.0, "0.00"},
                                      {0.05, "0.05"},
                                      {1.934, "1.93"},
                                      {1.936, "1.94"},
                                      {5.007, "5.01"},
                                      {9.094, "9.09"},
                                      {10.0, "10.0"},
                                      {25.04, "25.0"},
                                      {25.06, "25.1"},
                                      {99.94, "99.9"},
                                      {100.0, "100"},
                                      {320.4, "320"},
                                      {320.6, "321"}})
    BOOST_TEST(std::string(detail::round_to_three_digits(number)) == words);
  BOOST_TEST((detail::percentage(1) == "100 %" && detail::percentage(0.5) == "50.0 %"));
}

BOOST_AUTO_TEST_CASE(each_number_of_a_cost_is_told) {
  step_cost cost{.computing_seconds = 3e-3,
                 .moving_seconds = 2e-3,
                 .latency_seconds = 5e-4,
                 .hidden_seconds = 1e-3,
                 .received_bytes = 12345,
                 .movements = 7,
                 .peak = 2000000};
  BOOST_TEST(std::string(detail::cost_text(cost)) ==
             "4.00 ms: computing 3.00 ms, moving 2.00 ms (500 us of it to start messages, 1.00 ms while something is "
             "computed); 12.3 kB received in 7 movements, at most 2.00 MB held");
  cost.hidden_seconds = 0;
  BOOST_TEST(std::string(detail::cost_text(cost)) ==
             "5.00 ms: computing 3.00 ms, moving 2.00 ms (500 us of it to start messages); 12.3 kB received in 7 "
             "movements, at most 2.00 MB held");
}

/// A line of each kind of event, in the forward and in the backward pass; and the passes under their headings.
BOOST_AUTO_TEST_CASE(each_kind_of_event_has_its_line) {
  using what = step_event::what;
  one_layer p;
  const completion done = complete(p.g);
  step_plan plan = plan_step(done);
  const sharding columns = m.layout("", "model"), whole = m.layout("", "");
  const std::pair<step_event, const char*> table[] = {
      {{.kind = what::compute, .operation = 0, .of = 2}, "y mk,kn->mn"},
      {{.kind = what::window, .operation = 0, .of = 2}, "blocks beside those of y mk,kn->mn"},
      {{.kind = what::move, .operation = 0, .of = 1, .from = columns, .to = whole}, "all_gather model of w -> (, )"},
      {{.kind = what::compute, .backward = true, .operation = 0}, "gradient of y mk,kn->mn"},
      {{.kind = what::window, .backward = true, .operation = 0}, "blocks beside those of gradient of y mk,kn->mn"},
      {{.kind = what::move, .backward = true, .of = 1, .is_cotangent = true, .from = columns, .to = whole},
       "all_gather model of d w -> (, )"},
      {{.kind = what::update, .backward = true, .of = 1}, "update w"}};
  plan.events.clear();
  for (const auto& [one, words] : table) {
    BOOST_TEST(std::string(detail::event_text(plan, one)) == words);
    plan.events.push_back(one);
  }
  const std::string all = to_text(plan);
  BOOST_TEST(all.starts_with("forward\n  y mk,kn->mn  "));
  BOOST_TEST(all.find("held\nbackward\n  gradient of y mk,kn->mn  ") != std::string::npos, all);
  BOOST_TEST(all.find("backward", all.find("backward") + 1) == std::string::npos, all);
}

BOOST_AUTO_TEST_CASE(a_step_is_told_event_by_event) {
  one_layer p;
  p.g.constrain(p.w, m.layout("", "model"));
  const completion done = complete(p.g);
  const step_plan plan = plan_step(done);
  BOOST_TEST(std::string(to_text(plan)) ==
             "forward\n"
             "  y mk,kn->mn                          1.56 us             12.3 kB held\n"
             "backward\n"
             "  gradient of y mk,kn->mn              1.56 us             20.5 kB held\n"
             "  all_reduce data of d w -> (, model)  1.41 us   4.10 kB   12.3 kB held\n"
             "  update w                             1.23 us             12.3 kB held\n"
             "a step takes 5.75 us: computing 4.34 us, moving 1.41 us (1.00 us of it to start messages); 4.10 kB "
             "received in 1 movements, at most 20.5 kB held\n");
}

BOOST_AUTO_TEST_CASE(an_answer_is_told_as_lines_to_paste_with_its_runner_up_and_what_binds) {
  const one_layer p;
  const search_answer found = search(p.g, {});
  const std::string all = explain(found);
  BOOST_TEST(all.find("g.constrain(value{1}, m.layout(\"") != std::string::npos, all);
  BOOST_TEST(all.find("runner-up: ") != std::string::npos, all);
  BOOST_TEST(all.find("what binds: computing, ") != std::string::npos, all);
  BOOST_TEST(all.find("12 candidates judged, all there are\n") != std::string::npos, all);
  BOOST_TEST(first_lines(all, 1).find("a step takes ") == 0u);
}

BOOST_AUTO_TEST_CASE(what_takes_the_largest_share_of_a_step_is_what_binds) {
  std::string named;
  for (const mesh_link& link : {mesh_link{1e-12, 1e-15}, mesh_link{1e-9, 1e-5}, mesh_link{1e-1, 1e-12}}) {
    one_layer p;
    p.g.constrain(p.w, m.layout("", ""));
    const search_answer found = search(p.g, {{link, link}});
    const step_cost& cost = found.best.cost;
    const double sending = cost.moving_seconds - cost.latency_seconds;
    const double most = std::max({cost.computing_seconds, sending, cost.latency_seconds});
    const std::string name = most == cost.computing_seconds ? "computing"
                             : most == sending              ? "the bytes that move"
                                                            : "starting messages";
    const std::string line =
        "what binds: " + name + ", " + std::string(detail::percentage(most / cost.seconds())) + " ";
    BOOST_TEST(std::string(explain(found)).find(line) != std::string::npos, explain(found) << " has not " << line);
    named += name + ";";
  }
  BOOST_TEST(named == "computing;the bytes that move;starting messages;");
}

/// The three parts of a step are the computations, the messages' latencies, and the rest of the movements. The first of
/// several largest parts is named; times in which a worker computes and moves count once.
BOOST_AUTO_TEST_CASE(the_part_that_binds_is_told_with_its_own_share) {
  const one_layer p;
  search_answer found = search(p.g, {});
  for (const double computing : {0.0, 1.0, 2.0, 5.0})
    for (const double sending : {0.0, 1.0, 2.0, 5.0})
      for (const double latency : {0.0, 1.0, 2.0, 5.0})
        for (const double hidden : {0.0, 0.5}) {
          if (computing < hidden || sending + latency < hidden) continue;
          found.best.cost = {.computing_seconds = computing,
                             .moving_seconds = sending + latency,
                             .latency_seconds = latency,
                             .hidden_seconds = hidden};
          const double most = std::max({computing, sending, latency}), all = computing + sending + latency - hidden;
          const std::string name = most == computing ? "computing"
                                   : most == sending ? "the bytes that move"
                                                     : "starting messages";
          const std::string share = std::string(detail::percentage(all > 0 ? most / all : 0));
          const std::string line = "what binds: " + name + ", " + share + " of the step\n", words = explain(found);
          BOOST_TEST(words.find(line) != std::string::npos, words << " has not " << line);
        }
}

BOOST_AUTO_TEST_CASE(a_runner_up_takes_its_difference_to_the_best_more) {
  const one_layer p;
  search_answer found = search(p.g, {});
  found.best.cost = {.computing_seconds = 2e-3};
  for (const double more : {0.01, 0.25, 0.5, 1.0, 3.0}) {
    found.runner_up.cost = {.computing_seconds = 2e-3 * (1 + more)};
    found.runner_up.is_found = true;
    const std::string said = ", " + std::string(detail::percentage(more).c_str()) + " more, with\n";
    BOOST_TEST(std::string(explain(found)).find(said) != std::string::npos, explain(found).c_str());
  }
}

/// The lines of an answer: annotations to paste, layouts of states, and what the second-best answer shards differently.
BOOST_AUTO_TEST_CASE(an_answer_has_a_line_for_each_input_it_shards) {
  const one_layer p;
  search_answer found = search(p.g, {});
  found.best.annotations = {{p.w, m.layout("data+model", "")}};
  found.best.states = {{p.w, m.layout("", "data")}};
  found.best.cost = {.computing_seconds = 2e-3};
  found.runner_up = {{{p.w, m.layout("", "model")}}, {}, {.computing_seconds = 3e-3}, true};
  found.best_without_limit = {};
  found.evaluated_candidates = 17;
  found.is_exact = false;
  BOOST_TEST(std::string(explain(found)) ==
             "a step takes 2.00 ms: computing 2.00 ms, moving 0.00 ns (0.00 ns of it to start messages); 0 B received "
             "in 0 movements, at most 0 B held\n"
             "g.constrain(value{1}, m.layout(\"data+model\", \"\"));  // w [32, 128]\n"
             "the optimiser's state of w: (, data)\n"
             "runner-up: 3.00 ms, 50.0 % more, with\n"
             "  w (, model) instead of (data+model, )\n"
             "what binds: computing, 100 % of the step\n"
             "17 candidates judged, not all there are\n");
  found.runner_up.is_found = false;
  found.is_exact = true;
  const std::string alone = explain(found);
  BOOST_TEST(alone.find("runner-up") == std::string::npos);
  BOOST_TEST(alone.ends_with("17 candidates judged, all there are\n"));
}

/// A second-best answer that takes as long as the best is as fast, but for a rounding error.
BOOST_AUTO_TEST_CASE(a_runner_up_may_be_as_fast_as_the_best) {
  const one_layer p;
  search_answer found = search(p.g, {});
  found.runner_up.is_found = true;
  const auto told = [&](double best, double second) {
    found.best.cost = {.computing_seconds = best};
    found.runner_up.cost = {.computing_seconds = second};
    const std::string all = explain(found), start = "runner-up: ";
    const std::size_t at = all.find(start) + start.size();
    return all.substr(at, all.find('\n', at) - at);
  };
  BOOST_TEST(told(2e-3, 2e-3) == "2.00 ms, as fast, with");
  BOOST_TEST(told(2e-3, 2e-3 * (1 + 1e-10)) == "2.00 ms, as fast, with");
  BOOST_TEST(told(2e-3, 2e-3 * (1 + 1e-7)) == "2.00 ms, 0.00 % more, with");
  BOOST_TEST(told(0, 0) == "0.00 ns, as fast, with");
  BOOST_TEST(told(0, 1e-3) == "1.00 ms, 1.00 ms more, with");
}

BOOST_AUTO_TEST_CASE(a_limit_that_binds_is_named_with_what_it_costs) {
  graph g(m);  // rows need nothing moved but all of w; a worker that holds less of it has to sum
  g.apply(rules::matmul, {g.input({64, 256}, "x"), g.input({256, 16}, "w")}, "y");
  const search_answer found = search(g, {{1e-4, 1e-9}, {1e-4, 1e-9}}, 20000);
  BOOST_TEST(found.best.cost.peak <= 20000u);
  BOOST_TEST(std::string(explain(found)).find("what binds: memory. Without the limit of 20.0 kB a step would take ") !=
             std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_step_is_drawn_with_a_bar_for_each_event) {
  one_layer p;
  p.g.constrain(p.w, m.layout("", "model"));
  const completion done = complete(p.g);
  const step_plan plan = plan_step(done);
  const std::string svg = to_svg(plan);
  std::size_t bars = 0;
  for (std::size_t at = svg.find("stroke-width"); at != std::string::npos; at = svg.find("stroke-width", at + 1))
    ++bars;
  // three colours of the legend, the line between forward and backward, the axis of time with its five ticks
  BOOST_TEST(bars == plan.events.size() + 3 + 1 + 6);
  for (const char* label :
       {">computes<", ">communicates<", ">updates<", ">time, bytes<", ">memory, at most ", ">5.75 us<"})
    BOOST_TEST_CONTEXT(label) BOOST_TEST(svg.find(label) != std::string::npos);
  BOOST_TEST(svg.find("all_reduce data of d w -&gt; (, model)") != std::string::npos);
  BOOST_TEST(svg.find("a step takes 5.75 us") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
