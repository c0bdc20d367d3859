// Numbers in blocks on all workers, the same for all of them, and their order.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <numeric>
#include <partita/array/xtensor.hpp>
#include <vector>

namespace test {

template <class T>
struct number_blocks {
  std::vector<T> all{};
  std::vector<std::size_t> first{0};  ///< of each worker, and the number of all

  /// The numbers that were added last are those of the next worker.
  void end_of_block() { first.push_back(all.size()); }
  xt::xtensor<T, 1> of(std::size_t worker) const {
    xt::xtensor<T, 1> block(std::array<std::size_t, 1>{first[worker + 1] - first[worker]});
    std::copy_n(all.begin() + static_cast<std::ptrdiff_t>(first[worker]), block.size(), block.begin());
    return block;
  }
};

/// The order of numbers: NaNs are the greatest ones, and equal.
template <class T>
bool is_before(T a, T b) {
  return a < b || (a == a && b != b);
}
template <class T>
bool is_equal(T a, T b) {
  return !is_before(a, b) && !is_before(b, a);
}
/// The places of all numbers in their order, by one stable sort.
template <class T>
std::vector<std::size_t> order_of(const std::vector<T>& all, bool descending) {
  std::vector<std::size_t> places(all.size());
  std::iota(places.begin(), places.end(), std::size_t{0});
  std::stable_sort(places.begin(), places.end(), [&](std::size_t a, std::size_t b) {
    return descending ? is_before(all[b], all[a]) : is_before(all[a], all[b]);
  });
  return places;
}

}  // namespace test
