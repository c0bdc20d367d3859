// How elements of several workers are combined: functions on bytes, so that collective operations are compiled once and
// not for every element type, rank and reduction.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <partita/array/copy.hpp>
#include <partita/array/exact_sum.hpp>
#include <partita/array/exact_terms.hpp>
#include <partita/comm/element_kind.hpp>
#include <partita/core/config.hpp>
#include <partita/plan/binomial_tree.hpp>
#include <partita/rule/reduction.hpp>
#include <type_traits>

namespace partita::detail {

struct exact_form;

/// An operation that combines the blocks of several workers into one block.
struct element_operation {
  const element_kind* of;  ///< the kind of the elements
  /// Sets to[i] to a[i] combined with b[i], for n elements; `to` may be a or b. Null in exact_form::two_term_operation.
  void (*combine)(void* to, const void* a, const void* b, std::size_t n);
  /// Combines `count` blocks of n elements into one and rounds once; null if the operation may combine partial results.
  void (*combine_exactly)(const char* const* blocks, std::size_t count, std::size_t n, void* to);
  void (*complete)(void* y, std::size_t n,
                   std::size_t count);  ///< the final step on the result of `count` blocks; may be null
  /// The functions for sums over several nodes if sums are rounded once. Null if sums are not rounded once, or if sums
  /// over several nodes are made from the unsummed blocks of all workers.
  const exact_form* form_between_nodes = nullptr;
  /// The number of blocks of n elements in the result of `combine_exactly`; they are contiguous.
  std::size_t result_block_count = 1;
};

/// The functions that represent the sum of the blocks of one node without rounding, for a sum over several nodes that
/// is rounded once.
struct exact_form {
  element_operation two_term_operation;  ///< computes the first two terms of each sum
  /// Whether the two terms of each of n sums represent that sum exactly.
  bool (*are_complete)(const char* second_terms, std::size_t n);
  std::unique_ptr<exact_terms> (*make_terms)();  ///< makes an object for exact sums in messages
};

/// Combines n elements of type T by the reduction R, in loops over 64 bytes: g++ vectorises loops of known length at
/// -O2.
template <class R, class T>
void combine_untyped(void* into, const void* left, const void* right, std::size_t n) {
  T* const to = static_cast<T*>(into);
  const T* const a = static_cast<const T*>(left);
  const T* const b = static_cast<const T*>(right);
  constexpr bool adds = is_linear_reduction<R>;
  if constexpr (adds && (std::is_arithmetic_v<T> || complex_like<T>)) {
    add_adjacent_elements(best_instruction_set(), to, a, b, n);
  } else {
    const R together{};
    std::size_t i = 0;
    if constexpr (std::is_arithmetic_v<T> && !std::is_same_v<T, bool>) {
      constexpr std::size_t width = 64 / sizeof(T);
      for (; i + width <= n; i += width) {
        T x[width], y[width];
        std::memcpy(x, a + i, sizeof x);
        std::memcpy(y, b + i, sizeof y);
        for (std::size_t k = 0; k < width; ++k) x[k] = static_cast<T>(together(x[k], y[k]));
        std::memcpy(to + i, x, sizeof x);
      }
    }
    for (; i < n; ++i) to[i] = static_cast<T>(together(a[i], b[i]));
  }
}

/// The real numbers that an element consists of: their type, and how many.
template <class T>
struct component_numbers {
  using type = T;                          ///< the type of each number
  static constexpr std::size_t count = 1;  ///< the numbers of one element
};
template <complex_like T>
struct component_numbers<T> {
  using type = typename T::value_type;
  static constexpr std::size_t count = 2;
};

/// Computes n sums of numbers of type T, each rounded once. Complex numbers are summed as pairs of real numbers.
template <class T>
void add_exactly_untyped(const char* const* blocks, std::size_t count, std::size_t n, void* to) {
  using number = typename component_numbers<T>::type;
  exact_sum<number>([&](std::size_t k) { return reinterpret_cast<const number*>(blocks[k]); }, count,
                    component_numbers<T>::count * n, static_cast<number*>(to));
}
/// Computes the first two terms of each of n sums: first the nearest values, then the rests.
template <class T>
void compute_two_terms_untyped(const char* const* blocks, std::size_t count, std::size_t n, void* to) {
  using number = typename component_numbers<T>::type;
  number* const nearest = static_cast<number*>(to);
  n *= component_numbers<T>::count;
  compute_two_terms<number>([&](std::size_t k) { return reinterpret_cast<const number*>(blocks[k]); }, count, n,
                            nearest, nearest + n);
}
/// Whether no second term is a NaN, which marks a sum that has more than two terms.
template <class T>
bool are_terms_complete(const char* second_terms, std::size_t n) {
  using number = typename component_numbers<T>::type;
  const number* const rest = reinterpret_cast<const number*>(second_terms);
  return std::none_of(rest, rest + n * component_numbers<T>::count, [](number x) { return std::isnan(x); });
}
/// Makes an object for exact sums of elements of type T in messages.
template <class T>
std::unique_ptr<exact_terms> make_exact_terms() {
  return std::make_unique<typed_exact_terms<typename component_numbers<T>::type, component_numbers<T>::count>>();
}
/// The functions for exact sums of elements of type T.
template <class T>
inline constexpr exact_form exact_form_v{
    {&element_kind_v<T>, nullptr, &compute_two_terms_untyped<T>, nullptr, nullptr, 2},
    &are_terms_complete<T>,
    &make_exact_terms<T>};

/// Applies the reduction's final step to n results of `count` elements each: a mean divides by the count.
template <class R, class T>
void complete_untyped(void* y, std::size_t n, std::size_t count) {
  for (T* to = static_cast<T*>(y); n != 0; --n, ++to) *to = R::template completed<T>(*to, count);
}

/// Makes the element_operation of the reduction R of elements T. With `Exact`, sums of floating-point numbers are
/// rounded once (for integers any order is exact).
template <class R, class T, bool Exact>
constexpr element_operation make_operation() {
  element_operation operation{&element_kind_v<T>, &combine_untyped<R, T>, nullptr, nullptr};
  if constexpr (Exact && is_linear_reduction<R> && fraction<T>) {
    operation.combine_exactly = &add_exactly_untyped<T>;
    if constexpr (supports_exact_terms<typename component_numbers<T>::type>)
      operation.form_between_nodes = &exact_form_v<T>;
  }
  if constexpr (requires(T a) { R::template completed<T>(a, 1); } && !(std::is_same_v<T, bool>))
    operation.complete = &complete_untyped<R, T>;
  return operation;
}
template <class R, class T, bool Exact = false>
inline constexpr element_operation element_operation_v = make_operation<R, T, Exact>();  ///< see make_operation()

/// The number of bytes of each block that are combined at a time, so that they stay in the first-level cache.
inline constexpr std::size_t piece_bytes = 4096;

/// A buffer for one piece of a block: the elements that are reduced at a time.
struct piece_buffer {
  alignas(64) char bytes[piece_bytes];
};

/// Combines the n elements of blocks `first` … size - 1. If op.combine_exactly is set, the result is rounded once; if
/// not, the blocks are combined in the order of the binomial tree, which gives the same bits as partial results that
/// travel along the tree. Returns the address of the result: this is `to`, or the only block. Requires first <= 1, and
/// n elements to be at most one piece.
PARTITA_DECL const char* combine_blocks(const element_operation& op, const char* const* blocks, std::size_t first,
                                        std::size_t size, std::size_t n, char* to);

}  // namespace partita::detail

#ifndef PARTITA_CORE
#include <partita/comm/impl/element_operation.ipp>
#endif
