// How the indices of one dimension are cut over the workers along it: balanced, at explicit places, or block-cyclic.
//
// A cut answers two questions in time proportional to its answer, without looking at the other workers: which pieces
// does part k hold, and which parts hold the indices [lo, hi)?
#pragma once

#include <cstddef>
#include <cstdint>
#include <partita/core/error.hpp>
#include <vector>

namespace partita {

/// A half-open range of indices along one dimension.
struct interval {
  std::size_t start = 0;
  std::size_t stop = 0;

  constexpr std::size_t size() const { return stop > start ? stop - start : 0; }
  friend constexpr bool operator==(const interval&, const interval&) = default;
};

/// The balanced cut of n over p: the first n mod p parts hold one index more.
constexpr interval balanced_part(std::size_t n, std::size_t p, std::size_t k) {
  const std::size_t q = n / p, r = n % p;
  const std::size_t start = k * q + (k < r ? k : r);
  return {start, start + q + (k < r ? 1 : 0)};
}

/// The part of the balanced cut of n over p that holds index i < n.
constexpr std::size_t balanced_owner(std::size_t n, std::size_t p, std::size_t i) {
  const std::size_t q = n / p, r = n % p;
  return i < r * (q + 1) ? i / (q + 1) : r + (i - r * (q + 1)) / q;
}

/// The cut of n indices over p parts.
class cut {
 public:
  enum class kind { balanced, explicit_sizes, block_cyclic };

  static cut balanced(std::size_t n, std::size_t p) { return cut(kind::balanced, n, p, 0); }
  /// Part k holds sizes[k] consecutive indices; sizes may be 0.
  static cut at(const std::vector<std::size_t>& sizes) {
    cut result(kind::explicit_sizes, 0, sizes.size(), 0);
    result.starts_.reserve(sizes.size() + 1);
    result.starts_.push_back(0);
    for (std::size_t size : sizes) result.starts_.push_back(result.n_ += size);
    return result;
  }
  /// Blocks of `block` indices are dealt to the parts in turn (ScaLAPACK's layout).
  static cut block_cyclic(std::size_t n, std::size_t p, std::size_t block) {
    if (block == 0) throw shape_error("partita::cut::block_cyclic: requires a block of at least 1 index, got 0");
    return cut(kind::block_cyclic, n, p, block);
  }

  kind how() const { return kind_; }
  /// How many indices are cut.
  std::size_t extent() const { return n_; }
  /// How many parts there are.
  std::size_t parts() const { return p_; }

  /// How many indices part k holds.
  std::size_t size(std::size_t k) const {
    if (kind_ == kind::balanced) return balanced_part(n_, p_, k).size();
    if (kind_ == kind::explicit_sizes) return starts_[k + 1] - starts_[k];
    const std::size_t turn = p_ * block_, rest = n_ % turn, before = k * block_;  // the last turn may be short
    const std::size_t last = rest > before ? rest - before : 0;
    return n_ / turn * block_ + (last < block_ ? last : block_);
  }

  /// Calls f(piece, at) for the pieces of part k in ascending order; `at` is where the piece starts in the part's
  /// block.
  template <class F>
  void for_pieces(std::size_t k, F f) const {
    if (kind_ == kind::block_cyclic) {
      std::size_t at = 0;
      for (std::size_t start = k * block_; start < n_; start += p_ * block_) {
        const std::size_t stop = start + block_ < n_ ? start + block_ : n_;
        f(interval{start, stop}, at);
        at += stop - start;
      }
    } else {
      const interval piece = kind_ == kind::balanced ? balanced_part(n_, p_, k) : interval{starts_[k], starts_[k + 1]};
      if (piece.size() > 0) f(piece, std::size_t{0});
    }
  }

  /// Calls f(part, piece, at) for each part's share of `range`, ascending; `at` is where it starts in that part's
  /// block. The first part is found, the others follow from it without a search or a division.
  template <class F>
  void for_overlaps(interval range, F f) const {
    if (range.start >= range.stop) return;
    if (kind_ == kind::block_cyclic) {
      std::size_t block = range.start / block_, part = block % p_, turn = block / p_;
      for (std::size_t i = range.start; i < range.stop;) {
        const std::size_t start = block * block_, end = start + block_, stop = end < range.stop ? end : range.stop;
        f(part, interval{i, stop}, turn * block_ + i - start);
        i = stop;
        ++block;
        if (++part == p_) part = 0, ++turn;
      }
      return;
    }
    const std::size_t q = kind_ == kind::balanced ? n_ / p_ : 0, r = kind_ == kind::balanced ? n_ % p_ : 0;
    std::size_t part =
        kind_ == kind::balanced ? balanced_owner(n_, p_, range.start) : last_start_not_after(range.start);
    std::size_t start = kind_ == kind::balanced ? balanced_part(n_, p_, part).start : starts_[part];
    for (std::size_t i = range.start; i < range.stop; ++part) {
      const std::size_t end = kind_ == kind::balanced ? start + q + (part < r ? 1 : 0) : starts_[part + 1];
      const std::size_t stop = end < range.stop ? end : range.stop;
      if (stop > i) f(part, interval{i, stop}, i - start);
      i = stop;
      start = end;
    }
  }

  /// How many pieces `range` meets, counting empty parts between them.
  std::size_t count_overlaps(interval range) const {
    if (range.start >= range.stop) return 0;
    const std::size_t last = range.stop - 1;
    if (kind_ == kind::block_cyclic) return last / block_ - range.start / block_ + 1;
    if (kind_ == kind::balanced) return balanced_owner(n_, p_, last) - balanced_owner(n_, p_, range.start) + 1;
    return last_start_not_after(last) - last_start_not_after(range.start) + 1;
  }

  /// A number that equal cuts share, to compare over workers.
  std::uint64_t fingerprint() const {
    std::uint64_t hash = 1469598103934665603ULL;
    const auto mix = [&hash](std::size_t value) { hash = (hash ^ (value + 0x9e3779b97f4a7c15ULL)) * 1099511628211ULL; };
    mix(static_cast<std::size_t>(kind_));
    mix(n_);
    mix(p_);
    mix(block_);
    for (const std::size_t start : starts_) mix(start);
    return hash;
  }

  friend bool operator==(const cut&, const cut&) = default;

 private:
  cut(kind how, std::size_t n, std::size_t p, std::size_t block) : kind_(how), n_(n), p_(p), block_(block) {}

  /// The last part that starts at or before i and is not empty: empty parts start where the next one does.
  std::size_t last_start_not_after(std::size_t i) const {
    std::size_t low = 0, high = p_;  // starts_[low] <= i < starts_[high]
    while (high - low > 1) {
      const std::size_t middle = low + (high - low) / 2;
      (starts_[middle] <= i ? low : high) = middle;
    }
    return low;
  }

  kind kind_;
  std::size_t n_;
  std::size_t p_;
  std::size_t block_;
  std::vector<std::size_t> starts_;
};

}  // namespace partita
