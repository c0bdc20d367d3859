// Worker broadcast and its reduction between two partitions: whether it is legal, and which workers are paired.
//
// The rule and the pairing of workers are DistDL's. One of the two partitions is *small* (the source of a broadcast,
// the destination of a reduction), the other is *large*. A transposition reverses the shape of a partition. The small
// shape is extended on the left with ones, and each of its extents must be 1 or that of the large shape.
#pragma once

#include <array>
#include <cstddef>
#include <partita/core/extents.hpp>
#include <partita/core/index.hpp>

namespace partita {

/// The result of checking a worker broadcast (or the reduction that is the adjoint of a worker broadcast).
struct worker_broadcast_verdict {
  enum class reason { legal, small_rank_exceeds_large, extents_differ };  ///< extents_differ: the small one is not 1

  reason why = reason::legal;    ///< the rule that is violated, or `legal`
  bool reduction = false;        ///< the call was sum_reduce: the small partition is the destination
  std::size_t dimension = 0;     ///< the first dimension that violates the rule, counted after reversal and extension
  std::size_t small_extent = 0;  ///< the small partition's extent in `dimension`, after reversal and extension
  std::size_t large_extent = 0;  ///< the large partition's extent in `dimension`, after reversal
  std::size_t small_rank = 0, large_rank = 0;  ///< the ranks of both partitions

  constexpr explicit operator bool() const { return why == reason::legal; }
  friend constexpr bool operator==(const worker_broadcast_verdict&, const worker_broadcast_verdict&) = default;
};

namespace detail {

/// The extent in dimension d of a shape that is first reversed if `transposed`, and then extended on the left with ones
/// to rank `rank`.
template <std::size_t Rank>
constexpr std::size_t extended_extent(const std::array<std::size_t, Rank>& shape, std::size_t rank, std::size_t d,
                                      bool transposed) {
  if (d < rank - Rank) return 1;
  const std::size_t own = d - (rank - Rank);
  return shape[transposed ? Rank - 1 - own : own];
}

}  // namespace detail

/// Checks the partitions of a worker broadcast, given by extents; an entry that is `dynamic` violates no rule yet.
template <std::size_t Small, std::size_t Large>
constexpr worker_broadcast_verdict judge_worker_broadcast(const std::array<std::size_t, Small>& small,
                                                          const std::array<std::size_t, Large>& large,
                                                          bool transpose_small, bool transpose_large,
                                                          bool reduction = false) {
  using reason = worker_broadcast_verdict::reason;
  worker_broadcast_verdict verdict{.reduction = reduction, .small_rank = Small, .large_rank = Large};
  if constexpr (Small > Large) {
    verdict.why = reason::small_rank_exceeds_large;
  } else {
    for (std::size_t d = 0; d < Large; ++d) {
      const std::size_t large_extent = large[transpose_large ? Large - 1 - d : d],
                        small_extent = detail::extended_extent(small, Large, d, transpose_small);
      if (small_extent == dynamic || large_extent == dynamic || small_extent == 1 || small_extent == large_extent)
        continue;
      return {reason::extents_differ, reduction, d, small_extent, large_extent, Small, Large};
    }
  }
  return verdict;
}

/// Checks what the types of the extents determine; entries that are known only at run time violate no rule.
template <class Small, class Large>
constexpr worker_broadcast_verdict judge_static_broadcast(bool transpose_small, bool transpose_large) {
  return judge_worker_broadcast(static_extents<Small>(), static_extents<Large>(), transpose_small, transpose_large);
}

/// Writes the error message of a worker broadcast that is not legal, with both shapes and a way to correct the call.
template <std::size_t Small, std::size_t Large>
constexpr text explain_verdict(const worker_broadcast_verdict& verdict, const std::array<std::size_t, Small>& small,
                               const std::array<std::size_t, Large>& large, bool transpose_small,
                               bool transpose_large) {
  using reason = worker_broadcast_verdict::reason;
  const char* small_name = verdict.reduction ? "p_y" : "p_x";
  const char* large_name = verdict.reduction ? "p_x" : "p_y";
  text sentence(verdict.reduction ? "partita::sum_reduce(p_x, p_y): " : "partita::broadcast(p_x, p_y): ");
  if (verdict.why == reason::small_rank_exceeds_large) {
    sentence << "requires rank(" << small_name << ") <= rank(" << large_name << "), got " << verdict.small_rank
             << " and " << verdict.large_rank << "; use " << (verdict.reduction ? "broadcast" : "sum_reduce")
             << " for the opposite direction";
    return sentence;
  }
  sentence << "requires every extent of " << small_name << ", extended on the left with ones, to be 1 or the extent of "
           << large_name << "; extents of " << small_name << " are " << small
           << (transpose_small ? " (transposed)" : "") << ", of " << large_name << " " << large
           << (transpose_large ? " (transposed)" : "") << ": dimension " << verdict.dimension << " has "
           << verdict.small_extent << " against " << verdict.large_extent
           << "; pass transpose_src or transpose_dest to reverse a partition, or reshape() one of them";
  return sentence;
}

/// Pairs the workers of the large partition of a worker broadcast with the workers of the small partition.
///
/// The pairing uses only the dimensions where both extents are equal. The worker of the large partition with index i is
/// paired with the worker of the small partition whose number is the C-order number of i in the dimensions of equal
/// extents. A transposition decides which dimensions have equal extents, but never reverses an index: the workers of
/// both partitions keep their lexicographic order. (The pairing agrees with DistDL in 133 recorded cases.)
template <std::size_t Large>
class worker_pairing {
 public:
  constexpr worker_pairing() = default;  ///< to be assigned

  template <std::size_t Small>
  constexpr worker_pairing(const std::array<std::size_t, Small>& small, const std::array<std::size_t, Large>& large,
                           bool transpose_small, bool transpose_large)
      : large_shape_(large) {
    static_assert(Small <= Large);
    for (std::size_t d = 0; d < Large; ++d) {
      const std::size_t original = transpose_large ? Large - 1 - d : d;
      is_matched_dimension_[original] = detail::extended_extent(small, Large, d, transpose_small) == large[original];
    }
  }
  /// Makes the pairing in which `matches[d]` says whether both extents of dimension d are equal.
  constexpr worker_pairing(const std::array<std::size_t, Large>& large, const std::array<bool, Large>& matches)
      : large_shape_(large), is_matched_dimension_(matches) {}

  /// The number of the worker of the small partition that is paired with the worker at index i of the large partition.
  constexpr std::size_t small_partner(const index<Large>& i) const {
    std::size_t number = 0;
    for (std::size_t d = 0; d < Large; ++d)
      if (is_matched_dimension_[d]) number = number * large_shape_[d] + i[d];
    return number;
  }

  /// The number of workers of the large partition that are paired with each worker of the small partition.
  constexpr std::size_t large_workers_per_small() const {
    std::size_t product = 1;
    for (std::size_t d = 0; d < Large; ++d)
      if (!is_matched_dimension_[d]) product *= large_shape_[d];
    return product;
  }

  /// The C-order number of the k-th worker of the large partition that is paired with worker `small` of the small one.
  constexpr std::size_t large_partner(std::size_t small, std::size_t k) const {
    index<Large> i{};
    for (std::size_t d = Large; d-- > 0;) {
      std::size_t& counter = is_matched_dimension_[d] ? small : k;
      i[d] = counter % large_shape_[d];
      counter /= large_shape_[d];
    }
    return flat_index(i, large_shape_);
  }

 private:
  std::array<std::size_t, Large> large_shape_{};    ///< the extents of the large partition
  std::array<bool, Large> is_matched_dimension_{};  ///< whether both partitions have the same extent along it
};

}  // namespace partita
