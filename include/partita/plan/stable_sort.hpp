// A stable sort for the headers without MPI: including <algorithm> would cost them more lines than everything else that
// they include.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace partita::detail {

/// Sorts by key(item) in ascending order; equal keys keep their order. Cost: O(n) if sorted, else O(n log n).
template <class T, class Key>
void stable_sort(std::vector<T>& items, Key key) {
  bool sorted = true;
  for (std::size_t k = 1; k < items.size(); ++k) sorted = sorted && key(items[k - 1]) <= key(items[k]);
  if (sorted) return;
  std::vector<T> other(items.size());
  for (std::size_t width = 1; width < items.size(); width *= 2) {
    for (std::size_t low = 0; low < items.size(); low += 2 * width) {
      const std::size_t middle = low + width < items.size() ? low + width : items.size();
      const std::size_t high = low + 2 * width < items.size() ? low + 2 * width : items.size();
      std::size_t a = low, b = middle;
      for (std::size_t k = low; k < high; ++k)
        other[k] = std::move(b == high || (a < middle && key(items[a]) <= key(items[b])) ? items[a++] : items[b++]);
    }
    items.swap(other);
  }
}

}  // namespace partita::detail
