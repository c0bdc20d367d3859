// Memory of others as arrays: pointers with strides, ranges with extents, Eigen's matrices, spans of dimensions.
#include <partita/array/as_rank_of_memory.hpp>

#include <boost/test/unit_test.hpp>
#include <numeric>
#include <span>
#include <vector>
#if __has_include(<eigen3/Eigen/Core>)
#include <eigen3/Eigen/Core>
#endif

namespace {
using namespace partita;
using matrix = xt::xtensor<double, 2>;

std::vector<double> counted(std::size_t n) {
  std::vector<double> v(n);
  std::iota(v.begin(), v.end(), 0.0);
  return v;
}

/// What of std::mdspan is asked for: C++20 has none.
struct span_of_rows {
  double* first;
  std::size_t rows, columns, step;
  static constexpr std::size_t rank() { return 2; }
  double* data_handle() const { return first; }
  std::size_t extent(std::size_t d) const { return d == 0 ? rows : columns; }
  std::size_t stride(std::size_t d) const { return d == 0 ? step : 1; }
};
}  // namespace

BOOST_AUTO_TEST_SUITE(as_rank_of_memory)

BOOST_AUTO_TEST_CASE(a_pointer_with_extents_is_read_and_written_where_it_is) {
  auto v = counted(12);
  auto a = as_rank<2>(v.data(), {2, 3});
  BOOST_TEST((a == matrix{{0, 1, 2}, {3, 4, 5}}));
  a(1, 2) = 50;
  BOOST_TEST(v[5] == 50);
  BOOST_TEST((as_rank<2>(v.data(), {2, 2}, {6, 2}) == matrix{{0, 2}, {6, 8}}));   // every second of every second row
  BOOST_TEST((as_rank<2>(v.data(), {2, 2}, {1, 4}) == matrix{{0, 4}, {1, 50}}));  // by columns, four apart
  BOOST_TEST((as_rank<1>(v.data() + 4, {3}, {-2}) == xt::xtensor<double, 1>{4, 2, 0}));
  const double* const read_only = v.data();
  BOOST_TEST((as_rank<3>(read_only, {1, 2, 2}) == xt::xtensor<double, 3>{{{0, 1}, {2, 3}}}));
  BOOST_TEST(as_rank<2>(static_cast<double*>(nullptr), {0, 5}).size() == 0U);
}

BOOST_AUTO_TEST_CASE(a_range_takes_extents_of_its_size) {
  auto v = counted(6);
  BOOST_TEST((as_rank<2>(v, {3, 2}) == matrix{{0, 1}, {2, 3}, {4, 5}}));
  BOOST_TEST((as_rank<2>(std::span(v).subspan(2), {2, 2}) == matrix{{2, 3}, {4, 5}}));
  BOOST_CHECK_THROW(as_rank<2>(v, {2, 2}), shape_error);
  BOOST_CHECK_THROW(as_rank<2>(v, {4, 2}), shape_error);
}

BOOST_AUTO_TEST_CASE(a_span_of_dimensions_keeps_its_strides) {
  auto v = counted(12);
  span_of_rows rows{v.data(), 2, 3, 5};
  BOOST_TEST((as_rank<2>(rows) == matrix{{0, 1, 2}, {5, 6, 7}}));
  as_rank<2>(rows)(1, 0) = -1;
  BOOST_TEST(v[5] == -1);
}

#if __has_include(<eigen3/Eigen/Core>)
BOOST_AUTO_TEST_CASE(eigen_matrices_and_maps_by_rows_and_by_columns) {
  Eigen::MatrixXd by_columns(2, 3);
  by_columns << 0, 1, 2, 3, 4, 5;
  BOOST_TEST((as_rank<2>(by_columns) == matrix{{0, 1, 2}, {3, 4, 5}}));
  as_rank<2>(by_columns)(0, 2) = 20;
  BOOST_TEST(by_columns(0, 2) == 20);
  const Eigen::Matrix<double, 2, 2, Eigen::RowMajor> by_rows{{1, 2}, {3, 4}};
  BOOST_TEST((as_rank<2>(by_rows) == matrix{{1, 2}, {3, 4}}));
  auto v = counted(12);
  Eigen::Map<Eigen::MatrixXd, 0, Eigen::OuterStride<>> map(v.data(), 2, 3, Eigen::OuterStride<>(4));
  BOOST_TEST((as_rank<2>(map) == matrix{{0, 4, 8}, {1, 5, 9}}));
}
#endif

BOOST_AUTO_TEST_SUITE_END()
