// A scan computes what its loop computes: results and gradients have the same bits for all options, on arrays, tensors
// and traced programs; it keeps as many states and computes as many steps as estimated.
#include "layouts.hpp"

#include <algorithm>
#include <complex>
#include <partita/sharded/bound_program.hpp>
#include <partita/sharded/complex.hpp>
#include <partita/sharded/movements.hpp>
#include <partita/sharded/parts.hpp>
#include <partita/sharded/scan.hpp>
#include <partita/sharded/tensor_functions.hpp>
#include <refused.hpp>
#include <string>
#include <tuple>
#include <vector>

using namespace partita;

namespace {

using matrix = xt::xtensor<double, 2>;
using tensor = sharded_tensor<double>;

matrix waves(std::size_t rows, std::size_t columns, double salt) {
  matrix x({rows, columns});
  for (std::size_t k = 0; k < x.size(); ++k) x.data()[k] = std::sin(salt + 1.7 * static_cast<double>(k));
  return x;
}
matrix integers(std::size_t rows, std::size_t columns, std::size_t salt) {
  matrix x({rows, columns});
  for (std::size_t k = 0; k < x.size(); ++k) x.data()[k] = static_cast<double>((salt + 7 * k) % 11) - 5;
  return x;
}

/// u moved by one row, the last row becoming 0.
const auto row_above = [](const auto& u) {
  const std::size_t rows = detail::as_run_time(u).extents()[0];
  return pad(slice(u, dimensions<0>, {1, rows}), dimensions<0>, {0, 1});
};
/// Two time steps of a wave equation whose speed depends on the place.
const auto wave = [](const auto& state, const auto& speed) {
  const auto& [now, before] = state;
  const auto moved = multiply(speed, subtract(row_above(now), now));
  return std::tuple{add(subtract(multiply(now, 2), before), multiply(moved, 0.1)), now};
};
const auto layer = [](const auto& u, const auto& w) { return tanh(matmul(u, w)); };
/// A state of three equal tensors, whose cotangents arrive in several layouts and are added in one order.
const auto braid = [](const auto& state, const auto& w) {
  const auto& [a, b, c] = state;
  const auto y = add(tanh(matmul(a, w)), add(multiply(b, c), add(a, multiply(c, 0.3))));
  return std::tuple{y, y, y};
};

const std::vector<scan_options> all_options{
    {},
    {.recompute_every = 1},
    {.recompute_every = 3},
    {.recompute_every = 100},
    {.checkpoints = 1},
    {.checkpoints = 2},
    {.checkpoints = 4},
    {.memory = 1 << 20},
};

template <class X>
auto bits(const X& x) {
  return std::vector<typename X::value_type>(x.data(), x.data() + x.size());
}
bool is_close(const matrix& a, const matrix& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](double p, double q) { return std::abs(p - q) < 1e-12 * (1 + std::abs(q)); });
}

}  // namespace

BOOST_AUTO_TEST_SUITE(scans)

BOOST_AUTO_TEST_CASE(a_scan_is_its_loop) {
  const world everyone(test::workers());
  // [loop]
  const mesh m{axis{"rows", everyone.size()}};
  const auto u = shard(everyone, m.layout("rows", ""), xt::xtensor<double, 2>{{1, 2}, {3, 4}, {5, 6}});
  const auto step = [](const auto& x, const auto& w) { return matmul(x, w); };
  const auto last = [&](const auto& w) {  // u w w w w w
    return scan(step, u, 5, {.checkpoints = 2}, w);
  };
  const auto w = shard(everyone, m.layout("", ""), xt::xtensor<double, 2>{{0, 1}, {1, 0}});
  const auto [value, gradients] = value_and_gradient([&](const auto& v) { return sum(last(v)); }, w);
  // [/loop]
  BOOST_TEST(value == 21);
  const auto dw = reshard(std::get<0>(gradients), m.layout("", "")).whole<2>();
  BOOST_TEST((dw == matrix{{51, 51}, {54, 54}}));
  BOOST_TEST((last(w).whole<2>() == matrix{{2, 1}, {4, 3}, {6, 5}}));
  // A step has its number, also where no gradient is asked of the scan.
  const auto digit = [](std::size_t i, const auto& x) { return add(multiply(x, 10), static_cast<double>(i + 1)); };
  for (const scan_options& one : all_options)
    BOOST_TEST((scan(digit, u, 3, one).whole<2>() == matrix{{1123, 2123}, {3123, 4123}, {5123, 6123}}));
}

BOOST_AUTO_TEST_CASE(results_and_gradients_have_the_same_bits_for_all_options) {
  const world everyone(test::workers());
  std::mt19937 random(5);
  const matrix x = waves(7, 5, 1), w = waves(5, 5, 2), v = waves(7, 5, 3);
  const auto with = [&](const scan_options& o) {
    return [&, o](const auto& a, const auto& b, const auto& c) {
      const auto [now, before] = scan(wave, std::tuple{a, a}, 4, o, c);
      // b is also read before and after the scan, and the state more than once
      const auto start = matmul(subtract(now, before), b);
      const auto [p, q, r] = scan(braid, std::tuple{start, start, start}, 3, o, b);
      const auto y = add(multiply(p, q), multiply(r, 0.7));
      return add(sum(square(add(y, start))), sum(multiply(matmul(y, b), y)));
    };
  };
  std::vector<mesh> meshes = test::meshes(everyone.size());
  if (meshes.size() > 4) meshes = {meshes[0], meshes[1], meshes[3]};  // one axis, an idle worker, two axes
  for (const mesh& m : meshes) {
    const auto two = test::layouts(m, 2);
    const auto any = [&](const matrix& all) { return shard(everyone, two[random() % two.size()], all); };
    const auto X = any(x), W = any(w), V = any(v);
    const auto expected = value_and_gradient(with({}), X, W, V);
    BOOST_TEST(scan(layer, X, 2, W).layout().same_layout(X.layout()));
    const scan_options& one = all_options[1 + random() % (all_options.size() - 1)];
    const auto got = value_and_gradient(with(one), X, W, V);
    if (everyone.id() < m.size()) {
      BOOST_TEST(got.value == expected.value);
      BOOST_TEST(std::get<0>(got.gradients).layout().same_layout(std::get<0>(expected.gradients).layout()));
      BOOST_TEST((bits(std::get<0>(got.gradients)) == bits(std::get<0>(expected.gradients))));
      BOOST_TEST((bits(std::get<1>(got.gradients)) == bits(std::get<1>(expected.gradients))));
      BOOST_TEST((bits(std::get<2>(got.gradients)) == bits(std::get<2>(expected.gradients))));
    }
    BOOST_TEST(tape_holds().bytes == 0U);
    BOOST_TEST(tape_holds().records == 0U);
  }
}

BOOST_AUTO_TEST_CASE(arrays_give_what_one_worker_computes) {
  const world everyone(test::workers());
  const mesh m{axis{"a", everyone.size()}};
  const matrix x = waves(7, 5, 1), w = waves(5, 5, 2);
  const auto loss = [](const scan_options& o) {
    return [o](const auto& a, const auto& b) { return sum(square(scan(layer, a, 6, o, b))); };
  };
  matrix loop = x;
  for (int k = 0; k < 6; ++k) loop = layer(loop, w);
  BOOST_TEST((scan(layer, x, 6, w) == loop));
  BOOST_TEST((scan(layer, x, 6, {.checkpoints = 1}, w) == loop));
  const auto expected = value_and_gradient(loss({}), x, w);
  const auto unrolled = [](const auto& a, const auto& b) {
    return sum(square(layer(layer(layer(layer(layer(layer(a, b), b), b), b), b), b)));
  };
  BOOST_TEST((std::get<1>(expected.gradients) == std::get<1>(value_and_gradient(unrolled, x, w).gradients)));
  const auto X = shard(everyone, m.layout("a", ""), x), W = shard(everyone, m.layout("", "a"), w);
  for (const scan_options& o : all_options) {
    const auto got = value_and_gradient(loss(o), x, w);
    BOOST_TEST(got.value == expected.value);
    BOOST_TEST((got.gradients == expected.gradients));
    // an array as the state, a parameter with a gradient
    const auto of_w = value_and_gradient([&](const auto& b) { return loss(o)(x, b); }, w);
    BOOST_TEST((std::get<0>(of_w.gradients) == std::get<1>(expected.gradients)));
  }
  const auto shared = value_and_gradient(loss({.checkpoints = 2}), X, W);
  const auto whole = reshard(std::get<1>(shared.gradients), m.layout("", "")).whole<2>();
  BOOST_TEST(is_close(whole, std::get<1>(expected.gradients)));
}

BOOST_AUTO_TEST_CASE(the_adjoint_of_a_thousand_steps_is_exact_on_integers) {
  const world everyone(test::workers());
  const mesh m{axis{"a", everyone.size()}};
  const std::size_t rows = 2 * everyone.size() - 1;  // the last worker has fewer
  // u + w, moved by one row, so that all numbers are integers below 2^53
  const auto step = [](const auto& u, const auto& w) { return row_above(add(u, w)); };
  const auto check = [&](const sharding& s, std::size_t n, const scan_options& o) {
    const auto x = shard(everyone, s, integers(rows, 6, 1)), w = shard(everyone, s, integers(rows, 6, 5)),
               y = shard(everyone, s, integers(rows, 6, 3));
    const auto [value, gradients] = value_and_gradient(
        [&](const auto& u, const auto& v) { return sum(multiply(y, scan(step, u, n, o, v))); }, x, w);
    const auto& [dx, dw] = gradients;
    BOOST_TEST(value == add(sum(multiply(x, dx)), sum(multiply(w, dw))).number());
  };
  for (const scan_options& o : all_options) check(m.layout("a", ""), 5, o);  // rows move between workers
  for (const std::size_t n : {0U, 1U, 2U}) check(m.layout("a", ""), n, all_options[4 + n]);
  check(m.layout("", "a"), everyone.size() <= 6 ? 1000 : 100, {.recompute_every = 32});
}

BOOST_AUTO_TEST_CASE(states_and_steps_are_as_many_as_estimated) {
  const world everyone(test::workers());
  const mesh m{axis{"a", everyone.size()}};
  const auto x = shard(everyone, m.layout("a", ""), waves(2 * everyone.size(), 3, 1));
  const std::size_t bytes = 2 * 3 * sizeof(double);
  for (const std::size_t n : {0U, 1U, 2U, 3U, 13U})
    for (const scan_options& o : all_options) {
      std::size_t calls = 0, expected_index = 0;
      bool in_order = true;
      const auto step = [&](std::size_t i, const auto& u) {
        in_order = in_order && i < n && (++calls > 1 || i == expected_index);
        return tanh(u);  // keeps its result
      };
      std::size_t most = 0;
      value_and_gradient(
          [&](const auto& u) {
            const auto y = sum(scan(step, u, n, o));
            most = tape_holds().most_bytes;
            return y;
          },
          x);
      BOOST_TEST(in_order);
      const scan_estimate cost = scan_cost(n, o, bytes, bytes);
      // a memory limit runs one more step, to see what it keeps
      BOOST_TEST(calls == cost.steps + (o.memory > 0 && n > 0 ? 1 : 0));
      BOOST_TEST(std::max(most, tape_holds().most_bytes) == cost.bytes);
      // without a gradient nothing is computed again
      calls = 0;
      scan(step, x, n, o);
      BOOST_TEST(calls == n);
    }
}

BOOST_AUTO_TEST_CASE(a_memory_limit_holds_on_all_workers_or_is_refused_on_all) {
  const world everyone(test::workers());
  const mesh m{axis{"a", everyone.size()}};
  const auto x = shard(everyone, m.layout("a", ""), waves(2 * everyone.size() - 1, 3, 1));  // uneven
  const auto w = shard(everyone, m.layout("", ""), waves(3, 3, 2));
  const std::size_t state = (everyone.size() == 1 ? 1 : 2) * 3 * sizeof(double), weight = 9 * sizeof(double);
  const std::size_t step = 2 * state + weight, least = state + step;  // a step keeps its state, its weight, its result
  const auto held = [&](std::size_t memory) {
    value_and_gradient([&](const auto& u, const auto& v) { return sum(scan(layer, u, 12, {.memory = memory}, v)); }, x,
                       w);
    return tape_holds().most_bytes;
  };
  const std::string message = test::refused([&] { held(least - 1); });
  const std::string wanted = "at least " + std::to_string(least) + " bytes";
  BOOST_TEST(message.find(wanted) != std::string::npos, message);
  BOOST_TEST(tape_holds().records == 0U);
  for (const std::size_t memory : {least, least + state, least + 4 * state, 12 * step})
    BOOST_TEST(held(memory) <= memory);
  if (everyone.id() == 0) BOOST_TEST(held(least) == least);
  else held(least);
  const auto expected = value_and_gradient([&](const auto& u) { return sum(scan(layer, u, 9, w)); }, x);
  const auto got =
      value_and_gradient([&](const auto& u) { return sum(scan(layer, u, 9, {.memory = least + state}, w)); }, x);
  BOOST_TEST((bits(std::get<0>(got.gradients)) == bits(std::get<0>(expected.gradients))));
}

BOOST_AUTO_TEST_CASE(tensors_of_a_state_may_differ_in_rank_and_may_be_one_at_first) {
  const world everyone(test::workers());
  const mesh m{axis{"a", everyone.size()}};
  const auto u = shard(everyone, m.layout("a", ""), waves(2 * everyone.size(), 3, 1));
  const auto v = sum(shard(everyone, m.layout("", "a"), waves(3, 2 * everyone.size(), 2)), dimensions<0>);
  const auto step = [](const auto& state) {
    const auto& [x, y] = state;
    return std::tuple{multiply(x, y, broadcast_dimensions<0>), add(y, sum(x, dimensions<1>))};
  };
  for (const bool both : {false, true}) {
    const auto loss = [&](const scan_options& o) {
      return [&, o](const auto& x, const auto& y) {
        const auto [p, q] = scan(step, std::tuple{x, y}, 4, o);
        if (both) return add(sum(square(q)), sum(p));
        return sum(square(q));
      };
    };
    const auto expected = value_and_gradient(loss({}), u, v), got = value_and_gradient(loss({.checkpoints = 2}), u, v);
    BOOST_TEST(got.value == expected.value);
    BOOST_TEST((bits(std::get<0>(got.gradients)) == bits(std::get<0>(expected.gradients))));
    BOOST_TEST((bits(std::get<1>(got.gradients)) == bits(std::get<1>(expected.gradients))));
  }
  // the first state is one block, the others are two, of which a step keeps both
  const auto grow = [](const auto& state) {
    const auto& [x, y] = state;
    return std::tuple{multiply(x, y), add(x, y)};
  };
  const std::size_t memory = 12 * 6 * sizeof(double);
  value_and_gradient(
      [&](const auto& x) {
        return sum(std::get<0>(scan(grow, std::tuple{x, x}, 12, {.memory = memory})));
      },
      u);
  BOOST_TEST(tape_holds().most_bytes <= memory);
}

BOOST_AUTO_TEST_CASE(scans_nest_and_have_complex_elements) {
  const world everyone(test::workers());
  const mesh m{axis{"a", everyone.size()}};
  const auto x = shard(everyone, m.layout("a", ""), waves(4, 3, 1)),
             w = shard(everyone, m.layout("", ""), waves(3, 3, 2));
  const auto loss = [](const scan_options& outer, const scan_options& inner) {
    return [=](const auto& u, const auto& v) {
      const auto step = [=](const auto& y, const auto& t) { return multiply(scan(layer, y, 3, inner, t), 2); };
      return sum(square(scan(step, u, 4, outer, v)));
    };
  };
  const auto expected = value_and_gradient(loss({}, {}), x, w);
  for (const scan_options& outer : {scan_options{}, scan_options{.recompute_every = 2}, scan_options{.checkpoints = 1}})
    for (const scan_options& inner : {scan_options{.checkpoints = 2}, scan_options{.memory = 1 << 20}}) {
      const auto got = value_and_gradient(loss(outer, inner), x, w);
      BOOST_TEST(got.value == expected.value);
      BOOST_TEST((bits(std::get<0>(got.gradients)) == bits(std::get<0>(expected.gradients))));
      BOOST_TEST((bits(std::get<1>(got.gradients)) == bits(std::get<1>(expected.gradients))));
    }
  using complex = std::complex<double>;
  const auto turned = [&](const scan_options& o) {
    const auto z = shard<complex>(everyone, m.layout("a"), {5}, [](const auto& i) { return complex(1, double(i[0])); });
    const auto turn = shard<complex>(everyone, m.layout("a"), {5}, [](const auto&) { return complex(0, 1); });
    const auto f = [&](const auto& t) {
      return sum(real(scan([](const auto& a, const auto& b) { return multiply(a, b); }, z, 6, o, t)));
    };
    return value_and_gradient(f, turn);
  };
  BOOST_TEST(turned({}).value == -5);
  BOOST_TEST((bits(std::get<0>(turned({}).gradients)) == bits(std::get<0>(turned({.checkpoints = 2}).gradients))));
}

BOOST_AUTO_TEST_CASE(typed_tensors_keep_their_types_and_traced_programs_are_unrolled, *test::at_least(2)) {
  const world everyone(test::workers());
  constexpr mesh m{axis{"data", 2}};
  const matrix x = waves(4, 3, 1), w = waves(3, 3, 2);
  const auto X = shard<m.layout("data", "")>(everyone, x);
  const auto W = shard<m.layout("", "")>(everyone, w);
  static_assert(std::is_same_v<decltype(scan(layer, X, 3, W)), std::remove_const_t<decltype(X)>>);
  const auto loss = [](const auto& u, const auto& v) {
    const auto [y, z] = scan(
        [](const auto& s, const auto& t) {
          return std::tuple{layer(std::get<0>(s), t), std::get<0>(s)};
        },
        std::tuple{u, u}, 6, v);
    return sum(multiply(y, z));
  };
  const auto typed = value_and_gradient(loss, X, W);
  const auto recomputed =
      value_and_gradient([&](const auto& v) { return sum(scan(layer, X, 6, {.checkpoints = 2}, v)); }, W);
  const auto stored = value_and_gradient([&](const auto& v) { return sum(scan(layer, X, 6, v)); }, W);
  const auto program = trace(loss, spec(m.layout("data", ""), {4, 3}), spec(m.layout("", ""), {3, 3}));
  const auto traced = value_and_gradient(program, X, W);
  auto bound = program.bind<double>(everyone, {1});
  const double of_bound = bound(X, W).number();
  const matrix by_program = std::get<1>(traced.gradients).whole(), by_types = std::get<1>(typed.gradients).whole();
  if (everyone.id() < 2) {
    BOOST_TEST((std::get<0>(recomputed.gradients).local() == std::get<0>(stored.gradients).local()));
    BOOST_TEST(std::abs(traced.value - typed.value) < 1e-14);
    BOOST_TEST(is_close(by_program, by_types));
  }
  BOOST_TEST(of_bound == traced.value);
  for (const scan_options& o :
       {scan_options{.recompute_every = 1}, scan_options{.checkpoints = 1}, scan_options{.memory = 1000}})
    test::expect_refused<error>(
        [&] {
          (void)trace([&](const auto& u) { return scan([](const auto& v) { return tanh(v); }, u, 3, o); },
                      spec(m.layout("data", ""), {4, 3}));
        },
        "requires no options while a program is traced");
  // a traced step is a step like any other, with all options
  const auto step = trace(layer, spec(m.layout("data", ""), {4, 3}), spec(m.layout("", ""), {3, 3}));
  const auto of_step = [&](const scan_options& o) {
    return value_and_gradient([&](const auto& v) { return sum(scan(step, X.run_time_tensor(), 6, o, v)); }, W);
  };
  const auto one = of_step({}), other = of_step({.checkpoints = 2});
  BOOST_TEST(one.value == other.value);
  BOOST_TEST((bits(std::get<0>(one.gradients)) == bits(std::get<0>(other.gradients))));
}

BOOST_AUTO_TEST_CASE(branches_follow_numbers_that_all_workers_share) {
  const world everyone(test::workers());
  const mesh m{axis{"a", everyone.size()}};
  const matrix x = integers(5, 3, 2);
  // [branch]
  const auto step = [](const auto& u) {
    if (sum(u).number() > 8) return multiply(u, 0.5);  // the same branch on all workers
    return add(u, 1);
  };
  const auto halved = [&](const auto& u) { return sum(scan(step, u, 12, {.checkpoints = 3})); };
  // [/branch]
  double total = xt::sum(x)(), slope = 1;
  for (int k = 0; k < 12; ++k) {
    if (total > 8) slope /= 2;
    total = total > 8 ? total / 2 : total + 15;
  }
  for (const sharding& s : test::layouts(m, 2)) {
    const auto u = shard(everyone, s, x);
    const auto [value, gradients] = value_and_gradient(halved, u);
    BOOST_TEST(value == total);
    const auto du = reshard(std::get<0>(gradients), m.layout("", "")).whole<2>();
    BOOST_TEST((du == xt::ones<double>({5, 3}) * slope));
  }
}

BOOST_AUTO_TEST_CASE(wrong_scans_are_refused_on_all_workers) {
  const world everyone(test::workers());
  const mesh m{axis{"a", everyone.size()}};
  const auto u = shard(everyone, m.layout("a", ""), integers(2 * everyone.size(), 4, 1));
  const auto shrinks = [](const auto& x) { return slice(x, dimensions<1>, {0, 2}); };
  test::expect_refused<shape_error>([&] { scan(shrinks, u, 2); }, "but step 0 makes [");
  test::expect_refused<shape_error>([&] { scan(shrinks, integers(4, 4, 1), 2); }, "in its tensor 0");
  test::expect_refused<shape_error>(
      [&] {
        (void)trace([&](const auto& x) { return scan(shrinks, x, 1); },
                    spec(m.layout("a", ""), {2 * everyone.size(), 4}));
      },
      "keeps the extents of the state");
  test::expect_refused<error>([&] { scan([](const auto& x) { return x; }, u, 1, {.recompute_every = 1, .memory = 1}); },
                              "at most one of the options");
  const auto held = [&](const auto& w) {
    return sum(scan([&](const auto& x) { return multiply(x, w); }, u, 3, {.checkpoints = 1}));
  };
  test::expect_refused<error>([&] { value_and_gradient(held, u); }, "give that as a parameter");
  test::expect_refused<partition_error>(
      [&] { scan([](const auto&, const auto& w) { return w; }, integers(2 * everyone.size(), 4, 1), 2, u); },
      "leaves the state on its mesh");
  test::expect_refused<error>(
      [&] {
        movements_of(
            [](const auto& x) { return sum(scan([](const auto& v) { return tanh(v); }, x, 3, {.memory = 9})); }, u);
      },
      "the option checkpoints in place of memory");
  BOOST_TEST(tape_holds().records == 0U);
  const auto moves = [&](const scan_options& o) {
    return movements_of([&](const auto& x) { return sum(scan(row_above, x, 4, o)); }, u);
  };
  // back, steps 2, 1, 0 are computed again; with one checkpoint, the steps up to each of them, too
  BOOST_TEST(moves({}).size() + 3 * (everyone.size() > 1) == moves({.checkpoints = 3}).size());
  BOOST_TEST(moves({}).size() + 6 * (everyone.size() > 1) == moves({.checkpoints = 1}).size());
}

BOOST_AUTO_TEST_CASE(a_scan_that_one_worker_makes_otherwise_is_refused_on_all, *test::at_least(2)) {
  const world everyone(test::workers());
  const mesh m{axis{"a", everyone.size()}};
  const auto u = shard(everyone, m.layout("a", ""), integers(2 * everyone.size(), 2, 1));
  const auto is_refused = [&](std::size_t n, const scan_options& o) {
    test::expect_refused<disagreement_error>(
        [&] {
          (void)value_and_gradient(
              [&](const auto& x) { return sum(scan([](const auto& v) { return multiply(v, 2); }, x, n, o)); }, u);
        },
        "scan");
    BOOST_TEST(sum(u).number() == xt::sum(integers(2 * everyone.size(), 2, 1))());  // the world still works
  };
  const bool odd = everyone.id() == 1;
  is_refused(odd ? 3 : 2, {});
  is_refused(odd ? 0 : 1, {.memory = 1000});
  is_refused(4, {.recompute_every = odd ? std::size_t{1} : std::size_t{2}});
  is_refused(4, {.checkpoints = odd ? std::size_t{1} : std::size_t{2}});
  is_refused(4, {.memory = odd ? std::size_t{1000} : std::size_t{2000}});
}

BOOST_AUTO_TEST_SUITE_END()
