// A segment that is recomputed in the backward pass has the same gradients, and the tape keeps only its arguments.
#include "layouts.hpp"

#include <partita/sharded/recompute.hpp>
#include <partita/sharded/scan.hpp>
#include <partita/sharded/tensor_functions.hpp>
#include <refused.hpp>

using namespace partita;

namespace {

using matrix = xt::xtensor<double, 2>;

matrix numbers(std::size_t rows, std::size_t columns, double salt) {
  matrix x({rows, columns});
  for (std::size_t k = 0; k < x.size(); ++k) x.data()[k] = std::sin(salt + 1.7 * static_cast<double>(k));
  return x;
}
const auto block = [](const auto& x, const auto& w) { return tanh(matmul(x, w)); };
/// Two blocks, kept or recomputed, and the loss; both blocks read u.
const auto kept = [](const auto& x, const auto& u, const auto& v) {
  return sum(square(block(block(block(x, u), v), u)));
};
const auto recomputed = [](const auto& x, const auto& u, const auto& v) {
  const auto two = [](const auto& a, const auto& b, const auto& c) { return recompute(block, block(a, b), c); };
  return sum(square(recompute(block, recompute(two, x, u, v), u)));
};

}  // namespace

BOOST_AUTO_TEST_SUITE(recomputed_segments)

BOOST_AUTO_TEST_CASE(their_gradients_are_those_of_kept_ones_wherever_tensors_lie) {
  world everyone(test::workers());
  std::mt19937 random(9);
  const matrix x = numbers(7, 5, 1), u = numbers(5, 5, 2), v = numbers(5, 5, 3);
  const auto expect_equal = [](const auto& one, const auto& other, bool here) {
    BOOST_TEST(one.layout().same_layout(other.layout()));
    BOOST_TEST(
        (one.size() == other.size() && (!here || std::equal(one.data(), one.data() + one.size(), other.data()))));
  };
  for (const mesh& m : test::meshes(everyone.size())) {
    const auto two = test::layouts(m, 2);
    const auto any = [&](const matrix& all) { return shard(everyone, two[random() % two.size()], all); };
    const auto X = any(x), U = any(u), V = any(v);
    const auto a = value_and_gradient(kept, X, U, V);
    const auto b = value_and_gradient(recomputed, X, U, V);
    const bool here = everyone.id() < m.size();
    if (here) BOOST_TEST(a.value == b.value);
    expect_equal(std::get<0>(a.gradients), std::get<0>(b.gradients), here);
    expect_equal(std::get<1>(a.gradients), std::get<1>(b.gradients), here);
    expect_equal(std::get<2>(a.gradients), std::get<2>(b.gradients), here);
    BOOST_TEST(tape_holds().bytes == 0U);
    BOOST_TEST(tape_holds().records == 0U);
  }
  const auto [value, gradients] = value_and_gradient(recomputed, x, u, v);
  BOOST_TEST(value == value_and_gradient(kept, x, u, v).value);
  BOOST_TEST((std::get<1>(gradients) == std::get<1>(value_and_gradient(kept, x, u, v).gradients)));
  BOOST_TEST(recomputed(x, u, v)() == kept(x, u, v)());
}

/// Contributions to a cotangent are added in the order of the recorded steps, whichever steps are computed again.
BOOST_AUTO_TEST_CASE(gradients_of_a_scan_have_the_same_bits_whichever_steps_it_computes_again) {
  const world everyone(test::workers());
  const mesh m{axis{"a", everyone.size()}};
  const auto x = shard(everyone, m.layout("a", ""), numbers(7, 5, 1));
  const auto w = shard(everyone, m.layout("", "a"), numbers(5, 5, 2));
  const auto braid = [](const auto& state, const auto& by) {  // three equal tensors
    const auto& [a, b, c] = state;
    const auto y = add(tanh(matmul(a, by)), add(multiply(b, c), add(a, multiply(c, 0.3))));
    return std::tuple{y, y, y};
  };
  const auto gradients = [&](const scan_options& o) {
    const auto f = [&](const auto& a, const auto& by) {
      const auto [p, q, r] = scan(braid, std::tuple{a, a, a}, 3, o, by);
      return sum(multiply(add(multiply(p, q), multiply(r, 0.7)), p));
    };
    return value_and_gradient(f, x, w).gradients;
  };
  const auto bits = [](const auto& one) { return std::vector<double>(one.data(), one.data() + one.size()); };
  const auto expected = gradients({});
  for (const scan_options& one : {scan_options{.recompute_every = 1}, scan_options{.recompute_every = 2},
                                  scan_options{.recompute_every = 9}, scan_options{.checkpoints = 1}}) {
    const auto got = gradients(one);
    BOOST_TEST((bits(std::get<0>(got)) == bits(std::get<0>(expected))));
    BOOST_TEST((bits(std::get<1>(got)) == bits(std::get<1>(expected))));
  }
}

/// Without a gradient nothing is kept, tried or computed again, whatever the options.
BOOST_AUTO_TEST_CASE(a_scan_that_no_gradient_is_asked_of_is_a_loop) {
  const world everyone(test::workers());
  const mesh m{axis{"a", everyone.size()}};
  const auto x = shard(everyone, m.layout("a", ""), numbers(7, 5, 1));
  const auto w = shard(everyone, m.layout("a", ""), numbers(7, 5, 2));
  std::size_t calls = 0;
  const auto step = [&](const auto& state, const auto& by) {
    ++calls;
    return tanh(add(state, by));
  };
  auto expected = x;
  for (std::size_t k = 0; k < 3; ++k) expected = step(expected, w);
  const auto bits = [](const auto& one) { return std::vector<double>(one.data(), one.data() + one.size()); };
  for (const scan_options& one : {scan_options{}, scan_options{.recompute_every = 2}, scan_options{.checkpoints = 1},
                                  scan_options{.memory = 1000000}}) {
    calls = 0;
    const auto y = scan(step, x, 3, one, w);
    BOOST_TEST(calls == 3U);
    BOOST_TEST((bits(y) == bits(expected)));
    BOOST_TEST(tape_holds().records == 0U);
    (void)sum(x).number();    // an agreement, after which few operations follow, so that the error names the first
    if (everyone.size() > 1)  // one worker makes another number of steps
      test::expect_refused<disagreement_error>(
          [&] { (void)sum(scan(step, x, everyone.id() == 1 ? 3 : 2, one, w)).number(); }, "makes scan of");
    const auto by_memory = [&](const auto& a) { return sum(scan(step, a, 3, one, w)); };
    const auto gradient = std::get<0>(value_and_gradient(by_memory, x).gradients);
    BOOST_TEST(
        (bits(gradient) ==
         bits(std::get<0>(
             value_and_gradient([&](const auto& a) { return sum(step(step(step(a, w), w), w)); }, x).gradients))));
  }
}

BOOST_AUTO_TEST_CASE(typed_tensors_keep_their_types, *test::at_least(2)) {
  world everyone(test::workers());
  constexpr mesh m{axis{"data", 2}};
  const auto X = shard<m.layout("data", "")>(everyone, numbers(4, 3, 1));
  const auto W = shard<m.layout("", "")>(everyone, numbers(3, 3, 2));
  static_assert(std::is_same_v<decltype(recompute(block, X, W)), decltype(block(X, W))>);
  const auto one = value_and_gradient([&](const auto& w) { return sum(block(X, w)); }, W);
  const auto other = value_and_gradient([&](const auto& w) { return sum(recompute(block, X, w)); }, W);
  if (everyone.id() < 2) BOOST_TEST((std::get<0>(one.gradients).local() == std::get<0>(other.gradients).local()));
}

BOOST_AUTO_TEST_CASE(the_tape_holds_what_the_way_back_reads_and_no_more) {
  world everyone(test::workers());
  const mesh m{axis{"data", everyone.size()}};
  const sharding whole = m.layout("", ""), used = whole.reduced("data"), cut = m.layout("data", "");
  const std::size_t d = everyone.size(), side = 12 % d == 0 ? 12 : 2 * d, n = side * side, rows = 2,
                    bytes = sizeof(double);
  const auto x = shard(everyone, cut, numbers(rows * d, side, 1));
  const auto w = [&](double salt) { return shard(everyone, cut, numbers(side, side, salt)); };
  // parameters that are sharded over data (ZeRO 3) and gathered before use
  const auto layer = [&](const auto& a, const auto& v) { return tanh(matmul(a, reshard(v, used))); };
  const std::size_t y = rows * side, unit = n * (d - 1) / d;
  const auto holds = [&](const auto& f, std::size_t gathers) {
    const std::size_t before = detail::run_state.movement_totals.bytes;
    shard<double>(everyone, m.layout().partial("data"), {}, [](const auto&) { return 1; }).number();
    const std::size_t of_value = detail::run_state.movement_totals.bytes - before;
    value_and_gradient(f, w(2), w(3), w(4), w(5));
    BOOST_TEST(detail::run_state.movement_totals.bytes - before - 2 * of_value == (gathers + 4) * unit * bytes);
    BOOST_TEST(tape_holds().bytes == 0U);
    return tape_holds().most_bytes / bytes;
  };
  // each layer keeps its input, its weight (except for the first layer), and its result; gradients are scattered
  const auto keep = [&](const auto& a, const auto& b, const auto& c, const auto& e) {
    return sum(layer(layer(layer(layer(x, a), b), c), e));
  };
  BOOST_TEST(holds(keep, 4) == y + 4 * y + 3 * n);
  // the arguments of each layer, and the values that one layer recomputes; on one worker its weight is the argument
  // itself
  const auto again = [&](const auto& a, const auto& b, const auto& c, const auto& e) {
    const auto go = [&](const auto& l, const auto& v) { return recompute(layer, l, v); };
    return sum(go(go(go(go(x, a), b), c), e));
  };
  BOOST_TEST(holds(again, 8) == y + 4 * y + 4 * n / d + (d == 1 ? 0 : n));
  // the adjoint of a product by a constant needs the constant only, the adjoint of a sum needs nothing
  const auto f = [&](const auto& v) {
    BOOST_TEST(tape_holds().bytes == 0U);
    const auto z = add(matmul(x, v), 1);
    BOOST_TEST(tape_holds().bytes == y * bytes);
    BOOST_TEST(tape_holds().records == 2U);
    return sum(z);
  };
  value_and_gradient(f, shard(everyone, whole, numbers(side, side, 6)));
}

BOOST_AUTO_TEST_CASE(a_segment_that_holds_a_parameter_is_refused) {
  world everyone(test::workers());
  const mesh m{axis{"a", everyone.size()}};
  const auto W = shard(everyone, m.layout("a", ""), numbers(5, 5, 1));
  const auto f = [&](const auto& w) {
    return sum(recompute([&](const auto& x) { return matmul(x, w); }, multiply(w, 2)));
  };
  BOOST_TEST(test::refused([&] { value_and_gradient(f, W); }) ==
             "partita::recompute: requires a function that reads as its arguments what a gradient is asked of, but it "
             "holds a tensor of a gradient, too; give that as an argument");
  BOOST_TEST(tape_holds().records == 0U);
}

BOOST_AUTO_TEST_SUITE_END()
