// Products of any shape, whichever way BLAS is asked for them: integers, so equal to the sums written out.
#include <boost/test/unit_test.hpp>
#include <partita/array/gemm.hpp>

namespace {

using namespace partita;

xt::xtensor<double, 2> integers(std::size_t rows, std::size_t columns, std::size_t seed) {
  xt::xtensor<double, 2> m({rows, columns});
  for (std::size_t k = 0; k < m.size(); ++k) m.data()[k] = static_cast<double>((k * 7 + seed) % 5) - 2;
  return m;
}

/// Compares c = a b + beta c (or c = a b + row) with the sums, at some places.
bool right(const strided<const double, 2>& a, const strided<const double, 2>& b, double beta, const double* row = nullptr) {
  const std::size_t m = a.shape[0], n = b.shape[1];
  xt::xtensor<double, 2> wide = integers(m, n + 3, 1);
  const xt::xtensor<double, 2> before = wide;
  auto c = block_of(wide);
  c.shape[1] = n;
  if (row != nullptr) multiply_and_add_row<double>(a, b, row, c);
  else multiply<double>(a, b, beta, c);
  const auto at = [](const strided<const double, 2>& x, std::size_t i, std::size_t j) {
    return x.data[static_cast<std::ptrdiff_t>(i) * x.strides[0] + static_cast<std::ptrdiff_t>(j) * x.strides[1]];
  };
  for (std::size_t i = 0; i < m; i += 1 + m / 5) {
    for (std::size_t j = 0; j < n; j += 1 + n / 9) {
      double sum = row != nullptr ? row[j] : beta * before(i, j);
      for (std::size_t k = 0; k < a.shape[1]; ++k) sum += at(a, i, k) * at(b, k, j);
      if (wide(i, j) != sum) return false;
    }
    for (std::size_t j = n; j < n + 3; ++j)
      if (wide(i, j) != before(i, j)) return false;
  }
  return true;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(matrix_products)

BOOST_AUTO_TEST_CASE(one_row_few_rows_and_many_rows_are_the_same_sums) {
  for (const std::size_t m : {1U, 2U, 7U, 64U, 65U})
    for (const auto& [k, n] : {std::array<std::size_t, 2>{3, 1}, {1, 4}, {513, 600}, {600, 437}})
      for (const double beta : {0.0, 1.0}) {
        const auto a = integers(m, k, 2), a_turned = integers(k, m, 2), b = integers(k, n, 3), b_turned = integers(n, k, 3);
        BOOST_TEST(right(block_of(a), block_of(b), beta));
        BOOST_TEST(right(block_of(a), transposed<const double>(block_of(b_turned)), beta));
        BOOST_TEST(right(transposed<const double>(block_of(a_turned)), transposed<const double>(block_of(b_turned)), beta));
        BOOST_TEST(right(transposed<const double>(block_of(a_turned)), block_of(b), beta));
        const auto row = integers(1, n, 4);
        BOOST_TEST(right(block_of(a), block_of(b), 0, row.data()));
        BOOST_TEST(right(block_of(a), transposed<const double>(block_of(b_turned)), 0, row.data()));
      }
}

BOOST_AUTO_TEST_CASE(no_extent_gives_nothing_or_zeros) {
  const auto a = integers(2, 0, 1), b = integers(0, 3, 1);
  BOOST_TEST(right(block_of(a), block_of(b), 0));
  BOOST_TEST(right(block_of(a), block_of(b), 1));
  const auto row = integers(1, 3, 4);
  BOOST_TEST(right(block_of(a), block_of(b), 0, row.data()));
}

BOOST_AUTO_TEST_SUITE_END()
