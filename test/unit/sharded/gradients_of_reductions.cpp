// Gradients of reductions of plain arrays are those of their definitions, also where elements are equal or 0; so are
// variances of complex numbers. A gradient inside of another one is refused.
#include <partita/sharded/arithmetic.hpp>
#include <partita/sharded/complex.hpp>
#include <partita/sharded/cumulative.hpp>
#include <partita/sharded/element_functions.hpp>
#include <partita/sharded/operate.hpp>
#include <partita/sharded/reductions.hpp>
#include <partita/sharded/value_and_gradient.hpp>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <complex>
#include <cstddef>
#include <tuple>

#include "refused.hpp"

using namespace partita;

namespace {

using matrix = xt::xtensor<double, 2>;

/// Calls f(x) for all matrices of 2 x 3 of the numbers 0, 1 and 2.
template <class F>
void for_small_matrices(F f) {
  for (std::size_t code = 0; code < 729; ++code) {
    matrix x({2, 3});
    for (std::size_t k = 0, rest = code; k < 6; ++k, rest /= 3) x.data()[k] = static_cast<double>(rest % 3);
    f(x);
  }
}
const xt::xtensor<double, 1> upstream{2, -3};  // a cotangent for each row

/// The gradient of the reduction R along the rows, with this cotangent.
template <class R>
matrix gradient_of(const matrix& x) {
  const auto f = [](const auto& of) { return sum(multiply(reduce_along<R>(of, dimensions<1>), upstream)); };
  return std::get<0>(value_and_gradient(f, x).gradients);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(gradients_of_reductions)

BOOST_AUTO_TEST_CASE(an_extreme_gives_equal_shares_to_all_elements_that_equal_it) {
  std::size_t wrong = 0;
  for_small_matrices([&](const matrix& x) {
    const matrix largest = gradient_of<maximum_t>(x), smallest = gradient_of<minimum_t>(x);
    for (std::size_t i = 0; i < 2; ++i) {
      const double most = std::max({x(i, 0), x(i, 1), x(i, 2)}), least = std::min({x(i, 0), x(i, 1), x(i, 2)});
      double equal = 0, low = 0;
      for (std::size_t j = 0; j < 3; ++j) equal += x(i, j) == most, low += x(i, j) == least;
      for (std::size_t j = 0; j < 3; ++j) {
        wrong += std::abs(largest(i, j) - (x(i, j) == most ? upstream(i) / equal : 0)) > 1e-14;
        wrong += std::abs(smallest(i, j) - (x(i, j) == least ? upstream(i) / low : 0)) > 1e-14;
      }
    }
  });
  BOOST_TEST(wrong == 0U);
}

BOOST_AUTO_TEST_CASE(a_product_gives_the_product_of_the_other_elements) {
  std::size_t wrong = 0;
  for_small_matrices([&](const matrix& x) {
    const matrix dx = gradient_of<product_t>(x);
    for (std::size_t i = 0; i < 2; ++i)
      for (std::size_t j = 0; j < 3; ++j) wrong += dx(i, j) != upstream(i) * x(i, (j + 1) % 3) * x(i, (j + 2) % 3);
  });
  BOOST_TEST(wrong == 0U);
}

BOOST_AUTO_TEST_CASE(a_variance_of_complex_elements_is_that_of_both_parts) {
  const xt::xtensor<std::complex<double>, 1> z{{0, 3}, {4, 0}, {8, 0}};  // squared distances of 32 and 6
  for (const double correction : {0.0, 1.0, 2.0})
    BOOST_TEST(std::abs(variance(z, dimensions<0>, correction)() - 38 / (3 - correction)) < 1e-14);
}

/// The gradient g of a real function of complex numbers: f(z + h) - f(z) is the real part of conj(g) h for small h.
BOOST_AUTO_TEST_CASE(gradients_of_functions_of_complex_numbers_are_their_differences) {
  using complex = std::complex<double>;
  using line = xt::xtensor<complex, 1>;
  const line z{{1, 2}, {-1.5, 0.5}, {0.25, -2}}, w{{0.5, -1}, {2, 0.25}, {-1, 3}};
  const auto check = [&](const char* name, const auto& f) {
    const line g = std::get<0>(value_and_gradient(f, z).gradients);
    for (std::size_t k = 0; k < z.size(); ++k)
      for (const complex h : {complex(1e-6, 0), complex(0, 1e-6)}) {
        line before = z, after = z;
        before(k) -= h, after(k) += h;
        const double slope = (f(after)() - f(before)()) / 2;
        BOOST_TEST(std::abs(slope - (std::conj(g(k)) * h).real()) < 1e-13, name << ", element " << k << " along " << h);
      }
  };
  check("real", [](const auto& x) { return sum(square(real(x))); });
  check("imag", [](const auto& x) { return sum(square(imag(x))); });
  check("abs", [](const auto& x) { return sum(square(abs(x))); });
  check("angle", [](const auto& x) { return sum(square(angle(x))); });
  check("conj", [&](const auto& x) { return sum(real(multiply(conj(x), w))); });
  check("multiply", [&](const auto& x) { return sum(imag(multiply(multiply(x, x), w))); });
  check("divide", [&](const auto& x) { return sum(real(divide(w, x))); });
  check("product_of", [](const auto& x) { return real(product_of(x, dimensions<0>)); });
  check("imag of product_of", [](const auto& x) { return imag(product_of(multiply(x, x), dimensions<0>)); });
  check("cumprod", [&](const auto& x) { return sum(real(multiply(cumprod(x, dimensions<0>), w))); });
  check("variance", [](const auto& x) { return variance(x, dimensions<0>); });
}

/// The functions of tensors, which are not those of xtensor, of complex numbers: values are those of std, and gradients
/// the differences.
BOOST_AUTO_TEST_CASE(holomorphic_functions_of_complex_numbers_have_the_values_and_differences_of_std) {
  using complex = std::complex<double>;
  using line = xt::xtensor<complex, 1>;
  const line z{{1, 0.5}, {-1.5, 0.5}, {0.25, -2}}, w{{0.5, -1}, {2, 0.25}, {-1, 3}};
  const auto check = [&](const char* name, const auto& f, const auto& by_std) {
    const line y = detail::as_array<1>(f(detail::as_run_time(z)));
    for (std::size_t k = 0; k < z.size(); ++k) BOOST_TEST(std::abs(y(k) - by_std(z(k))) < 1e-14, name << ' ' << k);
    const auto loss = [&](const auto& x) { return sum(real(multiply(f(x), w))); };
    const line g = std::get<0>(value_and_gradient(loss, z).gradients);
    for (std::size_t k = 0; k < z.size(); ++k)
      for (const complex h : {complex(1e-5, 0), complex(0, 1e-5)}) {
        const double slope = ((by_std(z(k) + h) - by_std(z(k) - h)) * w(k)).real() / 2;
        BOOST_TEST(std::abs(slope - (std::conj(g(k)) * h).real()) < 1e-12, name << ", element " << k << " along " << h);
      }
  };
  check(
      "exp", [](const auto& x) { return exp(x); }, [](complex x) { return std::exp(x); });
  check(
      "log", [](const auto& x) { return log(x); }, [](complex x) { return std::log(x); });
  check(
      "tanh", [](const auto& x) { return tanh(x); }, [](complex x) { return std::tanh(x); });
  check(
      "sqrt", [](const auto& x) { return sqrt(x); }, [](complex x) { return std::sqrt(x); });
  check(
      "square", [](const auto& x) { return square(x); }, [](complex x) { return x * x; });
  check(
      "sin", [](const auto& x) { return sin(x); }, [](complex x) { return std::sin(x); });
  check(
      "cos", [](const auto& x) { return cos(x); }, [](complex x) { return std::cos(x); });
  check(
      "tan", [](const auto& x) { return tan(x); }, [](complex x) { return std::tan(x); });
  check(
      "rsqrt", [](const auto& x) { return rsqrt(x); }, [](complex x) { return 1.0 / std::sqrt(x); });
  check(
      "reciprocal", [](const auto& x) { return reciprocal(x); }, [](complex x) { return 1.0 / x; });
  check(
      "3 / x", [](const auto& x) { return divide(3, x); }, [](complex x) { return 3.0 / x; });
  check(
      "2 - x", [](const auto& x) { return subtract(2, x); }, [](complex x) { return 2.0 - x; });
  check(
      "x - 2", [](const auto& x) { return subtract(x, 2); }, [](complex x) { return x - 2.0; });
  check(
      "x / 4", [](const auto& x) { return divide(x, 4); }, [](complex x) { return x / 4.0; });
}

BOOST_AUTO_TEST_CASE(the_absolute_value_and_the_angle_of_0_have_the_gradient_0) {
  using complex = std::complex<double>;
  const xt::xtensor<complex, 1> z{{0, 0}, {3, 4}};
  const auto absolute = std::get<0>(value_and_gradient([](const auto& x) { return sum(abs(x)); }, z).gradients);
  BOOST_TEST(absolute(0) == complex(0));
  BOOST_TEST(std::abs(absolute(1) - complex(0.6, 0.8)) < 1e-15);
  const auto angles = std::get<0>(value_and_gradient([](const auto& x) { return sum(angle(x)); }, z).gradients);
  BOOST_TEST(angles(0) == complex(0));
  BOOST_TEST(std::abs(angles(1) - complex(-0.16, 0.12)) < 1e-15);
}

BOOST_AUTO_TEST_CASE(the_tape_holds_the_complex_operand_of_a_function_that_is_not_linear_and_no_other) {
  using complex = std::complex<float>;
  const xt::xtensor<complex, 1> z{{1, 2}, {-1.5, 0.5}, {0.25, -2}};
  const auto holds = [&](const auto& f) {
    std::size_t bytes = 0;
    (void)value_and_gradient(
        [&](const auto& x) {
          const auto y = f(x);
          bytes = tape_holds().bytes;
          return sum(y);
        },
        z);
    BOOST_TEST(tape_holds().bytes == 0U);
    BOOST_TEST(tape_holds().most_bytes == bytes);
    return bytes;
  };
  BOOST_TEST(holds([](const auto& x) { return abs(x); }) == 3 * sizeof(complex));
  BOOST_TEST(holds([](const auto& x) { return angle(x); }) == 3 * sizeof(complex));
  BOOST_TEST(holds([](const auto& x) { return add(abs(x), angle(x)); }) == 3 * sizeof(complex));
  BOOST_TEST(holds([](const auto& x) { return add(real(x), imag(x)); }) == 0U);
  BOOST_TEST(holds([](const auto& x) { return real(to_complex(imag(x), real(x))); }) == 0U);
}

/// d/da of the sum of Re((a + ib) w) is Re(w), d/db is -Im(w); also where only one of both is a parameter.
BOOST_AUTO_TEST_CASE(each_part_of_a_complex_number_has_its_gradient) {
  using line = xt::xtensor<double, 1>;
  const xt::xtensor<std::complex<double>, 1> w{{1, 2}, {-1.5, 0.5}};
  const line a{1, 2}, b{3, 4}, by_real{1, -1.5}, by_imaginary{-2, -0.5};
  const auto f = [&](const auto& re, const auto& im) { return sum(real(multiply(to_complex(re, im), w))); };
  const auto both = value_and_gradient(f, a, b).gradients;
  BOOST_TEST((std::get<0>(both) == by_real));
  BOOST_TEST((std::get<1>(both) == by_imaginary));
  const auto first =
      value_and_gradient([&](const auto& x) { return f(x, multiply(detail::detach(x), 3)); }, a).gradients;
  const auto second =
      value_and_gradient([&](const auto& x) { return f(multiply(detail::detach(x), 3), x); }, b).gradients;
  BOOST_TEST((std::get<0>(first) == by_real));
  BOOST_TEST((std::get<0>(second) == by_imaginary));
}

/// An operation of the user's whose adjoint has other extents than its operand, and one without an adjoint.
template <bool HasAdjoint>
struct doubled {
  static constexpr partita::rule rule(const shape_span& x) { return rules::elementwise.named("doubled")(x); }
  template <class T>
  void local(const tensor_part<const T>& x, const tensor_part<T>& y) const {
    for (std::size_t k = 0; k < y.size(); ++k) y[k] = 2 * x[k];
  }
  template <class X>
    requires HasAdjoint
  X adjoint(std::size_t, const X& dy, const X&, const X&) const {
    return dy.extents()[0] == 2 ? sum(dy, dimensions<1>) : multiply(dy, 2);
  }
};
BOOST_AUTO_TEST_CASE(an_adjoint_of_other_extents_and_none_are_refused) {
  const auto gradient = [](const auto& op, const matrix& x) {
    return std::get<0>(value_and_gradient([&](const auto& a) { return sum(apply_op(op, a)); }, x).gradients);
  };
  const matrix ones = xt::ones<double>({3, 2});
  BOOST_TEST((gradient(doubled<true>{}, ones) == 2 * ones));
  test::expect_refused<shape_error>(
      [&] {
        gradient(doubled<true>{}, xt::ones<double>({2, 3}));
      },
      "doubled gives [2] for operand 0 of extents [2, 3]");
  test::expect_refused<error>([&] { gradient(doubled<false>{}, ones); }, "doubled has no adjoint");
}

BOOST_AUTO_TEST_CASE(a_function_that_holds_a_parameter_of_another_gradient_is_refused) {
  const matrix c{{1, 2}, {3, 4}};
  for (const bool behind_an_operation : {false, true}) {
    const auto outer = [&](const auto& x) {
      const auto read = behind_an_operation ? square(x) : x;
      (void)value_and_gradient([&](const auto& y) { return sum(multiply(read, y)); }, c);
      return sum(read);
    };
    BOOST_TEST(test::refused<error>([&] { (void)value_and_gradient(outer, c); }).find("second derivatives") !=
               std::string::npos);
  }
}

BOOST_AUTO_TEST_SUITE_END()
