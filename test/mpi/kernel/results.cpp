// A result is like an xt::xtensor except for its memory: it can be mixed with one in a conditional, be passed to
// functions on one, and be used in expressions.
#include "mpi_test.hpp"

#include <partita/kernel/all_sum_reduce.hpp>
#include <partita/kernel/broadcast.hpp>
#include <partita/kernel/repartition.hpp>
#include <type_traits>
#include <vector>

namespace {

using namespace partita;
using matrix = xt::xtensor<double, 2>;

double sum_of(const matrix& a) { return xt::sum(a)(); }
template <class E>
std::size_t rows_of(const xt::xexpression<E>& e) {
  return e.derived_cast().shape(0);
}

matrix block(std::size_t id) {
  matrix x({3, 4});
  for (std::size_t k = 0; k < x.size(); ++k) x.data()[k] = static_cast<double>(k + 12 * id);
  return x;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(results)

BOOST_AUTO_TEST_CASE(stand_beside_a_tensor_and_zero_volume_in_a_conditional) {
  const world everyone(test::workers());
  const auto p = everyone.partition(extents(everyone.size(), 1));
  const auto root = everyone.partition<1, 1>();
  const repartition same(p, p);
  const broadcast b(root, p);
  const matrix x = block(everyone.id());
  const auto spread = b(root.active() ? x : zero_volume<double, 2>());
  const auto y = same(x);
  const auto chosen = root.active() ? y : zero_volume<double, 2>();
  const auto other = root.active() ? zero_volume<double, 2>() : y;
  const auto either = root.active() ? x : y;
  static_assert(std::is_same_v<decltype(chosen), const matrix> && std::is_same_v<decltype(other), const matrix> &&
                std::is_same_v<decltype(either), const matrix>);
  BOOST_TEST((chosen.size() == (root.active() ? 12U : 0U)));
  BOOST_TEST((other.size() == (root.active() ? 0U : 12U)));
  BOOST_TEST((either == x));
  BOOST_TEST((spread == block(0)));
}

BOOST_AUTO_TEST_CASE(are_taken_by_functions_on_tensors_and_kept_where_tensors_are) {
  const world everyone(test::workers());
  const all_sum_reduce a(everyone.partition(extents(everyone.size())), dimensions<0>);
  const matrix x = block(1);
  const double n = static_cast<double>(everyone.size());
  BOOST_TEST(sum_of(a(x)) == n * sum_of(x));
  BOOST_TEST(rows_of(a(x)) == 3U);
  std::vector<matrix> kept;
  kept.push_back(a(x));
  kept.emplace_back(a(x));
  matrix y = a(x);
  y = a(y);
  const xt::xarray<double> of_any_rank = a(x);
  const xt::xtensor<double, 2, xt::layout_type::column_major> turned = a(x);
  BOOST_TEST((kept[0] == n * x));
  BOOST_TEST((kept[1] == kept[0]));
  BOOST_TEST((y == n * n * x));
  BOOST_TEST((of_any_rank == n * x));
  BOOST_TEST((turned == n * x));
}

BOOST_AUTO_TEST_CASE(are_row_major_expressions_that_can_be_assigned_to) {
  const world everyone(test::workers());
  const all_sum_reduce a(everyone.partition(extents(everyone.size())), dimensions<0>);
  const matrix x = block(2);
  auto y = a(x);
  static_assert(decltype(y)::static_layout == xt::layout_type::row_major && ranked_array<decltype(y)>);
  static_assert(!std::is_convertible_v<matrix, decltype(y)> && std::is_convertible_v<decltype(y), matrix>);
  y = x;
  y += a(x) - a(x);
  xt::noalias(y) += 2.0 * x;
  xt::noalias(y) *= 2.0;
  xt::view(y, 0, xt::all()) = xt::row(x, 0);
  matrix wanted = 6.0 * x;
  xt::view(wanted, 0, xt::all()) = xt::row(x, 0);
  BOOST_TEST((y == wanted));
  matrix sum = x;
  xt::xtensor<double, 2, xt::layout_type::column_major> turned = x;
  sum += a(x);
  turned += a(x);
  BOOST_TEST((sum == x + a(x)));
  BOOST_TEST((turned == sum));
  sum += a(xt::view(x, xt::range(0, 1), xt::all()));  // the row is repeated, as xtensor does
  BOOST_TEST((sum == turned + a(xt::view(x, xt::range(0, 1), xt::all()))));
  y = zero_volume<double, 2>();
  y += zero_volume<double, 2>();
  BOOST_TEST(y.size() == 0U);
  y = a(x);
  const auto z = std::move(y);
  BOOST_TEST((z == a(x)));
}

BOOST_AUTO_TEST_SUITE_END()
