// Sorts a block by unsigned keys, eight bits at a time.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <partita/comm/pooled.hpp>
#include <utility>

namespace partita::detail {

/// Uninitialised elements from the memory pool, because page faults of new memory would take longer than one pass.
template <class Element>
using scratch_storage = typename pooled_tensor<Element, 1>::storage_type;

/// Sorts elements by `key(element)`, an unsigned number of 64 bits; elements with equal keys keep their order. The
/// smallest key is subtracted from all keys, and the highest 32 bits of these differences are sorted digit by digit,
/// from the last digit on (Knuth, The Art of Computer Programming 3, section 5.2.5); elements that agree in these bits
/// (few, unless keys are equal) are sorted afterwards. The sort needs memory for a copy of all elements.
template <class Element, class Key>
void radix_sort(Element* const all, std::size_t size, const Key& key) {
  const auto before = [&](const Element& a, const Element& b) { return key(a) < key(b); };
  // If the elements are sorted, nothing is done; if they are strictly descending, they are reversed.
  std::size_t run = 1;
  while (run < size && !before(all[run], all[run - 1])) ++run;
  if (run >= size) return;
  if (run == 1) {
    while (run < size && before(all[run], all[run - 1])) ++run;
    if (run == size) return std::reverse(all, all + size);
  }
  // Below this size the tables of digits take longer than comparisons (chosen: any number near 1024 does as well).
  if (size < 1024) return std::stable_sort(all, all + size, before);
  constexpr std::size_t digits = 4, values = 256, bits = 8, sorted_bits = digits * bits;
  std::uint64_t least = std::numeric_limits<std::uint64_t>::max(), most = 0;
  for (std::size_t j = 0; j < size; ++j) least = std::min(least, key(all[j])), most = std::max(most, key(all[j]));
  const auto width = static_cast<std::size_t>(std::bit_width(most - least));
  const std::size_t rest = width > sorted_bits ? width - sorted_bits : 0;
  const auto first_bits = [&](const Element& e) { return static_cast<std::uint32_t>((key(e) - least) >> rest); };
  // 1. Count how often each of the four digits of first_bits() has each value.
  std::array<std::array<std::size_t, values>, digits> count{};
  for (std::size_t j = 0; j < size; ++j) {
    std::uint32_t k = first_bits(all[j]);
    for (auto& digit_count : count) ++digit_count[k % values], k >>= bits;
  }
  // 2. Sort the elements by each digit, from the last to the first; elements with equal digits keep their order.
  scratch_storage<Element> other(size);
  Element *from = all, *to = other.data();
  for (std::size_t d = 0; d < digits && bits * d < width; ++d) {
    std::array<std::size_t, values> place;
    for (std::size_t v = 0, sum = 0; v < values; sum += count[d][v++]) place[v] = sum;
    for (std::size_t j = 0; j < size; ++j) to[place[first_bits(from[j]) >> (bits * d) & (values - 1)]++] = from[j];
    std::swap(from, to);
  }
  if (from != all) std::copy(from, from + size, all);
  // 3. Sort elements that agree in the sorted bits: few of them by insertion, many by the remaining bits.
  for (std::size_t j = 0, end = 0; rest != 0 && j < size; j = end) {
    for (end = j + 1; end < size && first_bits(all[end]) == first_bits(all[j]);) ++end;
    if (end - j > 32) radix_sort(all + j, end - j, key);
    else
      for (std::size_t k = j + 1; k < end; ++k)
        std::rotate(std::upper_bound(all + j, all + k, all[k], before), all + k, all + k + 1);
  }
}

}  // namespace partita::detail
