// The boxes of one tensor that workers hold, the boxes that they want, and the transfers between workers. The boxes are
// arbitrary, and may belong to two meshes.
#pragma once

#include <cstddef>
#include <partita/plan/reshard_overlaps.hpp>
#include <partita/plan/stable_sort.hpp>
#include <utility>
#include <vector>

namespace partita {

/// A worker's box of a tensor. In a partial tensor it belongs to one of several summands, and is filled from boxes of
/// the same summand only.
struct worker_box {
  short_list<interval> box{};
  std::size_t summand = 0;
  bool there = false;  ///< false for a worker that holds, or wants, no box

  friend bool operator==(const worker_box&, const worker_box&) = default;
};

/// A transfer from or to another worker: the intersection of two boxes.
struct box_overlap {
  std::size_t worker = 0;
  short_list<interval> where{};
};

/// The boxes that all workers hold and want, indexed by worker id; workers with equal boxes hold copies.
/// Requires: two lists of equal length.
class box_overlaps {
 public:
  template <class = void>
  box_overlaps(std::vector<worker_box> had, std::vector<worker_box> wanted)
      : had_(std::move(had)), wanted_(std::move(wanted)), copies_(had_.size()), order_(had_.size()) {
    std::size_t rank = 0;
    for (std::size_t k = 0; k < order_.size(); ++k) {
      order_[k] = k;
      rank = had_[k].box.size() > rank ? had_[k].box.size() : rank;
    }
    // Radix sort of the workers by their boxes: one stable pass per bound, the most significant bound last.
    for (std::size_t d = rank; d-- > 0;) {  // equal boxes are adjacent after all passes
      const auto bound = [&](std::size_t worker, bool stop) {
        const worker_box& one = had_[worker];
        return d >= one.box.size() ? 0 : stop ? one.box[d].stop : one.box[d].start;
      };
      detail::stable_sort(order_, [&](std::size_t worker) { return bound(worker, true); });
      detail::stable_sort(order_, [&](std::size_t worker) { return bound(worker, false); });
    }
    detail::stable_sort(order_, [&](std::size_t worker) { return had_[worker].summand; });
    detail::stable_sort(order_, [&](std::size_t worker) { return had_[worker].there ? 0 : 1; });
    // Find the ranges of workers with equal boxes: they hold copies.
    for (std::size_t k = 0; k < order_.size();) {
      std::size_t end = k + 1;
      while (end < order_.size() && had_[order_[end]] == had_[order_[k]]) ++end;
      for (std::size_t i = k; i < end; ++i) copies_[order_[i]] = {k, end};
      k = end;
    }
  }

  const std::vector<worker_box>& had() const { return had_; }
  const std::vector<worker_box>& wanted() const { return wanted_; }
  /// What a worker receives, including from itself, in the order of the senders. Cost: O(workers).
  template <class = void>
  std::vector<box_overlap> taken(std::size_t worker) const {
    std::vector<box_overlap> all;
    for (std::size_t k = 0; k < order_.size(); k = copies_[order_[k]].end) {
      const worker_box& one = had_[order_[k]];
      if (const auto both = common(one, wanted_[worker]); both.there)
        all.push_back({giver(order_[k], worker), both.where});
    }
    detail::stable_sort(all, [](const box_overlap& o) { return o.worker; });
    return all;
  }
  /// What a worker sends, including to itself, in the order of the receivers.
  template <class = void>
  std::vector<box_overlap> given(std::size_t worker) const {
    std::vector<box_overlap> all;
    for (std::size_t other = 0; other < wanted_.size() && had_[worker].there; ++other)
      if (const auto both = common(had_[worker], wanted_[other]); both.there && giver(worker, other) == worker)
        all.push_back({other, both.where});
    return all;
  }
  /// The largest number of elements that any worker receives from others; 0 if nothing moves. Requires that held boxes
  /// are either equal or disjoint, and that they cover the wanted boxes. Cost: O(workers).
  std::size_t most_taken() const {
    std::size_t most = 0;
    for (std::size_t worker = 0; worker < wanted_.size(); ++worker) {
      if (!wanted_[worker].there) continue;
      const auto own = common(had_[worker], wanted_[worker]);
      const std::size_t elements = volume(wanted_[worker].box) - (own.there ? volume(own.where) : 0);
      most = elements > most ? elements : most;
    }
    return most;
  }

 private:
  struct range {
    std::size_t first = 0, end = 0;
  };
  static std::size_t volume(const short_list<interval>& box) {
    std::size_t n = 1;
    for (const interval& one : box) n *= one.size();
    return n;
  }
  static detail::common_box common(const worker_box& a, const worker_box& b) {
    detail::common_box both(a.there && b.there ? a.box : short_list<interval>(),
                            a.there && b.there ? b.box : short_list<interval>());
    both.there = both.there && a.there && b.there && a.summand == b.summand;
    return both;
  }
  /// The sender among the workers with the same box as `holder`: the receiver itself if it is one of them, else chosen
  /// in turn so that all copies send.
  std::size_t giver(std::size_t holder, std::size_t for_whom) const {
    if (for_whom < had_.size() && had_[for_whom] == had_[holder]) return for_whom;
    const range all = copies_[holder];
    return order_[all.first + for_whom % (all.end - all.first)];
  }

  std::vector<worker_box> had_, wanted_;
  std::vector<range> copies_;
  std::vector<std::size_t> order_;
};

}  // namespace partita
