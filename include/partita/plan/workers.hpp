// An ordered selection of workers: a half-open range, or a list of ids.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <limits>
#include <partita/core/config.hpp>
#include <partita/core/error.hpp>
#include <partita/core/hash.hpp>
#include <type_traits>
#include <vector>

namespace partita {

namespace detail {

/// A set of ids whose memory is proportional to the number of ids: one flag for each worker if flags take no more
/// memory, else an open-addressing hash table.
class id_set {
 public:
  /// Constructs an empty set with memory for `count` ids, all below `bound`.
  PARTITA_DECL id_set(std::size_t count, std::size_t bound);
  /// Inserts a worker's id into the set, and returns whether the id is new.
  PARTITA_DECL bool insert(std::size_t id);
  PARTITA_DECL bool contains(std::size_t id) const;  ///< whether the id was inserted

 private:
  static constexpr std::size_t none = static_cast<std::size_t>(-1);  // marks an empty slot: larger than any id

  /// The slot of an id, or the empty slot where the id would be inserted.
  PARTITA_DECL std::size_t find(std::size_t id) const;

  std::vector<char> has_id_;             ///< one flag for each id below the bound, or empty
  std::vector<std::size_t> hash_table_;  ///< ids and empty slots; empty if flags are used
};

}  // namespace detail

/// An ordered selection of workers by their ids. A contiguous range is stored as two numbers, whatever its length.
///
/// `workers(4, 7)` is the half-open range 4, 5, 6; `workers{5, 2, 0, 1}` is a list, in that order; `workers(ids)`
/// accepts any container of integers. A negative id, also one that was converted to unsigned, is a partition_error. A
/// selection may be empty; a partition may not (docs/decisions/zero-workers.md).
class workers {
 public:
  /// The largest valid worker id: a larger number is taken for a negative number that was converted to unsigned.
  static constexpr std::size_t largest_id = static_cast<std::size_t>(std::numeric_limits<std::ptrdiff_t>::max());

  /// Selects the workers of the range first, first + 1, …, last - 1.
  constexpr workers(std::size_t first, std::size_t last) : first_(first), count_(last > first ? last - first : 0) {
    require_id(first, 0);
    if (count_ != 0) require_id(last - 1, count_ - 1);
  }
  workers(std::initializer_list<std::size_t> ids) : workers(std::vector<std::size_t>(ids)) {}

  /// Selects the workers of a list of ids in this order. A worker that is listed twice is a partition_error.
  PARTITA_DECL explicit workers(std::vector<std::size_t> ids);
  /// Selects the workers of any container of integers: a vector or an array of int, a span, a list.
  template <class Container>
    requires(!std::is_same_v<Container, workers> && !std::is_same_v<Container, std::vector<std::size_t>> &&
             requires(const Container& c) {
               requires std::is_integral_v<std::remove_cvref_t<decltype(*c.begin())>>;
               c.end();
             })
  explicit workers(const Container& ids) : workers(convert_ids(ids)) {}
  /// Rejects a single number, which is neither a range nor a list.
  template <class Number>
    requires std::is_scalar_v<Number>
  explicit workers(Number) {
    static_assert(!std::is_scalar_v<Number>,
                  "partita::workers(n): requires a range or a list; write workers(0, n) for the first n workers, "
                  "workers{n} for worker n alone");
  }

  std::size_t size() const { return count_; }  ///< The number of selected workers.
  bool empty() const { return count_ == 0; }
  /// Whether the ids are a contiguous ascending range (stored without a list).
  bool is_range() const { return ids_.empty(); }

  /// The id of the worker at place k of this selection, counted from 0.
  std::size_t operator[](std::size_t k) const {
    if (k >= count_) reject_position(k);
    return ids_.empty() ? first_ + k : ids_[k];
  }

  /// The place of a worker in the selection, or `size()` for a worker that is not selected. Cost: one comparison for a
  /// range, one pass for a list.
  PARTITA_DECL std::size_t find(std::size_t id) const;
  bool contains(std::size_t id) const { return find(id) != count_; }  ///< Whether a worker is selected.

  /// Whether a selection contains all workers of another. Cost: constant for ranges, else one search for each worker.
  PARTITA_DECL bool contain(const workers& subset) const;
  /// One more than the largest id, or 0 for an empty selection.
  PARTITA_DECL std::size_t id_end() const;

  /// The workers at the places listed in `chosen`, in the order of `chosen`; nested subsets keep that order, too.
  PARTITA_DECL workers subset(const workers& chosen) const;

  /// The workers of `a` in order, followed by the workers of `b` that are not in `a`, in order.
  friend workers union_of(const workers& a, const workers& b) {
    if (a.is_range() && b.is_range()) {
      if (b.empty() || (!a.empty() && b.first_ >= a.first_ && b.first_ + b.count_ <= a.first_ + a.count_)) return a;
      if (a.empty()) return b;
      if (b.first_ >= a.first_ && b.first_ <= a.first_ + a.count_) return workers(a.first_, b.first_ + b.count_);
    }
    std::vector<std::size_t> ids;
    ids.reserve(a.size() + b.size());
    for (std::size_t k = 0; k < a.size(); ++k) ids.push_back(a[k]);
    detail::id_set ids_of_a(a.ids_.size(), a.id_end());
    for (const std::size_t id : a.ids_) ids_of_a.insert(id);
    for (std::size_t k = 0; k < b.size(); ++k)
      if (!(a.is_range() ? a.contains(b[k]) : ids_of_a.contains(b[k]))) ids.push_back(b[k]);
    return workers(static_cast<std::vector<std::size_t>&&>(ids));
  }

  friend bool operator==(const workers& a, const workers& b) {
    return a.count_ == b.count_ && a.ids_ == b.ids_ && (!a.ids_.empty() || a.count_ == 0 || a.first_ == b.first_);
  }

 private:
  /// Throws a partition_error for a number that is no worker id; `place` is its place in the selection.
  static constexpr void require_id(std::size_t id, std::size_t place) {
    if (id > largest_id)
      throw partition_error(text("partita::workers: requires ids that are not negative, got ")
                            << static_cast<std::ptrdiff_t>(id) << " (as an unsigned number " << id << ") at place "
                            << place << "; the neighbour below worker 0 is no worker");
  }

  template <class Container>
  static std::vector<std::size_t> convert_ids(const Container& container) {  ///< copies integers of any type
    std::vector<std::size_t> ids;
    for (const auto id : container) ids.push_back(static_cast<std::size_t>(id));
    return ids;
  }

  PARTITA_DECL [[noreturn]] void reject_position(std::size_t k) const;  ///< throws: k is not below size()

  PARTITA_DECL void reject_duplicates() const;  ///< throws if an id is listed twice

  std::size_t first_ = 0, count_ = 0;  ///< the first id of a range; the number of ids
  std::vector<std::size_t> ids_;       // the ids of a list; empty for a range
};

}  // namespace partita

#ifndef PARTITA_CORE
#include <partita/plan/impl/workers.ipp>
#endif
