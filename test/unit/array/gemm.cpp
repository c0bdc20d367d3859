// Matrix products of all shapes by all calls of BLAS: of integers, so they exactly equal explicit sums.
#include <boost/test/unit_test.hpp>
#include <complex>
#include <limits>
#include <partita/array/gemm.hpp>
#include <refused.hpp>
#include <string>
#include <vector>

namespace {

using namespace partita;

xt::xtensor<double, 2> integers(std::size_t rows, std::size_t columns, std::size_t seed) {
  xt::xtensor<double, 2> m({rows, columns});
  for (std::size_t k = 0; k < m.size(); ++k) m.data()[k] = static_cast<double>((k * 7 + seed) % 5) - 2;
  return m;
}

/// Compares c = a b + beta c (or c = a b + row) with the sums, at some places.
bool right(const strided<const double, 2>& a, const strided<const double, 2>& b, double beta,
           const double* row = nullptr) {
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
        const auto a = integers(m, k, 2), a_turned = integers(k, m, 2), b = integers(k, n, 3),
                   b_turned = integers(n, k, 3);
        BOOST_TEST(right(block_of(a), block_of(b), beta));
        BOOST_TEST(right(block_of(a), transposed<const double>(block_of(b_turned)), beta));
        BOOST_TEST(
            right(transposed<const double>(block_of(a_turned)), transposed<const double>(block_of(b_turned)), beta));
        BOOST_TEST(right(transposed<const double>(block_of(a_turned)), block_of(b), beta));
        const auto row = integers(1, n, 4);
        BOOST_TEST(right(block_of(a), block_of(b), 0, row.data()));
        BOOST_TEST(right(block_of(a), transposed<const double>(block_of(b_turned)), 0, row.data()));
      }
}

BOOST_AUTO_TEST_CASE(factors_of_any_strides_are_multiplied) {
  const std::size_t m = 5, k = 4, n = 6;
  const auto memory = integers(9, 60, 2);
  for (const std::size_t rows : {m, std::size_t{1}})
    for (const std::ptrdiff_t down : {-7, -1, 0, 1, 2, 3, 4, 5, 8})
      for (const std::ptrdiff_t along : {-5, -1, 0, 1, 2, 3, 4, 5, 9}) {
        const double* const middle = memory.data() + 270;
        const strided<const double, 2> a{middle, {rows, k}, {down, along}}, b{middle + 7, {k, n}, {along, down}};
        const auto plain = integers(rows, k, 5), other = integers(k, n, 6);
        BOOST_TEST(right(a, block_of(other), 1), "a of strides " << down << " and " << along);
        BOOST_TEST(right(block_of(plain), b, 0), "b of strides " << along << " and " << down);
        BOOST_TEST(right(a, b, 1), "strides " << down << " and " << along);
      }
}

BOOST_AUTO_TEST_CASE(no_extent_gives_nothing_or_zeros) {
  const auto a = integers(2, 0, 1), b = integers(0, 3, 1);
  BOOST_TEST(right(block_of(a), block_of(b), 0));
  BOOST_TEST(right(block_of(a), block_of(b), 1));
  const auto row = integers(1, 3, 4);
  BOOST_TEST(right(block_of(a), block_of(b), 0, row.data()));
}

/// Memory that was never written may hold NaN.
BOOST_AUTO_TEST_CASE(what_the_result_held_before_does_not_count_without_beta) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const auto& [m, k, n] : {std::array<std::size_t, 3>{1, 0, 3},
                                {2, 0, 3},
                                {1, 3, 4},
                                {4, 3, 1},
                                {7, 3, 5},
                                {2, 513, 600}})  // the last one is computed as its transpose
    for (const bool is_turned : {false, true}) {
      const auto a = integers(m, k, 2), plain = integers(k, n, 3), turned = integers(n, k, 3), row = integers(1, n, 4);
      const auto b = is_turned ? transposed<const double>(block_of(turned)) : block_of(plain);
      xt::xtensor<double, 2> written = xt::full_like(integers(m, n, 1), nan), wanted = xt::zeros<double>({m, n});
      multiply<double>(block_of(a), b, 0, block_of(written));
      multiply<double>(block_of(a), b, 1, block_of(wanted));
      BOOST_TEST((written == wanted), m << " x " << k << " x " << n << ", turned " << is_turned);
      written.fill(nan);
      multiply_and_add_row<double>(block_of(a), b, row.data(), block_of(written));
      wanted += xt::row(row, 0);
      BOOST_TEST((written == wanted), m << " x " << k << " x " << n << " and a row, turned " << is_turned);
    }
}

BOOST_AUTO_TEST_CASE(factors_that_do_not_fit_are_refused) {
  const auto a = integers(2, 3, 1);
  for (std::size_t inner = 2; inner <= 4; ++inner)
    for (std::size_t rows = 1; rows <= 3; ++rows)
      for (std::size_t columns = 3; columns <= 5; ++columns) {
        const auto b = integers(inner, 4, 2);
        xt::xtensor<double, 2> c = integers(rows, columns, 3);
        const bool fits = inner == 3 && rows == 2 && columns == 4;
        const text words = text("requires a of m x k, b of k x n and c of m x n, got [2, 3], [")
                           << inner << ", 4] and [" << rows << ", " << columns << "]";
        const auto says = [&](auto call) {
          if (fits) BOOST_CHECK_NO_THROW(call());
          else test::expect_refused<shape_error>(call, words.c_str());
        };
        says([&] { multiply<double>(block_of(a), block_of(b), 0, block_of(c)); });
        const std::vector<double> row(columns, 1.0);
        says([&] { multiply_and_add_row<double>(block_of(a), block_of(b), row.data(), block_of(c)); });
      }
}

BOOST_AUTO_TEST_CASE(a_factor_is_conjugated_however_it_lies_in_memory) {
  using number = std::complex<double>;
  const auto complex_integers = [](std::size_t rows, std::size_t columns, std::size_t seed) {
    xt::xtensor<number, 2> m({rows, columns});
    for (std::size_t k = 0; k < m.size(); ++k)
      m.data()[k] = {static_cast<double>((k * 7 + seed) % 5) - 2, static_cast<double>((k * 3 + seed) % 7) - 3};
    return m;
  };
  struct sizes {
    std::size_t m, k, n;
  };
  for (const sizes& size : {sizes{1, 1, 1}, {1, 5, 3}, {4, 1, 6}, {3, 8, 5}, {8, 3, 5}, {0, 2, 3}, {2, 0, 3}}) {
    const std::size_t m = size.m, k = size.k, n = size.n;
    for (const number beta : {number(0), number(1), number(2, -1)}) {
      const auto a = complex_integers(m, k, 2), a_turned = complex_integers(k, m, 4), b = complex_integers(k, n, 3),
                 b_turned = complex_integers(n, k, 5), wide = complex_integers(2 * k, 2 * n, 6);
      const auto expect = [&](const strided<const number, 2>& left, const strided<const number, 2>& right) {
        xt::xtensor<number, 2> c = complex_integers(m, n, 1), wanted = c;
        const auto at = [](const strided<const number, 2>& x, std::size_t i, std::size_t j) {
          return *x.part({i, j}, {1, 1}).data;
        };
        for (std::size_t i = 0; i < m; ++i)
          for (std::size_t j = 0; j < n; ++j) {
            number sum = beta * c(i, j);
            for (std::size_t l = 0; l < k; ++l) sum += at(left, i, l) * std::conj(at(right, l, j));
            wanted(i, j) = sum;
          }
        multiply_by_conjugate<number>(left, right, beta, block_of(c));
        BOOST_TEST((c == wanted));
      };
      expect(block_of(a), block_of(b));
      expect(block_of(a), transposed<const number>(block_of(b_turned)));
      expect(transposed<const number>(block_of(a_turned)), block_of(b));
      expect(transposed<const number>(block_of(a_turned)), transposed<const number>(block_of(b_turned)));
      const auto every_second = xt::view(wide, xt::range(0, k), xt::range(0, 2 * n, 2));
      expect(block_of(a), block_of(every_second));
    }
  }
}

BOOST_AUTO_TEST_CASE(the_result_before_is_multiplied_by_any_beta) {
  for (const double beta : {-2.0, 0.5})
    for (const auto& [m, k, n] :
         {std::array<std::size_t, 3>{1, 3, 4}, {1, 0, 3}, {2, 0, 3}, {4, 3, 1}, {7, 3, 5}, {2, 513, 600}}) {
      const auto a = integers(m, k, 2), b = integers(k, n, 3), b_turned = integers(n, k, 3);
      BOOST_TEST(right(block_of(a), block_of(b), beta), m << " x " << k << " x " << n << ", beta " << beta);
      BOOST_TEST(right(block_of(a), transposed<const double>(block_of(b_turned)), beta),
                 m << " x " << k << " x " << n << ", turned, beta " << beta);
    }
}

BOOST_AUTO_TEST_CASE(the_error_names_the_call) {
  using number = std::complex<double>;
  const auto a = integers(2, 3, 1), b = integers(4, 5, 2);
  xt::xtensor<double, 2> c = integers(2, 5, 3);
  using shape_type = std::array<std::size_t, 2>;
  const xt::xtensor<number, 2> complex_a(shape_type{2, 3}), complex_b(shape_type{4, 5});
  xt::xtensor<number, 2> complex_c(shape_type{2, 5});
  const std::string end = ": requires a of m x k, b of k x n and c of m x n, got [2, 3], [4, 5] and [2, 5]";
  BOOST_TEST(test::refused<shape_error>([&] { multiply<double>(block_of(a), block_of(b), 0, block_of(c)); }) ==
             "partita::multiply(a, b, beta, c)" + end);
  BOOST_TEST(test::refused<shape_error>([&] {
               multiply_and_add_row<double>(block_of(a), block_of(b), b.data(), block_of(c));
             }) == "partita::multiply_and_add_row(a, b, row, c)" + end);
  BOOST_TEST(test::refused<shape_error>([&] {
               multiply_by_conjugate<double>(block_of(a), block_of(b), 0, block_of(c));
             }) == "partita::multiply(a, b, beta, c)" + end);
  BOOST_TEST(test::refused<shape_error>([&] {
               multiply_by_conjugate<number>(block_of(complex_a), block_of(complex_b), number(0), block_of(complex_c));
             }) == "partita::multiply_by_conjugate(a, b, beta, c)" + end);
}

BOOST_AUTO_TEST_SUITE_END()
