// The rows of a sparse matrix in compressed-row storage (CSR) on one worker, and their products with vectors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace partita::detail {

/// A part of a worker's rows in compressed-row storage. The column number of an entry is the row, in a block of x, by
/// which the entry is multiplied. A product reads one column number per value: 32 bits save memory bandwidth.
template <class T>
struct compressed_rows {
  static constexpr std::size_t most_columns = std::size_t{1} << 32U;  ///< column numbers have 32 bits

  std::vector<std::size_t> row_starts{0};    ///< the number of each row's first entry, then that of all entries
  std::vector<std::size_t> nonempty_rows{};  ///< the rows that have entries
  std::vector<std::uint32_t> columns{};      ///< the column number of each entry
  std::vector<T> values{};                   ///< the value of each entry

  std::size_t row_count() const { return row_starts.size() - 1; }  ///< the number of completed rows
  /// Adds an entry to the last row, which end_row() completes.
  void add(std::size_t column, const T& v) {
    columns.push_back(static_cast<std::uint32_t>(column)), values.push_back(v);
  }
  void end_row() {  // completes a row; an entry that is added next is in the next row
    if (columns.size() != row_starts.back()) nonempty_rows.push_back(row_count());
    row_starts.push_back(columns.size());
  }

  /// Adds the product of this matrix and the block x to y. x and y have `width` elements in each row. If `width` is 1
  /// and all rows have entries, nonempty_rows is not read, because reading it would delay each row.
  void multiply(const T* x, T* y, std::size_t width) const {
    const std::size_t *const end = row_starts.data() + 1, n = row_count();
    std::size_t k = 0;
    if (width == 1 && nonempty_rows.size() == n) {
      for (std::size_t i = 0; i < n; ++i) y[i] += row_product(values.data(), columns.data(), x, k, end[i]);
    } else if (width == 1) {
      for (const std::size_t i : nonempty_rows) y[i] += row_product(values.data(), columns.data(), x, k, end[i]);
    } else {
      for (const std::size_t i : nonempty_rows)
        for (; k < end[i]; ++k)
          for (std::size_t c = 0; c < width; ++c) y[i * width + c] += values[k] * x[columns[k] * width + c];
    }
  }
  /// Adds the product of the transposed matrix and the block y to x.
  void multiply_transposed(const T* y, T* x, std::size_t width) const {
    for (const std::size_t i : nonempty_rows)
      for (std::size_t k = row_starts[i]; k < row_starts[i + 1]; ++k)
        for (std::size_t c = 0; c < width; ++c) x[columns[k] * width + c] += values[k] * y[i * width + c];
  }

 private:
  /// The sum of the products of entries k, k + 1, ..., last - 1 and the elements of x in their columns; k becomes
  /// `last`. Four products are added up before they are added to the sum, because each addition to the sum waits for
  /// the previous one: this loop takes 0.6 to 0.9 of the time of separate additions (bench nas_cg).
  static T row_product(const T* v, const std::uint32_t* j, const T* x, std::size_t& k, std::size_t last) {
    T sum{};
    for (; k + 3 < last; k += 4)
      sum += (v[k] * x[j[k]] + v[k + 1] * x[j[k + 1]]) + (v[k + 2] * x[j[k + 2]] + v[k + 3] * x[j[k + 3]]);
    for (; k < last; ++k) sum += v[k] * x[j[k]];
    return sum;
  }
};

}  // namespace partita::detail
