// Select and clamp, which have three operands: only scalars are broadcast, and extents of 1 are not expanded.
#pragma once

#include <cstddef>
#include <partita/rule/array_broadcast.hpp>

namespace partita {

/// The result of checking the three operands of select or clamp, and the shape of the result if the call is legal.
template <class Extent>
struct basic_ternary_broadcast {
  broadcast_verdict verdict;  ///< whether the call is legal
  short_list<Extent> result;  ///< the shape of the result
};

namespace detail {

/// Checks that two shapes are equal, and merges what is known of each extent.
template <class Extent>
constexpr basic_ternary_broadcast<Extent> require_same_shape(const short_list<Extent>& a, const short_list<Extent>& b) {
  if (a.size() != b.size()) return {{broadcast_fault::incompatible_shapes, 0}, {}};
  short_list<Extent> merged;
  for (std::size_t d = 0; d < a.size(); ++d) {
    const auto met = combine_equal_extents(a[d], b[d]);
    if (!met.legal) return {{broadcast_fault::incompatible_shapes, d}, {}};
    merged.push_back(met.extent);
  }
  return {{}, merged};
}

}  // namespace detail

/// Checks select(predicate, on_true, on_false): the two values have the same shape; the predicate has this shape, too,
/// or is a scalar.
template <class Extent>
constexpr basic_ternary_broadcast<Extent> judge_select(const short_list<Extent>& predicate,
                                                       const short_list<Extent>& on_true,
                                                       const short_list<Extent>& on_false) {
  const auto values = detail::require_same_shape(on_true, on_false);
  if (!values.verdict || predicate.empty()) return values;
  return detail::require_same_shape(predicate, values.result);
}

/// Checks clamp(low, operand, high): the result has the operand's shape; each bound has this shape or is a scalar.
template <class Extent>
constexpr basic_ternary_broadcast<Extent> judge_clamp(const short_list<Extent>& low, const short_list<Extent>& operand,
                                                      const short_list<Extent>& high) {
  if (!low.empty())
    if (const auto judged = detail::require_same_shape(low, operand); !judged.verdict) return judged;
  if (!high.empty())
    if (const auto judged = detail::require_same_shape(high, operand); !judged.verdict) return judged;
  if (!low.empty() && !high.empty())
    if (const auto judged = detail::require_same_shape(low, high); !judged.verdict) return judged;
  return {{}, operand};
}

}  // namespace partita
