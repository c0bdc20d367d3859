// Compares element-wise operations with array broadcasting with a loop over indices, which does not use xtensor's
// broadcasting.
#include <partita/array/elementwise.hpp>

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <refused.hpp>
#include <string>
#include <type_traits>
#include <vector>

namespace {

using namespace partita;

/// An array as nothing but its extents and its elements in C order, so that the expected result is computed by plain
/// loops.
struct plain {
  shape_list shape;
  std::vector<double> values;
};
template <class E>
plain plain_of(const E& e) {
  plain p{detail::shape_of(e), {}};
  for (auto it = e.template cbegin<xt::layout_type::row_major>(); p.values.size() < e.size(); ++it)
    p.values.push_back(*it);
  return p;
}

double minus(double a, double b) { return 10 * a - b; }  // not symmetric: the order of operands is kept

plain by_hand(const plain& l, const plain& r, const broadcast_dimensions_list& dims) {
  const auto all = resolve_array_broadcast(l.shape, r.shape, dims);
  const auto pick = [](const plain& x, const dimension_map& map, const shape_list& i) {
    std::size_t place = 0;
    for (std::size_t j = 0; j < x.shape.size(); ++j)
      place = place * x.shape[j] + (x.shape[j] == 1 ? 0 : i[map.target(j)]);
    return x.values[place];
  };
  plain z{all.result, {}};
  std::size_t size = 1;
  for (const std::size_t extent : all.result) size *= extent;
  auto i = shape_list::filled(all.result.size(), 0);
  while (z.values.size() < size) {
    z.values.push_back(minus(pick(l, all.lhs, i), pick(r, all.rhs, i)));
    for (std::size_t d = i.size(); d-- > 0;) {
      if (++i[d] < all.result[d]) break;
      i[d] = 0;
    }
  }
  return z;
}

template <class T, std::size_t N>
xt::xtensor<T, N> counting(const std::array<std::size_t, N>& shape, int start) {
  xt::xtensor<T, N> x(shape);
  int k = start;
  for (auto& value : x) value = static_cast<T>((k = (k * 7 + 3) % 23));
  return x;
}

void check_same(const plain& computed, const plain& expected) {
  BOOST_TEST((computed.shape == expected.shape));
  BOOST_TEST(computed.values == expected.values, boost::test_tools::per_element());
}
/// Iterating the lazy expression and assigning it are two different paths.
template <class E>
void check(const E& lazy, const plain& expected) {
  check_same(plain_of(lazy), expected);
  check_same(plain_of(detail::evaluated_array<E>(lazy)), expected);
}

#define CHECK_BOTH_FORMS(l, r, ...)                                       \
  check(elementwise(minus, l, r, broadcast_dimensions<__VA_ARGS__>),      \
        by_hand(plain_of(l), plain_of(r), {__VA_ARGS__}));                \
  check(elementwise(minus, r, l, broadcast_dimensions_list{__VA_ARGS__}), \
        by_hand(plain_of(r), plain_of(l), {__VA_ARGS__}))

}  // namespace

BOOST_AUTO_TEST_SUITE(elementwise_operations)

BOOST_AUTO_TEST_CASE(examples_of_the_reference_give_its_values) {
  const xt::xtensor<int, 2> m{{1, 2, 3}, {4, 5, 6}};
  const xt::xtensor<int, 1> v{7, 8, 9};
  BOOST_TEST((xt::xtensor<int, 2>(add(m, 7)) == xt::xtensor<int, 2>{{8, 9, 10}, {11, 12, 13}}));
  BOOST_TEST(
      (xt::xtensor<int, 2>(add(m, v, broadcast_dimensions<1>)) == xt::xtensor<int, 2>{{8, 10, 12}, {11, 13, 15}}));
  const xt::xtensor<int, 2> zeros = xt::zeros<int>({3, 3});
  BOOST_TEST((xt::xtensor<int, 2>(add(zeros, v, broadcast_dimensions<1>)) ==
              xt::xtensor<int, 2>{{7, 8, 9}, {7, 8, 9}, {7, 8, 9}}));
  BOOST_TEST((xt::xtensor<int, 2>(add(zeros, v, broadcast_dimensions<0>)) ==
              xt::xtensor<int, 2>{{7, 7, 7}, {8, 8, 8}, {9, 9, 9}}));
  const xt::xtensor<int, 1> four{1, 2, 3, 4};
  const xt::xtensor<int, 2> flat{{5, 6}};
  BOOST_TEST((xt::xtensor<int, 2>(add(four, flat, broadcast_dimensions<0>)) ==
              xt::xtensor<int, 2>{{6, 7}, {7, 8}, {8, 9}, {9, 10}}));
}

BOOST_AUTO_TEST_CASE(vectors_stand_in_any_dimension) {
  const auto cuboid = counting<double, 4>({2, 3, 4, 5}, 1);
  CHECK_BOTH_FORMS(cuboid, (counting<double, 1>({2}, 2)), 0);
  CHECK_BOTH_FORMS(cuboid, (counting<double, 1>({3}, 2)), 1);
  CHECK_BOTH_FORMS(cuboid, (counting<double, 1>({4}, 2)), 2);
  CHECK_BOTH_FORMS(cuboid, (counting<double, 1>({5}, 2)), 3);
}

BOOST_AUTO_TEST_CASE(matrices_stand_in_any_two_dimensions) {
  const auto cuboid = counting<double, 4>({2, 3, 4, 5}, 1);
  CHECK_BOTH_FORMS(cuboid, (counting<double, 2>({2, 3}, 2)), 0, 1);
  CHECK_BOTH_FORMS(cuboid, (counting<double, 2>({2, 5}, 2)), 0, 3);
  CHECK_BOTH_FORMS(cuboid, (counting<double, 2>({3, 4}, 2)), 1, 2);
  CHECK_BOTH_FORMS(cuboid, (counting<double, 2>({3, 5}, 2)), 1, 3);
  CHECK_BOTH_FORMS(cuboid, (counting<double, 2>({4, 5}, 2)), 2, 3);
}

BOOST_AUTO_TEST_CASE(rows_of_any_length_are_written_to_their_last_element) {
  for (std::size_t n = 1; n < 40; ++n) {
    const auto cuboid = counting<double, 3>({2, 3, n}, 1);
    CHECK_BOTH_FORMS(cuboid, (counting<double, 1>({n}, 2)), 2);
    CHECK_BOTH_FORMS(cuboid, (counting<double, 1>({3}, 2)), 1);
    CHECK_BOTH_FORMS(cuboid, (counting<double, 2>({2, n}, 2)), 0, 2);
  }
}

BOOST_AUTO_TEST_CASE(both_rules_act_in_one_operation) {
  CHECK_BOTH_FORMS((counting<double, 1>({4}, 1)), (counting<double, 2>({1, 2}, 5)), 0);
  CHECK_BOTH_FORMS((counting<double, 2>({1, 2}, 1)), (counting<double, 3>({4, 3, 1}, 5)), 1, 2);
  CHECK_BOTH_FORMS((counting<double, 2>({4, 1}, 1)), (counting<double, 2>({1, 3}, 5)), 0, 1);
}

BOOST_AUTO_TEST_CASE(empty_extents_stay_empty) {
  CHECK_BOTH_FORMS((counting<double, 1>({1}, 1)), (counting<double, 2>({0, 2}, 5)), 0);
  CHECK_BOTH_FORMS((counting<double, 1>({0}, 1)), (counting<double, 2>({0, 2}, 5)), 0);
  CHECK_BOTH_FORMS((counting<double, 1>({0}, 1)), (counting<double, 2>({1, 2}, 5)), 0);
}

BOOST_AUTO_TEST_CASE(scalars_of_rank_zero_and_numbers_need_no_dimensions) {
  const auto m = counting<double, 2>({3, 4}, 1);
  xt::xtensor<double, 0> s(5.0);
  check(elementwise(minus, m, s), by_hand(plain_of(m), plain_of(s), {}));
  check(elementwise(minus, s, m), by_hand(plain_of(s), plain_of(m), {}));
  check(elementwise(minus, m, 5.0), by_hand(plain_of(m), plain_of(s), {}));
  BOOST_TEST(xt::xarray<double>(subtract(5, m)) == xt::xarray<double>(5.0 - m));
  static_assert(std::is_same_v<detail::operand_element<decltype(add(xt::xtensor<float, 1>{}, 2.0))>, float>);
}

BOOST_AUTO_TEST_CASE(operands_may_be_views_functions_and_arrays_of_any_layout) {
  const auto big = counting<double, 3>({4, 6, 5}, 1);
  const auto part = xt::view(big, xt::range(1, 3), xt::range(5, 0, -2), 2);  // 2 x 3 with a negative stride
  const auto column = counting<double, 1>({2}, 4);
  CHECK_BOTH_FORMS(part, column, 0);
  CHECK_BOTH_FORMS(part, (xt::view(big, 1, xt::range(0, 3), 3)), 1);
  const xt::xtensor<double, 2, xt::layout_type::column_major> turned = part;
  CHECK_BOTH_FORMS(turned, column, 0);
  const auto doubled = part * 2.0;
  const auto shifted = column + 1.0;
  CHECK_BOTH_FORMS(doubled, shifted, 0);
  const auto across = xt::transpose(part);
  CHECK_BOTH_FORMS(across, column, 1);
}

BOOST_AUTO_TEST_CASE(results_are_assigned_to_views_and_to_any_layout) {
  const auto m = counting<double, 2>({2, 3}, 1);
  const auto column = counting<double, 1>({2}, 4);
  const auto lazy = elementwise(minus, m, column, broadcast_dimensions<0>);
  const plain expected = by_hand(plain_of(m), plain_of(column), {0});
  const xt::xtensor<double, 2, xt::layout_type::column_major> turned = lazy;
  check_same(plain_of(turned), expected);
  xt::xtensor<double, 3> around = xt::zeros<double>({2, 3, 2});
  auto inside = xt::view(around, xt::all(), xt::all(), 1);
  xt::noalias(inside) = lazy;
  check_same(plain_of(inside), expected);
  check_same(plain_of(xt::view(around, xt::all(), xt::all(), 0)), plain{expected.shape, std::vector<double>(6, 0.0)});
  inside = lazy;  // through a temporary
  check_same(plain_of(inside), expected);
  auto backwards = xt::view(around, xt::range(1, -3, -1), xt::all(), 0);
  xt::noalias(backwards) = lazy;
  check_same(plain_of(backwards), expected);
  const xt::xtensor<float, 2> narrower = lazy;
  check_same(plain_of(narrower), expected);
}

BOOST_AUTO_TEST_CASE(arrays_of_run_time_rank_follow_the_same_rules) {
  const xt::xarray<double> m = counting<double, 2>({2, 3}, 1), column = counting<double, 1>({2}, 4);
  CHECK_BOTH_FORMS(m, column, 0);
  CHECK_BOTH_FORMS(m, (counting<double, 1>({2}, 4)), 0);
  BOOST_CHECK_THROW(add(m, column), shape_error);
  BOOST_CHECK_THROW(add(m, column, broadcast_dimensions<1>), shape_error);
}

BOOST_AUTO_TEST_CASE(temporaries_move_into_the_expression) {
  const auto m = counting<double, 2>({2, 3}, 1);
  const auto make = [&] {
    return add(multiply(xt::xtensor<double, 2>(m), xt::xtensor<double, 1>{1, 2}, broadcast_dimensions<0>),
               xt::xtensor<double, 1>{10, 20, 30}, broadcast_dimensions_list{1});
  };
  const auto lazy = make();
  xt::xtensor<double, 2> expected = m;
  for (std::size_t i = 0; i < 2; ++i)
    for (std::size_t j = 0; j < 3; ++j)
      expected(i, j) = m(i, j) * static_cast<double>(i + 1) + static_cast<double>(10 * (j + 1));
  BOOST_TEST((xt::xtensor<double, 2>(lazy) == expected));
}

BOOST_AUTO_TEST_CASE(compositions_are_one_expression) {
  const auto m = counting<double, 2>({3, 4}, 1);
  const auto row = counting<double, 1>({4}, 2), column = counting<double, 1>({3}, 3);
  const xt::xtensor<double, 2> z = divide(subtract(m, row, broadcast_dimensions<1>), column, broadcast_dimensions<0>);
  const xt::xtensor<double, 2> inside = xt::exp(subtract(m, row, broadcast_dimensions<1>));
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 4; ++j) {
      BOOST_TEST(z(i, j) == (m(i, j) - row(j)) / column(i));
      BOOST_TEST(inside(i, j) == std::exp(m(i, j) - row(j)));
    }
}

BOOST_AUTO_TEST_CASE(static_extents_are_judged_without_running) {
  const xt::xtensor_fixed<double, xt::xshape<2, 3>> m{{1, 2, 3}, {4, 5, 6}};
  const xt::xtensor_fixed<double, xt::xshape<2>> column{10, 20};
  CHECK_BOTH_FORMS(m, column, 0);
  static_assert(noexcept(sizeof(add(m, column, broadcast_dimensions<0>))));
}

BOOST_AUTO_TEST_CASE(run_time_shapes_are_refused_before_an_expression_is_built) {
  const auto m = counting<double, 2>({2, 3}, 1);
  const auto v = counting<double, 1>({3}, 1);
  const auto says = [](const char* part) {
    return [part](const shape_error& e) { return e.sentence().contains(part); };
  };
  BOOST_CHECK_EXCEPTION(
      add(m, v, broadcast_dimensions<0>), shape_error,
      says("partita::add(lhs, rhs, broadcast_dimensions<0>): requires mapped extents that are equal or 1"));
  BOOST_CHECK_EXCEPTION(add(m, v, broadcast_dimensions<0>), shape_error,
                        says("broadcast_dimensions<1> would be valid"));
  BOOST_CHECK_EXCEPTION(add(m, v, broadcast_dimensions_list{}), shape_error,
                        says("requires equal ranks, a scalar, or"));
  BOOST_CHECK_EXCEPTION(add(m, v, broadcast_dimensions_list{2}), shape_error,
                        says("below the rank of the larger operand lhs (2)"));
  BOOST_CHECK_EXCEPTION(add(m, counting<double, 2>({3, 2}, 1)), shape_error, says("dimension 0 has 2 against 3"));
}

BOOST_AUTO_TEST_CASE(named_operations_mean_what_they_mean_in_xla) {
  const xt::xtensor<int, 1> a{7, -7, 2, -2, -1, 0}, b{3, 3, 5, 3, -3, -1};
  const auto check = [](const auto& lazy, const xt::xtensor<int, 1>& expected) {
    BOOST_TEST((xt::xtensor<int, 1>(lazy) == expected));
  };
  check(remainder(a, b), {1, -1, 2, -2, -1, 0});  // the sign of the dividend
  check(divide(a, b), {2, -2, 0, 0, 0, 0});       // toward zero
  check(power(a, b), {343, -343, 32, -8, -1, 0});
  check(maximum(a, b), {7, 3, 5, 3, -1, 0});
  check(minimum(a, b), {3, -7, 2, -2, -3, -1});
  check(bitwise_and(a, b), {7 & 3, -7 & 3, 2 & 5, -2 & 3, -1 & -3, 0});
  check(bitwise_or(a, b), {7 | 3, -7 | 3, 2 | 5, -2 | 3, -1 | -3, -1});
  check(bitwise_xor(a, b), {4, -6, 7, -3, 2, -1});
  const xt::xtensor<double, 1> x{7.5, -7.5}, y{2, 2};
  BOOST_TEST((xt::xtensor<double, 1>(remainder(x, y)) == xt::xtensor<double, 1>{1.5, -1.5}));
  BOOST_TEST(
      (xt::xtensor<double, 1>(atan2(x, y)) == xt::xtensor<double, 1>{std::atan2(7.5, 2.), std::atan2(-7.5, 2.)}));
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const xt::xtensor<double, 1> left{nan, 1}, right{1, nan}, least = minimum(left, right), most = maximum(left, right);
  for (std::size_t i = 0; i < 2; ++i) {
    BOOST_TEST(std::isnan(least(i)));
    BOOST_TEST(std::isnan(most(i)));
  }
  const xt::xtensor<bool, 1> t{true, true, false, false}, u{true, false, true, false};
  BOOST_TEST((xt::xtensor<bool, 1>(bitwise_and(t, u)) == xt::xtensor<bool, 1>{true, false, false, false}));
  BOOST_TEST((xt::xtensor<bool, 1>(bitwise_xor(t, u)) == xt::xtensor<bool, 1>{false, true, true, false}));
}

BOOST_AUTO_TEST_CASE(comparisons_give_bool) {
  const xt::xtensor<int, 2> m{{1, 2, 3}, {4, 5, 6}};
  const xt::xtensor<int, 1> v{2, 2, 6};
  const auto check = [](const auto& lazy, const xt::xtensor<bool, 2>& expected) {
    static_assert(std::is_same_v<detail::operand_element<decltype(lazy)>, bool>);
    BOOST_TEST((xt::xtensor<bool, 2>(lazy) == expected));
  };
  check(equal_to(m, v, broadcast_dimensions<1>), {{false, true, false}, {false, false, true}});
  check(not_equal_to(m, v, broadcast_dimensions<1>), {{true, false, true}, {true, true, false}});
  check(less(m, v, broadcast_dimensions<1>), {{true, false, true}, {false, false, false}});
  check(less_equal(m, v, broadcast_dimensions<1>), {{true, true, true}, {false, false, true}});
  check(greater(m, v, broadcast_dimensions<1>), {{false, false, false}, {true, true, false}});
  check(greater_equal(m, v, broadcast_dimensions<1>), {{false, true, false}, {true, true, true}});
  check(less(m, 3), {{true, true, false}, {false, false, false}});
}

BOOST_AUTO_TEST_CASE(xtensors_own_functions_of_the_same_names_are_not_ambiguous) {
  const xt::xtensor<double, 1> a{1, 5}, b{4, 2};
  BOOST_TEST((xt::xtensor<double, 1>(maximum(a, b)) == xt::xtensor<double, 1>{4, 5}));
  BOOST_TEST((xt::xtensor<bool, 1>(less(a, b)) == xt::xtensor<bool, 1>{true, false}));
  BOOST_TEST((xt::xtensor<double, 1>(atan2(a, b))(0)) == std::atan2(1.0, 4.0));
  BOOST_TEST(atan2(1.0, 2.0) == std::atan2(1.0, 2.0));
}

BOOST_AUTO_TEST_CASE(a_call_is_refused_exactly_if_an_extent_is_neither_1_nor_that_of_the_other_operand) {
  const auto fits = [](std::size_t a, std::size_t b) { return a == b || a == 1 || b == 1; };
  const auto expect = [](const auto& x, const auto& y, bool legal, auto dims) {
    const text what = text() << detail::shape_of(x) << " and " << detail::shape_of(y);
    BOOST_TEST(test::refused<shape_error>([&] { add(x, y, dims); }).empty() == legal, what.c_str());
    BOOST_TEST(test::refused<shape_error>([&] { add(y, x, dims); }).empty() == legal, what.c_str());
  };
  const xt::xtensor_fixed<double, xt::xshape<2, 3>> fixed{{1, 2, 3}, {4, 5, 6}};
  for (std::size_t a = 0; a < 4; ++a)
    for (std::size_t b = 0; b < 4; ++b) {
      const auto m = counting<double, 2>({a, b}, 1);
      const xt::xarray<double> of_any_rank = m;
      for (std::size_t c = 0; c < 4; ++c) {
        const auto v = counting<double, 1>({c}, 1);
        expect(m, v, fits(a, c), broadcast_dimensions<0>);
        expect(m, v, fits(b, c), broadcast_dimensions<1>);
        expect(m, v, fits(b, c), broadcast_dimensions_list{1});
        expect(of_any_rank, v, fits(a, c), broadcast_dimensions<0>);
        const auto cuboid = counting<double, 3>({a, c, b}, 1);
        for (std::size_t d = 0; d < 4; ++d) {
          expect(m, counting<double, 2>({c, d}, 1), fits(a, c) && fits(b, d), broadcast_dimensions<>);
          expect(cuboid, counting<double, 2>({d, b}, 1), fits(a, d), broadcast_dimensions<0, 2>);
          expect(cuboid, counting<double, 2>({a, d}, 1), fits(b, d), broadcast_dimensions<0, 2>);
        }
      }
      expect(fixed, m, fits(2, a) && fits(3, b), broadcast_dimensions<>);  // only one of the types has its extents
      expect(counting<double, 3>({2, a, b}, 1), fixed, fits(3, b), broadcast_dimensions<0, 2>);
      expect(fixed, counting<double, 1>({b}, 1), fits(3, b), broadcast_dimensions<1>);
    }
}

BOOST_AUTO_TEST_CASE(each_operation_names_itself_in_its_error) {
  const xt::xtensor<int, 2> m{{1, 2, 3}, {4, 5, 6}}, other{{1, 2}};
#define EXPECT_ITS_NAME(operation)                                                                             \
  BOOST_TEST(test::refused<shape_error>([&] { operation(m, other); }) ==                                       \
             "partita::" #operation                                                                            \
             "(lhs, rhs): requires extents that are equal or 1 in every dimension; dimension 1 has 3 against " \
             "2; lhs is [2, 3], rhs is [1, 2]; reshape or slice one of them first")
  EXPECT_ITS_NAME(add);
  EXPECT_ITS_NAME(subtract);
  EXPECT_ITS_NAME(multiply);
  EXPECT_ITS_NAME(divide);
  EXPECT_ITS_NAME(remainder);
  EXPECT_ITS_NAME(power);
  EXPECT_ITS_NAME(maximum);
  EXPECT_ITS_NAME(minimum);
  EXPECT_ITS_NAME(atan2);
  EXPECT_ITS_NAME(bitwise_and);
  EXPECT_ITS_NAME(bitwise_or);
  EXPECT_ITS_NAME(bitwise_xor);
  EXPECT_ITS_NAME(equal_to);
  EXPECT_ITS_NAME(not_equal_to);
  EXPECT_ITS_NAME(less);
  EXPECT_ITS_NAME(less_equal);
  EXPECT_ITS_NAME(greater);
  EXPECT_ITS_NAME(greater_equal);
#undef EXPECT_ITS_NAME
  BOOST_TEST(test::refused<shape_error>([&] { elementwise(minus, m, other); }).find("partita::elementwise(lhs, rhs)") ==
             0U);
  BOOST_TEST(std::string(function::select::name) == "select");
  BOOST_TEST(std::string(function::clamp::name) == "clamp");
}

BOOST_AUTO_TEST_CASE(a_power_of_integers_is_the_truncated_power) {
  for (int base = -4; base <= 4; ++base)
    for (int exponent = -5; exponent <= 9; ++exponent) {
      const int expected =
          base == 0 && exponent < 0 ? 0 : static_cast<int>(std::trunc(std::pow(double(base), double(exponent))));
      BOOST_TEST(function::power{}(base, exponent) == expected, base << " to the power of " << exponent);
      if (base >= 0 && exponent >= 0)
        BOOST_TEST(function::power{}(static_cast<unsigned>(base), static_cast<unsigned>(exponent)) ==
                   static_cast<unsigned>(expected));
    }
  BOOST_TEST((function::power{}(std::int8_t{-1}, std::int8_t{-128}) == 1));
  BOOST_TEST((function::power{}(std::int8_t{-1}, std::int8_t{-127}) == -1));
  BOOST_TEST((function::power{}(std::uint8_t{2}, std::uint8_t{7}) == 128));
  BOOST_TEST((function::power{}(std::int64_t{3}, std::int64_t{39}) == 4052555153018976267));
  BOOST_TEST(function::power{}(2.0, -1.0) == 0.5);
}

BOOST_AUTO_TEST_CASE(maximum_and_minimum_take_dimensions_and_or_takes_bools) {
  const xt::xtensor<int, 2> m{{1, 5, 3}, {4, 2, 6}};
  const xt::xtensor<int, 1> row{3, 3, 4}, column{2, 5};
  using matrix = xt::xtensor<int, 2>;
  BOOST_TEST((matrix(maximum(m, row, broadcast_dimensions<1>)) == matrix{{3, 5, 4}, {4, 3, 6}}));
  BOOST_TEST((matrix(minimum(m, row, broadcast_dimensions<1>)) == matrix{{1, 3, 3}, {3, 2, 4}}));
  BOOST_TEST((matrix(maximum(column, m, broadcast_dimensions_list{0})) == matrix{{2, 5, 3}, {5, 5, 6}}));
  BOOST_TEST((matrix(minimum(column, m, broadcast_dimensions_list{0})) == matrix{{1, 2, 2}, {4, 2, 5}}));
  const xt::xtensor<bool, 1> t{true, true, false, false}, u{true, false, true, false};
  BOOST_TEST((xt::xtensor<bool, 1>(bitwise_or(t, u)) == xt::xtensor<bool, 1>{true, true, true, false}));
}

/// Expressions of three and of six arrays, nested in both operands, with rows whose strides are 1 and 0.
BOOST_AUTO_TEST_CASE(an_expression_of_many_arrays_reads_each_of_them_at_its_place) {
  for (std::size_t n = 1; n < 12; ++n) {
    const auto a = counting<double, 3>({2, 3, n}, 1), e = counting<double, 3>({2, 3, n}, 9);
    const auto b = counting<double, 1>({n}, 2), c = counting<double, 1>({3}, 4);
    const auto d = counting<double, 2>({2, n}, 5);
    const xt::xtensor<double, 3> left = add(multiply(a, b, broadcast_dimensions<2>), c, broadcast_dimensions<1>),
                                 right = subtract(a, multiply(c, e, broadcast_dimensions<1>)),
                                 both = subtract(multiply(subtract(a, c, broadcast_dimensions<1>), e),
                                                 multiply(subtract(e, b, broadcast_dimensions<2>),
                                                          add(a, d, broadcast_dimensions<0, 2>)));
    xt::xtensor<double, 3> around = xt::zeros<double>(std::array<std::size_t, 3>{2, 3, 2 * n});
    auto every_second = xt::view(around, xt::all(), xt::all(), xt::range(0, 2 * n, 2));
    xt::noalias(every_second) = multiply(subtract(a, c, broadcast_dimensions<1>), e);
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < 2; ++i)
      for (std::size_t j = 0; j < 3; ++j)
        for (std::size_t k = 0; k < n; ++k) {
          const double x = a(i, j, k), z = e(i, j, k), product = (x - c(j)) * z;
          wrong += left(i, j, k) == x * b(k) + c(j) ? 0 : 1;
          wrong += right(i, j, k) == x - c(j) * z ? 0 : 1;
          wrong += both(i, j, k) == product - (z - b(k)) * (x + d(i, k)) ? 0 : 1;
          wrong += around(i, j, 2 * k) == product && around(i, j, 2 * k + 1) == 0 ? 0 : 1;
        }
    BOOST_TEST(wrong == 0U, "rows of " << n);
  }
}

BOOST_AUTO_TEST_CASE(a_number_takes_the_element_type_of_the_array_if_it_loses_nothing_but_digits) {
  using namespace partita::detail;
  using whole = xt::xtensor<int, 1>;
  using real = xt::xtensor<float, 1>;
  using complex = xt::xtensor<std::complex<float>, 1>;
  static_assert(can_hold_number<whole, long> && !can_hold_number<whole, double>);
  static_assert(!can_hold_number<whole, std::complex<float>> && !can_hold_number<real, std::complex<double>>);
  static_assert(can_hold_number<real, double> && can_hold_number<real, long>);
  static_assert(can_hold_number<complex, std::complex<double>> && can_hold_number<complex, double>);
  static_assert(std::is_same_v<operand_element<decltype(add(whole{}, 2L))>, int>);
  static_assert(std::is_same_v<operand_element<decltype(multiply(2.0, real{}))>, float>);
  static_assert(std::is_same_v<operand_element<decltype(multiply(2.0, complex{}))>, std::complex<float>>);
  static_assert(are_compatible_elements<float, double> && are_compatible_elements<long double, float>);
  static_assert(are_compatible_elements<int, int> && !are_compatible_elements<int, long>);
  static_assert(!are_compatible_elements<int, float> && !are_compatible_elements<float, int>);
  static_assert(are_compatible_elements<std::complex<float>, std::complex<double>>);
  static_assert(!are_compatible_elements<std::complex<float>, float> && !are_compatible_elements<bool, int>);
  const xt::xtensor<int, 1> x{1, 2};
  BOOST_TEST((xt::xtensor<int, 1>(subtract(10L, x)) == xt::xtensor<int, 1>{9, 8}));
}

BOOST_AUTO_TEST_SUITE_END()
