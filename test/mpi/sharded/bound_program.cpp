// A bound program gives bitwise the results of its traced program. A steady step allocates nothing and needs one
// agreement.
#include "check_bound.hpp"

#include <partita/comm/over_workers.hpp>
#include <partita/comm/pooled.hpp>
#include <partita/plan/search.hpp>
#include <partita/sharded/measured_times.hpp>
#include <partita/sharded/rearrange.hpp>
#include <pretended.hpp>
#include <random>
#include <refused.hpp>
#include <string>
#include <utility>
#include <vector>
#include "../../../bench/transformer_block.hpp"
#include "../support/message_count.hpp"

using namespace partita;
using test::check_bound, test::made;

namespace {

const auto mlp = [](const auto& x, const auto& w1, const auto& b1, const auto& w2) {
  return matmul(relu(add(matmul(x, w1), b1, broadcast_dimensions<1>)), w2);
};

}  // namespace

BOOST_AUTO_TEST_CASE(a_steady_step_of_a_network_allocates_nothing) {
  world everyone(test::workers());
  const std::size_t batch = everyone.size() > 6 ? 4 * everyone.size() + 1 : 5;  // some of it for each worker
  for (const mesh& m : test::meshes(everyone.size())) {
    const sharding rows = sharding(m, 2).cut(0, axis_list(0)), last = sharding(m, 2).cut(1, axis_list(m.rank() - 1));
    auto program = trace(mlp, spec(rows, {batch, 4}), spec({4, 6}), spec({6}), spec({6, 3}));
    if (m.rank() == 2) program.constrain(program.input(1), last);
    check_bound(everyone, program, std::make_index_sequence<4>());
  }
}

BOOST_AUTO_TEST_CASE(a_steady_step_of_a_transformer_block_allocates_nothing) {
  world everyone(test::workers());
  const std::size_t n = everyone.size(), heads = n % 2 == 0 ? 2 : 1;
  const mesh m{axis{"data", n / heads}, axis{"heads", heads}};
  auto program = trace(bench::transformer_block, spec(m.layout("data", "", ""), {4, 3, 4}), spec({4}), spec({4}),
                       spec(m.layout("", "heads", ""), {4, 2, 3}), spec({4, 2, 3}), spec({4, 2, 2}), spec({2, 2, 4}),
                       spec(m.layout("", "heads"), {4, 6}), spec({6, 4}));
  check_bound(everyone, program, std::make_index_sequence<9>());
}

BOOST_AUTO_TEST_CASE(results_are_values_and_arguments_may_lie_elsewhere) {
  world everyone(test::workers());
  const mesh m{axis{"a", everyone.size()}};
  const sharding rows = m.layout("a", ""), whole = m.layout("", "");
  const auto program = trace([](const auto& x, const auto& y) { return add(x, y); }, spec(rows, {5, 3}), spec({5, 3}));
  auto step = program.bind<double>(everyone, {1, 0});
  const auto x = made(everyone, whole, {5, 3}, 1), y = made(everyone, rows, {5, 3}, 2);
  const auto first = step(x, y);
  const auto dy = made(everyone, whole, {5, 3}, 3);
  const auto gradients = step.backward(dy);
  BOOST_TEST(test::same_blocks(reshard(gradients[0], whole), dy));
  BOOST_TEST(test::same_blocks(reshard(gradients[1], whole), dy));
  const auto& second = step(y, y);
  BOOST_TEST(test::same_blocks(reshard(first, whole), add(x, reshard(y, whole))));
  BOOST_TEST(test::same_blocks(reshard(second, whole), add(reshard(y, whole), reshard(y, whole))));
  auto same_again = trace([](const auto& one) { return one; }, spec(rows, {5, 3})).bind<double>(everyone, {0});
  BOOST_TEST(test::same_blocks(same_again(y), y));
  BOOST_TEST(test::same_blocks(same_again.backward(y)[0], y));
}

BOOST_AUTO_TEST_CASE(a_tensor_that_shares_the_block_of_a_result_keeps_its_elements) {
  world everyone(test::workers());
  const std::size_t n = 2 * everyone.size();
  const mesh m{axis{"a", everyone.size()}};
  const sharding rows = m.layout("a", "");
  auto step = trace([](const auto& x) { return multiply(x, 2); }, spec(rows, {n, 3})).bind<double>(everyone, {0});
  const auto x = made(everyone, rows, {n, 3}, 1), y = made(everyone, rows, {n, 3}, 2);
  const auto elements = [](const auto& one) { return std::vector<double>(one.data(), one.data() + one.size()); };
  const std::vector<double> doubled = elements(multiply(x, 2));
  const auto keeps = [&](const auto& shared) {  // a tensor that has the block of the result, but not its state
    const auto result = shared(step(x));
    const auto gradient = shared(step.backward(x)[0]);
    step(y);
    step.backward(y);
    BOOST_TEST(elements(result) == doubled);
    BOOST_TEST(elements(gradient) == doubled);
  };
  keeps([](const auto& one) { return one; });
  keeps([&](const auto& one) { return reshape(one, shape_list{3 * n}); });
  keeps([](const auto& one) { return unsqueeze(one, dimensions<2>); });
}

BOOST_AUTO_TEST_CASE(each_gradient_is_a_block_of_its_own_and_arguments_are_let_go) {
  world everyone(test::workers());
  const mesh m{axis{"a", everyone.size()}};
  const sharding rows = m.layout("a", "");
  const auto program = trace([](const auto& x, const auto& y) { return multiply(add(x, y), 2); }, spec(rows, {7, 3}),
                             spec(rows, {7, 3}));
  auto step = program.bind<double>(everyone, {0, 1, 0});
  auto forward = program.bind<double>(everyone);
  const auto x = made(everyone, rows, {7, 3}, 1), y = made(everyone, rows, {7, 3}, 2),
             dy = made(everyone, rows, {7, 3}, 3);
  const auto alone = [](const auto& one) { return !one.state()->active() || one.state()->block.is_unique(); };
  for (int round = 0; round < 2; ++round) {
    step(x, y);
    for (const auto& one : step.backward(dy)) BOOST_TEST(test::same_blocks(one, multiply(dy, 2)));
    forward(x, y);
    BOOST_TEST((alone(x) && alone(y) && alone(dy)));  // a program holds nothing that it does not need
  }
}

BOOST_AUTO_TEST_CASE(a_program_on_some_workers_overlaps_as_in_order) {
  world everyone(test::workers());
  const std::size_t n = everyone.size() > 1 ? everyone.size() - 1 : 1;
  const mesh m{axis{"a", n}};
  const sharding rows = m.layout("a", "");
  const auto program =
      trace(mlp, spec(rows, {2 * n + 1, 4}), spec(rows, {4, 6}), spec(m.layout("a"), {6}), spec(rows, {6, 3}));
  check_bound(everyone, program, std::make_index_sequence<4>());
}

BOOST_AUTO_TEST_CASE(intermediate_values_keep_to_a_limit_of_memory) {
  world everyone(test::workers());
  const mesh m{axis{"a", everyone.size()}};
  const sharding rows = m.layout("a", "");
  const auto program = trace(mlp, spec(rows, {12, 40}), spec(rows, {40, 60}), spec({60}), spec(rows, {60, 30}));
  const std::vector<std::size_t> all{0, 1, 2, 3};
  // [overlap]
  const auto in_order = program.bind<double>(everyone, all, {.overlap = false});
  const auto ahead = program.bind<double>(everyone, all, {.overlap = true});
  // [/overlap]
  const std::size_t least = maximum_over(everyone, in_order.bytes_held());
  BOOST_TEST(
      maximum_over(everyone, program.bind<double>(everyone, all, {.overlap = true, .memory = least}).bytes_held()) ==
      least);
  const auto plain = program.bind(everyone, {.overlap = true, .memory = 1U << 30U});  // of double, without gradients
  BOOST_TEST(plain.bytes_held() < ahead.bytes_held());
  const std::size_t enough = maximum_over(everyone, ahead.bytes_held());
  const auto within = program.bind<double>(everyone, all, {.overlap = true, .memory = enough});
  BOOST_TEST(within.bytes_held() == ahead.bytes_held());
  text of;
  of << "the least that is possible is " << least << " bytes, got " << least - 1;
  test::expect_refused<error>([&] { program.bind<double>(everyone, all, {.memory = least - 1}); }, of.c_str());
}

BOOST_AUTO_TEST_CASE(within_each_limit_random_programs_have_the_same_bits_or_the_least_of_all_orders_is_stated) {
  world everyone(test::workers());
  const mesh m{axis{"a", everyone.size()}};
  const sharding layouts[] = {m.layout("a", ""), m.layout("", "a"), m.layout("", "")};
  const auto x = made(everyone, layouts[0], {12, 12}, 1);
  std::mt19937 seeds(everyone.size());
  for (int round = 0; round < 12; ++round) {
    const auto seed = seeds();
    const auto f = [&](const auto& x) {  // sums and products of earlier values, in random layouts
      std::mt19937 random(seed);
      std::vector values{add(x, x), multiply(x, x)};
      for (int k = 0; k < 14; ++k) {
        const auto& a = values[random() % values.size()];
        const auto& b = values[random() % values.size()];
        values.push_back(constrain(random() % 2 == 0 ? add(a, b) : multiply(a, b), layouts[random() % 3]));
      }
      auto y = values[0];
      for (const auto& one : values) y = add(y, one);
      return y;
    };
    const auto program = trace(f, spec(layouts[0], {12, 12}));
    auto in_order = program.bind<double>(everyone, {0}, {.overlap = false});
    const auto expected = in_order(x);
    const auto dy = made(everyone, layout_of_cotangent(expected.layout()), {12, 12}, 2);
    const auto gradient = in_order.backward(dy)[0];
    const auto held = [&](std::size_t limit) {
      const std::size_t before = pooled.bytes_in_use;
      auto step = program.bind<double>(everyone, {0}, {.overlap = true, .memory = limit});
      const std::size_t most = maximum_over(everyone, step.bytes_held());
      BOOST_TEST(most <= limit);
      // In the pools are the intermediate values, the result, the gradient, and 8 bytes after each of two storages.
      pooled.reset_peak();
      const auto& y = step(x);
      const auto& dx = step.backward(dy)[0];
      const std::size_t outside = (y.size() + dx.size() + 2) * sizeof(double);
      BOOST_TEST(pooled.most - before <= step.bytes_held() + outside);
      BOOST_TEST((test::same_blocks(y, expected) && test::same_blocks(dx, gradient)));
      return most;
    };
    std::size_t least = held(schedule_options::unlimited);
    std::string said;
    while (said.empty()) said = test::refused([&] { least = held(least - 1); });
    text of;
    of << "the least that is possible is " << least << " bytes, got " << least - 1 << ";";
    BOOST_TEST(said.find(of.c_str()) != std::string::npos, said << " where it keeps to " << least);
  }
}

BOOST_AUTO_TEST_CASE(a_timetable_says_what_is_computed_while_what_is_pending) {
  world everyone(test::workers());
  const mesh m{axis{"a", everyone.size()}};
  const sharding rows = m.layout("a", "");
  const auto program = trace(mlp, spec(rows, {12, 40}), spec(rows, {40, 60}), spec({60}), spec(rows, {60, 30}));
  auto step = program.bind<double>(everyone, {0, 1, 2, 3}, {.overlap = true});
  const timetable guess = step.timetable();
  const auto x = [&](std::size_t k) { return test::argument(everyone, program, k); };
  BOOST_TEST(step.measured_timetable().seconds() == 0);
  const std::size_t before = detail::run_state.movement_totals.bytes;
  step(x(0), x(1), x(2), x(3));
  step.backward(made(everyone, layout_of_cotangent(program.complete()[program.result()]), {12, 30}, 1));
  const timetable times = step.measured_timetable();
  BOOST_TEST(times.is_measured);
  BOOST_TEST(times.entries.size() == guess.entries.size());
  BOOST_TEST(times.received_bytes() == detail::run_state.movement_totals.bytes - before);
  BOOST_TEST(times.seconds() >= times.computing());
  bool has_product = false, ascends = true;
  double last = 0;
  for (const auto& one : times.entries) {
    has_product = has_product || std::string(one.operation.c_str()) == "matmul";
    ascends = ascends && one.from >= last && one.until >= one.from;
    last = one.from;
  }
  BOOST_TEST(has_product);
  BOOST_TEST(ascends);
  if (everyone.size() > 1) BOOST_TEST(guess.received_bytes() > 0U);
}

/// A step that copies elements takes the time of the bytes that it reads and writes, and a product that of its
/// additions.
BOOST_AUTO_TEST_CASE(a_timetable_estimates_steps_by_the_bytes_and_the_products_that_they_take) {
  const world everyone(test::workers());
  const mesh m{axis{"a", everyone.size()}};
  const sharding rows = m.layout("a", "");
  const auto sum = [](const auto& x, const auto& y) { return multiply(add(x, y), y); };
  const auto product = [](const auto& x, const auto& w) { return matmul(x, w); };
  const double block = 8. * 40 * static_cast<double>(balanced_part(12, everyone.size(), everyone.id()).size());
  for (const double speed : {1e6, 4e7}) {
    const auto of_sum = trace(sum, spec(rows, {12, 40}), spec(rows, {12, 40}));
    const timetable bytes =
        of_sum.bind<double>(everyone, {}, {.overlap = true, .model = {.memory_bytes = speed}}).timetable();
    BOOST_TEST(bytes.computing() == 6 * block / speed, boost::test_tools::tolerance(1e-12));
    const auto of_product = trace(product, spec(rows, {12, 40}), spec(m.layout("", ""), {40, 40}));
    const timetable products =
        of_product.bind<double>(everyone, {}, {.overlap = true, .model = {.multiply_adds = speed}}).timetable();
    BOOST_TEST(products.computing() == 40 * block / 8 / speed, boost::test_tools::tolerance(1e-12));
  }
}

BOOST_AUTO_TEST_CASE(small_reshards_share_their_messages) {
  bool has_shared_memory = true;
  for (const std::size_t nodes : {1U, 2U}) {
    const test::pretended there("PARTITA_NODES", nodes == 1 ? "1" : "2");
    const world everyone(test::workers());
    const std::size_t p = everyone.size();
    const mesh m{axis{"a", p}};
    const sharding rows = m.layout("a", ""), columns = m.layout("", "a");
    // [many]
    const auto many = [&](const auto& x) {  // 40 matrices are computed from x, resharded and summed up
      auto all = constrain(multiply(x, 1.0), columns);
      for (int k = 2; k <= 40; ++k) all = add(all, constrain(multiply(x, static_cast<double>(k)), columns));
      return all;
    };
    // [/many]
    const auto program = trace(many, spec(rows, {2 * p, 3 * p}));
    const auto x = made(everyone, rows, {2 * p, 3 * p}, 1);
    const auto expected = program(x);
    std::size_t sent[2] = {};
    for (const bool overlap : {false, true}) {
      // with workers that compute so fast that nothing is hidden behind it
      auto step = program.bind<double>(everyone, {.overlap = overlap, .model = {.memory_bytes = 1e13}});
      step.measured_timetable();
      BOOST_TEST(test::same_blocks(step(x), expected));
      const auto before = detail::run_state.movement_totals;
      const std::size_t sent_before = test::messages();
      BOOST_TEST(test::same_blocks(step(x), expected));
      sent[overlap] = test::messages() - sent_before;
      const auto& now = detail::run_state.movement_totals;
      const std::size_t exchanges = p == 1 ? now.exchanges - before.exchanges : overlap ? 1 : 40;
      BOOST_TEST(now.exchanges - before.exchanges == exchanges);
      BOOST_TEST(now.messages - before.messages == exchanges * (p - 1));
      BOOST_TEST(now.bytes - before.bytes == 40 * 2 * 3 * (p - 1) * sizeof(double));
      for (const timetable& times : {step.timetable(), step.measured_timetable()}) {
        std::size_t entries = 0, movements = 0;
        for (const auto& one : times.entries)
          if (one.moves) ++entries, movements += 1 + one.joint_movements;
        BOOST_TEST(entries == exchanges);
        BOOST_TEST((p == 1 || movements == 40U));
        BOOST_TEST(times.received_bytes() == now.bytes - before.bytes);
      }
    }
    // Instead of 40 messages, each worker that is reached by messages gets one.
    if (nodes == 1) has_shared_memory = x.state()->on->channels().shares_one_memory();
    const std::size_t of_node = (p - everyone.id() % nodes + nodes - 1) / nodes;  // workers are dealt to the nodes
    BOOST_TEST(sent[0] - sent[1] == (p == 1 ? 0 : 39 * (p - (has_shared_memory ? of_node : 1))));
  }
}

BOOST_AUTO_TEST_CASE(wrong_calls_of_a_bound_program_are_refused) {
  world everyone(test::workers());
  const mesh m{axis{"a", everyone.size()}};
  const auto program =
      trace([](const auto& x, const auto& y) { return add(x, y); }, spec(m.layout("a"), {5}), spec({5}));
  test::expect_refused<shape_error>([&] { program.bind<double>(everyone, {2}); },
                                    "bind: requires numbers of arguments, of which there are 2, got 2; count from 0");
  for (const double speed : {0.0, -1.0, std::nan("")})
    for (const step_model& model : {step_model{.multiply_adds = speed}, step_model{.memory_bytes = speed}})
      test::expect_refused<error>([&] { program.bind<double>(everyone, {.model = model}); }, "speeds above 0");
  if (everyone.size() > 1) {
    const bool first = everyone.id() == 0;
    test::expect_refused<error>([&] { program.bind<double>(everyone, {0}, {.overlap = first}); });
    test::expect_refused<error>(
        [&] { program.bind<double>(everyone, {0}, {.memory = first ? 1U << 20U : 1U << 21U}); });
    test::expect_refused<error>([&] { program.bind<double>(everyone, {.overlap = true, .pending = first ? 2U : 3U}); });
    test::expect_refused<error>(
        [&] { program.bind<double>(everyone, {.model = {.memory_bytes = first ? 1e9 : 2e9}}); });
    test::expect_refused<error>(
        [&] { program.bind<double>(everyone, {.model = {.multiply_adds = first ? 1e9 : 2e9}}); });
    test::expect_refused<error>([&] { program.bind<double>(everyone, {.wider_windows = first}); });
  }
  auto step = program.bind<double>(everyone, {0});
  const auto x = made(everyone, m.layout("a"), {5}, 1), longer = made(everyone, m.layout("a"), {6}, 1);
  test::expect_refused<shape_error>(
      [&] { step(x); },
      "partita::bound_program(x...): requires as many arguments as were traced, which are 2, got 1; give those");
  test::expect_refused<shape_error>([&] { step(x, longer); },
                                    "partita::bound_program(x...): tensor 1 was traced with extents [5], got [6]");
  test::expect_refused<partition_error>([&] { step(x, detail::parameter_of(x)); },
                                        "on the mesh of the program, of which no gradient is asked, but tensor 1 is "
                                        "another; call the traced program itself");
  BOOST_CHECK_THROW(step.backward(x), error);
  step(x, x);
  step.backward(x);
  BOOST_CHECK_THROW(step.backward(x), error);
}

BOOST_AUTO_TEST_CASE(gradients_of_integers_are_refused) {
  world everyone(test::workers());
  const mesh m{axis{"a", everyone.size()}};
  const auto program = trace([](const auto& x) { return multiply(x, x); }, spec(m.layout("a"), {5}));
  BOOST_TEST(test::refused([&] {
               program.bind<long long>(everyone, {0});
             }).find("requires elements of float or double for gradients") != std::string::npos);
  const auto x = shard<long long>(everyone, m.layout("a"), {5}, [](const auto& i) { return i[0]; });
  BOOST_TEST((reshard(program.bind<long long>(everyone)(x), m.layout("")).get({{3}}) == std::vector<long long>{9}));
}

BOOST_AUTO_TEST_CASE(no_gradient_goes_back_through_what_is_stopped) {
  world everyone(test::workers());
  const mesh m{axis{"a", everyone.size()}};
  const auto program = trace([](const auto& x) { return multiply(x, stop_gradient(x)); }, spec(m.layout("a"), {5}));
  const auto x = made(everyone, m.layout("a"), {5}, 1);
  const auto there = value_and_gradient([&](const auto& p) { return sum(program(p)); }, x);
  BOOST_TEST(test::same_blocks(std::get<0>(there.gradients), x));
}

BOOST_AUTO_TEST_CASE(a_program_whose_result_is_stopped_gives_a_constant) {
  world everyone(test::workers());
  const mesh m{axis{"a", everyone.size()}};
  const auto traced_from = [&](const auto& f) { return trace(f, spec(m.layout("a"), {5})); };
  const auto program = traced_from([](const auto& x) { return stop_gradient(multiply(x, 2)); });
  BOOST_TEST(program.fingerprint() != traced_from([](const auto& x) { return multiply(x, 2); }).fingerprint());
  const auto x = made(everyone, m.layout("a"), {5}, 1), zeros = multiply(x, 0);
  const auto there = value_and_gradient([&](const auto& p) { return sum(multiply(p, program(p))); }, x);
  BOOST_TEST(test::same_blocks(std::get<0>(there.gradients), multiply(x, 2)));
  auto step = program.bind<double>(everyone, {0});
  BOOST_TEST(test::same_blocks(step(x), multiply(x, 2)));
  BOOST_TEST(test::same_blocks(step.backward(x)[0], zeros));
  auto argument = traced_from([](const auto& one) { return stop_gradient(one); }).bind<double>(everyone, {0});
  BOOST_TEST(test::same_blocks(argument(x), x));
  BOOST_TEST(test::same_blocks(argument.backward(x)[0], zeros));
}

BOOST_AUTO_TEST_CASE(measured_times_tell_every_operation_gradient_movement_and_update_apart) {
  world everyone(test::workers());
  const mesh m{axis{"a", everyone.size()}};
  const sharding whole = m.layout("", ""), rows = m.layout("a", "");
  const auto program = trace([](const auto& x, const auto& w) { return matmul(x, w); },
                             spec(whole, {2 * everyone.size(), 3}), spec({3, 4}));
  measured_times<double> times(program, everyone);
  std::size_t expected = 0;
  for (int round = 0; round < 2; ++round) {  // in the second round, everything is known
    const auto adds = [&](std::size_t parts) {
      expected += round == 0 ? parts : 0;
      BOOST_TEST(times.size() == expected);
    };
    for (const tensor_set gradients : {0U, 1U, 2U, 3U}) {
      times.seconds(0, {whole, whole, whole}, gradients);
      adds(1);
    }
    times.seconds(0, {rows, whole, rows}, 0);
    adds(everyone.size() > 1 ? 1 : 0);  // of one worker, the block is the same
    times.seconds(whole, rows, {6, 3});
    adds(1);
    times.seconds(rows, whole, {6, 3});
    adds(1);
    times.seconds(rows, whole, {6, 4});
    adds(1);
    for (const std::size_t elements : {5U, 6U}) {
      times.update_seconds(elements);
      adds(1);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_search_by_measured_times_finds_the_same_layouts_on_all_workers) {
  world everyone(test::workers());
  const mesh m{axis{"a", everyone.size()}};
  const auto program = trace(mlp, spec(sharding(m, 2), {12, 8}), spec({8, 12}), spec({12}), spec({12, 4}));
  // [measured]
  graph g = program.operations();
  g.release(program.input(0));  // the search chooses its layout, too
  for (std::size_t i = 1; i < 4; ++i) g.differentiate_by(program.input(i));
  measured_times<double> times(program, everyone, adamw_options{});
  search_options how;
  how.model.element_bytes = sizeof(double), how.model.states = 2;
  how.model.times = &times;
  // [/measured]
  how.most = 6;
  const search_answer found = search(g, {}, ~std::size_t{0}, how);
  const double seconds = found.best.cost.seconds();
  BOOST_TEST(seconds > 0);
  BOOST_TEST(minimum_over(everyone, seconds) == maximum_over(everyone, seconds));
  hasher layouts;
  for (const found_annotation& one : found.annotations())
    layouts.mix(one.of.number).mix(detail::fingerprint_of(one.layout));
  const auto number = static_cast<double>(layouts.value() >> 12U);
  BOOST_TEST(minimum_over(everyone, number) == maximum_over(everyone, number));
  // What is known is not measured again, and only becomes less.
  const std::size_t parts = times.size();
  BOOST_TEST(parts > 0u);
  const graph with = found.annotated();
  const completion done = complete(with);
  BOOST_TEST(plan_step(done, found.model).seconds() == seconds);
  BOOST_TEST(times.size() == parts);
  times.measure_again();
  BOOST_TEST(plan_step(done, found.model).seconds() <= seconds);
}
