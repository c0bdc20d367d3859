// The arrays that kernels accept: a rank known at compile time and, for an array in memory, known strides.
#pragma once

#include <array>
#include <cstddef>
#include <partita/array/copy.hpp>
#include <partita/array/xtensor.hpp>
#include <partita/core/error.hpp>
#include <partita/rule/permute.hpp>
#include <tuple>
#include <type_traits>

namespace partita {

namespace detail {
/// Implements rank_of.
template <class E>
constexpr std::size_t rank_of_expression() {
  if constexpr (requires { typename E::shape_type; }) {
    using shape = typename E::shape_type;
    if constexpr (requires { std::tuple_size<shape>::value; }) return std::tuple_size<shape>::value;
  }
  return static_cast<std::size_t>(-1);
}
}  // namespace detail

/// The rank of an xtensor expression, or size_t(-1) if the rank is known only at run time.
template <class E>
inline constexpr std::size_t rank_of = detail::rank_of_expression<std::remove_cvref_t<E>>();

/// E is an xtensor expression whose rank is part of its type (xt::xtensor, its views, and expressions of them).
template <class E>
concept ranked_array = xt::is_xexpression<std::remove_cvref_t<E>>::value && rank_of<E> != static_cast<std::size_t>(-1);

/// The element type of an xtensor expression E.
template <class E>
using element_of = std::remove_const_t<typename std::remove_cvref_t<E>::value_type>;

/// An expression E has its elements in memory at regular strides.
template <class E>
concept strided_array = ranked_array<E> && requires(E& e) {
  { e.data() } -> std::convertible_to<const void*>;
  { e.strides() };
  { e.data_offset() } -> std::convertible_to<std::size_t>;
};

/// A block in memory: the address of element (0, …, 0), the extents, and the strides (in elements).
template <class T, std::size_t Rank>
struct strided {
  T* data = nullptr;                           ///< the address of element (0, …, 0), in memory of another object
  std::array<std::size_t, Rank> shape{};       ///< the extents
  std::array<std::ptrdiff_t, Rank> strides{};  ///< from one index to the next, in elements; may be negative or 0

  /// The number of elements.
  std::size_t size() const {
    std::size_t product = 1;
    for (std::size_t n : shape) product *= n;
    return product;
  }
  /// Whether the elements are contiguous in C order.
  bool dense() const {
    std::ptrdiff_t next = 1;
    for (std::size_t d = Rank; d-- > 0;) {
      if (shape[d] != 1 && strides[d] != next) return size() == 0;
      next *= static_cast<std::ptrdiff_t>(shape[d]);
    }
    return true;
  }
  /// The part of the block that starts at `at` and has the shape `extent`. An empty part has the address of the block.
  strided part(const std::array<std::size_t, Rank>& at, const std::array<std::size_t, Rank>& extent) const {
    strided sub{data, extent, strides};
    if (sub.size() == 0) return sub;  // without elements the data pointer may be null
    for (std::size_t d = 0; d < Rank; ++d) sub.data += static_cast<std::ptrdiff_t>(at[d]) * strides[d];
    return sub;
  }
  /// The block with permuted dimensions: dimension k of the result is dimension axes[k] of the block.
  strided permuted(const axes_order<Rank>& axes) const {
    return {data, in_result_order(shape, axes), in_result_order(strides, axes)};
  }
  operator strided<const T, Rank>() const  // NOLINT: writable memory is also readable
    requires(!std::is_const_v<T>)
  {
    return {data, shape, strides};
  }
};

/// Makes a dense block in C order at the address `data`.
template <class T, std::size_t Rank>
strided<T, Rank> dense_block(T* data, const std::array<std::size_t, Rank>& shape) {
  strided<T, Rank> block{data, shape, {}};
  std::ptrdiff_t next = 1;
  for (std::size_t d = Rank; d-- > 0;) {
    block.strides[d] = next;
    next *= static_cast<std::ptrdiff_t>(shape[d]);
  }
  return block;
}

/// Copies a block to another block of the same shape.
template <class T, std::size_t Rank>
void copy(const strided<T, Rank>& to, const strided<const T, Rank>& from) {
  if (from.size() != 0) copy_block(to.data, to.strides.data(), from.data, from.strides.data(), from.shape.data(), Rank);
}

/// Makes a block that refers to the memory of an array.
template <class E>
  requires strided_array<E>
auto block_of(E& array) {
  constexpr std::size_t rank = rank_of<E>;
  using pointer = decltype(array.data());
  strided<std::remove_pointer_t<pointer>, rank> block;
  for (std::size_t d = 0; d < rank; ++d) {
    block.shape[d] = static_cast<std::size_t>(array.shape()[d]);
    block.strides[d] = static_cast<std::ptrdiff_t>(array.strides()[d]);
  }
  block.data = array.data();
  if (block.size() != 0) block.data += array.data_offset();
  return block;
}

/// An argument of a kernel as a block: an expression with memory is used in place, a lazy expression is evaluated once.
template <class E>
class block_argument {
 public:
  static constexpr std::size_t rank = rank_of<E>;  ///< the rank of the expression
  using element = element_of<E>;

  explicit block_argument(const E& array) {
    if constexpr (strided_array<const E>) {
      block_ = block_of(array);
    } else {
      values_ = array;
      block_ = block_of(values_);
    }
  }
  block_argument(const block_argument&) = delete;
  block_argument& operator=(const block_argument&) = delete;

  /// The block, which is valid while this object and the expression live.
  const strided<const element, rank>& block() const { return block_; }

 private:
  struct no_storage {};  ///< the type of values_ if the expression is used in place
  /// The elements of a lazy expression.
  [[no_unique_address]] std::conditional_t<strided_array<const E>, no_storage, xt::xtensor<element, rank>> values_;
  strided<const element, rank> block_;  ///< the block in the expression's memory, or in values_
};

/// Makes an uninitialised tensor of the given shape.
template <class T, std::size_t Rank>
xt::xtensor<T, Rank> uninitialised(const std::array<std::size_t, Rank>& shape) {
  return xt::xtensor<T, Rank>(typename xt::xtensor<T, Rank>::shape_type(shape));
}

/// The tensor of an inactive worker: it has no elements unless its rank is 0, but keeps the batch extent (dimension 0)
/// if its rank is at least 2. A tensor of rank 0 always has one element, so its zero volume has the value 0.
template <class T, std::size_t Rank>
xt::xtensor<T, Rank> zero_volume(std::size_t batch = 0) {
  std::array<std::size_t, Rank> shape{};
  if constexpr (Rank >= 2) shape[0] = batch;
  auto none = uninitialised<T, Rank>(shape);
  if constexpr (Rank == 0) *none.data() = T{};
  return none;
}

}  // namespace partita
