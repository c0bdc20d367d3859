// In-place operations do not change the shape of their target, and work if the operand overlaps the target.
#include <partita/array/as_rank_of_memory.hpp>
#include <partita/array/in_place.hpp>
#include <partita/array/overlapping.hpp>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <random>
#include <set>
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

BOOST_AUTO_TEST_CASE(empty_targets_stay_empty) {
  matrix empty = xt::zeros<double>({0, 3});
  add_in_place(empty, vector{1, 2, 3}, broadcast_dimensions<1>);
  add_in_place(empty, matrix{{1, 2, 3}});
  BOOST_TEST(empty.size() == 0U);
  BOOST_CHECK_THROW(add_in_place(empty, matrix{{1, 2, 3}, {1, 2, 3}}), shape_error);
}

BOOST_AUTO_TEST_SUITE_END()
