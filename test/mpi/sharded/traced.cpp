// A traced program gives the results of its function, and its movements are those of its completion.
#include "layouts.hpp"

#include <partita/sharded/complex.hpp>
#include <partita/sharded/tensor_functions.hpp>
#include <partita/sharded/traced_complex.hpp>
#include <partita/sharded/traced_function.hpp>
#include <partita/sharded/value_and_gradient.hpp>
#include <refused.hpp>
#include <thread>

using namespace partita;

namespace {
const auto mlp = [](const auto& x, const auto& w1, const auto& w2) { return matmul(relu(matmul(x, w1)), w2); };
long long small(const short_list<std::size_t>& i, long long salt) { return test::numbered(i, salt) * 7 % 11 - 5; }
}  // namespace

BOOST_AUTO_TEST_CASE(a_program_is_completed_executed_and_differentiated) {
  world everyone(test::workers());
  for (const mesh& m : test::meshes(everyone.size())) {
    const sharding rows = sharding(m, 2).cut(0, axis_list(0)), last = sharding(m, 2).cut(1, axis_list(m.rank() - 1));
    auto program = trace(mlp, spec(rows, {5, 4}), spec({4, 6}), spec({6, 3}));
    BOOST_TEST(program.operations().operations() == 3U);
    if (m.rank() == 2) program.constrain(program.input(1), last);
    const auto& done = program.complete();
    if (m.rank() == 2) BOOST_TEST((done[program.input(2)][0] == axis_list(1)));
    const sharding whole(m, 2);
    const auto make = [&](const shape_list& e, long long salt) {
      return shard<double>(everyone, whole, e, [&](const auto& i) { return small(i, salt); });
    };
    const auto x = make({5, 4}, 1), w1 = make({4, 6}, 2), w2 = make({6, 3}, 3);
    const auto y = mlp(x, w1, w2), z = reshard(program(x, w1, w2), whole);
    bool same = true;
    for (std::size_t k = 0; k < y.size(); ++k) same = same && y.data()[k] == z.data()[k];
    BOOST_TEST(same);
    const auto loss = [&](const auto& f) {
      return [&](const auto& a, const auto& b) { return sum(square(f(x, a, b))); };
    };
    const auto plain = value_and_gradient(loss(mlp), w1, w2), completed = value_and_gradient(loss(program), w1, w2);
    const auto &g = std::get<0>(plain.gradients), &h = std::get<0>(completed.gradients);
    same = g.layout().same_layout(h.layout()) && plain.value == completed.value;
    for (std::size_t k = 0; k < g.size(); ++k) same = same && g.data()[k] == h.data()[k];
    BOOST_TEST(same);
  }
}

BOOST_AUTO_TEST_CASE(two_threads_trace_programs_at_once) {
  const mesh m{axis{"rows", 2}, axis{"columns", 2}};
  const auto deep = [](const auto& x, const auto& w) {
    auto y = matmul(x, w);
    for (int k = 0; k < 20; ++k) y = matmul(relu(y), w);
    return y;
  };
  const auto traced = [&](const char* rows, const char* columns) {
    auto program = trace(deep, spec(m.layout(rows, columns), {8, 8}), spec(m.layout(columns, ""), {8, 8}));
    return program.complete().layouts;
  };
  const auto first = traced("rows", ""), second = traced("", "columns");
  BOOST_TEST((first != second));
  std::vector<sharding> here, there;
  std::thread other([&] { there = traced("", "columns"); });
  here = traced("rows", "");
  other.join();
  BOOST_TEST((here == first));
  BOOST_TEST((there == second));
}

BOOST_AUTO_TEST_CASE(no_more_is_received_than_the_completion_says, *test::at_least(4)) {
  world everyone(test::workers());
  const mesh m{axis{"data", 2}, axis{"model", 2}};
  const auto layout = [&](const char* a, const char* b) { return m.layout(a, b); };
  auto program = trace(mlp, spec(layout("data", ""), {8, 4}), spec(layout("", "model"), {4, 8}), spec({8, 4}));
  const completion& done = program.complete();
  const auto make = [&](value v) {
    return shard<int>(
        everyone,
        [&] {
          auto s = done[v];
          s.open = 0;
          return s;
        }(),
        program.operations()[v].shape, [](const auto& i) { return test::numbered(i); });
  };
  const auto x = make(program.input(0)), w1 = make(program.input(1)), w2 = make(program.input(2));
  const std::size_t before = detail::run_state.movement_totals.bytes;
  const auto y = program(x, w1, w2);
  BOOST_TEST(detail::run_state.movement_totals.bytes - before <= done.bytes());
  BOOST_TEST((y.layout() == layout("data", "").partial("model") || done.bytes() > 0));
}

BOOST_AUTO_TEST_CASE(a_sum_is_reduced_where_its_only_reader_needs_it, *test::at_least(2)) {
  world everyone(test::workers());
  const std::size_t n = 4 * everyone.size();
  const mesh m{axis{"model", everyone.size()}};
  const auto f = [&](const auto& x, const auto& w) { return constrain(relu(matmul(x, w)), m.layout("model", "")); };
  auto program = trace(f, spec(m.layout("", "model"), {n, n}), spec(m.layout("model", ""), {n, n}));
  const auto make = [&](const sharding& s) {
    return shard<int>(everyone, s, {n, n}, [](const auto& i) { return test::numbered(i) % 7 - 3; });
  };
  const auto x = make(m.layout("", "model")), w = make(m.layout("model", ""));
  const std::size_t before = detail::run_state.movement_totals.bytes;
  program(x, w);
  BOOST_TEST(detail::run_state.movement_totals.bytes - before ==
             (n - 4) * n * sizeof(int));  // of each other worker its summand
  BOOST_TEST(program.complete().bytes() == (n - 4) * n * sizeof(int));
  // gradients that are wanted from now on are those of a program that is traced anew
  auto of_weights = trace(f, spec(m.layout("", "model"), {n, n}), spec(m.layout("model", ""), {n, n}));
  of_weights.differentiate_by({1});
  program.differentiate_by({1});
  BOOST_TEST(program.complete().back.size() == of_weights.complete().back.size());
}

BOOST_AUTO_TEST_CASE(wrong_programs_are_refused) {
  world everyone(test::workers());
  const mesh m{axis{"a", everyone.size()}};
  test::expect_refused<partition_error>(
      [] {
        trace(mlp, spec({5, 4}), spec({4, 6}), spec({6, 3}));
      },
      "partita::trace: requires a spec with a layout, which says on what mesh");
  test::expect_refused<shape_error>(
      [&] {
        trace(mlp, spec(m.layout("a", ""), {5, 4}), spec({7, 6}), spec({6, 3}));
      },
      "requires one size of each factor, but 'k' is 4 before and 7 in operand 1 [7, 6] of matmul mk,kn->mn");
  const auto program = trace(mlp, spec(m.layout("a", ""), {5, 4}), spec({4, 6}), spec({6, 3}));
  const auto x = shard<int>(everyone, m.layout("a", ""), {5, 4}, [](const auto&) { return 1; });
  test::expect_refused<shape_error>([&] { program(x, x); },
                                    "partita::trace: the program has 3 arguments, got 2; give those");
  test::expect_refused<shape_error>(
      [&] { program(x, x, x); },
      "partita::trace: argument 1 was traced with extents [4, 6], got [5, 4]; trace the function with these");
}
/// A program whose values are real and complex: of z = x + 2 i x, the real part of z z is -3 x x.
BOOST_AUTO_TEST_CASE(a_program_through_complex_numbers_has_the_value_and_gradient_of_its_formula) {
  const world everyone(test::workers());
  const mesh m{axis{"a", everyone.size()}};
  const auto number = [](const auto& i) { return static_cast<double>(3 * i[0] + i[1]) - 4; };
  const auto x = shard<double>(everyone, m.layout("a", ""), {5, 3}, number);
  const auto f = [](const auto& real) { return to_complex(real, multiply(real, 2)); };
  const auto back = [&](const auto& real) {
    const auto z = f(real);
    return sum(partita::real(multiply(z, z)));
  };
  double wanted = 0;
  for (std::size_t k = 0; k < 15; ++k)
    wanted -= 3 * number(std::array{k / 3, k % 3}) * number(std::array{k / 3, k % 3});
  for (const sharding& s : {m.layout("a", ""), m.layout("", "a"), m.layout("", "")}) {
    const auto program = trace(back, spec(s, {5, 3}));
    const auto [value, gradients] = value_and_gradient(program, x);
    BOOST_TEST(value == wanted);
    const auto& dx = std::get<0>(gradients);
    BOOST_TEST(dx.layout().same_layout(x.layout()));
    dx.for_each_local([&](const auto& i, double one) { BOOST_TEST(one == -6 * number(i)); });
    const auto to_z = trace(f, spec(s, {5, 3}));
    const auto z = to_z(x);
    z.for_each_local(
        [&](const auto& i, const auto& one) { BOOST_TEST((one == std::complex<double>(number(i), 2 * number(i)))); });
  }
}

BOOST_AUTO_TEST_CASE(a_complex_result_that_is_stopped_is_a_constant) {
  const world everyone(test::workers());
  const mesh m{axis{"a", everyone.size()}};
  const auto x = shard<double>(everyone, m.layout("a"), {5}, [](const auto& i) { return static_cast<double>(i[0]); });
  const auto f = [](const auto& real) { return stop_gradient(to_complex(real, multiply(real, 2))); };
  const auto program = trace(f, spec(m.layout("a"), {5}));
  const auto [value, gradients] =
      value_and_gradient([&](const auto& one) { return sum(add(multiply(one, 3), partita::imag(program(one)))); }, x);
  BOOST_TEST(value == 5 * 10);
  std::get<0>(gradients).for_each_local([](const auto&, double one) { BOOST_TEST(one == 3); });
  auto step = program.bind<double>(everyone, {0});
  step(x);
  step.backward(to_complex(x))[0].for_each_local([](const auto&, double one) { BOOST_TEST(one == 0); });
}

BOOST_AUTO_TEST_CASE(a_value_of_another_program_that_is_traced_is_refused) {
  const world everyone(test::workers());
  const mesh m{axis{"a", everyone.size()}};
  const spec line(m.layout("a"), {5});
  // the outer values have numbers that values of the inner program have, too
  const auto traced_inside = [&](const auto& inner) {
    return [&, inner](const auto& x) {
      (void)trace([&](const auto& y) { return inner(multiply(y, 2), x); }, line);
      return x;
    };
  };
  const auto reads = traced_inside([](const auto& y, const auto& x) { return add(y, x); });
  const auto returns = traced_inside([](const auto&, const auto& x) { return x; });
  BOOST_TEST(test::refused<error>([&] { (void)trace(reads, line); }) ==
             "partita::add: requires values of one program, but got one of another program that is being traced; make "
             "it an argument of the inner one");
  BOOST_TEST(test::refused<error>([&] { (void)trace(returns, line); }) ==
             "partita::trace: requires a function that returns a value of its own program, but got one of another "
             "program that is being traced; make that an argument");
}
