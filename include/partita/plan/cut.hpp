// The distribution of a dimension's indices over the workers along it: balanced, of explicit sizes, or block-cyclic.
//
// Without a loop over all parts, a cut finds the indices of part k (`part(k)`), the part that holds index i
// (`owner(i)`), and the parts that hold the indices [lo, hi) (`for_overlaps`). With explicit sizes a cut uses a binary
// search.
#pragma once

#include <cstddef>
#include <cstdint>
#include <partita/core/config.hpp>
#include <partita/core/error.hpp>
#include <partita/core/hash.hpp>
#include <partita/core/product.hpp>
#include <vector>

namespace partita {

/// A half-open range of indices along one dimension: start <= i < stop.
struct interval {
  std::size_t start = 0, stop = 0;  ///< the first index, and one past the last

  constexpr std::size_t size() const { return stop > start ? stop - start : 0; }
  constexpr std::uint64_t fingerprint() const { return hasher().mix(start).mix(stop).value(); }  ///< a hash of both
  friend constexpr bool operator==(const interval&, const interval&) = default;
};

namespace detail {

constexpr void require_parts(std::size_t n, std::size_t p) {  ///< throws a shape_error unless p > 0
  if (p == 0)
    throw shape_error(text("partita::cut: requires at least one part, got ")
                      << n << " indices over 0 parts; a partition has at least one worker along each dimension");
}
constexpr void require_part(std::size_t k, std::size_t p) {  ///< throws a shape_error unless k < p
  if (k >= p)
    throw shape_error(text("partita::cut: requires a part below the number of parts ") << p << ", got part " << k);
}
constexpr void require_range(std::size_t start, std::size_t stop, std::size_t n) {  ///< requires start <= stop <= n
  if (stop > n || start > stop)
    throw shape_error(text("partita::cut: requires a range of the ")
                      << n << " indices that are cut, got [" << start << ", " << stop << ")");
}

}  // namespace detail

/// Part k of n indices distributed evenly over p parts: the first n mod p parts hold one index more. p == 0, or k >= p,
/// is a shape_error.
constexpr interval balanced_part(std::size_t n, std::size_t p, std::size_t k) {
  detail::require_parts(n, p);
  detail::require_part(k, p);
  const std::size_t q = n / p, r = n % p, start = k * q + (k < r ? k : r);
  return {start, start + q + (k < r ? 1 : 0)};
}

/// The part that holds index i if n indices are distributed evenly over p parts. p == 0, or i >= n, is a shape_error.
constexpr std::size_t balanced_owner(std::size_t n, std::size_t p, std::size_t i) {
  detail::require_parts(n, p);
  detail::require_range(i, i + 1, n);
  const std::size_t q = n / p, r = n % p;
  return i < r * (q + 1) ? i / (q + 1) : r + (i - r * (q + 1)) / q;
}

/// The distribution of n indices over p parts, p >= 1. All member functions throw shape_error for a part, an index or a
/// range with indices outside of the distribution.
class cut {
 public:
  enum class kind { balanced, explicit_sizes, block_cyclic };  ///< sizes that differ by <= 1; given sizes; round-robin

  /// Makes a cut of n indices over p parts whose sizes differ by at most one.
  static cut balanced(std::size_t n, std::size_t p) { return cut(kind::balanced, n, p, 0); }
  /// Makes a cut whose part k holds sizes[k] consecutive indices; a size may be 0. The cut reuses the memory of
  /// `reused_cut`.
  PARTITA_DECL static cut at(const std::vector<std::size_t>& sizes, cut reused_cut = balanced(0, 1));
  /// Makes a cut that is balanced over parts[0] parts, each of them balanced over parts[1] parts, and so on. Part k of
  /// the cut is innermost part number k; the last of `parts` varies fastest.
  PARTITA_DECL static cut nested(std::size_t n, const std::vector<std::size_t>& parts);
  /// Makes a block-cyclic cut: blocks of `block` indices are assigned to the parts round-robin (ScaLAPACK's layout).
  PARTITA_DECL static cut block_cyclic(std::size_t n, std::size_t p, std::size_t block);

  kind how() const { return kind_; }  ///< The kind of the distribution.
  /// The number of indices that the cut distributes.
  std::size_t extent() const { return n_; }
  /// The number of parts over which the cut distributes the indices.
  std::size_t parts() const { return p_; }

  /// The range of indices in part k: `c.part(k).start` is the first index. Requires a part of this cut, which must not
  /// be block-cyclic, because its parts are several ranges (for_pieces lists them) [shape_error].
  PARTITA_DECL interval part(std::size_t k) const;
  /// The number of the part that holds index i. Requires i below extent() [shape_error]. Cost: constant; for explicit
  /// sizes a binary search.
  PARTITA_DECL std::size_t owner(std::size_t i) const;
  /// The local index of index i in the block of its owner. Requires i below extent() [shape_error].
  PARTITA_DECL std::size_t place(std::size_t i) const;
  /// The number of indices in part k of the cut.
  PARTITA_DECL std::size_t size(std::size_t k) const;

  /// Calls f(piece, at) for the pieces of part k in ascending order; `at` is the local index in the part's block where
  /// the piece starts.
  template <class F>
  void for_pieces(std::size_t k, F f) const {
    detail::require_part(k, p_);
    if (kind_ == kind::block_cyclic) {
      std::size_t at = 0;
      for (std::size_t start = k * width_; start < n_; start += p_ * width_) {
        const std::size_t stop = start + width_ < n_ ? start + width_ : n_;
        f(interval{start, stop}, at);
        at += stop - start;
      }
    } else {
      const interval piece = part(k);
      if (piece.size() > 0) f(piece, std::size_t{0});
    }
  }

  /// Divides `range` into pieces that each lie in one part, and calls f(part, piece, at, size) for the pieces in
  /// ascending order. `at` is the local index where the piece starts in the block of `part`, which holds `size`
  /// indices. Only the part of the first piece is found by a search.
  template <class F>
  void for_overlaps(interval range, F f) const {
    if (range.start >= range.stop) return;
    detail::require_range(range.start, range.stop, n_);
    if (kind_ == kind::block_cyclic) {
      std::size_t block = range.start / width_, part = block % p_, turn = block / p_;
      for (std::size_t i = range.start; i < range.stop;) {
        const std::size_t start = block * width_, end = start + width_, stop = end < range.stop ? end : range.stop;
        f(part, interval{i, stop}, turn * width_ + i - start, size(part));
        i = stop;
        ++block;
        if (++part == p_) part = 0, ++turn;
      }
      return;
    }
    const std::size_t q = kind_ == kind::balanced ? n_ / p_ : 0, r = kind_ == kind::balanced ? n_ % p_ : 0;
    std::size_t part = kind_ == kind::balanced ? balanced_owner(n_, p_, range.start) : find_last_start(range.start);
    std::size_t start = kind_ == kind::balanced ? balanced_part(n_, p_, part).start : starts_[part];
    for (std::size_t i = range.start; i < range.stop; ++part) {
      const std::size_t end = kind_ == kind::balanced ? start + q + (part < r ? 1 : 0) : starts_[part + 1];
      const std::size_t stop = end < range.stop ? end : range.stop;
      if (stop > i) f(part, interval{i, stop}, i - start, end - start);
      i = stop;
      start = end;
    }
  }

  /// The number of pieces into which for_overlaps divides `range`, plus the number of empty parts between them.
  PARTITA_DECL std::size_t count_overlaps(interval range) const;

  /// A hash that is equal for equal cuts, so that workers can compare cuts.
  std::uint64_t fingerprint() const { return hasher().mix(kind_).mix(n_).mix(p_).mix(width_).mix(starts_).value(); }

  friend bool operator==(const cut&, const cut&) = default;

 private:
  /// Makes a cut without `starts_`; `block` is 0 unless the cut is block-cyclic. Requires p > 0 [shape_error].
  cut(kind how, std::size_t n, std::size_t p, std::size_t block) : kind_(how), n_(n), p_(p), width_(block) {
    detail::require_parts(n, p);
  }

  PARTITA_DECL void require_index(std::size_t i) const;  ///< Throws a shape_error unless i < n.

  /// The last part that starts at or before index i and is not empty (an empty part starts where the next part does).
  PARTITA_DECL std::size_t find_last_start(std::size_t i) const;

  kind kind_;                        ///< how the indices are distributed
  std::size_t n_, p_, width_;        ///< indices, parts, and indices per block of a block-cyclic cut
  std::vector<std::size_t> starts_;  ///< for explicit sizes: the first index of each part, and n
};

}  // namespace partita

#ifndef PARTITA_CORE
#include <partita/plan/impl/cut.ipp>
#endif
