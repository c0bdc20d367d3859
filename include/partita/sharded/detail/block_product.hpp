// Products and sums of blocks over the factors (indices) of a sharding rule: products of floating-point elements by
// matrix products if the factors form matrices, everything else by loops.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <partita/array/gemm.hpp>
#include <partita/array/real_part.hpp>
#include <partita/core/config.hpp>
#include <partita/rule/sharding/bound.hpp>
#include <partita/sharded/detail/reshard_block.hpp>
#include <type_traits>

namespace partita::detail {

/// The strides, in elements, of a block of one tensor of a rule along each factor; 0 if the tensor lacks the factor.
struct factor_strides {
  std::ptrdiff_t by_factor[most_factors] = {};  ///< the stride along each factor
  bool has_factor[most_factors] = {};           ///< whether the tensor has the factor

  /// For a block of shape `block` of tensor t of rule r; also writes the extents of the tensor's factors to `extent`.
  PARTITA_DECL factor_strides(const rule& r, std::size_t t, const shape_list& block, std::size_t* extent);
};

using factor_list = short_list<std::size_t>;  ///< numbers of factors of a rule

/// The factors of the dimensions of tensor t of a rule, in order.
PARTITA_DECL factor_list ordered_factors(const rule& r, std::size_t t);

/// Computes y = x, summed over the factors that y lacks and repeated over the factors that x lacks, for blocks of
/// these shapes.
template <class T>
class block_sum_or_repeat {
 public:
  block_sum_or_repeat(const rule& r, const shape_list& x, const shape_list& y) : size_(shape_size(y)) {
    std::size_t extent[most_factors] = {};
    const factor_strides to(r, 1, y, extent), from(r, 0, x, extent);
    const auto add_loop = [&](std::size_t f) {
      loops_.push_back(extent[f]);
      steps_[0].push_back(to.by_factor[f]);
      steps_[1].push_back(from.by_factor[f]);
    };
    for (const std::size_t f : ordered_factors(r, 0))
      if (!to.has_factor[f]) add_loop(f), is_sum_ = true;
    for (const std::size_t f : ordered_factors(r, 1)) add_loop(f);
  }
  void operator()(const T* const* x, T* y) const {
    std::fill_n(y, size_, T(0));
    const std::size_t last = loops_.size();
    const std::ptrdiff_t sy = last == 0 ? 0 : steps_[0][last - 1], sx = last == 0 ? 0 : steps_[1][last - 1];
    for_each_row(loops_, steps_, [&](const std::ptrdiff_t* at, std::size_t n) {
      T* to = y + at[0];
      const T* from = x[0] + at[1];
      if (!is_sum_)
        for (std::size_t k = 0; k < n; ++k, to += sy, from += sx) *to = *from;
      else
        for (std::size_t k = 0; k < n; ++k, to += sy, from += sx) *to = static_cast<T>(*to + *from);
    });
  }

 private:
  std::size_t size_;                                 ///< the number of elements of y
  shape_list loops_;                                 ///< the extents of the loops, each over a factor
  std::array<short_list<std::ptrdiff_t>, 2> steps_;  ///< the strides of y and of x in these loops
  bool is_sum_ = false;                              ///< whether y lacks a factor of x
};

/// One tensor of a product, viewed as a batch of matrices. Rows and columns are merged from factors; the tensor is
/// packed if its strides do not allow merging, or if it is a result whose columns are not contiguous.
template <class T>
class matrix_form {
 public:
  matrix_form() = default;  ///< without a tensor, until it is assigned
  matrix_form(const factor_list& batch, const factor_list& rows, const factor_list& columns, const std::size_t* extent,
              const factor_strides& strides, bool result) {
    matrix_.shape = {extent_product(rows, extent), extent_product(columns, extent)};
    const auto last = [&](const factor_list& f) { return f.empty() ? 1 : strides.by_factor[f[f.size() - 1]]; };
    const bool has_unit_columns = !result || matrix_.shape[1] <= 1 || last(columns) == 1;
    if (can_merge_factors(rows, extent, strides.by_factor) && can_merge_factors(columns, extent, strides.by_factor) &&
        has_unit_columns) {
      matrix_.strides = {last(rows), last(columns)};
      for (const std::size_t f : batch) batch_strides.push_back(strides.by_factor[f]);
      return;
    }
    shape_list shape;
    for (const auto* part : {&batch, &rows, &columns})
      for (const std::size_t f : *part) {
        shape.push_back(extent[f]);
        tensor_steps_.push_back(strides.by_factor[f]);
      }
    packed_ = tensor_block<T>(shape);
    matrix_.strides = {static_cast<std::ptrdiff_t>(matrix_.shape[1]), 1};
    std::ptrdiff_t next = static_cast<std::ptrdiff_t>(matrix_.size());
    batch_strides = short_list<std::ptrdiff_t>::filled(batch.size(), 0);
    for (std::size_t k = batch.size(); k-- > 0;) {
      batch_strides[k] = next;
      next *= static_cast<std::ptrdiff_t>(extent[batch[k]]);
    }
  }
  /// The first matrix of a tensor at address `data`, or of its packed copy, which pack() must fill before it is read.
  strided<T, 2> first(T* data) const {
    strided<T, 2> m = matrix_;
    m.data = packed_.memory ? packed_.data() : data;
    return m;
  }
  /// Copies the tensor at `data` to the packed matrices; does nothing if the tensor is not packed.
  void pack(const T* data) const {
    for_each_packed_row([&](T* block, std::ptrdiff_t s, std::ptrdiff_t at, std::ptrdiff_t t, std::size_t n) {
      const T* from = data + at;
      for (std::size_t k = 0; k < n; ++k, block += s, from += t) *block = *from;
    });
  }
  void unpack(T* data) const {  ///< copies the packed matrices to the tensor at `data`, if it is packed
    for_each_packed_row([&](const T* block, std::ptrdiff_t s, std::ptrdiff_t at, std::ptrdiff_t t, std::size_t n) {
      T* to = data + at;
      for (std::size_t k = 0; k < n; ++k, block += s, to += t) *to = *block;
    });
  }

  short_list<std::ptrdiff_t> batch_strides;  ///< strides to the next matrix, along each factor of the batch

 private:
  /// Whether the strides allow merging all of these factors into one dimension, as in a dense array.
  static bool can_merge_factors(const factor_list& factors, const std::size_t* extent, const std::ptrdiff_t* step) {
    for (std::size_t k = 0; k + 1 < factors.size(); ++k)
      if (step[factors[k]] != step[factors[k + 1]] * static_cast<std::ptrdiff_t>(extent[factors[k + 1]])) return false;
    return true;
  }
  static std::size_t extent_product(const factor_list& factors, const std::size_t* extent) {  ///< of these factors
    std::size_t n = 1;
    for (const std::size_t f : factors) n *= extent[f];
    return n;
  }
  template <class Row>
  void for_each_packed_row(Row row) const {  ///< row(packed address, its stride, offset in the tensor, its stride, n)
    if (!packed_.memory) return;
    const std::array steps{strides_of(packed_.shape), tensor_steps_};
    const std::size_t last = packed_.shape.size();
    const std::ptrdiff_t s0 = last == 0 ? 0 : steps[0][last - 1], s1 = last == 0 ? 0 : steps[1][last - 1];
    for_each_row(packed_.shape, steps,
                 [&](const std::ptrdiff_t* at, std::size_t n) { row(packed_.data() + at[0], s0, at[1], s1, n); });
  }

  strided<T, 2> matrix_{};                   ///< the shape and the strides of one matrix
  tensor_block<T> packed_;                   ///< memory for the packed matrices; none if the tensor is not packed
  short_list<std::ptrdiff_t> tensor_steps_;  ///< the strides of the tensor in the order of the dimensions of packed_
};

/// Whether tensors of T are multiplied by BLAS, which may sum in any order: T, or its real part, is a floating-point
/// type.
template <class T>
inline constexpr bool uses_blas = std::is_floating_point_v<real_of<T>>;

/// A function that computes c = a b + beta c by BLAS.
template <class T>
using matrix_product = void (*)(const strided<const T, 2>& a, const strided<const T, 2>& b, T beta,
                                const strided<T, 2>& c);
/// A pointer to the matrix product in use. Code in headers sets this pointer before tensors are first multiplied, so
/// that the compiled core, whose functions call the product, does not depend on BLAS.
template <class T>
std::atomic<matrix_product<T>>& matrix_product_in_use() {
  static constinit std::atomic<matrix_product<T>> used{nullptr};
  return used;
}
/// Sets the matrix product for tensors of T. bind_operation() calls this function for each operation that needs BLAS.
template <class T>
void multiply_by_blas() {
  if constexpr (uses_blas<T>) matrix_product_in_use<T>().store(&multiply<T>, std::memory_order_relaxed);
}

/// Computes c = the sum of a b over the factors that c lacks, for blocks of given shapes. If uses_blas<T> holds and the
/// factors form matrices, matrix products are used: factors of a and c are rows, factors of b and c columns, factors of
/// a and b alone are summed, and factors of all three are batches. For integers, and if the factors form no matrices,
/// loops are used.
template <class T>
class block_product {
 public:
  block_product(const rule& r, const shape_list& a, const shape_list& b, const shape_list& c) : size_(shape_size(c)) {
    std::size_t extent[most_factors] = {};
    const factor_strides strides_c(r, 2, c, extent), strides_a(r, 0, a, extent), strides_b(r, 1, b, extent);
    factor_list batch, rows, columns, summed;
    is_blas_product_ = uses_blas<T>;
    for (const std::size_t f : ordered_factors(r, 2)) {
      if (strides_a.has_factor[f] && strides_b.has_factor[f]) batch.push_back(f);
      else if (strides_a.has_factor[f]) rows.push_back(f);
      else if (strides_b.has_factor[f]) columns.push_back(f);
      else is_blas_product_ = false;
    }
    for (const std::size_t f : ordered_factors(r, 0))
      if (!strides_c.has_factor[f] && strides_b.has_factor[f]) summed.push_back(f);
      else if (!strides_c.has_factor[f]) is_blas_product_ = false;
    for (const std::size_t f : ordered_factors(r, 1))
      if (!strides_c.has_factor[f] && !strides_a.has_factor[f]) is_blas_product_ = false;
    if (is_blas_product_) {
      const auto unit = [&](const factor_list& f) { return !f.empty() && strides_c.by_factor[f[f.size() - 1]] == 1; };
      are_operands_swapped_ = unit(rows) && !unit(columns);  // computes c^T = b^T a^T, which needs no unpacking of c
      const factor_list &down = are_operands_swapped_ ? columns : rows,
                        &across = are_operands_swapped_ ? rows : columns;
      a_ = matrix_form<T>(batch, down, summed, extent, are_operands_swapped_ ? strides_b : strides_a, false);
      b_ = matrix_form<T>(batch, summed, across, extent, are_operands_swapped_ ? strides_a : strides_b, false);
      result_ = matrix_form<T>(batch, down, across, extent, strides_c, true);
      for (const std::size_t f : batch) loops_.push_back(extent[f]);
      loops_.push_back(1);
      steps_ = {result_.batch_strides, a_.batch_strides, b_.batch_strides};
      for (auto& s : steps_) s.push_back(0);
      multiply_adds_ = static_cast<double>(size_) * static_cast<double>(a_.first(nullptr).shape[1]);
      return;
    }
    const auto add_loop = [&](std::size_t f) {
      loops_.push_back(extent[f]);
      steps_[0].push_back(strides_c.by_factor[f]), steps_[1].push_back(strides_a.by_factor[f]),
          steps_[2].push_back(strides_b.by_factor[f]);
    };
    for (std::size_t f = 0; f < r.factor_count; ++f)
      if ((strides_a.has_factor[f] || strides_b.has_factor[f]) && !strides_c.has_factor[f]) add_loop(f);
    for (const std::size_t f : ordered_factors(r, 2)) add_loop(f);
    multiply_adds_ = static_cast<double>(shape_size(loops_));
  }
  double multiply_adds() const { return multiply_adds_; }  ///< the multiply-adds of one execution
  void operator()(const T* const* ab, T* c) const {
    if constexpr (uses_blas<T>)
      if (is_blas_product_)
        return multiply_with_gemm(ab[are_operands_swapped_ ? 1 : 0], ab[are_operands_swapped_ ? 0 : 1], c);
    std::fill_n(c, size_, T(0));
    const std::size_t last = loops_.size();
    std::ptrdiff_t s[3] = {};
    for (std::size_t k = 0; k < 3 && last > 0; ++k) s[k] = steps_[k][last - 1];
    for_each_row(loops_, steps_, [&](const std::ptrdiff_t* at, std::size_t n) {
      T* y = c + at[0];
      const T *x = ab[0] + at[1], *w = ab[1] + at[2];
      for (std::size_t k = 0; k < n; ++k, y += s[0], x += s[1], w += s[2]) *y = static_cast<T>(*y + *x * *w);
    });
  }

 private:
  void multiply_with_gemm(const T* a, const T* b, T* c) const {  ///< computes c by BLAS, in panels of rows
    a_.pack(a);
    b_.pack(b);
    const strided<T, 2> x = a_.first(const_cast<T*>(a)), w = b_.first(const_cast<T*>(b)), y = result_.first(c);
    const matrix_product<T> product = matrix_product_in_use<T>().load(std::memory_order_relaxed);
    // Long products are computed in panels of rows, so that pending movements advance between two panels. The division
    // into panels does not depend on the movements.
    const std::size_t rows = y.shape[0], panel = panel_rows(rows, x.shape[1], y.shape[1]);
    for_each_row(loops_, steps_, [&](const std::ptrdiff_t* at, std::size_t) {
      for (std::size_t first = 0, n = panel; first < rows; first += n) {
        if (rows - first < 2 * panel) n = rows - first;
        const auto down = static_cast<std::ptrdiff_t>(first);
        product(strided<const T, 2>{x.data + at[1] + down * x.strides[0], {n, x.shape[1]}, x.strides},
                strided<const T, 2>{w.data + at[2], w.shape, w.strides}, T(0),
                strided<T, 2>{y.data + at[0] + down * y.strides[0], {n, y.shape[1]}, y.strides});
        if (run_state.pending != nullptr) run_state.pending->advance();
      }
    });
    result_.unpack(c);
  }

  /// The number of rows of a panel: a multiple of 128 for which the panel takes some milliseconds on a core, or all
  /// rows if they are fewer.
  static std::size_t panel_rows(std::size_t rows, std::size_t inner, std::size_t columns) {
    constexpr std::size_t of_panel = std::size_t{1} << 26;  // chosen: multiply-adds of a panel
    const std::size_t row = inner * columns > 0 ? inner * columns : 1;
    const std::size_t least = (of_panel / row + 127) / 128 * 128;
    return least == 0 ? 128 : least < rows ? least : rows > 0 ? rows : 1;
  }

  std::size_t size_;                                     ///< the number of elements of c
  double multiply_adds_ = 0;                             ///< see multiply_adds()
  bool is_blas_product_, are_operands_swapped_ = false;  ///< whether BLAS is used; whether it computes c^T = b^T a^T
  matrix_form<T> a_, b_, result_;                        ///< for BLAS; a_ is b if the operands are swapped
  shape_list loops_;                                     ///< extents: of the batch, or without BLAS of all factors
  std::array<short_list<std::ptrdiff_t>, 3> steps_;      ///< the strides of c, a and b in these loops
};

#define PARTITA_INSTANTIATE_MATRIX_PRODUCT(EXTERN, T) \
  EXTERN template std::atomic<matrix_product<T>>& matrix_product_in_use<T>();
PARTITA_FOR_EACH_USUAL_ELEMENT(PARTITA_INSTANTIATE_MATRIX_PRODUCT, extern)

}  // namespace partita::detail

#ifndef PARTITA_CORE
#include <partita/sharded/detail/impl/block_product.ipp>
#endif
