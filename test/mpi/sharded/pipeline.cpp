// Pipelines: loss and gradients equal those of the whole network on one worker, in every order and placement.
#include "layouts.hpp"

#include <algorithm>
#include <cmath>
#include <partita/comm/over_workers.hpp>
#include <partita/sharded/arithmetic.hpp>
#include <partita/sharded/element_functions.hpp>
#include <partita/sharded/pipeline.hpp>
#include <partita/sharded/reductions.hpp>
#include <partita/sharded/tensor_functions.hpp>
#include <refused.hpp>
#include <string>
#include <vector>

using namespace partita;

namespace {

const auto layer = [](const auto& x, const auto& w, const auto& b) {
  return relu(add(matmul(x, w), b, broadcast_dimensions<1>));
};
/// The mean over the rows of half the squares of what is missing from the targets.
const auto last = [](const auto& x, const auto& t, const auto& w, double rows) {
  const auto d = subtract(matmul(x, w), t);
  return sum(multiply(d, d)) / (2 * rows);
};

constexpr std::size_t width = 4;

/// A network of some layers, on workers of the world: stage s is on group s % groups.
struct network {
  const world& everyone;
  std::size_t stages, groups, rows;
  bool cut_weights = false;
  bool on_one_each = false;  ///< whether a group is one worker
  bool cut_columns = false;  ///< whether the workers of a stage share its columns, not its rows
  bool alternates = false;   ///< whether every second stage has its workers in descending order
  /// If not 0: chooses layouts with pending sums, of a value or of its cotangent, for what passes between stages.
  std::size_t pending = 0;

  placed_mesh where(std::size_t s) const {
    const std::size_t n = everyone.size(), g = s % groups;
    if (on_one_each) return {mesh{axis{"data", 1}}, workers(g % n, g % n + 1)};
    // as equal as possible; where there are more groups than workers, some workers have several
    const std::size_t first = n >= groups ? balanced_part(n, groups, g).start : g % n;
    const std::size_t stop = n >= groups ? balanced_part(n, groups, g).stop : first + 1;
    std::vector<std::size_t> there;
    for (std::size_t k = first; k < stop; ++k) there.push_back(alternates && s % 2 == 1 ? first + stop - 1 - k : k);
    return {mesh{axis{"data", stop - first}}, workers(there)};
  }
  std::vector<pipeline_stage> list() const {
    std::vector<pipeline_stage> all;
    for (std::size_t s = 0; s < stages; ++s) {
      const placed_mesh there = where(s);
      const mesh m = there.mesh();
      const sharding x = cut_columns ? m.layout("", "") : m.layout("data", "");
      const sharding whole = m.layout("", ""), between[] = {whole, whole.partial("data"), whole.reduced("data")};
      const sharding h = pending == 0 || s == 0 ? x : between[(pending / (s % 2 == 1 ? 3 : 1)) % 3],
                     made = between[pending % 3];
      const bool is_constrained = pending != 0;
      const sharding w = cut_weights ? m.layout("data", "") : cut_columns ? m.layout("", "data") : m.layout("", "");
      if (s + 1 < stages)
        all.push_back({[=](std::size_t n) {
                         const auto f = [=](const auto& in, const auto& by, const auto& b) {
                           return is_constrained ? constrain(layer(in, by, b), made) : layer(in, by, b);
                         };
                         return trace(f, spec(h, {n, width}), spec(w, {width, width}), spec({width}));
                       },
                       there});
      else
        all.push_back({[=](std::size_t n) {
                         return trace([n](const auto& h, const auto& t,
                                          const auto& v) { return last(h, t, v, static_cast<double>(n)); },
                                      spec(h, {n, width}), spec({n, width}), spec(w, {width, width}));
                       },
                       there});
    }
    return all;
  }
  static double element(std::size_t salt, std::size_t i, std::size_t j) {
    return static_cast<double>((salt * (1 + i) + i * 3 + j * 7) % 5) - 2;
  }
  /// x, targets and parameters on the mesh of stage s.
  sharded_tensor<double> on_stage(std::size_t s, std::size_t salt, const shape_list& extents) const {
    const auto whole = shard<double>(everyone, sharding(mesh{axis{"data", 1}}, extents.size()), extents,
                                     [&](const auto& i) { return element(salt, i[0], extents.size() > 1 ? i[1] : 0); });
    const placed_mesh there = where(s);
    return reshard(whole, there, sharding(there.mesh(), extents.size()));
  }
  std::vector<std::vector<sharded_tensor<double>>> parameters(std::size_t salt = 0) const {
    std::vector<std::vector<sharded_tensor<double>>> all(stages);
    for (std::size_t s = 0; s < stages; ++s) {
      all[s].push_back(on_stage(s, salt + 10 + s, {width, width}));
      if (s + 1 < stages) all[s].push_back(on_stage(s, salt + 20 + s, {width}));
    }
    return all;
  }
};

xt::xtensor<double, 2> matrix(std::size_t salt, std::size_t rows, std::size_t columns) {
  xt::xtensor<double, 2> all = xt::zeros<double>({rows, columns});
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = 0; j < columns; ++j) all(i, j) = network::element(salt, i, j);
  return all;
}
xt::xtensor<double, 1> row(std::size_t salt, std::size_t n) {
  xt::xtensor<double, 1> all = xt::zeros<double>({n});
  for (std::size_t i = 0; i < n; ++i) all(i) = network::element(salt, i, 0);
  return all;
}

/// The elements of a tensor on all workers.
std::vector<double> everywhere(const world& everyone, const sharded_tensor<double>& x) {
  const mesh m{axis{"data", everyone.size()}};
  const auto there = reshard(x, placed_mesh(m), sharding(m, x.rank()));
  return {there.data(), there.data() + there.size()};
}

/// The loss and all gradients of one step.
std::vector<double> results_of(const network& net, const pipeline_options& options) {
  pipeline<double> step(net.everyone, net.list(), options);
  const auto in = net.on_stage(0, 1, {net.rows, width}), out = net.on_stage(net.stages - 1, 2, {net.rows, width});
  std::vector<double> all = everywhere(net.everyone, step(in, out, net.parameters()));
  for (const auto& of_stage : step.gradients())
    for (const auto& one : of_stage)
      for (const double x : everywhere(net.everyone, one)) all.push_back(x);
  return all;
}

/// Compares two steps, of different tensors, with the whole network on one worker.
template <std::size_t Stages>
void check(const network& net, const pipeline_options& options, double tolerance = 0) {
  pipeline<double> step(net.everyone, net.list(), options);
  for (const std::size_t salt : {0U, 31U}) {
    const auto x = matrix(salt + 1, net.rows, width), t = matrix(salt + 2, net.rows, width);
    const auto at_end = matrix(salt + 10 + Stages - 1, width, width);
    const auto expected = [&]<std::size_t... S>(std::index_sequence<S...>) {
      const auto f = [&](const auto&... all) {
        const auto list = std::tie(all...);
        const auto through = [&]<std::size_t K>(const auto& self, const auto& h,
                                                std::integral_constant<std::size_t, K>) {
          if constexpr (K + 1 == Stages) return last(h, t, std::get<2 * K>(list), static_cast<double>(net.rows));
          else
            return self(self, layer(h, std::get<2 * K>(list), std::get<2 * K + 1>(list)),
                        std::integral_constant<std::size_t, K + 1>());
        };
        return through(through, x, std::integral_constant<std::size_t, 0>());
      };
      return std::apply([&](const auto&... all) { return value_and_gradient(f, all...); },
                        std::tuple_cat(std::tuple(matrix(salt + 10 + S, width, width), row(salt + 20 + S, width))...,
                                       std::tuple(at_end)));
    }(std::make_index_sequence<Stages - 1>());
    std::vector<std::vector<double>> gradients;
    std::apply([&](const auto&... one) { (gradients.emplace_back(one.begin(), one.end()), ...); }, expected.gradients);

    const auto loss = step(net.on_stage(0, salt + 1, {net.rows, width}),
                           net.on_stage(Stages - 1, salt + 2, {net.rows, width}), net.parameters(salt));
    const auto near = [&](double a, double b) { return std::abs(a - b) <= tolerance * std::abs(b); };
    BOOST_TEST(near(everywhere(net.everyone, loss)[0], expected.value));
    const auto found = step.gradients();
    std::size_t k = 0;
    for (const auto& of_stage : found)
      for (const auto& one : of_stage) {
        const auto all = everywhere(net.everyone, one);
        BOOST_TEST(std::equal(all.begin(), all.end(), gradients[k].begin(), gradients[k].end(), near));
        ++k;
      }
  }
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_pipeline_has_the_gradients_of_the_whole_network) {
  world everyone(test::workers());
  for (const pipeline_order order :
       {pipeline_order::gpipe, pipeline_order::one_forward_one_backward, pipeline_order::zero_bubble}) {
    check<1>({everyone, 1, 1, 8}, {.rows = 8, .micro_batches = 4, .order = order});
    check<2>({everyone, 2, 2, 8}, {.rows = 8, .micro_batches = 4, .order = order});
    check<3>({everyone, 3, 3, 8, true}, {.rows = 8, .micro_batches = 2, .order = order});
    // what goes back to the stage before is the sum of what the workers of a stage have
    check<2>({everyone, 2, everyone.size() > 3 ? 2U : 1U, 8, false, false, true},
             {.rows = 8, .micro_batches = 2, .order = order});
  }
  // results and arguments of stages that are sums of what the workers of a stage have, and cotangents that are
  for (std::size_t pending = 1; pending <= 9; ++pending)
    check<3>({everyone, 3, everyone.size() > 3 ? 2U : 1U, 8, false, false, true, false, pending},
             {.rows = 8, .micro_batches = 2});
  check<4>({everyone, 4, 2, 8}, {.rows = 8, .micro_batches = 4, .order = pipeline_order::interleaved});
  check<4>({everyone, 4, 4, 16}, {.rows = 16, .micro_batches = 8, .times = {{1, 2, 1, 3}, {2, 4, 2, 6}, {}, 0.5}});
}

/// Copies of the loss and of the gradients of a step that a program keeps do not change with the next step, and a
/// program that changes its copies does not change the results of the pipeline.
BOOST_AUTO_TEST_CASE(copies_of_the_results_of_a_step_are_not_changed_by_the_next_step) {
  const world everyone(test::workers());
  const network net{everyone, 2, 2, 8};
  pipeline<double> step(everyone, net.list(), {.rows = 8, .micro_batches = 4});
  const auto x = net.on_stage(0, 1, {net.rows, width}), t = net.on_stage(1, 2, {net.rows, width});
  const auto values_of = [&](const sharded_tensor<double>& loss, const pipeline<double>::parameters& gradients) {
    std::vector<double> all = everywhere(everyone, loss);
    for (const auto& of_stage : gradients)
      for (const auto& one : of_stage)
        for (const double value : everywhere(everyone, one)) all.push_back(value);
    return all;
  };
  std::vector<std::pair<sharded_tensor<double>, pipeline<double>::parameters>> kept;
  std::vector<std::vector<double>> values;
  for (const std::size_t salt : {0U, 31U, 7U}) {
    const auto loss = step(x, t, net.parameters(salt));
    kept.emplace_back(loss, step.gradients());
    values.push_back(values_of(loss, step.gradients()));
  }
  for (std::size_t k = 0; k < kept.size(); ++k) BOOST_TEST((values_of(kept[k].first, kept[k].second) == values[k]));
  BOOST_TEST((values[0] != values[1] && values[1] != values[2]));
  for (auto& of_stage : kept.back().second)
    for (auto& one : of_stage) std::fill_n(one.data(), one.size(), -1.);
  BOOST_TEST((values_of(kept.back().first, step.gradients()) == values.back()));
}

BOOST_AUTO_TEST_CASE(stages_on_the_same_workers_are_one_group_whatever_their_meshes) {
  world everyone(test::workers());
  const network net{everyone, 2, 1, 8, true, false, true};
  const pipeline_options options{.rows = 8, .micro_batches = 4};
  check<2>(net, options);
  const pipeline_run run = pipeline<double>(everyone, net.list(), options).simulated();
  BOOST_TEST(run.idle == 0);
  BOOST_TEST(std::ranges::all_of(run.tasks, [](const simulated_task& one) { return one.group == 0; }));
}

BOOST_AUTO_TEST_CASE(a_stage_on_some_workers_of_another_is_a_group_of_its_own, *test::at_least(2)) {
  world everyone(test::workers());
  auto stages = network{everyone, 2, 1, 8}.list();
  stages[1].where = placed_mesh(mesh{axis{"data", 1}}, workers(0, 1));
  stages[1].program = network{everyone, 2, 2, 8, false, true}.list()[1].program;
  const pipeline_run run = pipeline<double>(everyone, stages, {.rows = 8, .micro_batches = 4}).simulated();
  for (const simulated_task& one : run.tasks) BOOST_TEST(one.group == one.task.stage);
}

BOOST_AUTO_TEST_CASE(a_pipeline_keeps_to_a_limit_of_memory_or_states_the_least_possible) {
  world everyone(test::workers());
  const network net{everyone, 3, 3, 16};
  const auto held = [&](pipeline_order order, const pipeline_tasks& tasks, std::size_t memory) {
    const pipeline<double> step(everyone, net.list(),
                                {.rows = 16, .micro_batches = 8, .order = order, .tasks = tasks, .memory = memory});
    BOOST_TEST(step.bytes_held() <= memory);
    return maximum_over(everyone, step.bytes_held());
  };
  constexpr std::size_t unlimited = schedule_options::unlimited;
  // one micro-batch after the other: forward through all stages, and back
  pipeline_shape shape{{}, 8};
  const auto n = static_cast<std::uint32_t>(everyone.size());
  for (std::uint32_t s = 0; s < 3; ++s) shape.group_of.push_back(n < 3 ? s % n : s);
  pipeline_tasks tasks(shape.groups());
  for (std::uint32_t m = 0; m < 8; ++m)
    for (std::uint32_t s = 0; s < 6; ++s) {
      const std::uint32_t stage = s < 3 ? s : 5 - s;
      tasks[shape.group_of[stage]].push_back({s < 3 ? pipeline_pass::forward : pipeline_pass::backward, stage, m});
    }
  const std::size_t least = held(pipeline_order::gpipe, tasks, unlimited);
  BOOST_TEST(held(pipeline_order::gpipe, tasks, least) == least);
  for (const pipeline_order order : {pipeline_order::gpipe, pipeline_order::one_forward_one_backward}) {
    const std::size_t most = held(order, {}, unlimited);
    BOOST_TEST(held(order, {}, most) == most);
    BOOST_TEST(least <= most);
    test::expect_refused<error>([&] { held(order, {}, most - 1); },
                                ("this order takes " + std::to_string(most) + " bytes, and one micro-batch after the " +
                                 "other " + std::to_string(least) + ", got " + std::to_string(most - 1))
                                    .c_str());
  }
}

BOOST_AUTO_TEST_CASE(the_last_micro_batches_may_be_smaller) {
  world everyone(test::workers());
  // shares of 8 rows: 3, 3 and 2
  check<2>({everyone, 2, 2, 8}, {.rows = 8, .micro_batches = 3}, 1e-13);
  check<2>({everyone, 2, 2, 8}, {.rows = 8, .micro_batches = 8});
  // the bits of one worker that has all stages
  const pipeline_options uneven{.rows = 8, .micro_batches = 3};
  const std::vector<double> expected = results_of({everyone, 3, 1, 8, false, true}, uneven);
  BOOST_TEST((results_of({everyone, 3, 3, 8, false, true}, uneven) == expected));
}

BOOST_AUTO_TEST_CASE(times_and_orders_change_no_bit) {
  world everyone(test::workers());
  const network net{everyone, 3, 3, 8, false, true};
  const std::vector<double> expected = results_of({everyone, 3, 1, 8, false, true}, {.rows = 8, .micro_batches = 3});
  // a stage that takes no time beside the others
  BOOST_TEST(
      (results_of(net, {.rows = 8, .micro_batches = 3, .times = {{1e9, 0, 0}, {0, 1e-9, 1e9}, {}, 0}}) == expected));
  // forward passes in descending order
  pipeline_shape shape{{}, 3};
  for (std::uint32_t s = 0; s < 3; ++s) shape.group_of.push_back(s % static_cast<std::uint32_t>(everyone.size()));
  pipeline_tasks tasks = tasks_of(pipeline_order::gpipe, shape, {});
  for (auto& list : tasks)
    for (pipeline_task& one : list)
      if (one.pass == pipeline_pass::forward) one.micro_batch = 2 - one.micro_batch;
  BOOST_TEST((results_of(net, {.rows = 8, .micro_batches = 3, .tasks = tasks}) == expected));
}

BOOST_AUTO_TEST_CASE(losses_and_gradients_are_summed_in_ascending_order_of_micro_batches) {
  world everyone(test::workers());
  // Their sums depend on the order: losses 2, 2, 2 and 2^55, gradients 1, 2^54, -2^54 and 3.
  const double large = std::ldexp(1, 54), t[] = {4, 4, 4, std::ldexp(1, 29)}, g[] = {1, large, -large, 3};
  const placed_mesh last_worker(mesh{axis{"data", 1}}, workers(everyone.size() - 1, everyone.size()));
  const mesh m = last_worker.mesh();
  const auto there = [&](const auto& of) {
    const sharding whole(mesh{axis{"data", 1}}, 2);
    return reshard(shard<double>(everyone, whole, {4, 1}, [&](const auto& i) { return of(i[0]); }), last_worker,
                   sharding(m, 2));
  };
  const auto x = there([&](std::size_t i) { return -4 * g[i] / t[i]; }),
             targets = there([&](std::size_t i) { return t[i]; });
  const auto zero =
      reshard(shard<double>(everyone, sharding(mesh{axis{"data", 1}}, 2), {1, 1}, [](const auto&) { return 0.0; }),
              last_worker, sharding(m, 2));
  const pipeline_stage stage{[&](std::size_t rows) {
                               return trace([rows](const auto& h, const auto& of,
                                                   const auto& w) { return last(h, of, w, static_cast<double>(rows)); },
                                            spec({rows, 1}), spec({rows, 1}), spec(sharding(m, 2), {1, 1}));
                             },
                             last_worker};
  pipeline_tasks descending(1);
  using pass = pipeline_pass;
  for (std::uint32_t k = 0; k < 4; ++k) descending[0].push_back({pass::forward, 0, 3 - k});
  for (std::uint32_t k = 0; k < 4; ++k) descending[0].push_back({pass::backward, 0, k});
  for (const pipeline_tasks& tasks : {pipeline_tasks(), descending}) {
    pipeline<double> step(everyone, {stage}, {.rows = 4, .micro_batches = 4, .tasks = tasks});
    BOOST_TEST(everywhere(everyone, step(x, targets, {{zero}}))[0] == std::ldexp(1, 55) + 8);
    BOOST_TEST(everywhere(everyone, step.gradients()[0][0])[0] == 3);
  }
}

BOOST_AUTO_TEST_CASE(without_times_the_way_back_takes_twice_as_long_as_the_way_forward) {
  world everyone(test::workers());
  const network net{everyone, 2, everyone.size() > 1 ? 2U : 1U, 8};
  const auto seconds = [&](const pipeline_options& options) {
    return pipeline<double>(everyone, net.list(), options).simulated().seconds;
  };
  for (const pipeline_order order : {pipeline_order::one_forward_one_backward, pipeline_order::zero_bubble}) {
    const double back = order == pipeline_order::zero_bubble ? 1 : 2;  // without the gradients of weights
    const pipeline_times times{{1, 1}, {back, back}, {1, 1}};
    const pipeline_tasks tasks = tasks_of(order, {{0, net.groups == 1 ? 0U : 1U}, 2}, times);
    const double expected = simulate({{0, net.groups == 1 ? 0U : 1U}, 2}, tasks, times).seconds;
    BOOST_TEST(seconds({.rows = 8, .micro_batches = 2, .order = order}) == expected);
    BOOST_TEST(seconds({.rows = 8, .micro_batches = 2, .tasks = tasks}) == expected);
  }
}

BOOST_AUTO_TEST_CASE(a_list_of_tasks_is_an_order) {
  world everyone(test::workers());
  using pass = pipeline_pass;
  const network net{everyone, 2, everyone.size() > 1 ? 2U : 1U, 8};
  pipeline_tasks tasks(net.groups);
  for (std::uint32_t m = 0; m < 2; ++m)
    for (std::uint32_t s = 0; s < 4; ++s)
      tasks[net.groups == 1 || s == 0 || s == 3 ? 0 : 1].push_back(
          {s < 2 ? pass::forward : pass::backward, s < 2 ? s : 3 - s, m});
  check<2>(net, {.rows = 8, .micro_batches = 2, .tasks = tasks});
  std::swap(tasks[0][0], tasks[0][1]);
  test::expect_refused<partition_error>(
      [&] { pipeline<double>(everyone, net.list(), {.rows = 8, .micro_batches = 2, .tasks = tasks}); },
      "waits for ever");
}

BOOST_AUTO_TEST_CASE(wrong_pipelines_and_calls_are_refused) {
  world everyone(test::workers());
  const network net{everyone, 2, 2, 8};
  const auto refused = [&](const std::vector<pipeline_stage>& stages, const pipeline_options& options,
                           const char* part) {
    test::expect_refused<error>([&] { pipeline<double>(everyone, stages, options); }, part);
  };
  refused({}, {.rows = 8}, "requires stages, and at least one row for each micro-batch");
  refused(net.list(), {.rows = 2, .micro_batches = 3}, "got 2 stages and 2 rows for 3 micro-batches");
  auto stages = net.list();
  stages[1].program = [m = stages[1].where.mesh()](std::size_t rows) {
    return trace([](const auto& h) { return sum(relu(h)); }, spec(m.layout("data", ""), {rows, width}));
  };
  refused(stages, {.rows = 8}, "the targets as its second argument");
  stages = net.list();
  stages[1].program = nullptr;
  refused(stages, {.rows = 8}, "requires a function that traces each stage, but stage 1 has none");
  stages = net.list();
  const auto takes = [m = stages[1].where.mesh()](std::size_t more_rows, std::size_t more_targets) {
    return [=](std::size_t rows) {
      return trace([](const auto& h, const auto& t, const auto& w) { return add(sum(matmul(h, w)), sum(t)); },
                   spec(m.layout("data", ""), {rows + more_rows, width}), spec({rows + more_targets, width}),
                   spec({width, width}));
    };
  };
  stages[1].program = takes(1, 0);
  refused(stages, {.rows = 8}, "requires that a stage takes what the stage before makes");
  stages = net.list();
  for (pipeline_stage& one : stages) one.program = [program = one.program](std::size_t) { return program(8); };
  refused(stages, {.rows = 8, .micro_batches = 2}, "takes 4 rows of the inputs, got extents [8, 4]");
  stages = net.list();
  stages[1].program = takes(0, 1);
  refused(stages, {.rows = 8, .micro_batches = 2}, "takes 4 rows of the targets, got extents [5, 4]");
  stages = net.list();
  stages[0].where = placed_mesh(mesh{axis{"other", net.where(0).size()}}, net.where(0).workers());
  refused(stages, {.rows = 8}, "is traced on the mesh that is placed");

  pipeline<double> step(everyone, net.list(), {.rows = 8, .micro_batches = 2});
  const auto x = net.on_stage(0, 1, {8, width}), t = net.on_stage(1, 2, {8, width});
  const auto weights = net.parameters();
  test::expect_refused<shape_error>(
      [&] {
        step(net.on_stage(0, 1, {9, width}), t, weights);
      },
      "x has extents [8, 4] in the pipeline, got [9, 4]");
  for (std::size_t s = 0; s < weights.size(); ++s)
    for (std::size_t k = 0; k < weights[s].size(); ++k) {
      auto wrong = weights;
      wrong[s][k] = net.on_stage(s, 3, {width + 1});
      const std::string name = "parameter " + std::to_string(k) + " of stage " + std::to_string(s) + " has extents [";
      test::expect_refused<shape_error>([&] { step(x, t, wrong); }, name.c_str());
    }
  {
    std::vector<movement> log;
    const detail::scoped_log dry(log, true);  // in a dry run tensors have no elements
    test::expect_refused<partition_error>([&] { step(x, t, weights); }, "x is another");
  }
  test::expect_refused<error>([&] { step(x, t, {weights[0]}); }, "a list of parameters for each of the 2 stages");
  if (everyone.size() > 1) {
    test::expect_refused<partition_error>(
        [&] {
          step(x, net.on_stage(0, 2, {8, width}), weights);
        },
        "targets is another");
    test::expect_refused<error>(
        [&] { step(everyone.id() == 0 ? reshard(x, x.layout()) : x, everyone.id() == 0 ? x : t, weights); });
    test::expect_refused<error>(
        [&] { pipeline<double>(everyone, net.list(), {.rows = 8, .micro_batches = everyone.id() == 0 ? 2U : 4U}); });
    test::expect_refused<error>([&] {
      pipeline<double>(everyone, net.list(),
                       {.rows = 8,
                        .micro_batches = 2,
                        .order = everyone.id() == 0 ? pipeline_order::gpipe : pipeline_order::zero_bubble});
    });
    // each list of times, the time of a movement, and an order of one's own that differs in one task
    const bool odd = everyone.id() == 0;
    const double one = odd ? 2 : 1;
    const auto disagrees = [&](const pipeline_times& times, const pipeline_tasks& tasks) {
      test::expect_refused<disagreement_error>([&] {
        pipeline<double>(everyone, net.list(), {.rows = 8, .micro_batches = 2, .tasks = tasks, .times = times});
      });
    };
    disagrees({{1, one}, {}, {}}, {});
    disagrees({{}, {one, 1}, {}}, {});
    disagrees({{}, {}, {1, one}}, {});
    disagrees({{}, {}, {}, one}, {});
    disagrees(odd ? pipeline_times{{1, 1}, {}, {}} : pipeline_times{{}, {1, 1}, {}}, {});
    pipeline_tasks tasks = tasks_of(pipeline_order::gpipe, {{0, 1}, 2}, {});
    pipeline_tasks divided = tasks;
    if (odd) divided[1].insert(divided[1].begin(), divided[0].back()), divided[0].pop_back();
    disagrees({}, divided);
    if (odd) std::swap(tasks[0][0], tasks[0][1]);
    disagrees({}, tasks);
  }
  BOOST_TEST((everywhere(everyone, step(x, t, weights)).size() == 1U));
}

BOOST_AUTO_TEST_CASE(each_stage_receives_only_what_it_needs) {
  world everyone(test::workers());
  if (everyone.size() < 2) return;
  const network net{everyone, 2, 2, 8};
  pipeline<double> step(everyone, net.list(), {.rows = 8, .micro_batches = 4});
  const auto x = net.on_stage(0, 1, {8, width}), t = net.on_stage(1, 2, {8, width});
  const auto weights = net.parameters();
  step(x, t, weights);
  const auto before = sum_over(everyone, detail::run_state.movement_totals.bytes);
  step(x, t, weights);
  const std::size_t of_stages[] = {net.where(0).size(), net.where(1).size()};
  if (of_stages[0] == 1 && of_stages[1] == 1)  // 8 rows of 4 numbers there, and their cotangents back
    BOOST_TEST(sum_over(everyone, detail::run_state.movement_totals.bytes) - before == 2 * 8 * width * sizeof(double));
  step.measured_timetable();
  const std::uint64_t calls = detail::status_slots::instance().own_slot().call_count;
  step(x, t, weights);
  BOOST_TEST(detail::status_slots::instance().own_slot().call_count - calls == 1U);  // one agreement
  const timetable times = step.measured_timetable();
  BOOST_TEST(times.seconds() > 0);
  BOOST_TEST(times.seconds() >= times.computing());
}
