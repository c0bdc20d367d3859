// Compares element functions and their derivatives with their definitions, on arrays, typed, run-time and traced
// tensors: at ties, zeros of both signs, NaN and infinity. Elsewhere derivatives are compared with finite differences.
#include "layouts.hpp"

#include <cmath>
#include <limits>
#include <partita/sharded/bound_program.hpp>
#include <partita/sharded/clip.hpp>
#include <partita/sharded/compare.hpp>
#include <partita/sharded/indexed.hpp>
#include <partita/sharded/parts.hpp>
#include <partita/sharded/pool.hpp>
#include <partita/sharded/tensor_functions.hpp>
#include <partita/sharded/value_and_gradient.hpp>

using namespace partita;

namespace {

using matrix = xt::xtensor<double, 2>;

// [row]
constexpr element_function cube_root{"cube_root", nondecreasing_real_function, [](auto x) { return std::cbrt(x); },
                                     derivative_from_y([](auto dy, auto y) { return dy / (3 * y * y); })};
// [/row]
/// sqrt(x² + z² + c), whose derivatives read an operand and the result.
constexpr element_function distance_from{"distance", real_function,
                                         [](auto x, auto z, auto c) { return std::sqrt(x * x + z * z + c); },
                                         derivative_from<1 + 8>([](auto dy, auto x, auto y) { return dy * x / y; }),
                                         derivative_from<2 + 8>([](auto dy, auto z, auto y) { return dy * z / y; })};

constexpr double none = std::numeric_limits<double>::quiet_NaN(), endless = std::numeric_limits<double>::infinity();
constexpr double ties[] = {0, 1, 2, -1, -0.0, none, endless, -endless};
constexpr std::size_t count = std::size(ties);

/// All ordered pairs of these numbers: the first of each pair, or the second.
matrix pairs(bool second) {
  matrix x({count, count});
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t j = 0; j < count; ++j) x(i, j) = ties[second ? j : i];
  return x;
}
/// Elements that are all different and not near 0.
matrix smooth(double salt) {
  matrix x({3, 5});
  for (std::size_t k = 0; k < x.size(); ++k) x.data()[k] = 0.3 + 0.8 * std::pow(std::sin(salt + 1.7 * double(k)), 2);
  return x;
}
/// Cotangents, all different.
matrix weights_like(const matrix& x) {
  matrix c = x;
  for (std::size_t k = 0; k < c.size(); ++k) c.data()[k] = 1 + 0.25 * static_cast<double>(k % 7);
  return c;
}
bool same(double a, double b, double tolerance) {
  return a == b || (a != a && b != b) || std::abs(a - b) <= tolerance * std::abs(b);
}
template <class X>
bool are_equal(const X& a, const X& b, double tolerance = 0) {
  bool all = a.shape() == b.shape();
  for (std::size_t k = 0; all && k < a.size(); ++k) all = same(a.data()[k], b.data()[k], tolerance);
  return all;
}

struct value_and_gradients {
  matrix y, dx, dz;
};
text all_of(const value_and_gradients& v) {
  text t;
  for (const matrix* one : {&v.y, &v.dx, &v.dz}) {
    for (const double e : *one) t << ' ' << text(std::to_string(e).c_str());
    t << ';';
  }
  return t;
}

/// Checks f(x, z), and the gradients of its sum weighted by c, for one kind of tensor.
template <class F, class X, class C, class Whole>
value_and_gradients computed(const F& f, const X& x, const X& z, const C& c, Whole whole) {
  const auto loss = [&](const auto& u, const auto& v) { return sum(multiply(f(u, v), c)); };
  const auto d = value_and_gradient(loss, x, z).gradients;
  return {whole(f(x, z)), whole(std::get<0>(d)), whole(std::get<1>(d))};
}

/// The same for each kind of tensor; `expected` is the definition.
template <class F>
void check_all_ways(const world& everyone, const char* name, const F& f, const matrix& x, const matrix& z,
                    const value_and_gradients& expected, double tolerance = 0) {
  const auto is_right = [&](const char* way, const value_and_gradients& got) {
    BOOST_TEST((are_equal(got.y, expected.y, tolerance) && are_equal(got.dx, expected.dx, tolerance) &&
                are_equal(got.dz, expected.dz, tolerance)),
               name << ", " << way << ':' << all_of(got) << " expected" << all_of(expected));
  };
  const matrix c = weights_like(x);
  is_right("arrays", computed(f, x, z, c, [](const auto& y) { return matrix(y); }));
  constexpr mesh one{axis{"a", 1}};
  constexpr sharding rows = one.layout("a", "");
  const auto typed = computed(f, shard<rows>(everyone, x), shard<rows>(everyone, z), shard<rows>(everyone, c),
                              [](const auto& y) { return y.whole(); });
  if (everyone.id() == 0) is_right("typed", typed);
  const mesh m{axis{"a", everyone.size()}};
  const sharding columns = m.layout("", "a");
  const auto whole = [&](const auto& y) { return reshard(y, m.layout("", "")).template whole<2>(); };
  const auto u = shard(everyone, columns, x), v = shard(everyone, columns, z), w = shard(everyone, columns, c);
  is_right("run time", computed(f, u, v, w, whole));
  const shape_list extents{x.shape(0), x.shape(1)};
  const auto program = trace(f, spec(columns, extents), spec(columns, extents));
  is_right("traced", computed(program, u, v, w, whole));
  auto step = program.template bind<double>(everyone, {0, 1});
  const auto y = step(u, v);
  const auto& d = step.backward(w);
  is_right("bound", {whole(y), whole(d[0]), whole(d[1])});
}
/// `define(x, z)` gives the value and both derivatives.
template <class F, class Definition>
void check(const world& everyone, const char* name, const F& f, const matrix& x, const matrix& z, Definition define,
           double tolerance = 0) {
  const matrix c = weights_like(x);
  value_and_gradients expected{x, x, x};
  for (std::size_t k = 0; k < x.size(); ++k) {
    const auto [y, dx, dz] = define(x.data()[k], z.data()[k]);
    expected.y.data()[k] = y;
    expected.dx.data()[k] = dx == 0 ? 0 : c.data()[k] * dx;
    expected.dz.data()[k] = dz == 0 ? 0 : c.data()[k] * dz;
  }
  check_all_ways(everyone, name, f, x, z, expected, tolerance);
}

struct triple {
  double y, dx, dz;
};
/// The derivative is split in halves between two equal arguments. With a NaN both get it, since the value is NaN.
triple larger(double x, double z) {
  if (x != x || z != z) return {none, 1, 1};
  if (x == z) return {x, 0.5, 0.5};
  return x > z ? triple{x, 1, 0} : triple{z, 0, 1};
}
triple smaller(double x, double z) {
  const triple opposite = larger(-x, -z);
  return {-opposite.y, opposite.dx, opposite.dz};
}

}  // namespace

BOOST_AUTO_TEST_CASE(the_gradient_of_minimum_goes_to_the_smaller_operand) {
  const xt::xtensor<double, 1> x{1, 5}, y{2, 3};
  const auto [value, gradients] =
      value_and_gradient([](const auto& a, const auto& b) { return sum(minimum(a, b)); }, x, y);
  BOOST_TEST(value == 4);
  BOOST_TEST((std::get<0>(gradients) == xt::xtensor<double, 1>{1, 0}));
  BOOST_TEST((std::get<1>(gradients) == xt::xtensor<double, 1>{0, 1}));
}

namespace {

/// What functions of arrays give is computed when it is read, and has a type of its own for each function.
template <class Y>
auto computed_at_once(const Y& y) {
  if constexpr (xt::is_xexpression<Y>::value) return matrix(y);
  else return y;
}

/// f(u, v), and what it is at (a, b): one of these functions, chosen at run time, so that all are compiled as one
/// program.
struct function_with_ties {
  const char* name;
  template <class U, class V>
  auto operator()(const U& u, const V& v) const {
    switch (name[0]) {
      case '1':
        return computed_at_once(maximum(u, v));
      case '2':
        return computed_at_once(minimum(u, v));
      case '3':
        return computed_at_once(add(relu(u), multiply(v, 0)));
      case '4':
        return computed_at_once(add(abs(u), multiply(v, 0)));
      case '5':
        return computed_at_once(where(u, v, multiply(u, 3)));
      case '6':
        return computed_at_once(where(less(u, v), u, 4));
      default:
        return computed_at_once(where(less_equal(u, v), 4, v));
    }
  }
  triple defined(double a, double b) const {
    switch (name[0]) {
      case '1':
        return larger(a, b);
      case '2':
        return smaller(a, b);
      case '3':
        return {(a != a ? a : a > 0 ? a : 0) + b * 0, a != a || a > 0 ? 1.0 : 0.0, 0};
      case '4':
        return {(a < 0 ? -a : a) + b * 0, a > 0 ? 1.0 : a < 0 ? -1.0 : 0.0, 0};
      case '5':
        return a != 0 ? triple{b, 0, 1} : triple{a * 3, 3, 0};
      case '6':
        return a < b ? triple{a, 1, 0} : triple{4, 0, 0};
      default:
        return a <= b ? triple{4, 0, 0} : triple{b, 0, 1};
    }
  }
};

}  // namespace

BOOST_AUTO_TEST_CASE(element_functions_are_their_definitions_at_ties_and_at_what_is_no_number) {
  const world everyone(test::workers());
  const matrix x = pairs(false), z = pairs(true);
  for (const char* name :
       {"1 maximum", "2 minimum", "3 relu", "4 abs", "5 where", "6 where and a number", "7 where, a number first"}) {
    const function_with_ties f{name};
    check(everyone, name, f, x, z, [&](double a, double b) { return f.defined(a, b); });
  }
}

namespace {

// ROW(the function of u, its value at a, its derivative there)
#define REAL_FUNCTIONS(ROW)                                                                                     \
  ROW(sin(u), std::sin(a), std::cos(a))                                                                         \
  ROW(cos(u), std::cos(a), -std::sin(a))                                                                        \
  ROW(tan(u), std::tan(a), 1 + std::tan(a) * std::tan(a))                                                       \
  ROW(asin(u), std::asin(a), 1 / std::sqrt(1 - a * a))                                                          \
  ROW(acos(u), std::acos(a), -1 / std::sqrt(1 - a * a))                                                         \
  ROW(atan(u), std::atan(a), 1 / (1 + a * a))                                                                   \
  ROW(sinh(u), std::sinh(a), std::cosh(a))                                                                      \
  ROW(cosh(u), std::cosh(a), std::sinh(a))                                                                      \
  ROW(asinh(u), std::asinh(a), 1 / std::sqrt(a * a + 1))                                                        \
  ROW(acosh(u), std::acosh(a), 1 / std::sqrt(a * a - 1))                                                        \
  ROW(atanh(u), std::atanh(a), 1 / (1 - a * a))                                                                 \
  ROW(is_nan(u), std::isnan(a) ? 1 : 0, zero(a))                                                                \
  ROW(is_inf(u), std::isinf(a) ? 1 : 0, zero(a))                                                                \
  ROW(celu(u), a > 0 ? a : std::expm1(a), a > 0 || a != a ? 1 : exp_of(a))                                      \
  ROW(celu(u, 0.5), a > 0 ? a : 0.5 * std::expm1(a / 0.5), a > 0 || a != a ? 1 : exp_of(a / 0.5))               \
  ROW(thresholded_relu(u), a > 1 || a != a ? a : 0, a > 1 || a != a ? 1 : 0)                                    \
  ROW(thresholded_relu(u, 0.5), a > 0.5 || a != a ? a : 0, a > 0.5 || a != a ? 1 : 0)                           \
  ROW(mod(u, 0.75), remainder_by(a, 0.75), 1)                                                                   \
  ROW(mod(u, -2), remainder_by(a, -2), 1)                                                                       \
  ROW(mod(1.25, u), remainder_by(1.25, a), -std::floor(1.25 / a))                                               \
  ROW(erf(u), std::erf(a), 2 / std::sqrt(std::acos(-1.0)) * exp_of(-a * a))                                     \
  ROW(expm1(u), std::expm1(a), std::expm1(a) + 1)                                                               \
  ROW(log1p(u), std::log1p(a), 1 / (a + 1))                                                                     \
  ROW(rsqrt(u), 1 / std::sqrt(a), -0.5 * std::pow(1 / std::sqrt(a), 3))                                         \
  ROW(reciprocal(u), 1 / a, -(1 / a) * (1 / a))                                                                 \
  ROW(floor(u), std::floor(a), zero(a))                                                                         \
  ROW(ceil(u), std::ceil(a), zero(a))                                                                           \
  ROW(round(u), std::isinf(a) ? a : a - std::remainder(a, 1), zero(a))                                          \
  ROW(sign(u), a > 0 ? 1 : a < 0 ? -1 : 0, zero(a))                                                             \
  ROW(silu(u), a* logistic(a), logistic(a) * (1 + a * (1 - logistic(a))))                                       \
  ROW(mish(u), a* std::tanh(std::log1p(exp_of(a))),                                                             \
      std::tanh(std::log1p(exp_of(a))) + a * (1 - std::pow(std::tanh(std::log1p(exp_of(a))), 2)) * logistic(a)) \
  ROW(softplus(u), a > 20 ? a : std::log1p(exp_of(a)), a > 20 ? 1 : exp_of(a) / (exp_of(a) + 1))                \
  ROW(softplus(u, 2, 3), 2 * a > 3 ? a : std::log1p(exp_of(2 * a)) / 2,                                         \
      2 * a > 3 ? 1 : exp_of(2 * a) / (exp_of(2 * a) + 1))                                                      \
  ROW(elu(u), a > 0 ? a : std::expm1(a), a > 0 || a != a ? 1 : exp_of(a))                                       \
  ROW(elu(u, 0.25), a > 0 ? a : 0.25 * std::expm1(a), a > 0 || a != a ? 1 : 0.25 * exp_of(a))                   \
  ROW(selu(u), 1.0507009873554805 * (a > 0 ? a : 1.6732632423543772 * std::expm1(a)),                           \
      1.0507009873554805 * (a > 0 || a != a ? 1 : 1.6732632423543772 * exp_of(a)))                              \
  ROW(leaky_relu(u), a > 0 ? a : 0.01 * a, a > 0 ? 1 : 0.01)                                                    \
  ROW(leaky_relu(u, 0.5), a > 0 ? a : 0.5 * a, a > 0 ? 1 : 0.5)                                                 \
  ROW(hardsigmoid(u), a<-3 ? 0 : a> 3 ? 1 : (a + 3) / 6, a > -3 && a < 3 ? 1.0 / 6 : 0)                         \
  ROW(hardswish(u), a<-3 ? a * 0 : a> 3 ? a : a*(a + 3) / 6, a <= -3 ? 0 : a < 3 ? a / 3 + 0.5 : 1)             \
  ROW(softsign(u), a / (1 + std::abs(a)), 1 / std::pow(1 + std::abs(a), 2))                                     \
  ROW(clip(u, -1, 2.5), a<-1 ? -1 : a> 2.5 ? 2.5 : a, a >= -1 && a <= 2.5 ? 1 : 0)                              \
  ROW(pow(u, 2), a* a, 2 * a)                                                                                   \
  ROW(pow(u, 0), std::pow(a, 0), zero(a))                                                                       \
  ROW(pow(u, -1.5), std::pow(a, -1.5), -1.5 * std::pow(a, -2.5))                                                \
  ROW(pow(2, u), std::pow(2, a), std::pow(2, a) * std::log(2))                                                  \
  ROW(pow(0, u), std::pow(0, a), a >= 0 ? 0 : std::pow(0, a) * -endless)

constexpr auto exp_of = [](double a) { return std::exp(a); };
constexpr auto logistic = [](double a) { return 1 / (1 + std::exp(-a)); };
constexpr auto zero = [](double) { return 0.0; };
/// a - b floor(a / b), which is exact for small multiples of 1/64.
constexpr auto remainder_by = [](double a, double b) {
  if (std::isinf(b) && std::isfinite(a)) return a == 0 || (a < 0) == (b < 0) ? a : b;
  return a - b * std::floor(a / b);
};

struct real_function_row {
  const char* name;
  double (*value)(double);
  double (*derivative)(double);
};
#define ROW(f, value, derivative)                                 \
  {#f, []([[maybe_unused]] double a) -> double { return value; }, \
   []([[maybe_unused]] double a) -> double { return derivative; }},
constexpr real_function_row real_functions[] = {REAL_FUNCTIONS(ROW)};
#undef ROW

/// The function of this row, chosen at run time, so that all are compiled as one program.
template <class U>
auto of_row(std::size_t row, const U& u) {
  std::size_t k = 0;
#define ROW(f, value, derivative) \
  if (k++ == row) return computed_at_once(f);
  REAL_FUNCTIONS(ROW)
#undef ROW
  throw std::logic_error("no such row");
}

}  // namespace

BOOST_AUTO_TEST_CASE(element_functions_of_real_numbers_are_their_definitions) {
  const world everyone(test::workers());
  const matrix x{{0, -0.0, 1, -1, 0.5},
                 {-0.5, 1.5, 2.5, -2.5, 3},
                 {-3, 6, 0.3, -25, 25},
                 {none, endless, -endless, 2, -4},
                 {3.5, -3.5, 19.5, 20.5, -0.25}};  // on both sides of every threshold
  const matrix z = xt::zeros_like(x);
  for (std::size_t k = 0; k < std::size(real_functions); ++k) {
    const real_function_row& row = real_functions[k];
    check(
        everyone, row.name, [k](const auto& a, const auto& b) { return add(of_row(k, a), b); }, x, z,
        [&](double a, double) {
          return triple{row.value(a), row.derivative(a), 1};
        },
        1e-13);
  }
}

BOOST_AUTO_TEST_CASE(the_derivatives_of_a_power_are_0_where_the_exponent_or_the_base_is) {
  const world everyone(test::workers());
  check(
      everyone, "pow", [](const auto& a, const auto& b) { return pow(a, b); }, pairs(false), pairs(true),
      [](double a, double b) {
        const double y = std::pow(a, b);
        return triple{y, b == 0 ? 0 : b * std::pow(a, b - 1), a == 0 && b >= 0 ? 0 : y * std::log(a)};
      },
      1e-13);
}

BOOST_AUTO_TEST_CASE(a_remainder_has_the_sign_of_the_divisor) {
  const world everyone(test::workers());
  matrix x({5, 4}), z({5, 4});
  for (std::size_t k = 0; k < x.size(); ++k) {
    x.data()[k] = (static_cast<double>(k) - 9) / 4;
    z.data()[k] = k % 2 == 0 ? 0.75 : -1.5;
  }
  check(
      everyone, "mod", [](const auto& a, const auto& b) { return mod(a, b); }, x, z,
      [](double a, double b) {
        return triple{remainder_by(a, b), 1, -std::floor(a / b)};
      });
  const xt::xtensor<long long, 1> u{-7, -6, 0, 5, 7}, v{3, -3, 2, 3, -4};
  BOOST_TEST((mod(u, v) == xt::xtensor<long long, 1>{2, 0, 0, 2, -1}));
  BOOST_TEST((mod(u, 4) == xt::xtensor<long long, 1>{1, 2, 0, 1, 3}));
  BOOST_TEST((mod(9, xt::xtensor<long long, 1>{2, -2, -5}) == xt::xtensor<long long, 1>{1, -1, -1}));
}

BOOST_AUTO_TEST_CASE(integers_are_clipped_and_rounded_exactly) {
  const long long large = (1LL << 60) + 1;
  const xt::xtensor<long long, 1> x{-7, 0, 3, large};
  const world everyone(test::workers());
  const mesh m{axis{"a", everyone.size()}};
  const auto u = shard(everyone, m.layout("a"), x);
  const auto whole = [&](const auto& y) { return reshard(y, m.layout("")).template whole<1>(); };
  const auto program = trace([](const auto& v) { return clip(v, -2.5, 1e300); }, spec(m.layout("a"), {4}));
  if (const auto y = whole(clip(u, -2.5, 1e300)); m.size() > 0) {
    BOOST_TEST((y == xt::xtensor<long long, 1>{-2, 0, 3, large}));
    BOOST_TEST((whole(program(u)) == y));
  }
  BOOST_TEST((whole(floor(u)) == x && whole(ceil(u)) == x && whole(round(u)) == x));
  BOOST_TEST((whole(sign(u)) == xt::xtensor<long long, 1>{-1, 0, 1, 1}));
  BOOST_TEST((whole(where(less(u, 3), 4, u)) == xt::xtensor<long long, 1>{4, 4, 3, large}));
}

BOOST_AUTO_TEST_CASE(an_element_function_of_a_program_is_one_row) {
  const world everyone(test::workers());
  const matrix x = smooth(3), z = smooth(4);
  check(
      everyone, "cube_root",
      [](const auto& a, const auto& b) { return add(apply_to_elements<cube_root>(a), multiply(b, 0)); }, x, z,
      [](double a, double) {
        return triple{std::cbrt(a), 1 / (3 * std::pow(std::cbrt(a), 2)), 0};
      },
      1e-15);
  const auto distance = [](const auto& a, const auto& b) { return apply_to_elements<distance_from>({2}, a, b); };
  const matrix c = weights_like(x);
  value_and_gradients expected{x, x, x};
  for (std::size_t k = 0; k < x.size(); ++k) {
    const double a = x.data()[k], b = z.data()[k], y = expected.y.data()[k] = std::sqrt(a * a + b * b + 2);
    expected.dx.data()[k] = c.data()[k] * a / y;
    expected.dz.data()[k] = c.data()[k] * b / y;
  }
  check_all_ways(everyone, "distance", distance, x, z, expected, 1e-15);
}

BOOST_AUTO_TEST_CASE(abs_and_relu_have_the_zeros_of_the_processor) {
  const xt::xtensor<double, 1> x{-0.0, 0.0};
  const world everyone(test::workers());
  const auto u = shard(everyone, mesh(axis{"a", everyone.size()}).layout(""), x);
  const auto a = abs(u).whole<1>(), r = relu(u).whole<1>();
  BOOST_TEST((!std::signbit(a(0)) && !std::signbit(a(1)) && r(0) == 0 && r(1) == 0));
}

BOOST_AUTO_TEST_CASE(the_layer_relu_has_the_values_and_the_derivative_of_the_function) {
  const xt::xtensor<double, 1> x{-1, -0.0, 0, 2, none}, dy{1, 2, 3, 4, 5};
  relu<double> layer;
  const auto y = layer(x), dx = layer.adjoint(dy);
  BOOST_TEST((y(0) == 0 && y(1) == 0 && y(2) == 0 && y(3) == 2 && y(4) != y(4)));
  BOOST_TEST((dx == xt::xtensor<double, 1>{0, 0, 0, 4, 5}));
}

BOOST_AUTO_TEST_CASE(derivatives_of_element_functions_are_limits_of_differences) {
  const world everyone(test::workers());
  const matrix x = smooth(1), z = smooth(2);
  const auto run = [&](const char* name, const auto& f) {
    const auto value = [&](const matrix& u, const matrix& v) { return matrix(f(u, v)); };
    const double h = 1e-5;
    value_and_gradients expected{value(x, z), x, x};
    const matrix c = weights_like(x);
    const auto total = [&](const matrix& u, const matrix& v) { return xt::sum(c * value(u, v))(); };
    for (std::size_t k = 0; k < x.size(); ++k) {
      matrix shift = xt::zeros_like(x);
      shift.data()[k] = h;
      expected.dx.data()[k] = (total(x + shift, z) - total(x - shift, z)) / (2 * h);
      expected.dz.data()[k] = (total(x, z + shift) - total(x, z - shift)) / (2 * h);
    }
    const mesh m{axis{"a", everyone.size()}};
    const sharding rows = m.layout("a", "");
    const auto got = computed(f, shard(everyone, rows, x), shard(everyone, rows, z), shard(everyone, rows, c),
                              [&](const auto& y) { return reshard(y, m.layout("", "")).template whole<2>(); });
    for (std::size_t k = 0; k < x.size(); ++k) {
      BOOST_TEST(std::abs(got.y.data()[k] - expected.y.data()[k]) < 1e-12, name);
      BOOST_TEST(std::abs(got.dx.data()[k] - expected.dx.data()[k]) < 1e-7, name << " to the first operand");
      BOOST_TEST(std::abs(got.dz.data()[k] - expected.dz.data()[k]) < 1e-7, name << " to the second operand");
    }
  };
  run("add", [](const auto& a, const auto& b) { return add(a, b); });
  run("subtract", [](const auto& a, const auto& b) { return subtract(a, b); });
  run("multiply", [](const auto& a, const auto& b) { return multiply(a, b); });
  run("divide", [](const auto& a, const auto& b) { return divide(a, b); });
  run("a number and a tensor", [](const auto& a, const auto& b) { return add(subtract(2, a), divide(3, b)); });
  run("a tensor and a number", [](const auto& a, const auto& b) { return add(multiply(a, 2.5), divide(b, 3)); });
  run("exp and log", [](const auto& a, const auto& b) { return multiply(exp(a), log(b)); });
  run("tanh and sqrt", [](const auto& a, const auto& b) { return multiply(tanh(a), sqrt(b)); });
  run("square and abs", [](const auto& a, const auto& b) { return add(square(a), abs(subtract(a, multiply(b, 3)))); });
  run("sigmoid and gelu", [](const auto& a, const auto& b) { return multiply(sigmoid(a), gelu(subtract(b, a))); });
  run("relu", [](const auto& a, const auto& b) { return relu(subtract(a, multiply(b, 0.9))); });
  run("sin, cos and tan", [](const auto& a, const auto& b) { return multiply(add(sin(a), tan(b)), cos(b)); });
  run("erf, expm1 and log1p", [](const auto& a, const auto& b) { return multiply(add(erf(a), log1p(a)), expm1(b)); });
  run("pow", [](const auto& a, const auto& b) { return add(pow(a, b), multiply(pow(a, 1.7), pow(0.6, b))); });
  run("rsqrt and reciprocal", [](const auto& a, const auto& b) { return multiply(rsqrt(a), reciprocal(b)); });
  run("asin, acos and atan", [](const auto& a, const auto& b) {
    return multiply(asin(multiply(a, 0.8)), add(acos(multiply(b, 0.7)), atan(b)));
  });
  run("sinh, cosh and the inverse functions", [](const auto& a, const auto& b) {
    return multiply(add(sinh(a), asinh(b)), add(cosh(b), add(acosh(add(a, 1)), atanh(multiply(b, 0.7)))));
  });
  run("celu and mod", [](const auto& a, const auto& b) { return add(celu(subtract(a, b), 0.7), mod(a, add(b, 2))); });
  run("silu and mish", [](const auto& a, const auto& b) { return multiply(silu(a), mish(subtract(b, a))); });
  run("softplus and softsign", [](const auto& a, const auto& b) { return multiply(softplus(a, 3), softsign(b)); });
  run("elu and selu",
      [](const auto& a, const auto& b) { return add(elu(subtract(a, b), 0.7), selu(subtract(b, 0.7))); });
  run("hardswish, hardsigmoid and leaky_relu", [](const auto& a, const auto& b) {
    return add(multiply(hardswish(a), hardsigmoid(b)), leaky_relu(subtract(a, multiply(b, 0.9))));
  });
  run("maximum and minimum",
      [](const auto& a, const auto& b) { return add(multiply(maximum(a, b), 2), minimum(a, multiply(b, 1.1))); });
  run("maximum and minimum of what is repeated", [](const auto& a, const auto& b) {
    const auto row = [&] { return slice(b, dimensions<0>, {1, 2}); };
    return add(multiply(maximum(a, row()), 2), minimum(row(), multiply(a, 0.8)));
  });
  run("maximum and minimum of a scalar", [](const auto& a, const auto& b) {
    return multiply(maximum(multiply(mean(b), 0.9), a), minimum(b, multiply(mean(a), 1.1)));
  });
}

BOOST_AUTO_TEST_CASE(reductions_share_their_gradient_among_equal_elements) {
  const world everyone(test::workers());
  std::mt19937 random(11);
  for (int round = 0; round < 20; ++round) {
    matrix x({4, 5});
    for (double& e : x) e = static_cast<double>(random() % 3);
    const bool largest = round % 2 == 0;
    const auto f = [&](const auto& a) { return largest ? maximum(a, dimensions<1>) : minimum(a, dimensions<1>); };
    const xt::xtensor<double, 1> c{1, 2, 3, 4};
    xt::xtensor<double, 1> y = xt::zeros<double>({4}), index = y;
    matrix dx({4, 5});
    for (std::size_t i = 0; i < 4; ++i) {
      y(i) = x(i, 0);
      double first = 0, equals = 0, most = x(i, 0);
      for (std::size_t j = 0; j < 5; ++j) {
        y(i) = (largest ? x(i, j) > y(i) : x(i, j) < y(i)) ? x(i, j) : y(i);
        if (x(i, j) > most) most = x(i, j), first = static_cast<double>(j);
      }
      index(i) = first;
      for (std::size_t j = 0; j < 5; ++j) equals += x(i, j) == y(i) ? 1 : 0;
      for (std::size_t j = 0; j < 5; ++j) dx(i, j) = x(i, j) == y(i) ? c(i) / equals : 0;
    }
    const auto plain = value_and_gradient([&](const auto& a) { return sum(multiply(f(a), c)); }, x);
    BOOST_TEST((xt::xtensor<double, 1>(f(x)) == y));
    BOOST_TEST(are_equal(std::get<0>(plain.gradients), dx));
    for (const mesh& m : test::meshes(everyone.size())) {
      const auto all = test::layouts(m, 2);
      const auto u = shard(everyone, all[random() % all.size()], x);
      const auto w = shard(everyone, sharding(m, 1), c);
      const auto d = value_and_gradient([&](const auto& a) { return sum(multiply(f(a), w)); }, u).gradients;
      const auto there = reshard(f(u), sharding(m, 1)).whole<1>();
      const auto back = reshard(std::get<0>(d), sharding(m, 2)).whole<2>();
      const auto at = reshard(argmax(u, dimensions<1>), sharding(m, 1)).whole<1>();
      if (everyone.id() >= m.size()) continue;
      BOOST_TEST((there == y), u.layout());
      BOOST_TEST(are_equal(back, dx), u.layout());
      BOOST_TEST((at == index), u.layout());
    }
  }
}

BOOST_AUTO_TEST_CASE(argmax_gives_the_first_of_equal_ones_and_the_first_that_is_no_number) {
  const matrix x{{2, 1, 2}, {-0.0, 0, 0}, {1, none, none}, {-endless, -endless, -endless}};
  const xt::xtensor<double, 1> expected{0, 0, 1, 0};
  BOOST_TEST((argmax(x, dimensions<1>) == expected));
}

BOOST_AUTO_TEST_CASE(a_pooling_takes_the_first_of_equal_ones_and_its_gradient_goes_there) {
  const world everyone(test::workers());
  std::mt19937 random(3);
  for (int round = 0; round < 20; ++round) {
    xt::xtensor<double, 4> x({1, 2, 4, 6}), y({1, 2, 2, 3}), dx = xt::zeros<double>({1, 2, 4, 6}), c({1, 2, 2, 3});
    for (double& e : x) e = round % 2 == 1 && random() % 9 == 0 ? none : static_cast<double>(random() % 3);
    for (std::size_t k = 0; k < c.size(); ++k) c.data()[k] = 1 + static_cast<double>(k);
    for (std::size_t k = 0; k < 2; ++k)
      for (std::size_t i = 0; i < 2; ++i)
        for (std::size_t j = 0; j < 3; ++j) {
          std::size_t best = 0;
          const auto at = [&](std::size_t n) -> double { return x(0, k, 2 * i + n / 2, 2 * j + n % 2); };
          for (std::size_t n = 1; n < 4; ++n)
            best = at(n) > at(best) || (at(n) != at(n) && at(best) == at(best)) ? n : best;
          y(0, k, i, j) = at(best);
          dx(0, k, 2 * i + best / 2, 2 * j + best % 2) = c(0, k, i, j);
        }
    const mesh m{axis{"a", everyone.size()}};
    for (const sharding& s : {m.layout("", "a", "", ""), m.layout("", "", "a", ""), m.layout("", "", "", "a")}) {
      const auto u = shard(everyone, s, x), w = shard(everyone, m.layout("", "", "", ""), c);
      const auto f = [&](const auto& a) { return max_pool<2>(a, {.kernel = {2, 2}}); };
      const auto d = value_and_gradient([&](const auto& a) { return sum(multiply(f(a), w)); }, u).gradients;
      const auto there = reshard(f(u), sharding(m, 4)).whole<4>();
      const auto back = reshard(std::get<0>(d), sharding(m, 4)).whole<4>();
      BOOST_TEST((are_equal(there, y) && are_equal(back, dx)), s);
    }
  }
}

/// Cells that no window reads have the gradient 0, whatever was in the memory of the gradient before.
BOOST_AUTO_TEST_CASE(cells_that_no_window_reads_have_no_gradient) {
  const world everyone(test::workers());
  const mesh m{axis{"a", everyone.size()}};
  for (const std::size_t rows : {2U, 5U, 9U, 13U}) {
    xt::xtensor<double, 4> x({std::size_t{1}, std::size_t{1}, rows, std::size_t{6}});
    for (std::size_t k = 0; k < x.size(); ++k) x.data()[k] = static_cast<double>(k * 5 % 7);
    for (const sharding& s : {m.layout("", "", "", ""), m.layout("", "", "a", ""), m.layout("", "", "", "a")}) {
      const auto check = [&](const auto& f, bool is_mean) {
        { const auto used = multiply(shard(everyone, s, x), std::numeric_limits<double>::infinity()); }
        const auto u = shard(everyone, s, x);
        const auto d = value_and_gradient([&](const auto& a) { return sum(f(a)); }, u).gradients;
        const auto back = reshard(std::get<0>(d), sharding(m, 4)).template whole<4>();
        for (std::size_t i = 0; i < rows; ++i)
          for (std::size_t j = 0; j < 6; ++j) {
            const bool is_read = i % 4 < 2 && j % 4 < 2 && i / 4 * 4 + 2 <= rows && j / 4 * 4 + 2 <= 6;
            if (!is_read) BOOST_TEST(back(0, 0, i, j) == 0, s);
            else if (is_mean) BOOST_TEST(back(0, 0, i, j) == 0.25, s);
          }
      };
      check([](const auto& a) { return average_pool<2>(a, {.kernel = {2, 2}, .stride = {{4, 4}}}); }, true);
      check([](const auto& a) { return max_pool<2>(a, {.kernel = {2, 2}, .stride = {{4, 4}}}); }, false);
    }
  }
}
