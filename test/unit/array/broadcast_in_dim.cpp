// broadcast_in_dim and its adjoint: <B x, y> == <x, B* y> exactly, because the data are small integers.
#include <partita/array/broadcast_operator.hpp>
#include <partita/array/numpy.hpp>
#include <partita/array/select_and_clamp.hpp>

#include <algorithm>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>
#include <ostream>
#include <refused.hpp>
#include <vector>

namespace {

using namespace partita;
using shape_type = std::vector<std::size_t>;

xt::xarray<double> integers(const shape_type& shape, int seed) {
  xt::xarray<double> x = xt::xarray<double>::from_shape(shape);
  int k = seed;
  for (auto& value : x) value = (k = (k * 31 + 11) % 41) - 20;
  return x;
}
double dot(const xt::xarray<double>& a, const xt::xarray<double>& b) {
  BOOST_REQUIRE(a.shape() == b.shape());
  double sum = 0;
  for (std::size_t k = 0; k < a.size(); ++k) sum += a.flat(k) * b.flat(k);
  return sum;
}

struct row {
  const char* name;
  shape_type operand, result;
  broadcast_dimensions_list dims;
  friend std::ostream& operator<<(std::ostream& out, const row& r) { return out << r.name; }
};
const row table[] = {
    {"scalar", {}, {2, 3}, {}},
    {"row", {3}, {2, 3}, {1}},
    {"column", {2}, {2, 3}, {0}},
    {"middle of a cuboid", {3}, {2, 3, 4}, {1}},
    {"outer dimensions of a cuboid", {2, 4}, {2, 3, 4}, {0, 2}},
    {"expanded one", {2, 1}, {2, 3}, {0, 1}},
    {"expanded one and unmapped", {1, 4}, {2, 3, 4}, {1, 2}},
    {"identity", {2, 3}, {2, 3}, {0, 1}},
    {"one to nothing", {1, 3}, {0, 3}, {0, 1}},
    {"nothing", {0}, {0, 3}, {0}},
    {"unmapped and empty", {3}, {0, 3}, {1}},
    {"five dimensions", {3, 1, 2}, {2, 3, 4, 2, 2}, {1, 2, 4}},
    {"long rows", {17}, {17, 37}, {0}},
};
const row turned[] = {
    {"transposition", {2, 3}, {3, 2}, {1, 0}},
    {"transposition with an expanded one", {1, 3}, {2, 3, 2}, {2, 1}},
    {"rotation", {2, 3, 4}, {4, 2, 3}, {1, 2, 0}},
};

}  // namespace

BOOST_AUTO_TEST_SUITE(broadcast_in_dim_and_adjoint)

BOOST_DATA_TEST_CASE(adjoint_is_the_transpose_at_client_level, boost::unit_test::data::make(table), r) {
  const auto x = integers(r.operand, 3), y = integers(r.result, 5);
  const xt::xarray<double> forward = broadcast_in_dim(x, r.result, r.dims);
  const xt::xarray<double> back = broadcast_adjoint(y, r.operand, r.dims);
  BOOST_TEST(dot(forward, y) == dot(x, back));
  BOOST_TEST(dot(broadcast_in_dim(x + 0.0, r.result, r.dims), y) ==
             dot(x, broadcast_adjoint(y + 0.0, r.operand, r.dims)));
}

BOOST_DATA_TEST_CASE(adjoint_reads_every_second_element_of_a_view, boost::unit_test::data::make(table), r) {
  const auto y = integers(r.result, 5);
  shape_type wide = r.result;
  if (wide.empty()) return;
  wide.back() *= 2;
  xt::xarray<double> memory = xt::ones<double>(wide);
  auto view = xt::strided_view(memory, {xt::ellipsis(), xt::range(0, wide.back(), 2)});
  std::copy(y.begin(), y.end(), view.begin());
  BOOST_TEST((broadcast_adjoint(view, r.operand, r.dims) == broadcast_adjoint(y, r.operand, r.dims)));
}

BOOST_DATA_TEST_CASE(adjoint_is_the_transpose_of_a_transposition, boost::unit_test::data::make(turned), r) {
  const auto x = integers(r.operand, 3), y = integers(r.result, 5);
  const xt::xarray<double> forward = broadcast_in_dim(x, r.result, r.dims, stablehlo);
  BOOST_TEST(dot(forward, y) == dot(x, broadcast_adjoint(y, r.operand, r.dims, stablehlo)));
  BOOST_CHECK_THROW(broadcast_in_dim(x, r.result, r.dims), shape_error);
}

BOOST_AUTO_TEST_CASE(result_has_the_extents_that_were_asked_for) {
  const xt::xtensor<int, 1> v{7, 8, 9};
  const xt::xtensor<int, 3> w = broadcast_in_dim(v, extents<2, 3, 4>{}, broadcast_dimensions<1>);
  for (std::size_t i = 0; i < 2; ++i)
    for (std::size_t j = 0; j < 3; ++j)
      for (std::size_t k = 0; k < 4; ++k) BOOST_TEST(w(i, j, k) == v(j));
  const xt::xtensor<int, 2> turn =
      broadcast_in_dim(xt::xtensor<int, 2>{{1, 2, 3}, {4, 5, 6}}, extents<3, 2>{}, broadcast_dimensions<1, 0>, hlo);
  BOOST_TEST((turn == xt::xtensor<int, 2>{{1, 4}, {2, 5}, {3, 6}}));
  BOOST_TEST((xt::xtensor<int, 2>(broadcast_in_dim(5, extents<2, 2>{})) == xt::xtensor<int, 2>{{5, 5}, {5, 5}}));
}

BOOST_AUTO_TEST_CASE(negative_extents_are_refused_first) {
  BOOST_CHECK_EXCEPTION(
      broadcast_in_dim(xt::xtensor<int, 1>{1, 2}, std::vector<int>{-3, 2}, broadcast_dimensions_list{7}), shape_error,
      [](const shape_error& e) { return e.sentence().contains("without negative extents"); });
}

BOOST_AUTO_TEST_CASE(hlo_expands_nothing) {
  const xt::xtensor<int, 1> one{5};
  BOOST_CHECK_THROW(broadcast_in_dim(one, std::vector<int>{2, 3}, broadcast_dimensions<1>, hlo), shape_error);
  BOOST_TEST(broadcast_in_dim(one, std::vector<int>{2, 3}, broadcast_dimensions<1>, stablehlo)(1, 2) == 5);
}

BOOST_AUTO_TEST_CASE(operators_know_their_extents) {
  const array_broadcast b(extents<3>{}, extents<2, 3, 4>{}, broadcast_dimensions<1>);
  const xt::xtensor<double, 1> x{1, 2, 3};
  const xt::xtensor<double, 1> back = b.adjoint(b(x));
  BOOST_TEST((back == xt::xtensor<double, 1>{8, 16, 24}));
  BOOST_CHECK_THROW(b(xt::xtensor<double, 1>{1, 2}), shape_error);
  BOOST_CHECK_THROW(b.adjoint(x), shape_error);
  const array_broadcast run_time_tensor(extents(3), extents(2, 3), broadcast_dimensions_list{1});
  BOOST_TEST((run_time_tensor.adjoint(run_time_tensor(x)) == xt::xtensor<double, 1>{2, 4, 6}));
  BOOST_CHECK_THROW(array_broadcast(extents(3), extents(2, 4), broadcast_dimensions_list{1}), shape_error);
}

BOOST_AUTO_TEST_CASE(gradients_of_a_product_follow_from_the_two_broadcasts) {
  const xt::xtensor<double, 1> x{1, 2, 3, 4};
  const xt::xtensor<double, 2> y{{5, 6}};
  const auto [x_to_z, y_to_z] = array_broadcasts(extents<4>{}, extents<1, 2>{}, broadcast_dimensions<0>);
  const xt::xtensor<double, 2> dz{{1, -1}, {2, 0}, {0, 3}, {1, 1}};
  BOOST_TEST((x_to_z.adjoint(multiply(dz, y)) == xt::xtensor<double, 1>{-1, 10, 18, 11}));
  BOOST_TEST((y_to_z.adjoint(multiply(dz, x, broadcast_dimensions<0>)) == xt::xtensor<double, 2>{{9, 12}}));
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(three_operands)

BOOST_AUTO_TEST_CASE(clamp_takes_scalar_bounds_and_bounds_of_the_same_shape) {
  const xt::xtensor<double, 2> m{{1, 2, 3}, {4, 5, 6}}, low = xt::full_like(m, 2.0), high = xt::full_like(m, 5.0);
  const xt::xtensor<double, 2> expected{{2, 2, 3}, {4, 5, 5}};
  BOOST_TEST((xt::xtensor<double, 2>(clamp(2, m, 5)) == expected));
  BOOST_TEST((xt::xtensor<double, 2>(clamp(low, m, high)) == expected));
  BOOST_TEST((xt::xtensor<double, 2>(clamp(low, m, 5.0)) == expected));
  BOOST_TEST((xt::xtensor<double, 2>(clamp(xt::xtensor<double, 0>(2.0), m, high)) == expected));
  const xt::xtensor<double, 2> other = xt::ones<double>({2, 2});
  const auto refuses = [](auto call) {
    test::expect_refused<shape_error>(call,
                                      "clamp(low, x, high): requires bounds that are scalars or have the shape of x");
  };
  refuses([&] { clamp(other, m, 5); });
  refuses([&] { clamp(1, m, other); });
  const xt::xtensor<double, 2> flat = xt::ones<double>({1, 3});
  refuses([&] { clamp(flat, m, 5); });  // degenerate dimensions are not expanded here
}

/// As in XLA: the bound `high` wins where the bounds cross, and a NaN in any operand gives NaN.
BOOST_AUTO_TEST_CASE(clamp_is_the_minimum_of_high_and_the_maximum_of_low_and_x) {
  const double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
  const xt::xtensor<double, 1> x{-infinity, -2, -1, 0, 1, 2, infinity, nan};
  for (const double low : x)
    for (const double high : x) {
      const xt::xtensor<double, 1> by_numbers = clamp(low, x, high),
                                   by_arrays = clamp(xt::full_like(x, low), x, xt::full_like(x, high));
      for (std::size_t i = 0; i < x.size(); ++i) {
        const bool is_none = std::isnan(low) || std::isnan(x(i)) || std::isnan(high);
        const double above = x(i) < low ? low : x(i), expected = above > high ? high : above;
        for (const double clamped : {by_numbers(i), by_arrays(i)})
          BOOST_TEST((is_none ? std::isnan(clamped) : clamped == expected),
                     clamped << " for " << x(i) << " between " << low << " and " << high);
      }
    }
}

BOOST_AUTO_TEST_CASE(select_takes_a_scalar_predicate_and_one_of_the_same_shape) {
  const xt::xtensor<double, 2> a{{1, 2}, {3, 4}}, b{{-1, -2}, {-3, -4}};
  BOOST_TEST((xt::xtensor<double, 2>(select(greater(a, 2), a, b)) == xt::xtensor<double, 2>{{-1, -2}, {3, 4}}));
  BOOST_TEST((xt::xtensor<double, 2>(select(true, a, b)) == a));
  BOOST_TEST((xt::xtensor<double, 2>(select(xt::xtensor<bool, 0>(false), a, b)) == b));
  const auto refuses = [](auto call) {
    test::expect_refused<shape_error>(
        call, "select(predicate, on_true, on_false): requires values of one shape, and a predicate that is a scalar");
  };
  refuses([&] { select(true, a, xt::xtensor<double, 2>{{1, 2}}); });
  refuses([&] { select(xt::xtensor<bool, 2>{{true, false}}, a, b); });
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(numpy_layer)

BOOST_AUTO_TEST_CASE(ranks_are_promoted_on_the_left_for_those_who_ask) {
  const xt::xtensor<double, 2> m{{1, 2, 3}, {4, 5, 6}};
  const xt::xtensor<double, 1> v{7, 8, 9};
  BOOST_TEST((xt::xtensor<double, 2>(numpy::add(m, v)) == xt::xtensor<double, 2>{{8, 10, 12}, {11, 13, 15}}));
  BOOST_TEST((xt::xtensor<double, 2>(numpy::multiply(v, m)) == xt::xtensor<double, 2>{{7, 16, 27}, {28, 40, 54}}));
  const auto fused = numpy::elementwise([](double a, double b, double c) { return a * b + c; }, m, v, 1.0);
  BOOST_TEST((xt::xtensor<double, 2>(fused) == xt::xtensor<double, 2>{{8, 17, 28}, {29, 41, 55}}));
  BOOST_CHECK_EXCEPTION(numpy::add(m, xt::xtensor<double, 1>{1, 2}), shape_error, [](const shape_error& e) {
    return e.sentence().contains("partita::numpy::add: requires extents");
  });
}

BOOST_AUTO_TEST_SUITE_END()
