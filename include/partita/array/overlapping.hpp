// Whether two blocks share an element: memory must not be written while another operand reads the same memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <partita/array/strided.hpp>
#include <partita/core/config.hpp>
#include <utility>

namespace partita {

namespace detail {

/// One dimension of one of two blocks: its stride and its range of positions, which are negated for the second block.
struct step_range {
  std::ptrdiff_t step = 0, lowest = 0, highest = 0;  ///< the stride in elements, and the range of its multiples
};

/// Whether some multiples of the strides add up to `offset`. Strides are in descending order, so that few multiples
/// need to be tried; after `tries_left` tried multiples the function returns true without a proof, so that a block may
/// be taken for overlapping.
PARTITA_DECL bool is_reachable_offset(const step_range* ranges, std::size_t count, std::ptrdiff_t offset,
                                      std::size_t& tries_left);

/// The lowest address of the elements of a block, and the address behind the highest; null if there is no element.
template <class T, class Shape, class Strides>
std::pair<const void*, const void*> address_range(const T* data, const Shape& shape, const Strides& strides,
                                                  std::size_t rank) {
  std::ptrdiff_t low = 0, high = 1;
  for (std::size_t d = 0; d < rank; ++d) {
    if (shape[d] == 0) return {nullptr, nullptr};
    const std::ptrdiff_t span = (static_cast<std::ptrdiff_t>(shape[d]) - 1) * static_cast<std::ptrdiff_t>(strides[d]);
    (span < 0 ? low : high) += span;
  }
  return {data + low, data + high};
}

/// Whether no address is in both ranges.
inline bool are_disjoint(const std::pair<const void*, const void*>& a, const std::pair<const void*, const void*>& b) {
  const std::less_equal<const void*> before;
  return before(a.second, b.first) || before(b.second, a.first);
}

}  // namespace detail

/// Whether two blocks share an element. Interleaved views of one array that share no element do not overlap. For blocks
/// with many strides the function may give up and return true (after 4096 tries).
template <class T, std::size_t Rank>
bool overlapping(const strided<const T, Rank>& a, const strided<const T, Rank>& b) {
  if (a.size() == 0 || b.size() == 0) return false;
  detail::step_range ranges[2 * Rank + 1];
  std::size_t count = 0;
  std::ptrdiff_t low = 0, high = 0;
  const auto add = [&](std::ptrdiff_t step, std::ptrdiff_t from, std::ptrdiff_t to) {
    if (step < 0) {
      const std::ptrdiff_t negated = -from;
      step = -step, from = -to, to = negated;
    }
    if (step == 0 || from == to) return;
    low += step * from, high += step * to;
    std::size_t k = count++;
    for (; k > 0 && ranges[k - 1].step < step; --k) ranges[k] = ranges[k - 1];
    ranges[k] = {step, from, to};
  };
  for (std::size_t d = 0; d < Rank; ++d) {
    add(a.strides[d], 0, static_cast<std::ptrdiff_t>(a.shape[d]) - 1);
    add(b.strides[d], 1 - static_cast<std::ptrdiff_t>(b.shape[d]), 0);
  }
  const auto from = reinterpret_cast<std::uintptr_t>(a.data), to = reinterpret_cast<std::uintptr_t>(b.data);
  const auto bytes = static_cast<std::ptrdiff_t>(to) - static_cast<std::ptrdiff_t>(from);
  const auto element = static_cast<std::ptrdiff_t>(sizeof(T));
  if (bytes <= (low - 1) * element || bytes >= (high + 1) * element) return false;  // disjoint addresses
  if (bytes % element != 0) return true;
  std::size_t tries_left = 4096;
  return detail::is_reachable_offset(ranges, count, bytes / element, tries_left);
}

}  // namespace partita

#ifndef PARTITA_CORE
#include <partita/array/impl/overlapping.ipp>
#endif
