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
#include <string>
#include <type_traits>
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

/// What is known at compile time of the operand and of the result makes no difference.
BOOST_AUTO_TEST_CASE(an_extent_is_that_of_the_result_or_1_where_the_level_expands_it) {
  const xt::xtensor_fixed<double, xt::xshape<3>> three{1, 2, 3};
  const xt::xtensor_fixed<double, xt::xshape<2, 3>> two_by_three{{1, 2, 3}, {4, 5, 6}};
  const auto with = [&](auto level, bool expands) {
    const auto dims = broadcast_dimensions<1>;
    for (std::size_t n = 0; n < 4; ++n) {
      const xt::xtensor<double, 1> x = integers({n}, 3);
      const xt::xarray<double> of_any_rank = x;
      const auto expect = [&](std::size_t a, std::size_t r, int line, auto call) {
        BOOST_TEST(test::refused<shape_error>(call).empty() == (a == r || (a == 1 && expands)),
                   a << " to " << r << " at line " << line);
      };
      expect(n, 3, __LINE__, [&] { broadcast_in_dim(x, extents<2, 3>{}, dims, level); });
      expect(n, 3, __LINE__, [&] { broadcast_in_dim(of_any_rank, extents<2, 3>{}, dims, level); });
      expect(n, 3, __LINE__, [&] { broadcast_adjoint(two_by_three, extents(n), dims, level); });
      expect(n, 3, __LINE__, [&] { broadcast_adjoint(two_by_three, std::vector<std::size_t>{n}, dims, level); });
      expect(n, 3, __LINE__, [&] { (void)array_broadcast(extents(n), extents<2, 3>{}, dims, level); });
      expect(3, n, __LINE__, [&] { broadcast_in_dim(three, extents(2, n), dims, level); });
      expect(3, n, __LINE__, [&] { (void)array_broadcast(extents<3>{}, extents(2, n), dims, level); });
      for (std::size_t r = 0; r < 4; ++r) {
        const xt::xtensor<double, 2> dy = integers({2, r}, 5);
        expect(n, r, __LINE__, [&] { broadcast_in_dim(x, extents(2, r), dims, level); });
        expect(n, r, __LINE__, [&] { broadcast_in_dim(x, std::array{2, static_cast<int>(r)}, dims, level); });
        expect(n, r, __LINE__, [&] { broadcast_in_dim(x, std::vector<std::size_t>{2, r}, dims, level); });
        expect(n, r, __LINE__, [&] { broadcast_in_dim(x, extents(2, r), broadcast_dimensions_list{1}, level); });
        expect(n, r, __LINE__, [&] { broadcast_adjoint(dy, extents(n), dims, level); });
        expect(n, r, __LINE__, [&] { broadcast_adjoint(dy, std::array{n}, dims, level); });
        expect(n, r, __LINE__, [&] { (void)array_broadcast(extents(n), extents(2, r), dims, level); });
        if (n == 1) expect(3, r, __LINE__, [&] { broadcast_adjoint(dy, extents<3>{}, dims, level); });
      }
    }
  };
  with(xla_builder, true), with(stablehlo, true), with(hlo, false);
}

BOOST_AUTO_TEST_CASE(the_adjoint_has_a_static_rank_unless_the_shape_is_a_vector) {
  const xt::xtensor<double, 2> dy{{1, 2, 3}, {4, 5, 6}};
  const auto by_extents = broadcast_adjoint(dy, extents(3), broadcast_dimensions<1>);
  const auto by_array = broadcast_adjoint(dy, std::array<std::size_t, 1>{3}, broadcast_dimensions<1>);
  const auto by_vector = broadcast_adjoint(dy, std::vector<std::size_t>{3}, broadcast_dimensions<1>);
  static_assert(std::is_same_v<decltype(by_extents), const xt::xtensor<double, 1>>);
  static_assert(std::is_same_v<decltype(by_array), const xt::xtensor<double, 1>>);
  static_assert(std::is_same_v<decltype(by_vector), const xt::xarray<double>>);
  const xt::xtensor<double, 1> sums{5, 7, 9};
  BOOST_TEST((by_extents == sums && by_array == sums && by_vector == sums));
}

BOOST_AUTO_TEST_CASE(an_operator_names_the_call_and_both_extents_and_has_its_map) {
  const array_broadcast b(extents<3>{}, extents<2, 3, 4>{}, broadcast_dimensions<1>);
  const xt::xtensor<double, 1> two{1, 2}, three{1, 2, 3};
  BOOST_TEST(test::refused<shape_error>([&] { b(two); }) ==
             "partita::array_broadcast(x): requires an array of the extents the operator was made for, [3], got [2]; "
             "make another operator for other extents");
  BOOST_TEST(test::refused<shape_error>([&] { b.adjoint(three); }) ==
             "partita::array_broadcast.adjoint(dy): requires an array of the extents the operator was made for, [2, 3, "
             "4], got [3]; make another operator for other extents");
  BOOST_TEST((b.result_extents() == extents<2, 3, 4>{}));
  BOOST_TEST((b.map() == dimension_map(short_list<std::size_t>{1U}, 3)));
}

BOOST_AUTO_TEST_CASE(both_broadcasts_of_an_operation_have_its_result_or_none) {
  for (std::size_t all = 0; all < 81; ++all) {
    const std::size_t a = 1 + all / 27, b = 1 + all / 9 % 3, c = 1 + all / 3 % 3, d = 1 + all % 3;
    const bool fits = (a == c || a == 1 || c == 1) && (b == d || b == 1 || d == 1);
    const xt::xtensor<double, 2> x = integers({a, b}, 3), y = integers({c, d}, 5);
    if (!fits) {
      BOOST_TEST(test::refused<shape_error>([&] {
                   array_broadcasts(extents(a, b), extents(c, d));
                 }).find("partita::array_broadcasts(lhs, rhs): requires extents that are equal or 1") == 0U);
      continue;
    }
    const auto [x_to_z, y_to_z] = array_broadcasts(extents(a, b), extents(c, d));
    const xt::xtensor<double, 2> of_x = x_to_z(x), of_y = y_to_z(y);
    BOOST_TEST((of_x.shape() == std::array<std::size_t, 2>{a == 1 ? c : a, b == 1 ? d : b}));
    BOOST_TEST((of_y.shape() == of_x.shape()));
    for (std::size_t i = 0; i < of_x.shape()[0]; ++i)
      for (std::size_t j = 0; j < of_x.shape()[1]; ++j)
        BOOST_TEST(
            (of_x(i, j) == x(a == 1 ? 0 : i, b == 1 ? 0 : j) && of_y(i, j) == y(c == 1 ? 0 : i, d == 1 ? 0 : j)));
  }
  const auto [row_to_z, m_to_z] = array_broadcasts(extents(3), extents(2, 3), broadcast_dimensions<1>);
  BOOST_TEST((row_to_z.map().target(0) == 1U && m_to_z.map() == dimension_map::identity(2)));
  BOOST_TEST(test::refused<shape_error>([] { array_broadcasts(extents(4), extents(3, 2), broadcast_dimensions<0>); })
                 .find("partita::array_broadcasts(lhs, rhs, broadcast_dimensions<0>): requires mapped extents that are "
                       "equal or 1; dimension 0 of lhs (extent 4) is mapped to dimension 0 of rhs (extent 3)") == 0U);
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

BOOST_AUTO_TEST_CASE(an_error_of_three_operands_has_their_shapes_in_the_order_of_the_call) {
  const xt::xtensor<double, 2> m{{1, 2, 3}, {4, 5, 6}}, other{{1, 2}};
  const xt::xtensor<bool, 1> where{true, false};
  const xt::xarray<double> of_any_rank = m, line{1, 2};
  const std::string of_clamp =
      "partita::clamp(low, x, high): requires bounds that are scalars or have the shape of x; the shapes are ";
  const std::string of_select =
      "partita::select(predicate, on_true, on_false): requires values of one shape, and a predicate that is a scalar "
      "or has it too; the shapes are ";
  const std::string end = "; use broadcast_in_dim on the smaller ones first";
  BOOST_TEST(test::refused<shape_error>([&] { clamp(other, m, 5); }) == of_clamp + "[1, 2], [2, 3], []" + end);
  BOOST_TEST(test::refused<shape_error>([&] { clamp(1, m, other); }) == of_clamp + "[], [2, 3], [1, 2]" + end);
  BOOST_TEST(test::refused<shape_error>([&] { clamp(line, of_any_rank, 9); }) == of_clamp + "[2], [2, 3], []" + end);
  BOOST_TEST(test::refused<shape_error>([&] { select(true, m, other); }) == of_select + "[], [2, 3], [1, 2]" + end);
  BOOST_TEST(test::refused<shape_error>([&] { select(where, of_any_rank, of_any_rank); }) ==
             of_select + "[2], [2, 3], [2, 3]" + end);
  BOOST_TEST(test::refused<shape_error>([&] { select(true, of_any_rank, line); }) ==
             of_select + "[], [2, 3], [2]" + end);
}

BOOST_AUTO_TEST_CASE(three_operands_of_a_rank_known_at_run_time_are_as_any_others) {
  const xt::xarray<double> m{{1, 2, 3}, {4, 5, 6}}, low = xt::full_like(m, 2.0), other = -m;
  BOOST_TEST((xt::xarray<double>(clamp(low, m, 5)) == xt::xarray<double>{{2, 2, 3}, {4, 5, 5}}));
  const xt::xarray<bool> where{{true, false, true}, {false, false, true}};
  BOOST_TEST((xt::xarray<double>(select(where, m, other)) == xt::xarray<double>{{1, -2, 3}, {-4, -5, 6}}));
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

BOOST_AUTO_TEST_CASE(each_operation_is_that_of_its_name_in_the_order_of_its_operands) {
  const xt::xtensor<int, 2> m{{1, 2, -3}, {4, -5, 6}}, narrow{{1, 2}};
  const xt::xtensor<int, 1> v{7, -2, 3};
  const auto check = [&](const char* name, auto operation, auto f) {
    const xt::xtensor<double, 2> left = operation(m, v), right = operation(v, m), number = operation(m, 2L),
                                 first = operation(2L, m);
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < 2; ++i)
      for (std::size_t j = 0; j < 3; ++j) {
        wrong += left(i, j) == static_cast<double>(f(m(i, j), v(j))) ? 0 : 1;
        wrong += right(i, j) == static_cast<double>(f(v(j), m(i, j))) ? 0 : 1;
        wrong += number(i, j) == static_cast<double>(f(m(i, j), 2)) ? 0 : 1;
        wrong += first(i, j) == static_cast<double>(f(2, m(i, j))) ? 0 : 1;
      }
    BOOST_TEST(wrong == 0U, name);
    BOOST_TEST(test::refused<shape_error>([&] { operation(m, narrow); }) ==
               std::string("partita::numpy::") + name +
                   ": requires extents that are equal or 1 in every dimension, counted from the last; dimension 1 of "
                   "the result has no extent that fits all; the shapes are [2, 3], [1, 2]; reshape one of them first");
  };
#define CHECK_NUMPY_OPERATION(operation, result)                                       \
  check(                                                                               \
      #operation, [](const auto& x, const auto& y) { return numpy::operation(x, y); }, \
      [](int a, int b) { return result; })
  CHECK_NUMPY_OPERATION(add, a + b);
  CHECK_NUMPY_OPERATION(subtract, a - b);
  CHECK_NUMPY_OPERATION(multiply, a * b);
  CHECK_NUMPY_OPERATION(divide, a / b);
  CHECK_NUMPY_OPERATION(remainder, a - a / b * b);
  CHECK_NUMPY_OPERATION(power, std::trunc(std::pow(double(a), double(b))));
  CHECK_NUMPY_OPERATION(maximum, a > b ? a : b);
  CHECK_NUMPY_OPERATION(minimum, a > b ? b : a);
  CHECK_NUMPY_OPERATION(atan2, std::atan2(double(a), double(b)));
  CHECK_NUMPY_OPERATION(bitwise_and, a & b);
  CHECK_NUMPY_OPERATION(bitwise_or, a | b);
  CHECK_NUMPY_OPERATION(bitwise_xor, a ^ b);
  CHECK_NUMPY_OPERATION(equal_to, a == b);
  CHECK_NUMPY_OPERATION(not_equal_to, a != b);
  CHECK_NUMPY_OPERATION(less, a < b);
  CHECK_NUMPY_OPERATION(less_equal, a <= b);
  CHECK_NUMPY_OPERATION(greater, a > b);
  CHECK_NUMPY_OPERATION(greater_equal, a >= b);
#undef CHECK_NUMPY_OPERATION
  const auto sum_of_three = [](double a, double b, double c) { return a + b + c; };
  BOOST_TEST(test::refused<shape_error>([&] { numpy::elementwise(sum_of_three, m, v, narrow); }) ==
             "partita::numpy::elementwise: requires extents that are equal or 1 in every dimension, counted from the "
             "last; dimension 1 of the result has no extent that fits all; the shapes are [2, 3], [3], [1, 2]; reshape "
             "one of them first");
}

BOOST_AUTO_TEST_SUITE_END()
