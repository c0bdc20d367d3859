// An ordered selection of workers: a half-open range, or a list of ids.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <limits>
#include <partita/core/error.hpp>
#include <partita/core/hash.hpp>
#include <type_traits>
#include <vector>

namespace partita {

namespace detail {

/// A set of ids, with memory for the ids and not for all workers below the largest: one flag per worker if that takes
/// no more memory, else an open-addressing hash table.
class id_set {
 public:
  /// With room for `count` ids, all below `bound`.
  template <class = void>
  id_set(std::size_t count, std::size_t bound) {
    if (bound / sizeof(std::size_t) <= 2 * count) {
      met_.assign(bound, 0);
      return;
    }
    std::size_t slots = 2;
    while (slots / 2 < count) slots *= 2;  // at most half full, so that a search is short
    slots_.assign(slots, none);
  }
  /// Inserts an id and returns whether it is new.
  bool insert(std::size_t id) {
    if (slots_.empty()) {
      const bool is_new = met_[id] == 0;
      met_[id] = 1;
      return is_new;
    }
    std::size_t& slot = slots_[find(id)];
    const bool is_new = slot == none;
    slot = id;
    return is_new;
  }
  bool contains(std::size_t id) const {
    if (slots_.empty()) return id < met_.size() && met_[id] != 0;
    return slots_[find(id)] == id;
  }

 private:
  static constexpr std::size_t none = static_cast<std::size_t>(-1);  // above the largest id

  /// The slot of the id, or the empty slot where it would be inserted.
  std::size_t find(std::size_t id) const {
    std::size_t k = static_cast<std::size_t>(hasher().mix(id).value()) & (slots_.size() - 1);
    while (slots_[k] != none && slots_[k] != id) k = (k + 1) & (slots_.size() - 1);
    return k;
  }

  std::vector<char> met_;
  std::vector<std::size_t> slots_;
};

}  // namespace detail

/// An ordered selection of workers by their ids. A contiguous range is stored as two numbers, whatever its length.
///
/// `workers(4, 7)` is the half-open range 4, 5, 6; `workers{5, 2, 0, 1}` is a list, in that order; `workers(ids)`
/// accepts any container of integers. A negative id, also one that was converted to unsigned, is a partition_error. A
/// selection may be empty; a partition may not (docs/decisions/zero-workers.md).
class workers {
 public:
  /// The largest id: larger numbers are negative numbers that were converted to unsigned.
  static constexpr std::size_t largest_id = static_cast<std::size_t>(std::numeric_limits<std::ptrdiff_t>::max());

  /// The range first, first + 1, …, last - 1.
  constexpr workers(std::size_t first, std::size_t last) : first_(first), count_(last > first ? last - first : 0) {
    require_id(first, 0);
    if (count_ != 0) require_id(last - 1, count_ - 1);
  }
  workers(std::initializer_list<std::size_t> ids) : workers(std::vector<std::size_t>(ids)) {}

  /// A list of ids in this order. A worker that is listed twice is a partition_error.
  explicit workers(std::vector<std::size_t> ids)
      : count_(ids.size()), ids_(static_cast<std::vector<std::size_t>&&>(ids)) {
    for (std::size_t k = 0; k < count_; ++k) require_id(ids_[k], k);
    refuse_duplicates();
    bool contiguous = true;
    for (std::size_t k = 1; k < count_; ++k) contiguous = contiguous && ids_[k] == ids_[0] + k;
    if (contiguous) {
      first_ = count_ == 0 ? 0 : ids_[0];
      ids_ = std::vector<std::size_t>();
    }
  }
  /// The same from any container of integers: a vector or an array of int, a span, a list.
  template <class Container>
    requires(!std::is_same_v<Container, workers> && !std::is_same_v<Container, std::vector<std::size_t>> &&
             requires(const Container& c) {
               requires std::is_integral_v<std::remove_cvref_t<decltype(*c.begin())>>;
               c.end();
             })
  explicit workers(const Container& ids) : workers(converted(ids)) {}
  /// Rejected: a single number is neither a range nor a list.
  template <class Number>
    requires std::is_scalar_v<Number>
  explicit workers(Number) {
    static_assert(!std::is_scalar_v<Number>,
                  "partita::workers(n): requires a range or a list; write workers(0, n) for the first n workers, "
                  "workers{n} for worker n alone");
  }

  std::size_t size() const { return count_; }
  bool empty() const { return count_ == 0; }
  /// Whether the ids are a contiguous ascending range (stored without a list).
  bool is_range() const { return ids_.empty(); }

  /// The id of the k-th worker.
  std::size_t operator[](std::size_t k) const {
    if (k >= count_) refuse_place(k);
    return ids_.empty() ? first_ + k : ids_[k];
  }

  /// The place of a worker in this order, or `size()` if it is not in it. Cost: one comparison for a range, one pass
  /// for a list.
  std::size_t find(std::size_t id) const {
    if (ids_.empty()) return id >= first_ && id < first_ + count_ ? id - first_ : count_;
    for (std::size_t k = 0; k < count_; ++k)
      if (ids_[k] == id) return k;
    return count_;
  }
  bool contains(std::size_t id) const { return find(id) != count_; }

  /// Whether all of the other workers are among these. Cost: constant for ranges, else one search for each of them.
  bool contain(const workers& others) const {
    if (is_range() && others.is_range())
      return others.empty() || (others.first_ >= first_ && others.first_ + others.count_ <= first_ + count_);
    for (std::size_t k = 0; k < others.size(); ++k)
      if (!contains(others[k])) return false;
    return true;
  }
  /// One more than the largest id, or 0 if there is none.
  std::size_t bound() const {
    if (ids_.empty()) return count_ == 0 ? 0 : first_ + count_;
    std::size_t largest = 0;
    for (std::size_t id : ids_) largest = id > largest ? id : largest;
    return largest + 1;
  }

  /// The workers at the places listed in `chosen`, in the order of `chosen`; the order is also kept in nested subsets.
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
    std::vector<std::size_t> ids;
    ids.reserve(a.size() + b.size());
    for (std::size_t k = 0; k < a.size(); ++k) ids.push_back(a[k]);
    detail::id_set listed(a.ids_.size(), a.bound());
    for (const std::size_t id : a.ids_) listed.insert(id);
    for (std::size_t k = 0; k < b.size(); ++k)
      if (!(a.is_range() ? a.contains(b[k]) : listed.contains(b[k]))) ids.push_back(b[k]);
    return workers(static_cast<std::vector<std::size_t>&&>(ids));
  }

  friend bool operator==(const workers& a, const workers& b) {
    return a.count_ == b.count_ && a.ids_ == b.ids_ && (!a.ids_.empty() || a.count_ == 0 || a.first_ == b.first_);
  }

 private:
  static constexpr void require_id(std::size_t id, std::size_t place) {
    if (id > largest_id)
      throw partition_error(text("partita::workers: requires ids that are not negative, got ")
                            << static_cast<std::ptrdiff_t>(id) << " (as an unsigned number " << id << ") at place "
                            << place << "; the neighbour below worker 0 is no worker");
  }

  template <class Container>
  static std::vector<std::size_t> converted(const Container& given) {
    std::vector<std::size_t> ids;
    for (const auto id : given) ids.push_back(static_cast<std::size_t>(id));
    return ids;
  }

  template <class = void>
  [[noreturn]] void refuse_place(std::size_t k) const {
    throw partition_error(text("partita::workers: requires a place below the number of workers ")
                          << count_ << ", got place " << k);
  }

  void refuse_duplicates() const {
    bool ascending = true;
    for (std::size_t k = 1; k < count_; ++k) ascending = ascending && ids_[k - 1] < ids_[k];
    if (ascending) return;
    detail::id_set listed(count_, bound());
    for (std::size_t k = 0; k < count_; ++k)
      if (!listed.insert(ids_[k]))
        throw partition_error(text("partita::workers: requires each worker once, worker ")
                              << ids_[k] << " is listed twice (again at place " << k << "); remove one of them");
  }

  std::size_t first_ = 0;
  std::size_t count_ = 0;
  std::vector<std::size_t> ids_;  // empty for a range
};

}  // namespace partita
