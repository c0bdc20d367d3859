// Kernels and layers accept and fill arrays of dynamic rank through as_rank.
#include "mpi_test.hpp"

#include <partita/array/as_rank.hpp>
#include <partita/kernel/all_sum_reduce.hpp>
#include <partita/kernel/block_from.hpp>
#include <partita/kernel/broadcast.hpp>
#include <partita/kernel/repartition.hpp>
#include <partita/nn/linear.hpp>
#include <vector>

namespace {

using namespace partita;
using matrix = xt::xtensor<double, 2>;

double at(std::size_t i, std::size_t j) { return static_cast<double>(10 * i + j); }

}  // namespace

BOOST_AUTO_TEST_SUITE(kernels_by_as_rank)

BOOST_AUTO_TEST_CASE(take_arrays_of_a_rank_known_at_run_time_and_fill_them) {
  const world everyone(test::workers());
  const auto root = everyone.partition<1, 1>();
  const auto rows = everyone.partition(extents(everyone.size(), 1));
  const xt::xarray<double> x = block_from(root, extents<24, 5>{}, at);
  const matrix wanted = block_from(rows, extents<24, 5>{}, at);
  repartition scatter(root, rows);
  BOOST_TEST((scatter(as_rank<2>(x)) == wanted));
  xt::xarray<double> y = xt::zeros<double>({wanted.shape(0), std::size_t{1}, std::size_t{5}});
  scatter.into(as_rank<2>(x), as_rank<2>(xt::squeeze(y)));
  BOOST_TEST((as_rank<2>(xt::view(y, xt::all(), 0)) == wanted));
}

BOOST_AUTO_TEST_CASE(take_vectors_numbers_and_lists) {
  const world everyone(test::workers());
  const double n = static_cast<double>(everyone.size());
  const auto p = everyone.partition(extents(everyone.size()));
  all_sum_reduce sum(p, dimensions<0>);
  const std::vector<double> v{1, 2, 3};
  BOOST_TEST((sum(as_rank<1>(v)) == xt::xtensor<double, 1>{n, 2 * n, 3 * n}));
  BOOST_TEST((sum(as_rank<1>({1.0, 4.0})) == xt::xtensor<double, 1>{n, 4 * n}));
  double each = 2;
  BOOST_TEST(sum(as_rank<0>(each))() == 2 * n);
  sum.into(as_rank<0>(1.0), as_rank<0>(each));
  BOOST_TEST(each == n);
}

BOOST_AUTO_TEST_CASE(so_do_layers) {
  const world everyone(test::workers());
  const auto p_x = everyone.partition(extents(1, everyone.size()));
  const auto p_y = everyone.partition<1, 1>();
  linear<double> layer(p_x, p_y, p_x, {.in_features = 2 * everyone.size(), .out_features = 3});
  const xt::xarray<double> x = block_from(p_x, extents(4, 2 * everyone.size()), at);
  const xt::xarray<double> y = layer(as_rank<2>(x));
  BOOST_TEST((as_rank<2>(y) == layer(matrix(x))));
  const matrix dx = layer.adjoint(as_rank<2>(y));
  BOOST_TEST((dx == layer.adjoint(matrix(y))));
}

BOOST_AUTO_TEST_SUITE_END()
