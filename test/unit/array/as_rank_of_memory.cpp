// as_rank of other memory: pointers with strides, ranges with extents, Eigen's matrices, spans of extents.
#include <partita/array/as_rank_of_memory.hpp>

#include <boost/test/unit_test.hpp>
#include <numeric>
#include <refused.hpp>
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

/// What of Eigen is asked for: matrices by columns that own their elements, and blocks of them, which do not.
struct small_block;
template <int Columns>
struct small_matrix {
  using PlainObject = small_matrix;
  enum { RowsAtCompileTime = -1, ColsAtCompileTime = Columns };
  std::vector<double> elements;
  long height;
  double* data() { return elements.data(); }
  const double* data() const { return elements.data(); }
  long rows() const { return height; }
  long cols() const { return static_cast<long>(elements.size()) / height; }
  long rowStride() const { return 1; }
  long colStride() const { return height; }
  small_block block(long at, long height_of_block);
};
struct small_block {
  using PlainObject = small_matrix<-1>;
  enum { RowsAtCompileTime = -1, ColsAtCompileTime = -1 };
  double* first;
  long height, width, leading;
  double* data() const { return first; }
  long rows() const { return height; }
  long cols() const { return width; }
  long rowStride() const { return 1; }
  long colStride() const { return leading; }
};
/// A row of a matrix by columns.
struct small_row : small_block {
  enum { RowsAtCompileTime = 1 };
};
template <int Columns>
small_block small_matrix<Columns>::block(long at, long height_of_block) {
  return {elements.data() + at, height_of_block, cols(), height};
}
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

BOOST_AUTO_TEST_CASE(extents_and_strides_are_of_any_integer_type) {
  auto v = counted(12);
  const matrix expected{{0, 1, 2}, {6, 7, 8}};
  const std::array<std::size_t, 2> n{2, 3}, strides{6, 1};
  const std::array<int, 2> small{2, 3}, small_strides{6, 1};
  const long old[] = {2, 3};
  const int rows = 2, leading = 6;
  BOOST_TEST((as_rank<2>(v.data(), n, strides) == expected));
  BOOST_TEST((as_rank<2>(v.data(), small, small_strides) == expected));
  BOOST_TEST((as_rank<2>(v.data(), old, {leading, 1U}) == expected));
  BOOST_TEST((as_rank<2>(v.data(), {rows, 3U}, strides) == expected));
  BOOST_TEST((as_rank<2>(v.data(), extents(rows, 3), strides) == expected));
  BOOST_TEST((as_rank<2>(v, {4 * rows - 4, 3}) == as_rank<2>(v.data(), extents<4, 3>{})));
  const int none = -1;
  BOOST_CHECK_THROW(as_rank<2>(v.data(), {none, 3}), shape_error);
}

BOOST_AUTO_TEST_CASE(a_range_takes_extents_of_its_size) {
  auto v = counted(6);
  BOOST_TEST((as_rank<2>(v, {3, 2}) == matrix{{0, 1}, {2, 3}, {4, 5}}));
  BOOST_TEST((as_rank<2>(std::span(v).subspan(2), {2, 2}) == matrix{{2, 3}, {4, 5}}));
  BOOST_CHECK_THROW(as_rank<2>(v, {2, 2}), shape_error);
  BOOST_CHECK_THROW(as_rank<2>(v, {4, 2}), shape_error);
  BOOST_TEST(
      test::refused<shape_error>([&] {
        as_rank<2>(v, {7, 2});
      }) ==
      "partita::as_rank<2>(range, extents): requires as many elements as the extents [7, 2] have places (14), got "
      "6; give other extents");
  BOOST_TEST(test::refused<shape_error>([&] {
               as_rank<2>(v, {std::size_t{1} << 32, std::size_t{1} << 32});
             }).find("partita::as_rank<Rank>(range, extents): requires a product of extents") == 0U);
}

BOOST_AUTO_TEST_CASE(a_span_of_dimensions_keeps_its_strides) {
  auto v = counted(12);
  span_of_rows rows{v.data(), 2, 3, 5};
  BOOST_TEST((as_rank<2>(rows) == matrix{{0, 1, 2}, {5, 6, 7}}));
  as_rank<2>(rows)(1, 0) = -1;
  BOOST_TEST(v[5] == -1);
  as_rank<2>(span_of_rows{v.data() + 1, 2, 2, 5})(1, 1) = -7;  // as submdspan gives one: a temporary
  BOOST_TEST(v[7] == -7);
}

BOOST_AUTO_TEST_CASE(a_temporary_view_of_a_matrix_refers_and_a_temporary_matrix_is_copied) {
  small_matrix<-1> m{counted(6), 3};
  BOOST_TEST((as_rank<2>(m) == matrix{{0, 3}, {1, 4}, {2, 5}}));
  BOOST_TEST((as_rank<2>(m.block(1, 2)) == matrix{{1, 4}, {2, 5}}));
  as_rank<2>(m.block(1, 2))(1, 1) = -1;
  BOOST_TEST(m.elements[5] == -1);
  const auto kept = as_rank<2>(small_matrix<-1>{counted(4), 2});
  static_assert(std::is_same_v<decltype(kept), const matrix>);
  BOOST_TEST((kept == matrix{{0, 2}, {1, 3}}));
}

BOOST_AUTO_TEST_CASE(a_vector_by_its_type_is_of_rank_1_or_2) {
  small_matrix<1> column{counted(3), 3};
  BOOST_TEST((as_rank<1>(column) == xt::xtensor<double, 1>{0, 1, 2}));
  as_rank<1>(column)(1) = 5;
  BOOST_TEST((as_rank<2>(column) == matrix{{0}, {5}, {2}}));
  auto v = counted(6);
  const small_row row{{v.data() + 1, 1, 3, 2}};
  BOOST_TEST((as_rank<1>(row) == xt::xtensor<double, 1>{1, 3, 5}));
  as_rank<1>(row)(2) = 7;
  BOOST_TEST((as_rank<2>(row) == matrix{{1, 3, 7}}));
  BOOST_TEST(v[5] == 7);
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
  BOOST_TEST((as_rank<2>(Eigen::Map<Eigen::MatrixXd>(v.data(), 2, 2)) == matrix{{0, 2}, {1, 3}}));
  as_rank<2>(by_columns.block(0, 1, 2, 2))(1, 1) = 50;
  BOOST_TEST(by_columns(1, 2) == 50);
  BOOST_TEST((as_rank<2>(Eigen::MatrixXd(by_columns + by_columns))(0, 1) == 2.0));
  Eigen::VectorXd three(3);
  three << 0, 1, 2;
  BOOST_TEST((as_rank<1>(three) == xt::xtensor<double, 1>{0, 1, 2}));
  BOOST_TEST((as_rank<1>(by_columns.row(1)) == xt::xtensor<double, 1>{3, 4, 50}));
}
#endif

BOOST_AUTO_TEST_SUITE_END()
