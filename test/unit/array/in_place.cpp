// In-place operations do not change the shape of their target, and work if the operand overlaps the target.
#include <partita/array/as_rank_of_memory.hpp>
#include <partita/array/in_place.hpp>
#include <partita/array/overlapping.hpp>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <complex>
#include <functional>
#include <random>
#include <refused.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace partita;
using matrix = xt::xtensor<double, 2>;
using vector = xt::xtensor<double, 1>;

}  // namespace

BOOST_AUTO_TEST_SUITE(in_place_operations)

BOOST_AUTO_TEST_CASE(smaller_operands_are_repeated_into_the_target) {
  matrix t{{1, 2, 3}, {4, 5, 6}};
  add_in_place(t, vector{10, 20, 30}, broadcast_dimensions<1>);
  BOOST_TEST((t == matrix{{11, 22, 33}, {14, 25, 36}}));
  subtract_in_place(t, vector{1, 2}, broadcast_dimensions_list{0});
  BOOST_TEST((t == matrix{{10, 21, 32}, {12, 23, 34}}));
  multiply_in_place(t, 2);
  BOOST_TEST((t == matrix{{20, 42, 64}, {24, 46, 68}}));
  divide_in_place(t, matrix{{2}, {4}});
  BOOST_TEST((t == matrix{{10, 21, 32}, {6, 11.5, 17}}));
  elementwise_in_place([](double a, double b) { return a > b ? a : b; }, t, 20.0);
  BOOST_TEST((t == matrix{{20, 21, 32}, {20, 20, 20}}));
}

BOOST_AUTO_TEST_CASE(targets_that_would_grow_are_refused_and_left_as_they_were) {
  matrix small{{1, 2, 3}};
  const matrix large{{1, 2, 3}, {4, 5, 6}};
  BOOST_CHECK_EXCEPTION(add_in_place(small, large), shape_error, [](const shape_error& e) {
    return e.sentence() ==
           "partita::add_in_place(target, x): requires a result of the target's shape, which is [1, 3]; x is "
           "[2, 3]; use add, which makes a new array";
  });
  BOOST_TEST((small == matrix{{1, 2, 3}}));
}

BOOST_AUTO_TEST_CASE(views_that_would_be_overrun_are_refused) {
  matrix around = xt::zeros<double>({4, 3});
  auto one_row = xt::view(around, xt::range(3, 4), xt::all());
  const matrix large{{1, 2, 3}, {4, 5, 6}};
  BOOST_CHECK_THROW(add_in_place(one_row, large), shape_error);
  BOOST_TEST(xt::sum(around)() == 0);
  add_in_place(one_row, matrix{{1, 2, 3}});
  BOOST_TEST((around == matrix{{0, 0, 0}, {0, 0, 0}, {0, 0, 0}, {1, 2, 3}}));
}

BOOST_AUTO_TEST_CASE(columns_of_a_view_are_written_where_they_are) {
  matrix around = xt::ones<double>({2, 3});
  add_in_place(xt::view(around, xt::all(), 1), vector{5, 6});
  BOOST_TEST((around == matrix{{1, 6, 1}, {1, 7, 1}}));
}

BOOST_AUTO_TEST_CASE(operands_that_overlap_the_target_are_read_first) {
  matrix t{{1, 2, 3}, {4, 5, 6}, {7, 8, 9}};
  subtract_in_place(t, xt::view(t, 1, xt::all()), broadcast_dimensions<1>);
  BOOST_TEST((t == matrix{{-3, -3, -3}, {0, 0, 0}, {3, 3, 3}}));
  matrix u{{1, 2}, {3, 4}};
  add_in_place(u, xt::transpose(u));
  BOOST_TEST((u == matrix{{2, 5}, {5, 8}}));
  add_in_place(u, u);
  BOOST_TEST((u == matrix{{4, 10}, {10, 16}}));
  add_in_place(u, 2.0 * xt::transpose(u));
  BOOST_TEST((u == matrix{{12, 30}, {30, 48}}));
}

/// A target and an operand that are views of one array, with steps of both signs: the result is that of a copy.
BOOST_AUTO_TEST_CASE(views_of_one_array_are_read_first_wherever_they_overlap) {
  const std::size_t n = 4;
  for (std::size_t from = 0; from + n <= 12; ++from)
    for (std::size_t at = 0; at + n <= 12; ++at)
      for (const std::ptrdiff_t steps : {1, -1})
        for (const std::ptrdiff_t way : {1, -1}) {
          vector all = xt::arange<double>(1, 13);
          const auto view = [&](std::size_t first, std::ptrdiff_t step) {
            const auto begin = static_cast<std::ptrdiff_t>(step > 0 ? first : first + n - 1);
            return as_rank<1>(all.data() + begin, std::array<std::size_t, 1>{n}, std::array<std::ptrdiff_t, 1>{step});
          };
          auto target = view(at, steps);
          const auto operand = view(from, way);
          const vector before = target, added = operand;
          add_in_place(target, operand);
          BOOST_TEST((target == before + added), at << " and " << from << ", steps " << steps << " and " << way);
        }
}

/// Beside the addresses of all elements: blocks of any strides share an element or do not.
BOOST_AUTO_TEST_CASE(blocks_overlap_if_and_only_if_they_share_an_element) {
  std::mt19937 random(3);
  std::vector<int> memory(200);
  std::size_t shared = 0, apart = 0;
  for (int turn = 0; turn < 3000; ++turn) {
    strided<const int, 3> blocks[2];
    std::set<const int*> elements[2];
    for (std::size_t k = 0; k < 2; ++k) {
      strided<const int, 3>& b = blocks[k];
      b.data = memory.data() + 90 + random() % 20;
      for (std::size_t d = 0; d < 3; ++d)
        b.shape[d] = random() % 4, b.strides[d] = static_cast<std::ptrdiff_t>(random() % 19) - 9;
      for (std::size_t i = 0; i < b.size(); ++i) {
        const auto at = index_of(i, b.shape);
        const int* element = b.data;
        for (std::size_t d = 0; d < 3; ++d) element += static_cast<std::ptrdiff_t>(at[d]) * b.strides[d];
        elements[k].insert(element);
      }
    }
    const bool share =
        std::any_of(elements[0].begin(), elements[0].end(), [&](const int* one) { return elements[1].contains(one); });
    BOOST_TEST(overlapping(blocks[0], blocks[1]) == share);
    ++(share ? shared : apart);
  }
  BOOST_TEST(shared > 200U);
  BOOST_TEST(apart > 500U);
}

/// The addresses that `in_place.hpp` compares are those of all elements, with nothing around them.
BOOST_AUTO_TEST_CASE(the_addresses_of_a_block_are_from_its_lowest_element_to_behind_its_highest) {
  std::mt19937 random(5);
  std::vector<int> memory(200);
  std::size_t wrong = 0, empty = 0;
  for (int turn = 0; turn < 2000; ++turn) {
    std::array<std::size_t, 3> shape{};
    std::array<std::ptrdiff_t, 3> strides{};
    for (std::size_t d = 0; d < 3; ++d)
      shape[d] = random() % 4, strides[d] = static_cast<std::ptrdiff_t>(random() % 19) - 9;
    const int* const first = memory.data() + 100;
    std::pair<const void*, const void*> expected{nullptr, nullptr};
    for (std::size_t k = 0; k < volume_of(shape); ++k) {
      const int* one = first;
      for (std::size_t d = 0; d < 3; ++d) one += static_cast<std::ptrdiff_t>(index_of(k, shape)[d]) * strides[d];
      if (k == 0 || one < expected.first) expected.first = one;
      if (k == 0 || one + 1 > expected.second) expected.second = one + 1;
    }
    empty += volume_of(shape) == 0 ? 1 : 0;
    wrong += detail::address_range(first, shape, strides, 3) == expected ? 0 : 1;
  }
  BOOST_TEST(wrong == 0U);
  BOOST_TEST(empty > 100U);
  for (std::size_t k = 0; k < 6 * 6 * 6 * 6; ++k) {
    const std::size_t a = k / 216, b = a + k / 36 % 6, c = k / 6 % 6, d = c + k % 6;
    const bool apart = b <= c || d <= a;
    BOOST_TEST(detail::are_disjoint({&memory[a], &memory[b]}, {&memory[c], &memory[d]}) == apart);
  }
  BOOST_TEST(detail::are_disjoint({nullptr, nullptr}, {&memory[0], &memory[9]}));
}

/// Complex numbers in memory of real ones may share a part of themselves.
BOOST_AUTO_TEST_CASE(elements_that_share_a_part_of_their_bytes_overlap) {
  using number = std::complex<double>;
  std::vector<double> memory(60);
  const auto at = [&](std::ptrdiff_t k) { return reinterpret_cast<const number*>(memory.data() + 30 + k); };
  for (std::ptrdiff_t k = -12; k <= 12; ++k) {
    const strided<const number, 1> one{at(0), {1}, {1}}, other{at(k), {1}, {1}};
    BOOST_TEST(overlapping(one, other) == (k > -2 && k < 2), "at a distance of " << k << " real numbers");
    for (const std::ptrdiff_t step : {-3, -2, 2, 3}) {
      const strided<const number, 1> three{at(k), {3}, {step}};
      bool share = false;
      for (std::ptrdiff_t i = 0; i < 3; ++i) share = share || (k + 2 * step * i > -2 && k + 2 * step * i < 2);
      if (share || k % 2 == 0) BOOST_TEST(overlapping(one, three) == share, k << " with steps of " << step);
    }
  }
}

/// The search for a common element may end before it has tried everything, but then the answer is that there is one.
BOOST_AUTO_TEST_CASE(a_common_element_is_never_missed_however_few_tries_are_left) {
  using detail::step_range;
  std::size_t missed = 0, wrong = 0;
  for (const std::ptrdiff_t a : {7, 10, 12})
    for (const std::ptrdiff_t b : {3, 5, 7})
      for (const std::ptrdiff_t lowest : {-2, 0}) {
        const step_range ranges[] = {{a, lowest, 3}, {b, 0, 3}, {2, -1, 1}};
        for (std::ptrdiff_t offset = -40; offset <= 70; ++offset) {
          bool is_reachable = false;
          for (std::ptrdiff_t i = lowest; i <= 3; ++i)
            for (std::ptrdiff_t j = 0; j <= 3; ++j)
              for (std::ptrdiff_t k = -1; k <= 1; ++k) is_reachable = is_reachable || a * i + b * j + 2 * k == offset;
          for (std::size_t tries = 0; tries < 12; ++tries) {
            std::size_t left = tries;
            if (is_reachable && !detail::is_reachable_offset(ranges, 3, offset, left)) ++missed;
          }
          std::size_t enough = 1000;
          wrong += detail::is_reachable_offset(ranges, 3, offset, enough) == is_reachable ? 0 : 1;
        }
      }
  BOOST_TEST(missed == 0U);
  BOOST_TEST(wrong == 0U);
}

BOOST_AUTO_TEST_CASE(each_operation_takes_dimensions_and_names_itself_where_the_target_would_grow) {
  const vector column{2, 4}, row{2, 4, 8};
  const auto check = [&](const std::string& name, auto in_place, auto f) {
    const matrix before{{1, 2, 3}, {4, 5, 6}};
    matrix by_column = before, by_row = before, by_itself = before;
    in_place(by_column, column, broadcast_dimensions<0>);
    in_place(by_row, row, broadcast_dimensions_list{1});
    in_place(by_itself, matrix{{2, 2, 4}}, broadcast_dimensions<>);
    for (std::size_t i = 0; i < 2; ++i)
      for (std::size_t j = 0; j < 3; ++j) {
        BOOST_TEST(by_column(i, j) == f(before(i, j), column(i)), name);
        BOOST_TEST(by_row(i, j) == f(before(i, j), row(j)), name);
        BOOST_TEST(by_itself(i, j) == f(before(i, j), j == 2 ? 4.0 : 2.0), name);
      }
    matrix small{{1, 2, 3}};
    const matrix large{{1, 2, 3}, {4, 5, 6}};
    BOOST_TEST(test::refused<shape_error>([&] { in_place(small, large, broadcast_dimensions<>); }) ==
               "partita::" + name +
                   "_in_place(target, x): requires a result of the target's shape, which is [1, 3]; x " +
                   "is [2, 3]; use " + name + ", which makes a new array");
    xt::xarray<double> line{1, 2, 3};
    BOOST_TEST(test::refused<shape_error>([&] { in_place(line, large, broadcast_dimensions_list{1}); }) ==
               "partita::" + name +
                   "_in_place(target, x): requires a result of the target's shape, which is [3]; x is " +
                   "[2, 3]; use " + name + ", which makes a new array");
    BOOST_TEST((small == matrix{{1, 2, 3}} && line == xt::xarray<double>{1, 2, 3}));
  };
  check(
      "add", [](auto& t, const auto& x, const auto& d) { add_in_place(t, x, d); }, std::plus<>());
  check(
      "subtract", [](auto& t, const auto& x, const auto& d) { subtract_in_place(t, x, d); }, std::minus<>());
  check(
      "multiply", [](auto& t, const auto& x, const auto& d) { multiply_in_place(t, x, d); }, std::multiplies<>());
  check(
      "divide", [](auto& t, const auto& x, const auto& d) { divide_in_place(t, x, d); }, std::divides<>());
  const auto f = [](double a, double b) { return 10 * a - b; };
  check(
      "elementwise", [&](auto& t, const auto& x, const auto& d) { elementwise_in_place(f, t, x, d); }, f);
}

BOOST_AUTO_TEST_CASE(empty_targets_stay_empty) {
  matrix empty = xt::zeros<double>({0, 3});
  add_in_place(empty, vector{1, 2, 3}, broadcast_dimensions<1>);
  add_in_place(empty, matrix{{1, 2, 3}});
  BOOST_TEST(empty.size() == 0U);
  BOOST_CHECK_THROW(add_in_place(empty, matrix{{1, 2, 3}, {1, 2, 3}}), shape_error);
}

BOOST_AUTO_TEST_SUITE_END()
