// NumPy's broadcasting rule: operands of lower rank are extended on the left with ones.
//
// XLA leaves implicit broadcasting to its callers. In partita, only namespace `numpy` broadcasts implicitly.
#pragma once

#include <cstddef>
#include <partita/rule/array_broadcast.hpp>

namespace partita {

namespace detail {

/// Whether a dynamic extent and a static extent other than 1 meet in a dimension; such extents are not combined.
constexpr bool has_bounded_and_static_extents(std::size_t, std::size_t) { return false; }
constexpr bool has_bounded_and_static_extents(known_extent a, known_extent b) {  ///< one is dynamic, and neither is 1
  return a.size != 1 && b.size != 1 && a.is_dynamic() != b.is_dynamic();
}

}  // namespace detail

/// The result of checking operands by NumPy's rule, and the shape of the result if the operands broadcast.
template <class Extent>
struct basic_numpy_broadcast {
  broadcast_verdict verdict;  ///< whether the operands broadcast
  short_list<Extent> result;  ///< the shape of the result
};

/// Checks by NumPy's rule whether operands broadcast to each other. An error names the dimension of the result.
template <class Extent>
constexpr basic_numpy_broadcast<Extent> judge_numpy_broadcast(const short_list<Extent>* operands, std::size_t count) {
  using enum broadcast_fault;
  if (count == 0) return {{no_operands, 0}, {}};
  std::size_t rank = 0;
  for (std::size_t k = 0; k < count; ++k) rank = operands[k].size() > rank ? operands[k].size() : rank;
  auto result = short_list<Extent>::filled(rank, Extent{1});
  for (std::size_t k = 0; k < count; ++k) {
    const std::size_t missing = rank - operands[k].size();
    for (std::size_t d = 0; d < rank; ++d) {
      const Extent own = d < missing ? Extent{1} : operands[k][d - missing];
      if (detail::has_bounded_and_static_extents(result[d], own)) return {{mixed_bounded_and_static, d}, {}};
      const auto combined = combine_extents(result[d], own);
      if (!combined.legal) return {{incompatible_shapes, d}, {}};
      result[d] = combined.extent;
    }
  }
  return {{}, result};
}

}  // namespace partita
