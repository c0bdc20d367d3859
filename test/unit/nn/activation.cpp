// Activations equal their functions, and their adjoints multiply by the derivatives at the last x.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>
#include <partita/nn/activation.hpp>
#include <string>

#include "refused.hpp"

namespace {

using namespace partita;
using matrix = xt::xtensor<double, 2>;

/// Checks y and dx at one x, where dy is 2. NaN is equal to NaN here.
template <class Layer, class T>
void expect_at(const char* name, T x, T y, T dx) {
  Layer layer;
  const auto is = [](T a, T b) { return a == b || (std::isnan(a) && std::isnan(b)); };
  const T value = layer(xt::xtensor<T, 1>{x})(0), slope = layer.adjoint(xt::xtensor<T, 1>{2})(0);
  BOOST_TEST(is(value, y), name << "(" << x << ") is " << value);
  BOOST_TEST(is(slope, dx), name << "'(" << x << ") times 2 is " << slope);
}
/// Numbers without neighbours on both sides, as PyTorch treats them.
template <class T>
void expect_limits() {
  const T infinity = std::numeric_limits<T>::infinity(), none = std::numeric_limits<T>::quiet_NaN();
  const T smallest = std::numeric_limits<T>::denorm_min(), largest = std::numeric_limits<T>::max();
  expect_at<relu<T>, T>("relu", none, none, 2);  // dy is passed on unless x is 0 or below
  expect_at<relu<T>, T>("relu", infinity, infinity, 2);
  expect_at<relu<T>, T>("relu", -infinity, 0, 0);
  expect_at<relu<T>, T>("relu", largest, largest, 2);
  expect_at<relu<T>, T>("relu", smallest, smallest, 2);
  expect_at<relu<T>, T>("relu", -smallest, 0, 0);
  for (const T zero : {T(0), -T(0)}) {
    expect_at<relu<T>, T>("relu", zero, 0, 0);
    expect_at<hyperbolic_tangent<T>, T>("tanh", zero, 0, 2);
    expect_at<sigmoid<T>, T>("sigmoid", zero, T(0.5), T(0.5));
  }
  expect_at<hyperbolic_tangent<T>, T>("tanh", none, none, none);
  expect_at<sigmoid<T>, T>("sigmoid", none, none, none);
  for (const T far : {largest, infinity}) {
    expect_at<hyperbolic_tangent<T>, T>("tanh", far, 1, 0);
    expect_at<hyperbolic_tangent<T>, T>("tanh", -far, -1, 0);
    expect_at<sigmoid<T>, T>("sigmoid", far, 1, 0);
    expect_at<sigmoid<T>, T>("sigmoid", -far, 0, 0);
  }
}

bool close(double a, double b) { return std::abs(a - b) <= 1e-13 * std::max({std::abs(a), std::abs(b), 1.0}); }

}  // namespace

BOOST_AUTO_TEST_SUITE(activations)

BOOST_AUTO_TEST_CASE(are_their_functions_and_derivatives) {
  const matrix x{{-2, 0, 0.5}, {1, -0.25, 3}}, dy{{1, 2, 3}, {4, 5, 6}};
  relu<double> r;
  hyperbolic_tangent<double> t;
  sigmoid<double> s;
  const auto yr = r(x), yt = t(x), ys = s(x);
  const auto dr = r.adjoint(dy), dt = t.adjoint(dy), ds = s.adjoint(dy);
  for (std::size_t k = 0; k < x.size(); ++k) {
    const double v = x.data()[k], d = dy.data()[k], logistic = 1 / (1 + std::exp(-v));
    BOOST_TEST(yr.data()[k] == std::max(v, 0.0));
    BOOST_TEST(dr.data()[k] == (v > 0 ? d : 0.0));
    BOOST_TEST(close(yt.data()[k], std::tanh(v)));
    BOOST_TEST(close(dt.data()[k], d / (std::cosh(v) * std::cosh(v))));
    BOOST_TEST(close(ys.data()[k], logistic));
    BOOST_TEST(close(ds.data()[k], d * logistic * (1 - logistic)));
  }
}

BOOST_AUTO_TEST_CASE(are_those_of_PyTorch_at_zeros_infinities_and_NaN) {
  expect_limits<float>();
  expect_limits<double>();
}

BOOST_AUTO_TEST_CASE(take_lazy_expressions_and_any_rank_and_blocks_of_no_element) {
  relu<float> r;
  const xt::xtensor<float, 3> x = xt::ones<float>({2, 3, 4});
  BOOST_TEST((r(x - 3.F) == 0 * x));
  BOOST_TEST((r(2.F * x) == 2 * x));
  BOOST_TEST((r.forward(x) == x));
  BOOST_TEST((r.adjoint(3.F * x) == 3 * x));
  BOOST_TEST((r(zero_volume<float, 2>(5)).shape() == std::array<std::size_t, 2>{5, 0}));
  for (const std::size_t batch : {5U, 0U})  // who holds nothing has no batch to contradict
    BOOST_TEST((r.adjoint(zero_volume<float, 2>(batch)).shape() == std::array<std::size_t, 2>{batch, 0}));
}

BOOST_AUTO_TEST_CASE(refuse_a_gradient_of_another_shape_than_the_last_result) {
  sigmoid<double> s;
  s(matrix{{1, 2, 3}, {4, 5, 6}});
  BOOST_TEST(test::refused<shape_error>([&] { s.adjoint(xt::xtensor<double, 1>{1}); }) ==
             "partita::activation::adjoint(dy): requires dy of the shape of the last result [2, 3], got [1]");
  BOOST_TEST(test::refused<shape_error>([&] {
               s.adjoint(matrix{{1, 2}, {3, 4}, {5, 6}});
             }) == "partita::activation::adjoint(dy): requires dy of the shape of the last result [2, 3], got [3, 2]");
  BOOST_TEST((s.adjoint(matrix{{0, 0, 0}, {0, 0, 0}}) == xt::zeros<double>({2, 3})));
}

/// Only a dy without elements fits an x without elements of another batch; shapes of other ranks never fit.
BOOST_AUTO_TEST_CASE(take_a_gradient_without_elements_only_if_the_last_result_had_none) {
  const auto refuses = [](auto& layer, const auto& dy) {
    return test::refused<shape_error>([&] { layer.adjoint(dy); });
  };
  const std::string wants = "partita::activation::adjoint(dy): requires dy of the shape of the last result ";
  relu<double> r;
  r(matrix{{1, 2, 3}, {4, 5, 6}});
  BOOST_TEST(refuses(r, zero_volume<double, 2>(2)) == wants + "[2, 3], got [2, 0]");
  BOOST_TEST(refuses(r, zero_volume<double, 1>()) == wants + "[2, 3], got [0]");
  BOOST_TEST(refuses(r, xt::xtensor<double, 3>(xt::ones<double>({2, 3, 1}))) == wants + "[2, 3], got [2, 3, 1]");
  BOOST_TEST(refuses(r, xt::xtensor<double, 1>{1, 1}) == wants + "[2, 3], got [2]");
  BOOST_TEST((r.adjoint(matrix{{1, 2, 3}, {4, 5, 6}}) == matrix{{1, 2, 3}, {4, 5, 6}}));
  r(zero_volume<double, 2>(5));
  BOOST_TEST(refuses(r, matrix{{1}, {2}}) == wants + "[5, 0], got [2, 1]");
  BOOST_TEST(refuses(r, zero_volume<double, 2>(2)).empty());
}

BOOST_AUTO_TEST_SUITE_END()
