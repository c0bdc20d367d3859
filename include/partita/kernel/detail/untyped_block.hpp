// A block of elements in memory whose type and rank are known only at run time.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <functional>
#include <partita/array/strided.hpp>
#include <partita/comm/element_operation.hpp>
#include <partita/core/short_list.hpp>

namespace partita::detail {

/// Extents of up to `most_dimensions` dimensions; those beyond the rank of a block are 0.
using block_shape = std::array<std::size_t, most_dimensions>;

template <std::size_t Rank>
block_shape widened(const std::array<std::size_t, Rank>& shape) {
  block_shape all{};
  std::copy(shape.begin(), shape.end(), all.begin());
  return all;
}
template <std::size_t Rank>
std::array<std::size_t, Rank> narrowed(const block_shape& shape) {
  std::array<std::size_t, Rank> first{};
  std::copy_n(shape.begin(), Rank, first.begin());
  return first;
}
inline std::size_t elements_in(const block_shape& shape, std::size_t rank) {
  std::size_t product = 1;
  for (std::size_t d = 0; d < rank; ++d) product *= shape[d];
  return product;
}

struct untyped_block {
  char* data = nullptr;
  std::size_t rank = 0, element = 1;  ///< number of dimensions; bytes of an element
  block_shape shape{};
  std::array<std::ptrdiff_t, most_dimensions> strides{};  ///< in elements

  untyped_block() = default;
  /// Const is cast away, but input blocks are never written: kernels keep x and results apart.
  template <class T, std::size_t Rank>
  untyped_block(const strided<T, Rank>& block)
      : data(reinterpret_cast<char*>(const_cast<std::remove_const_t<T>*>(block.data))),
        rank(Rank),
        element(sizeof(T)),
        shape(widened(block.shape)) {
    std::copy(block.strides.begin(), block.strides.end(), strides.begin());
  }

  std::size_t size() const { return elements_in(shape, rank); }
  /// Whether the elements are contiguous in C order.
  bool dense() const {
    std::ptrdiff_t next = 1;
    for (std::size_t d = rank; d-- > 0;) {
      if (shape[d] != 1 && strides[d] != next) return size() == 0;
      next *= static_cast<std::ptrdiff_t>(shape[d]);
    }
    return true;
  }
  /// A contiguous block of the same shape at a different address.
  untyped_block dense_at(const char* where) const {
    untyped_block other = *this;
    other.data = const_cast<char*>(where);
    std::ptrdiff_t next = 1;
    for (std::size_t d = rank; d-- > 0;) {
      other.strides[d] = next;
      next *= static_cast<std::ptrdiff_t>(shape[d]);
    }
    return other;
  }
  friend bool operator==(const untyped_block&, const untyped_block&) = default;
};

/// Copies a block to another of the same shape, unless both are the same block.
template <class = void>
inline void copy(const element_kind& of, const untyped_block& to, const untyped_block& from) {
  constexpr std::size_t small = 4096;  // up to this many bytes, a memmove takes less time than choosing the best loop
  const std::size_t bytes = from.size() * of.bytes;
  if (bytes == 0 || (to.data == from.data && to.strides == from.strides)) return;
  if (bytes <= small && of.in_shared_memory && to.dense() && from.dense()) {
    std::memmove(to.data, from.data, bytes);
    return;
  }
  of.copy(to.data, to.strides.data(), from.data, from.strides.data(), from.shape.data(), from.rank, of.bytes,
          stores::by_size);
}

/// Whether two blocks share memory: their address ranges intersect.
template <class = void>
inline bool share_memory(const untyped_block& a, const untyped_block& b) {
  if (a.size() == 0 || b.size() == 0) return false;
  const auto range = [](const untyped_block& block) {
    std::ptrdiff_t low = 0, high = 1;
    for (std::size_t d = 0; d < block.rank; ++d) {
      const std::ptrdiff_t reach =
          block.shape[d] == 1 ? 0 : block.strides[d] * static_cast<std::ptrdiff_t>(block.shape[d] - 1);
      (reach < 0 ? low : high) += reach;
    }
    const auto bytes = static_cast<std::ptrdiff_t>(block.element);
    return std::array<const char*, 2>{block.data + low * bytes, block.data + high * bytes};
  };
  const std::less<const char*> before;
  const auto [a_low, a_high] = range(a);
  const auto [b_low, b_high] = range(b);
  return before(a_low, b_high) && before(b_low, a_high);
}

}  // namespace partita::detail
