// The two ways to add up the blocks of a group: in the order in which messages along its tree would, or exactly.
#pragma once

#include <complex>
#include <cstddef>
#include <partita/array/copy.hpp>
#include <partita/array/exact_sum.hpp>
#include <partita/plan/binomial_tree.hpp>
#include <type_traits>

namespace partita::detail {

inline constexpr std::size_t sum_bytes = 4096;  ///< as much of each block is added up at once, to stay in the first cache

/// Room for the elements that are added up at once.
template <class T>
struct sum_buffer {
  static constexpr std::size_t size = sum_bytes / sizeof(T);
  alignas(64) unsigned char bytes[size * sizeof(T)];
  T* data() { return reinterpret_cast<T*>(bytes); }
};

/// Position by position of the binomial tree: the same bits as when partial sums travel along it.
struct in_tree_order {
  /// The sum of n elements of the blocks of positions `first` … size - 1, block(k) being where those of position k are.
  /// Returns where it is: in `to`, or, if there is only one block, in that. Requires first <= 1, n <= sum_buffer<T>::size.
  template <class T, class Block>
  static const T* sum(const Block& block, std::size_t first, std::size_t size, std::size_t n, T* to) {
    return below<T>(block, binomial_tree{size}, 0, first == 0, n, to) ? to : block(first);
  }

 private:
  /// The sum of a position and those below it into `to`; false if there is only one block, which stays where it is.
  template <class T, class Block>
  static bool below(const Block& block, const binomial_tree& tree, std::size_t position, bool gives, std::size_t n, T* to) {
    const T* sum = gives ? block(position) : nullptr;
    sum_buffer<T> part;
    tree.for_below_smallest_first(position, [&](std::size_t other) {
      T* const there = sum == nullptr ? to : part.data();
      const T* const more = below<T>(block, tree, other, true, n, there) ? there : block(other);
      if (sum != nullptr) add_side_by_side(best_instruction_set(), to, sum, more, n);
      sum = sum == nullptr ? more : to;
    });
    return sum == to;
  }
};

/// A complex number is a pair of real ones.
template <class T>
concept pair_of_parts = std::is_same_v<T, std::complex<typename T::value_type>>;
/// T has a sum that does not depend on the order: integers by nature, floating-point and complex numbers if rounded once.
template <class T>
concept exactly_summable = std::is_arithmetic_v<T> || pair_of_parts<T>;

/// Each element rounded once: the same bits in whatever order the workers stand.
struct rounded_once {
  template <exactly_summable T, class Block>
  static const T* sum(const Block& block, std::size_t first, std::size_t size, std::size_t n, T* to) {
    if constexpr (std::is_floating_point_v<T>) {
      if (size - first > 2) return exact_sum<T>([&](std::size_t k) { return block(first + k); }, size - first, n, to), to;
    } else if constexpr (pair_of_parts<T>) {
      using part = typename T::value_type;
      const auto parts = [&](std::size_t k) { return reinterpret_cast<const part*>(block(first + k)); };
      if (size - first > 2) return exact_sum<part>(parts, size - first, 2 * n, reinterpret_cast<part*>(to)), to;
    }
    return in_tree_order::sum<T>(block, first, size, n, to);  // of two numbers the sum is rounded once anyway
  }
};

}  // namespace partita::detail
