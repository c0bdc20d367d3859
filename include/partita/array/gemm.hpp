// Matrix products by BLAS on strided memory in place. No other header uses xtensor-blas.
//
// The header includes the parts of xtensor-blas' CxxBLAS that a product of matrices needs, because all of it
// (xblas.hpp) takes a quarter as long to compile as xtensor.
#pragma once

#include <algorithm>
#include <complex>
#include <cstddef>
#include <partita/array/expression.hpp>
#include <partita/array/strided.hpp>
#include <vector>

// The order of these includes is fixed: CxxBLAS' definitions need its declarations, and those need its settings.
// clang-format off
#include <xtensor-blas/xblas_config.hpp>
#include <xflens/cxxblas/cxxblas.h>
#include <xflens/cxxblas/auxiliary/auxiliary.tcc>
#include <xflens/cxxblas/drivers/drivers.tcc>
#include <xflens/cxxblas/level1/dot.tcc>
#include <xflens/cxxblas/level1/scal.tcc>
#include <xflens/cxxblas/level1extensions/gescal.tcc>
#include <xflens/cxxblas/level2/gemv.tcc>
#include <xflens/cxxblas/level2extensions/gemv.tcc>
#include <xflens/cxxblas/level3/gemm.tcc>
// clang-format on

namespace partita {

/// The transpose of a matrix: a view of the same memory with exchanged dimensions.
template <class T>
strided<T, 2> transposed(const strided<T, 2>& m) {
  return {m.data, {m.shape[1], m.shape[0]}, {m.strides[1], m.strides[0]}};
}

namespace detail {

/// A product with 2 to max_transposed_rows rows, whose right factor is the transpose of a matrix of at least
/// large_matrix elements, is computed as its transpose.
inline constexpr std::size_t max_transposed_rows = 64, large_matrix = std::size_t{1} << 18U;

/// A matrix in the form that BLAS needs: rows (or columns, with Trans) of unit stride. The matrix is copied if neither
/// its rows nor its columns have unit stride, or if these overlap or are in descending order in memory.
template <class T>
struct blas_operand {
  cxxblas::Transpose transpose = cxxblas::NoTrans;  ///< Trans if the columns, not the rows, have unit stride
  const T* data = nullptr;                          ///< the first element, in the matrix itself or in `packed`
  int leading_dimension = 1;                        ///< the distance of two rows (or columns, with Trans) in elements
  std::vector<T> packed;                            ///< the copy of the matrix, or empty

  explicit blas_operand(const strided<const T, 2>& m) {
    const auto [rows, columns] = m.shape;
    const auto unit = [&](std::size_t d) { return m.shape[d] <= 1 || m.strides[d] == 1; };
    const auto holds = [&](std::size_t d, std::size_t n) {
      return m.shape[d] <= 1 || m.strides[d] >= static_cast<std::ptrdiff_t>(n);
    };
    const auto step = [&](std::size_t d, std::size_t n) {
      return m.shape[d] <= 1 ? static_cast<int>(n > 0 ? n : 1) : static_cast<int>(m.strides[d]);
    };
    if (unit(1) && holds(0, columns)) {
      data = m.data;
      leading_dimension = step(0, columns);
    } else if (unit(0) && holds(1, rows)) {
      transpose = cxxblas::Trans;
      data = m.data;
      leading_dimension = step(1, rows);
    } else {
      packed.resize(rows * columns);
      copy<T, 2>(dense_block<T>(packed.data(), m.shape), m);
      data = packed.data();
      leading_dimension = static_cast<int>(columns > 0 ? columns : 1);
    }
  }
  blas_operand(const blas_operand&) = delete;
  blas_operand& operator=(const blas_operand&) = delete;
};

/// The term to which a product is added: beta times the existing result, or `row` in every row of the result.
template <class T>
struct row_and_beta {
  T beta{};                ///< the factor of the existing result, if `row` is null
  const T* row = nullptr;  ///< contiguous elements that are added to every row of the product, or null
};

/// Computes c = a b + the term `to`. Requires matching shapes and an `a` with at least one column.
template <class T>
void multiply_and_add(const strided<const T, 2>& a, const strided<const T, 2>& b, const row_and_beta<T>& to,
                      const strided<T, 2>& c) {
  const auto [m, n] = c.shape;
  const T* const row = to.row;
  const T beta = row != nullptr ? T(1) : to.beta;
  const blas_operand<T> left(a), right(b);
  if (right.transpose == cxxblas::Trans && m > 1 && m <= max_transposed_rows && b.size() >= large_matrix) {
    thread_local std::vector<T> transposed_result;  // memory kept for the next call, whose batch is often equally large
    transposed_result.resize(c.size());
    const auto t = dense_block<T, 2>(transposed_result.data(), {n, m});
    if (row != nullptr) {
      for (std::size_t j = 0; j < n; ++j) std::fill_n(t.data + j * m, m, row[j]);
    } else if (beta != T(0)) {
      copy<T, 2>(t, transposed<const T>(c));
    }
    cxxblas::gemm<int>(cxxblas::RowMajor, cxxblas::NoTrans,
                       left.transpose == cxxblas::NoTrans ? cxxblas::Trans : cxxblas::NoTrans, static_cast<int>(n),
                       static_cast<int>(m), static_cast<int>(a.shape[1]), T(1), right.data, right.leading_dimension,
                       left.data, left.leading_dimension, beta, t.data, static_cast<int>(m));
    copy<T, 2>(c, transposed<const T>(t));
    return;
  }
  if (row != nullptr)
    for (std::size_t i = 0; i < m; ++i) std::copy_n(row, n, c.data + static_cast<std::ptrdiff_t>(i) * c.strides[0]);
  if (m == 1) {
    // c^T = b^T a^T. If `is_untransposed`, rows of b are in memory and GEMV transposes b; if not, rows of b^T are.
    const bool is_untransposed = right.transpose == cxxblas::NoTrans;
    const int rows = static_cast<int>(b.shape[is_untransposed ? 0 : 1]),
              columns = static_cast<int>(b.shape[is_untransposed ? 1 : 0]);
    cxxblas::gemv<int>(cxxblas::RowMajor, is_untransposed ? cxxblas::Trans : cxxblas::NoTrans, rows, columns, T(1),
                       right.data, right.leading_dimension, left.data,
                       left.transpose == cxxblas::NoTrans ? 1 : left.leading_dimension, beta, c.data,
                       n <= 1 ? 1 : static_cast<int>(c.strides[1]));
    return;
  }
  cxxblas::gemm<int>(cxxblas::RowMajor, left.transpose, right.transpose, static_cast<int>(m), static_cast<int>(n),
                     static_cast<int>(a.shape[1]), T(1), left.data, left.leading_dimension, right.data,
                     right.leading_dimension, beta, c.data, static_cast<int>(c.strides[0]));
}

/// Throws a shape_error unless c has the shape of the product of a and b.
template <class T>
void require_matching_factors(const char* call, const strided<const T, 2>& a, const strided<const T, 2>& b,
                              const strided<T, 2>& c) {
  if (a.shape[1] != b.shape[0] || c.shape[0] != a.shape[0] || c.shape[1] != b.shape[1])
    throw shape_error(text(call) << ": requires a of m x k, b of k x n and c of m x n, got " << a.shape << ", "
                                 << b.shape << " and " << c.shape);
}

}  // namespace detail

/// Computes the matrix product c = a b + beta c. Requires matching shapes and rows of c of unit stride. Cost: one GEMM,
/// or one GEMV if c has a single row (GEMV reads b once, where GEMM would pack b first); a transposed operand is not
/// copied. A product of few rows and the transpose of a large matrix is computed as c^T = b^T a^T and transposed back,
/// because OpenBLAS then packs the smaller side (1.0 to 3.3 times faster where measured; docs/performance-linear.md).
template <class T>
void multiply(const strided<const T, 2>& a, const strided<const T, 2>& b, T beta, const strided<T, 2>& c) {
  detail::require_matching_factors("partita::multiply(a, b, beta, c)", a, b, c);
  if (c.size() == 0) return;
  if (a.shape[1] != 0) return detail::multiply_and_add<T>(a, b, {.beta = beta}, c);
  for (std::size_t i = 0; i < c.shape[0]; ++i)
    for (std::size_t j = 0; j < c.shape[1]; ++j) {
      T& element =
          c.data[static_cast<std::ptrdiff_t>(i) * c.strides[0] + static_cast<std::ptrdiff_t>(j) * c.strides[1]];
      element = beta == T(0) ? T(0) : beta * element;
    }
}

/// c = a b + row, where the row (n elements) is added to every row of the product. Each row of the result is first set
/// to `row`, and BLAS adds the product.
template <class T>
void multiply_and_add_row(const strided<const T, 2>& a, const strided<const T, 2>& b, const T* row,
                          const strided<T, 2>& c) {
  detail::require_matching_factors("partita::multiply_and_add_row(a, b, row, c)", a, b, c);
  if (c.size() == 0) return;
  if (a.shape[1] != 0) return detail::multiply_and_add<T>(a, b, {.row = row}, c);
  for (std::size_t i = 0; i < c.shape[0]; ++i)
    std::copy_n(row, c.shape[1], c.data + static_cast<std::ptrdiff_t>(i) * c.strides[0]);
}

/// c = a conj(b) + beta c; for real elements, this is multiply(a, b, beta, c). Requires matching shapes and rows of c
/// of unit stride. Cost: one GEMM. BLAS conjugates a matrix only if it also transposes the matrix: if the columns of b
/// have unit stride, b is used in place. If the columns of b are not contiguous, the smaller of the matrices conj(b)
/// and c^T = b^H a^T is computed in a buffer of this thread.
template <class T>
void multiply_by_conjugate(const strided<const T, 2>& a, const strided<const T, 2>& b, T beta, const strided<T, 2>& c) {
  if constexpr (!detail::is_complex_number<T>) {
    multiply<T>(a, b, beta, c);
  } else {
    detail::require_matching_factors("partita::multiply_by_conjugate(a, b, beta, c)", a, b, c);
    const auto [m, n] = c.shape;
    const std::size_t k = a.shape[1];
    if (c.size() == 0 || k == 0) return multiply<T>(a, b, beta, c);
    const detail::blas_operand<T> left(a), right(b);
    thread_local std::vector<T> buffer;  // memory kept for the next call, whose matrices are often equally large
    if (right.transpose == cxxblas::Trans) {
      cxxblas::gemm<int>(cxxblas::RowMajor, left.transpose, cxxblas::ConjTrans, static_cast<int>(m),
                         static_cast<int>(n), static_cast<int>(k), T(1), left.data, left.leading_dimension, right.data,
                         right.leading_dimension, beta, c.data,
                         static_cast<int>(m == 1 ? n : static_cast<std::size_t>(c.strides[0])));
    } else if (m < k) {
      buffer.resize(n * m);
      const auto transposed_result = dense_block<T, 2>(buffer.data(), {n, m});
      if (beta != T(0)) copy<T, 2>(transposed_result, transposed<const T>(c));
      cxxblas::gemm<int>(cxxblas::RowMajor, cxxblas::ConjTrans,
                         left.transpose == cxxblas::NoTrans ? cxxblas::Trans : cxxblas::NoTrans, static_cast<int>(n),
                         static_cast<int>(m), static_cast<int>(k), T(1), right.data, right.leading_dimension, left.data,
                         left.leading_dimension, beta, transposed_result.data, static_cast<int>(m));
      copy<T, 2>(c, transposed<const T>(transposed_result));
    } else {
      buffer.resize(k * n);
      for (std::size_t i = 0; i < k; ++i)
        for (std::size_t j = 0; j < n; ++j)
          buffer[i * n + j] = std::conj(right.data[i * static_cast<std::size_t>(right.leading_dimension) + j]);
      multiply<T>(a, dense_block<const T, 2>(buffer.data(), b.shape), beta, c);
    }
  }
}

}  // namespace partita
