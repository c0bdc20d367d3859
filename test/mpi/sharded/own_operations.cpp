// User-defined operations work like those of the library.
#include "check_operation.hpp"

#include <partita/sharded/indexed.hpp>
#include <partita/sharded/operate.hpp>
#include <partita/sharded/parts.hpp>
#include <partita/sharded/tensor_functions.hpp>
#include <partita/sharded/traced_function.hpp>
#include <partita/sharded/value_and_gradient.hpp>

using namespace partita;

namespace {

using test::check, test::tensor;

// [declared]
/// x³ + shift, element by element.
struct cube {
  static constexpr bool on_integers = true;
  static constexpr std::size_t parameters = 1;  // the same on all workers
  double shift = 0;

  static constexpr partita::rule rule(const shape_span& shapes) { return rules::elementwise.named("cube")(shapes); }
  template <class T>
  void local(const tensor_part<const T>& x, const tensor_part<T>& y) const {
    for (std::size_t k = 0; k < y.size(); ++k) y[k] = x[k] * x[k] * x[k] + static_cast<T>(shift);
  }
  template <class X>
  X adjoint(std::size_t, const X& dy, const X& x, const X&) const {
    return multiply(multiply(dy, square(x)), 3);
  }
};
// [/declared]

/// For each row the sum of its elements, each multiplied by its weight and its global index.
struct moments {
  static constexpr bool on_integers = true;
  static constexpr partita::rule rule(const shape_span&) { return partita::rule("ij,j->i").named("moments"); }
  template <class T>
  void local(const tensor_part<const T>& x, const tensor_part<const T>& w, const tensor_part<T>& y) const {
    for (std::size_t i = 0; i < y.size(); ++i) {
      y[i] = 0;
      for (std::size_t j = 0; j < w.size(); ++j)
        y[i] += x[i * w.size() + j] * w[j] * static_cast<T>(w.box[0].start + j);
    }
  }
};

// [windowed]
/// The differences of neighbours along dimension 0: y[k] = x[k + 1] - x[k].
struct differences {
  static constexpr bool on_integers = true, is_linear = true;
  static constexpr std::uint32_t along = 1;  // dimension 0 may be sharded
  static constexpr partita::rule rule(const shape_span& x) { return rules::slice({0}).named("differences")(x); }
  shape_list result_extents(const shape_span& x) const { return {x[0][0] - 1, x[0][1]}; }
  /// The indices of x that these indices of the result read.
  short_list<interval> window(short_list<interval> y, const shape_list&) const {
    y[0].stop += y[0].size() == 0 ? 0 : 1;
    return y;
  }
  template <class T>
  void local(const tensor_part<const T>& x, const tensor_part<T>& y) const {
    const std::size_t row = y.shape[1], skipped = (y.box[0].start - x.box[0].start) * row;
    for (std::size_t k = 0; k < y.size(); ++k) y[k] = x[skipped + k + row] - x[skipped + k];
  }
  template <class X>
  X adjoint(std::size_t, const X& dy, const X&, const X&) const {
    return subtract(pad(dy, dimensions<0>, {1, 0}), pad(dy, dimensions<0>, {0, 1}));
  }
};
// [/windowed]

/// The sums of squares of the elements up to each one.
struct energies {
  static constexpr bool on_integers = true, is_linear = false;
  static constexpr std::uint32_t along = 1;
  bool carries_backwards() const { return false; }
  static constexpr partita::rule rule(const shape_span& x) { return rules::along({0}).named("energies")(x); }
  template <class T>
  void local(const tensor_part<const T>& x, const tensor_part<T>& y) const {
    const std::size_t row = y.shape[1];
    for (std::size_t k = 0; k < y.size(); ++k) y[k] = x[k] * x[k] + (k < row ? T(0) : y[k - row]);
  }
  template <class X>
  X adjoint(std::size_t, const X& dy, const X& x, const X&) const {
    return multiply(multiply(x, 2), subtract(add(broadcast_sum(dy), dy), cumsum(dy, dimensions<0>)));
  }

 private:
  /// The sum along dimension 0 in each of its elements.
  template <class X>
  static X broadcast_sum(const X& dy) {
    return add(multiply(dy, 0), sum(dy, dimensions<0>), broadcast_dimensions<1>);
  }
};

/// The differences of y and x along dimension 1, each read through a window: y[k + 1] - x[k].
struct differences_of_two {
  static constexpr std::uint32_t windowed = 3, features = 2;
  static constexpr std::size_t anchor = 2;
  static constexpr partita::rule rule(const shape_span&) {
    partita::rule r;
    const std::size_t rows = r.add_factor(dynamic, 'r');
    for (std::size_t t = 0; t < 3; ++t) {
      t < 2 ? r.begin_operand() : r.begin_result();
      r.add_dimension(rows), r.add_whole_dimension();
    }
    return r.complete().named("differences of two").with(linearity::additive);
  }
  shape_list result_extents(const shape_span& x) const { return {x[0][0], x[0][1] - 1}; }
  short_list<interval> window(std::size_t i, const short_list<interval>& y, const shape_span&) const {
    return {interval{y[1].start + i, y[1].stop + i}};
  }
  template <class T>
  void local(const tensor_part<const T>& x, const tensor_part<const T>& v, const tensor_part<T>& y) const {
    for (std::size_t r = 0, k = 0; r < y.shape[0]; ++r)
      for (std::size_t c = 0; c < y.shape[1]; ++c, ++k)
        y[k] = v[r * v.shape[1] + y.box[1].start + 1 + c - v.box[1].start] -
               x[r * x.shape[1] + y.box[1].start + c - x.box[1].start];
  }
  template <class X>
  X adjoint(std::size_t i, const X& dy, const X&, const X&, const X&) const {
    return i == 0 ? multiply(pad(dy, dimensions<1>, {0, 1}), -1) : pad(dy, dimensions<1>, {1, 0});
  }
};

}  // namespace

BOOST_AUTO_TEST_CASE(own_windows_and_sums_are_the_sequential_ones) {
  world everyone(test::workers());
  std::mt19937 random(13);
  using v = std::vector<tensor>;
  for (std::size_t k = 0; k < test::random_cases(30); ++k) {
    const std::size_t a = 1 + random() % 9, b = 1 + random() % 6;
    check(everyone, "differences", random, {{a, b}}, [](const v& x) { return apply_op(differences{}, x[0]); });
    check(everyone, "energies", random, {{a, b}}, [](const v& x) { return apply_op(energies{}, x[0]); });
    check(everyone, "differences of two", random, {{a, b}, {a, b}},
          [](const v& x) { return apply_op(differences_of_two{}, x[0], x[1]); });
  }
}

BOOST_AUTO_TEST_CASE(programs_keep_what_own_windows_and_sums_leave_sharded) {
  const world everyone(test::workers());
  const mesh m{axis{"a", everyone.size()}};
  const auto f = [](const auto& x) {
    const auto y = apply_op(energies{}, apply_op(differences{}, x));
    return apply_op(differences_of_two{}, y, multiply(y, 2));
  };
  for (const sharding& lies : {m.layout("a", ""), m.layout("", "a")}) {
    const auto program = trace(f, spec(lies, {9, 7}));
    BOOST_TEST(program.complete().reshards.empty());
    const auto x = shard<double>(everyone, lies, {9, 7},
                                 [](const auto& i) { return static_cast<double>((i[0] * 5 + i[1] * 3) % 7) - 3; });
    const auto loss = [](const auto& of) { return [&](const auto& one) { return sum(square(of(one))); }; };
    const auto wanted = value_and_gradient(loss(f), x), got = value_and_gradient(loss(program), x);
    BOOST_TEST(wanted.value == got.value);
    const auto there = std::get<0>(wanted.gradients).whole<2>(), here = std::get<0>(got.gradients).whole<2>();
    BOOST_TEST((there == here));
  }
}

BOOST_AUTO_TEST_CASE(own_operations_are_the_sequential_ones) {
  world everyone(test::workers());
  std::mt19937 random(11);
  using v = std::vector<tensor>;
  for (std::size_t k = 0; k < test::random_cases(40); ++k) {
    const std::size_t a = random() % 7, b = random() % 7;
    check(everyone, "cube", random, {{a, b}}, [](const v& x) { return apply_op(cube{2}, x[0]); });
    check(everyone, "moments", random, {{a, b}, {b}},
          [](const v& x) { return apply_op(moments{}, stop_gradient(x[0]), stop_gradient(x[1])); });
  }
}

BOOST_AUTO_TEST_CASE(arrays_types_and_programs_go_the_same_way, *test::at_least(4)) {
  world everyone(test::workers());
  constexpr mesh m{axis{"data", 2}, axis{"model", 2}};
  xt::xtensor<double, 2> x({3, 5});
  xt::xtensor<double, 1> w(std::array<std::size_t, 1>{5});
  for (std::size_t k = 0; k < x.size(); ++k) x.data()[k] = static_cast<double>(k) - 4;
  for (std::size_t k = 0; k < w.size(); ++k) w.data()[k] = static_cast<double>(k) - 2;
  const auto f = [](const auto& one, const auto& weights) {
    return apply_op(moments{}, apply_op(cube{1}, one), weights);
  };
  const auto y = f(x, w);
  static_assert(std::is_same_v<decltype(y), const xt::xtensor<double, 1>>);
  const auto X = shard<m.layout("data", "model")>(everyone, x);
  const auto W = shard<m.layout("model")>(everyone, w);
  const auto Y = f(X, W);
  static_assert(Y.layout() == m.layout("data").partial("model"));
  const auto whole = reshard<m.layout("")>(Y).whole();
  const auto program = trace(f, spec(m.layout("data", "model"), {3, 5}), spec({5}));
  const auto traced = reshard(program(X, W), m.layout("")).whole<1>();
  const auto loss = [](const auto& one) { return sum(apply_op(cube{}, one)); };
  const auto [value, gradients] = value_and_gradient(loss, X);
  const auto g = std::get<0>(gradients).whole();
  BOOST_CHECK_THROW(value_and_gradient([&](const auto& one) { return sum(f(one, W)); }, X), error);
  if (everyone.id() >= 4) return;
  BOOST_TEST((whole == y));
  BOOST_TEST((traced == y));
  BOOST_TEST((g == xt::xtensor<double, 2>(3. * x * x)));
}
