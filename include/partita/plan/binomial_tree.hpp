// The binomial tree along which the members of a group pass blocks on.
#pragma once

#include <cstddef>

namespace partita {

/// The binomial tree over positions 0 … size - 1 with root 0. A broadcast along the tree takes ceil(log2 size) rounds.
struct binomial_tree {
  std::size_t size = 1;  ///< the number of positions

  /// The parent of a position. Requires position > 0.
  static constexpr std::size_t parent(std::size_t position) { return position & (position - 1); }

  /// Whether a position in the tree has no child.
  constexpr bool is_leaf(std::size_t position) const { return subtree_size(position) == 1 || position + 1 >= size; }
  /// Calls f(position) for the children of a position, the child with the largest subtree first: the order in which a
  /// broadcast sends.
  template <class F>
  constexpr void for_each_child(std::size_t position, F f) const {
    for (std::size_t step = subtree_size(position) / 2; step > 0; step /= 2)
      if (position + step < size) f(position + step);
  }
  /// Calls f(position) for the children of a position, the child with the smallest subtree first: the order in which a
  /// sum receives.
  template <class F>
  constexpr void for_each_child_smallest_first(std::size_t position, F f) const {
    for (std::size_t step = 1; step < subtree_size(position) && position + step < size; step *= 2) f(position + step);
  }

 private:
  /// An upper bound for the size of the subtree of a position: a power of 2.
  constexpr std::size_t subtree_size(std::size_t position) const {
    std::size_t step = 1;
    while (step < size && (position & step) == 0) step *= 2;
    return step;
  }
};

}  // namespace partita
