// Orders of pipelines: idle times, random orders, and orders that would wait for ever.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <iterator>
#include <limits>
#include <partita/plan/pipeline_order.hpp>
#include <partita/sharded/detail/pipeline_events.hpp>
#include <random>
#include <random_cases.hpp>
#include <refused.hpp>
#include <string>
#include <utility>
#include <vector>

using namespace partita;
using pass = pipeline_pass;

namespace {

pipeline_shape one_stage_each(std::uint32_t stages, std::uint32_t micro_batches) {
  pipeline_shape shape{{}, micro_batches};
  for (std::uint32_t s = 0; s < stages; ++s) shape.group_of.push_back(s);
  return shape;
}
pipeline_times equal_times(std::size_t stages, double forward, double backward, double weights = 0) {
  return {std::vector<double>(stages, forward), std::vector<double>(stages, backward),
          std::vector<double>(stages, weights)};
}

/// What a task needs: the tasks that come before it in any order.
std::vector<pipeline_task> needs_of(const pipeline_shape& shape, const pipeline_task& one) {
  const auto [p, s, m] = one;
  std::vector<pipeline_task> all;
  if (p == pass::forward && s > 0) all.push_back({p, s - 1, m});
  if (p == pass::backward) all.push_back({pass::forward, s, m});
  if (p == pass::backward && s + 1 < shape.stages()) all.push_back({p, s + 1, m});
  if (p == pass::weights) all.push_back({pass::backward, s, m});
  return all;
}

/// The tasks of a random valid order: again and again, some task that could begin next.
pipeline_tasks random_tasks(const pipeline_shape& shape, bool has_weights, std::mt19937& random) {
  pipeline_tasks all(shape.groups());
  std::vector<bool> done(shape.task_count(), false);
  const auto is_done = [&](const pipeline_task& one) { return done[shape.number(one)]; };
  for (;;) {
    std::vector<pipeline_task> open;
    for (const pass p : {pass::forward, pass::backward, pass::weights})
      for (std::uint32_t s = 0; s < shape.stages() && (has_weights || p != pass::weights); ++s)
        for (std::uint32_t m = 0; m < shape.micro_batches; ++m) {
          const pipeline_task one{p, s, m};
          if (is_done(one)) continue;
          const auto needs = needs_of(shape, one);
          if (std::all_of(needs.begin(), needs.end(), is_done)) open.push_back(one);
          if (p != pass::forward) break;  // gradients are in ascending order of micro-batches, forward passes in any
        }
    if (open.empty()) return all;
    const pipeline_task one = open[random() % open.size()];
    done[shape.number(one)] = true;
    all[shape.group_of[one.stage]].push_back(one);
  }
}
/// Whether every task comes after those that it needs if each group follows its list: removes tasks from the front of
/// the lists as long as possible.
bool runs_to_its_end(const pipeline_shape& shape, const pipeline_tasks& tasks) {
  std::vector<bool> done(shape.task_count(), false);
  std::vector<std::size_t> next(tasks.size(), 0);
  bool goes_on = true, ends = true;
  while (std::exchange(goes_on, false))
    for (std::size_t g = 0; g < tasks.size(); ++g)
      for (; next[g] < tasks[g].size(); ++next[g], goes_on = true) {
        const auto needs = needs_of(shape, tasks[g][next[g]]);
        if (!std::all_of(needs.begin(), needs.end(), [&](const auto& n) { return done[shape.number(n)]; })) break;
        done[shape.number(tasks[g][next[g]])] = true;
      }
  for (std::size_t g = 0; g < tasks.size(); ++g) ends = ends && next[g] == tasks[g].size();
  return ends;
}
std::string written(const pipeline_task& one) { return (text() << "" << one).c_str(); }

/// The groups in the circle that an error names, if each of them does wait there: the task needs the one that it waits
/// for, and the next group has that one at or after the task with which it waits itself; else 0.
std::size_t groups_in_circle(const pipeline_shape& shape, const pipeline_tasks& tasks, const std::string& said) {
  const auto begin = said.find("but group "), end = said.find("; put a task");
  if (begin == std::string::npos || end == std::string::npos) return 0;
  struct wait {
    std::size_t group = 0, at = 0;
    pipeline_task with{}, need{};
  };
  std::vector<wait> circle;
  for (std::size_t at = begin + 4; at < end; at = said.find("; ", at) + 2) {
    const std::string part = said.substr(at, std::min(end, said.find("; ", at)) - at);
    for (std::size_t g = 0; g < tasks.size(); ++g)
      for (std::size_t k = 0; k < tasks[g].size(); ++k)
        for (const pipeline_task& need : needs_of(shape, tasks[g][k]))
          if (part == "group " + std::to_string(g) + " waits with " + written(tasks[g][k]) + " for " + written(need))
            circle.push_back({g, k, tasks[g][k], need});
  }
  for (std::size_t k = 0; k < circle.size(); ++k) {
    const wait& next = circle[(k + 1) % circle.size()];
    const auto& list = tasks[next.group];
    if (std::find(list.begin() + static_cast<std::ptrdiff_t>(next.at), list.end(), circle[k].need) == list.end())
      return 0;
  }
  return circle.size();
}
pipeline_shape random_shape(std::mt19937& random) {
  const auto groups = static_cast<std::uint32_t>(1 + random() % 5);
  pipeline_shape shape{{}, static_cast<std::uint32_t>(1 + random() % 8)};
  for (std::uint32_t s = 0; s < groups * (1 + random() % 2); ++s) shape.group_of.push_back(s % groups);
  return shape;
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_pipeline_is_idle_while_it_fills_and_empties) {
  for (const std::uint32_t p : {2U, 3U, 4U, 8U})
    for (const std::uint32_t m : {p, 2 * p, 16U, 33U}) {
      const pipeline_shape shape = one_stage_each(p, m);
      const pipeline_times times = equal_times(p, 1, 2);
      const double expected = static_cast<double>(p - 1) / (m + p - 1);
      for (const pipeline_order order : {pipeline_order::gpipe, pipeline_order::one_forward_one_backward}) {
        const pipeline_run run = simulate(shape, tasks_of(order, shape, times), times);
        BOOST_TEST(run.idle == expected, boost::test_tools::tolerance(1e-12));
        BOOST_TEST(run.seconds == 3.0 * (m + p - 1));
        BOOST_TEST(run.tasks.size() == 2U * p * m);
        BOOST_TEST(run.most_kept == (order == pipeline_order::gpipe ? m : std::min(p, m)));
      }
      const pipeline_times apart = equal_times(p, 1, 1, 1);
      const pipeline_run filled = simulate(shape, tasks_of(pipeline_order::zero_bubble, shape, apart), apart);
      BOOST_TEST(filled.idle < 0.8 * expected);
      BOOST_TEST(filled.most_kept <= 2 * p);
    }
}

BOOST_AUTO_TEST_CASE(several_stages_for_each_group_make_less_idle_time) {
  for (const std::uint32_t p : {2U, 4U})
    for (const std::uint32_t m : {p, 4 * p}) {
      pipeline_shape shape{{}, m};
      for (std::uint32_t s = 0; s < 2 * p; ++s) shape.group_of.push_back(s % p);
      const pipeline_times half = equal_times(2 * p, 0.5, 1);
      const pipeline_run run = simulate(shape, tasks_of(pipeline_order::interleaved, shape, half), half);
      BOOST_TEST(run.most_kept == (m == p ? p : 2 * p));
      BOOST_TEST(run.idle == static_cast<double>(p - 1) / (2 * m + p - 1), boost::test_tools::tolerance(1e-12));
      // Megatron-LM's forward passes of group g before its first backward pass
      const pipeline_tasks tasks = tasks_of(pipeline_order::interleaved, shape, half);
      for (std::uint32_t g = 0; g < p; ++g) {
        const auto is_backward = [](const pipeline_task& one) { return one.pass == pass::backward; };
        const auto first = std::find_if(tasks[g].begin(), tasks[g].end(), is_backward);
        BOOST_TEST(std::distance(tasks[g].begin(), first) == (m == p ? 2 * p : 2 * (p - g - 1) + p + 1));
      }
    }
}

BOOST_AUTO_TEST_CASE(a_group_with_all_stages_finishes_what_it_has_begun) {
  const pipeline_shape shape{{0, 0}, 2};
  const auto tasks = tasks_of(pipeline_order::one_forward_one_backward, shape, equal_times(2, 1, 2));
  const std::vector<pipeline_task> expected{{pass::forward, 0, 0},  {pass::forward, 1, 0}, {pass::backward, 1, 0},
                                            {pass::backward, 0, 0}, {pass::forward, 0, 1}, {pass::forward, 1, 1},
                                            {pass::backward, 1, 1}, {pass::backward, 0, 1}};
  BOOST_TEST_REQUIRE(tasks.size() == 1U);
  BOOST_TEST((tasks[0] == expected));
  BOOST_TEST(simulate(shape, tasks, equal_times(2, 1, 2)).most_kept == 1U);
  // values are kept until the gradients of the weights are there
  const std::vector<pipeline_task> apart{{pass::forward, 0, 0},  {pass::backward, 0, 0}, {pass::forward, 0, 1},
                                         {pass::backward, 0, 1}, {pass::weights, 0, 0},  {pass::weights, 0, 1}};
  BOOST_TEST(simulate({{0}, 2}, pipeline_tasks(1, apart), equal_times(1, 1, 1, 1)).most_kept == 2U);
}

BOOST_AUTO_TEST_CASE(weights_wait_until_a_stage_keeps_twice_as_many_micro_batches_as_stages_follow) {
  // The last stage begins a second micro-batch before the weights of the first, and no third.
  const auto tasks = tasks_of(pipeline_order::zero_bubble, {{0}, 4}, equal_times(1, 1, 1, 1));
  const std::vector<pipeline_task> expected{{pass::forward, 0, 0},  {pass::backward, 0, 0}, {pass::forward, 0, 1},
                                            {pass::backward, 0, 1}, {pass::weights, 0, 0},  {pass::forward, 0, 2},
                                            {pass::backward, 0, 2}, {pass::weights, 0, 1},  {pass::forward, 0, 3},
                                            {pass::backward, 0, 3}, {pass::weights, 0, 2},  {pass::weights, 0, 3}};
  BOOST_TEST_REQUIRE(tasks.size() == 1U);
  BOOST_TEST((tasks[0] == expected));
}

BOOST_AUTO_TEST_CASE(of_tasks_that_could_begin_at_the_same_time_the_order_is_that_of_stages_and_groups) {
  // two stages of one group: weights that are left to the end begin with the first stage
  const auto tasks = tasks_of(pipeline_order::zero_bubble, {{0, 0}, 1}, equal_times(2, 1, 1, 1));
  const std::vector<pipeline_task> last(tasks[0].end() - 2, tasks[0].end());
  BOOST_TEST((last == std::vector<pipeline_task>{{pass::weights, 0, 0}, {pass::weights, 1, 0}}));
  // groups that begin a task at the same time
  std::mt19937 random(59);
  for (std::size_t k = 0; k < test::random_cases(50); ++k) {
    const pipeline_shape shape = random_shape(random);
    const pipeline_times times = equal_times(shape.stages(), 1, 2);
    const auto run = simulate(shape, tasks_of(pipeline_order::one_forward_one_backward, shape, times), times);
    BOOST_TEST(std::is_sorted(run.tasks.begin(), run.tasks.end(), [](const auto& a, const auto& b) {
      return a.from != b.from ? a.from < b.from : a.group < b.group;
    }));
  }
}

BOOST_AUTO_TEST_CASE(events_do_each_step_once_and_movements_that_are_pending_have_lanes_of_their_own) {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    const pipeline_shape shape = random_shape(random);
    const bool has_weights = random() % 2 == 0;
    // Times that are 0 or that vanish beside others are times, too.
    const double some[] = {0, 1e-12, 1, 2, 1e9, 1e20};
    pipeline_times times = equal_times(shape.stages(), 1, 2, 1);
    times.transfer_seconds = some[random() % 6];
    for (auto* list : {&times.forward, &times.backward, &times.weights})
      for (double& one : *list) one = some[random() % 6];
    // A step for each forward pass, two for each backward pass, of which the stage before needs the first, and one for
    // each movement between groups.
    const detail::pipeline_numbering numbers{shape.stages(), shape.micro_batches};
    std::vector<step_use> steps;
    const auto add = [&](std::uint32_t task, bool moves, std::vector<std::uint32_t> reads, std::uint32_t sets) {
      steps.push_back({std::move(reads), sets, task, moves});
    };
    const auto block = [&](std::uint32_t kind, std::uint32_t s, std::uint32_t m) {
      return (kind * shape.micro_batches + m) * (shape.stages() + 1) + s;
    };
    enum : std::uint32_t { made, arrived, cotangent, returned, gradient, input };
    for (std::uint32_t m = 0; m < shape.micro_batches; ++m) {
      std::uint32_t x = block(input, 0, m);
      for (std::uint32_t s = 0; s < shape.stages(); ++s) {
        add(numbers.of(numbers.forward, s, m), false, {x}, block(made, s, m));
        x = block(made, s, m);
        if (s + 1 == shape.stages() || shape.group_of[s] == shape.group_of[s + 1]) continue;
        add(numbers.of(numbers.y_move, s, m), true, {x}, block(arrived, s, m));
        x = block(arrived, s, m);
      }
      x = block(input, 1, m);
      for (std::uint32_t s = shape.stages(); s-- > 0;) {
        add(numbers.of(numbers.backward, s, m), false, {x, block(made, s, m)}, block(cotangent, s, m));
        add(numbers.of(numbers.backward, s, m), false, {x, block(made, s, m)}, block(gradient, s, m));
        x = block(cotangent, s, m);
        if (s == 0 || shape.group_of[s] == shape.group_of[s - 1]) continue;
        add(numbers.of(numbers.dy_move, s, m), true, {x}, block(returned, s, m));
        x = block(returned, s, m);
      }
    }
    const auto order =
        detail::order_pipeline_steps(shape, simulate(shape, random_tasks(shape, has_weights, random), times), steps);
    using what = ordered_step::what;
    std::vector<int> done(steps.size(), 0);  // 1 expected, 2 given, 3 done
    std::vector<bool> is_made(block(input, 2, 0) + 6 * shape.micro_batches * (shape.stages() + 1), false);
    std::vector<std::uint32_t> pending;
    std::size_t most = 0, lanes = 0;
    bool right = true;
    for (const ordered_step& one : order) {
      const step_use& step = steps[one.step];
      int& now = done[one.step];
      for (const std::uint32_t x : step.reads)  // what is not set in the pipeline comes from outside
        right = right && (one.action == what::post_receive || x >= block(input, 0, 0) || is_made[x]);
      const auto lane = std::find(pending.begin(), pending.end(), one.channel);
      if (one.action == what::compute) right = right && now == 0 && !step.moves;
      if (one.action == what::post_receive) {
        right = right && now == 0 && step.moves && lane == pending.end() && one.channel > 0U;
        pending.push_back(one.channel);
        most = std::max(most, pending.size());
        lanes = std::max<std::size_t>(lanes, one.channel);
      }
      if (one.action == what::post_send) right = right && now == 1 && lane != pending.end();
      if (one.action == what::finish) {
        right = right && now == 2 && lane != pending.end();
        if (lane != pending.end()) pending.erase(lane);
      }
      now = one.action == what::post_receive ? 1 : one.action == what::post_send ? 2 : 3;
      if (now == 3) is_made[step.sets] = true;
    }
    right = right && std::count(done.begin(), done.end(), 3) == static_cast<std::ptrdiff_t>(steps.size());
    BOOST_TEST(right);
    BOOST_TEST(lanes == most);
  }
}

BOOST_AUTO_TEST_CASE(usual_orders_run_for_uneven_stages_and_slow_movements) {
  std::mt19937 random(4);
  for (int round = 0; round < 300; ++round) {
    const pipeline_shape shape = random_shape(random);
    pipeline_times times = equal_times(shape.stages(), 1, 1, 1);
    for (auto* list : {&times.forward, &times.backward, &times.weights})
      for (double& one : *list) one = static_cast<double>(random() % 5);
    times.transfer_seconds = static_cast<double>(random() % 4);
    for (const pipeline_order order : {pipeline_order::gpipe, pipeline_order::one_forward_one_backward,
                                       pipeline_order::interleaved, pipeline_order::zero_bubble}) {
      const pipeline_run run = simulate(shape, tasks_of(order, shape, times), times);
      BOOST_TEST((run.idle >= -1e-12 && run.idle <= 1));
    }
  }
}

BOOST_AUTO_TEST_CASE(random_orders_run_to_their_end) {
  std::mt19937 random(5);
  for (std::size_t round = 0; round < test::random_cases(10000); ++round) {
    const pipeline_shape shape = random_shape(random);
    const bool has_weights = random() % 2 == 0;
    const pipeline_times times = equal_times(shape.stages(), 1, 2, 1);
    const pipeline_run run = simulate(shape, random_tasks(shape, has_weights, random), times);
    // every task after those that it needs
    std::vector<double> until(3 * shape.stages() * shape.micro_batches, -1);
    const auto at = [&](pass p, std::uint32_t s, std::uint32_t m) -> double& {
      return until[(static_cast<std::size_t>(p) * shape.stages() + s) * shape.micro_batches + m];
    };
    bool right = run.tasks.size() == (has_weights ? 3U : 2U) * std::size_t{shape.stages()} * shape.micro_batches;
    std::vector<double> free(shape.groups(), 0);
    double before = 0;
    for (const simulated_task& one : run.tasks) {
      right = right && one.from >= before;
      before = one.from;
      const pass p = one.task.pass;
      const std::uint32_t s = one.task.stage, m = one.task.micro_batch;
      for (const auto& [q, t, same] : needs_of(shape, one.task))
        right = right && at(q, t, same) >= 0 && at(q, t, same) <= one.from;
      right = right && one.group == shape.group_of[s] && free[one.group] <= one.from;
      at(p, s, m) = free[one.group] = one.until;
    }
    if (!right) BOOST_TEST(right);
  }
}

BOOST_AUTO_TEST_CASE(orders_that_wait_for_ever_are_refused_with_the_circle) {
  std::mt19937 random(6);
  const std::size_t all_planted = test::random_cases(1000);
  std::size_t planted = 0, of_several_groups = 0;
  while (planted < all_planted) {
    const pipeline_shape shape = random_shape(random);
    pipeline_tasks all = random_tasks(shape, random() % 2 == 0, random);
    // Forward passes are exchanged with any other tasks, until some task comes before one that it needs.
    for (int k = 0; k < 20 && runs_to_its_end(shape, all); ++k) {
      auto& list = all[random() % all.size()];
      const std::size_t from = random() % list.size(), to = random() % list.size();
      if (list[from].pass == pass::forward) {
        const pipeline_task one = list[from];
        list.erase(list.begin() + static_cast<std::ptrdiff_t>(from));
        list.insert(list.begin() + static_cast<std::ptrdiff_t>(to), one);
      }
    }
    const pipeline_times times = equal_times(shape.stages(), 1, 1);
    if (runs_to_its_end(shape, all)) {
      BOOST_TEST(simulate(shape, all, times).seconds > 0);
      continue;
    }
    const std::string said = test::refused<partition_error>([&] { (void)simulate(shape, all, times); });
    BOOST_TEST(said.find("requires an order in which nothing waits for ever") != std::string::npos);
    const std::size_t groups = groups_in_circle(shape, all, said);
    BOOST_TEST(groups > 0U, said);
    ++planted, of_several_groups += groups > 1 ? 1U : 0U;
  }
  BOOST_TEST(of_several_groups > all_planted / 10);
  // across two groups: each waits for what the other does later
  const pipeline_shape two = one_stage_each(2, 2);
  const pipeline_tasks crossed{
      {{pass::forward, 0, 0}, {pass::backward, 0, 0}, {pass::forward, 0, 1}, {pass::backward, 0, 1}},
      {{pass::forward, 1, 0}, {pass::forward, 1, 1}, {pass::backward, 1, 0}, {pass::backward, 1, 1}}};
  test::expect_refused<partition_error>(
      [&] { (void)simulate(two, crossed, equal_times(2, 1, 1)); },
      "group 0 waits with backward of stage 0 for micro-batch 0 for backward of stage 1 for micro-batch 0; group 1 "
      "waits "
      "with forward of stage 1 for micro-batch 1 for forward of stage 0 for micro-batch 1");
}

BOOST_AUTO_TEST_CASE(a_long_circle_leaves_room_for_the_way_out) {
  constexpr std::uint32_t groups = 20;  // two stages each: stage 20 is on group 0 again
  pipeline_shape shape{{}, 2};
  for (std::uint32_t s = 0; s < 2 * groups; ++s) shape.group_of.push_back(s % groups);
  pipeline_tasks all = tasks_of(pipeline_order::gpipe, shape, {});
  // Group 0 waits with stage 20 for group 19, whose stage 19 waits for stage 18, and so on down to stage 0.
  std::swap(all[0][0], all[0][2]);
  for (std::uint32_t g = 1; g < groups; ++g) std::swap(all[g][0], all[g][1]);
  std::swap(all[0][1], all[0][2]);
  const std::string said = test::refused<partition_error>([&] { (void)simulate(shape, all, {}); });
  BOOST_TEST(said.find("group 19 waits with forward of stage 19") != std::string::npos, said);
  BOOST_TEST(said.ends_with("...; put a task that is waited for before one that waits"), said);
}

BOOST_AUTO_TEST_CASE(only_movements_between_groups_take_time) {
  const pipeline_times times{{1, 1}, {2, 2}, {}, 10};
  for (const std::uint32_t groups : {1U, 2U}) {
    const pipeline_shape shape{{0, groups - 1}, 1};
    const pipeline_run run = simulate(shape, tasks_of(pipeline_order::gpipe, shape, times), times);
    BOOST_TEST(run.seconds == (groups == 1 ? 6 : 26));
  }
}

BOOST_AUTO_TEST_CASE(wrong_lists_of_tasks_are_refused) {
  const pipeline_shape shape = one_stage_each(2, 2);
  const pipeline_times times = equal_times(2, 1, 1);
  const pipeline_tasks right = tasks_of(pipeline_order::gpipe, shape, times);
  const auto refused = [&](const char* part, auto change) {
    pipeline_tasks wrong = right;
    change(wrong);
    test::expect_refused<partition_error>([&] { (void)simulate(shape, wrong, times); }, part);
  };
  refused("there is none: backward of stage 1 for micro-batch 1", [](auto& w) { w[1].pop_back(); });
  refused("requires each task once, got twice: forward of stage 0 for micro-batch 0; leave one out",
          [](auto& w) { w[0].push_back(w[0][0]); });
  refused("of the stages of group 0", [](auto& w) { w[0].push_back(w[1][0]); });
  refused("2 groups of workers, got 1", [](auto& w) { w.pop_back(); });
  refused("in ascending order of micro-batches", [](auto& w) { std::swap(w[1][2], w[1][3]); });
  pipeline_tasks apart = tasks_of(pipeline_order::zero_bubble, shape, equal_times(2, 1, 1, 1));
  std::swap(apart[1].back(), *std::find(apart[1].begin(), apart[1].end(), pipeline_task{pass::weights, 1, 0}));
  test::expect_refused<partition_error>([&] { (void)simulate(shape, apart, times); },
                                        "got weights of stage 1 for micro-batch 1 before that for micro-batch 0");
  test::expect_refused<partition_error>([] { (void)tasks_of(pipeline_order::gpipe, {}, {}); },
                                        "at least one stage and one micro-batch");
  const double none = std::numeric_limits<double>::quiet_NaN(), ever = std::numeric_limits<double>::infinity();
  for (const pipeline_times& wrong : {pipeline_times{{1}, {}, {}},
                                      {{}, {1, 2, 3}, {}},
                                      {{}, {}, {1, -1}},
                                      {{none, 1}},
                                      {{}, {ever, 1}},
                                      {{}, {}, {}, -1},
                                      {{}, {}, {}, none}}) {
    test::expect_refused<partition_error>([&] { (void)simulate(shape, right, wrong); }, "from 0 to 1e30 seconds");
    test::expect_refused<partition_error>([&] { (void)tasks_of(pipeline_order::zero_bubble, shape, wrong); },
                                          "one for each of the 2 stages in each list");
  }
}

BOOST_AUTO_TEST_CASE(stages_that_are_not_assigned_to_groups_in_turn_are_ordered_as_one_forward_one_backward) {
  std::size_t interleaved = 0;
  for (const std::vector<std::uint32_t>& group_of : {std::vector<std::uint32_t>{0, 1, 2},
                                                     {0},
                                                     {0, 0},
                                                     {0, 0, 1, 1},
                                                     {0, 1, 1, 0},
                                                     {0, 1, 0},
                                                     {0, 1, 0, 1},
                                                     {1, 0, 1, 0}})
    for (std::uint32_t micro_batches = 1; micro_batches < 7; ++micro_batches) {
      const pipeline_shape shape{group_of, micro_batches};
      const pipeline_times times = equal_times(shape.stages(), 1, 2);
      const bool is_in_turn = (group_of == std::vector<std::uint32_t>{0, 1, 0, 1} && micro_batches % 2 == 0) ||
                              group_of == std::vector<std::uint32_t>{0, 0};
      const pipeline_tasks one = tasks_of(pipeline_order::interleaved, shape, times),
                           other = tasks_of(pipeline_order::one_forward_one_backward, shape, times);
      if (!is_in_turn) BOOST_TEST((one == other), group_of.size() << " stages, " << micro_batches << " micro-batches");
      else interleaved += one == other ? 0U : 1U;
    }
  BOOST_TEST(interleaved > 0U);
}

BOOST_AUTO_TEST_CASE(groups_are_counted_to_the_last_and_times_are_up_to_ten_to_the_thirtieth_power) {
  BOOST_TEST((pipeline_shape{{}, 1}.groups()) == 0U);
  BOOST_TEST((pipeline_shape{{3, 0}, 1}.groups()) == 4U);
  BOOST_TEST((pipeline_shape{{0, 3, 1}, 1}.groups()) == 4U);
  const pipeline_shape shape = one_stage_each(2, 2);
  const auto is_refused = [&](double time, std::size_t list) {
    pipeline_times times = equal_times(2, 1, 1, 1);
    (list == 0   ? times.forward[1]
     : list == 1 ? times.backward[1]
     : list == 2 ? times.weights[1]
                 : times.transfer_seconds) = time;
    return !test::refused<partition_error>([&] { (void)tasks_of(pipeline_order::zero_bubble, shape, times); }).empty();
  };
  for (std::size_t list = 0; list < 4; ++list)
    for (const double time : {0.0, 1.0, 1e30}) {
      BOOST_TEST(!is_refused(time, list));
      BOOST_TEST(is_refused(time == 0 ? -1e-300 : time == 1 ? -1.0 : 1.0001e30, list));
    }
}
