// Which workers, in which order: a half-open range, or a list.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <partita/core/error.hpp>
#include <vector>

namespace partita {

/// An ordered choice of workers by their ids. A contiguous range stays a range, whatever its length: two numbers.
///
/// `workers(4, 7)` is the half-open range 4, 5, 6; `workers{5, 2, 0, 1}` is a list, in that order.
class workers {
 public:
  /// The range first, first + 1, …, last - 1.
  constexpr workers(std::size_t first, std::size_t last) : first_(first), count_(last > first ? last - first : 0) {}
  workers(std::initializer_list<std::size_t> ids) : workers(std::vector<std::size_t>(ids)) {}

  /// A list of ids in this order. A worker listed twice is a partition_error.
  explicit workers(std::vector<std::size_t> ids) : count_(ids.size()), ids_(static_cast<std::vector<std::size_t>&&>(ids)) {
    refuse_duplicates();
    bool contiguous = true;
    for (std::size_t k = 1; k < count_; ++k) contiguous = contiguous && ids_[k] == ids_[0] + k;
    if (contiguous) {
      first_ = count_ == 0 ? 0 : ids_[0];
      ids_ = std::vector<std::size_t>();
    }
  }

  std::size_t size() const { return count_; }
  bool empty() const { return count_ == 0; }
  /// Whether the ids are a contiguous ascending range (kept without a list).
  bool is_range() const { return ids_.empty(); }

  /// The id of the k-th worker.
  std::size_t operator[](std::size_t k) const { return ids_.empty() ? first_ + k : ids_[k]; }

  /// The place of a worker in this order, or `size()` if it is not in it. Cost: one comparison for a range, one pass for a list.
  std::size_t find(std::size_t id) const {
    if (ids_.empty()) return id >= first_ && id < first_ + count_ ? id - first_ : count_;
    for (std::size_t k = 0; k < count_; ++k)
      if (ids_[k] == id) return k;
    return count_;
  }
  bool contains(std::size_t id) const { return find(id) != count_; }

  /// One more than the largest id, 0 if there is none.
  std::size_t bound() const {
    if (ids_.empty()) return count_ == 0 ? 0 : first_ + count_;
    std::size_t largest = 0;
    for (std::size_t id : ids_) largest = id > largest ? id : largest;
    return largest + 1;
  }

  /// The workers that `chosen` names by their places here: nested subsets keep the order of the choice.
  workers subset(const workers& chosen) const {
    if (chosen.bound() > count_)
      throw partition_error(text("partita::workers::subset: requires places below ")
                            << count_ << " (this many workers are chosen from), got place " << chosen.bound() - 1);
    if (ids_.empty() && chosen.is_range() && !chosen.empty())  // braces would make a list of two
      return workers(first_ + chosen[0], first_ + chosen[0] + chosen.size());
    std::vector<std::size_t> ids(chosen.size());
    for (std::size_t k = 0; k < ids.size(); ++k) ids[k] = (*this)[chosen[k]];
    return workers(static_cast<std::vector<std::size_t>&&>(ids));
  }

  /// The workers of `a` in order, then those of `b` that are not in `a`, in order.
  friend workers united(const workers& a, const workers& b) {
    if (a.is_range() && b.is_range()) {
      if (b.empty() || (!a.empty() && b.first_ >= a.first_ && b.first_ + b.count_ <= a.first_ + a.count_)) return a;
      if (a.empty()) return b;
      if (b.first_ >= a.first_ && b.first_ <= a.first_ + a.count_) return workers(a.first_, b.first_ + b.count_);
    }
    std::vector<char> taken(a.bound() > b.bound() ? a.bound() : b.bound(), 0);
    std::vector<std::size_t> ids;
    ids.reserve(a.size() + b.size());
    for (const workers* side : {&a, &b})
      for (std::size_t k = 0; k < side->size(); ++k)
        if (char& seen = taken[(*side)[k]]; seen == 0) {
          seen = 1;
          ids.push_back((*side)[k]);
        }
    return workers(static_cast<std::vector<std::size_t>&&>(ids));
  }

  friend bool operator==(const workers& a, const workers& b) {
    return a.count_ == b.count_ && a.ids_ == b.ids_ && (!a.ids_.empty() || a.count_ == 0 || a.first_ == b.first_);
  }

 private:
  void refuse_duplicates() const {
    std::vector<char> seen(bound(), 0);
    for (std::size_t k = 0; k < count_; ++k) {
      if (seen[ids_[k]] != 0)
        throw partition_error(text("partita::workers: requires each worker once, worker ")
                              << ids_[k] << " is listed twice (again at place " << k << "); remove one of them");
      seen[ids_[k]] = 1;
    }
  }

  std::size_t first_ = 0;
  std::size_t count_ = 0;
  std::vector<std::size_t> ids_;  // empty for a range
};

}  // namespace partita
