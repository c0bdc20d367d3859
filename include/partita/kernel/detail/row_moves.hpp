// Which rows of one block go to which rows of another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <partita/core/config.hpp>
#include <vector>

namespace partita::detail {

/// Consecutive rows that go from one block to consecutive rows of another.
struct row_run {
  std::size_t from = 0, to = 0, rows = 0;

  /// The same in the opposite direction.
  row_run turned() const { return {to, from, rows}; }
};

/// Adds one row; it extends the last run if it is the next row on both sides.
inline void add_row(std::vector<row_run>& runs, std::size_t from, std::size_t to) {
  if (!runs.empty() && runs.back().from + runs.back().rows == from && runs.back().to + runs.back().rows == to)
    ++runs.back().rows;
  else runs.push_back({from, to, 1});
}

/// Rows in the order in which they were added. Many rows are kept as a run; rows that are consecutive on one side only
/// are kept as a list of their numbers on the other, four bytes each, because a copy of narrow rows takes as long as
/// reading where they are.
class row_moves {
 public:
  /// What one group of rows has: consecutive numbers on both sides, or a list of those on one side.
  enum class listed : std::uint8_t { none, from, to };
  struct group {
    std::size_t from = 0, to = 0;  ///< the first rows; on a listed side, where its numbers begin in `numbers()`
    std::size_t rows = 0;
    listed side = listed::none;

    /// The same in the opposite direction.
    group turned() const {
      return {to, from, rows, side == listed::from ? listed::to : side == listed::to ? listed::from : listed::none};
    }
  };

  void add(std::size_t from, std::size_t to) { add(row_run{from, to, 1}); }
  /// Adds consecutive rows, of which there is at least one.
  PARTITA_DECL void add(const row_run& rows);

  bool empty() const { return groups_.empty(); }
  std::size_t rows() const { return rows_; }
  /// Whether all rows are consecutive on both sides.
  bool is_one_run() const { return groups_.size() == 1; }  // the last group is a run
  /// The first row of all, where it comes from and where it goes.
  row_run first() const { return empty() ? row_run{} : run_at(groups_[0], 0); }

  const std::vector<group>& groups() const { return groups_; }
  const std::uint32_t* numbers() const { return numbers_.data(); }
  /// The part of the rows that go to [first, first + rows). Requires: each row goes to the one after the row before.
  /// `part(group)` is called with every group of it.
  template <class Part>
  void part_to(std::size_t first, std::size_t rows, Part part) const;
  /// Calls visit(run) for all rows, or for a part of them as in part_to.
  template <class Visit>
  void for_each(Visit visit) const {
    for (const group& g : groups_) visit_runs(g, visit);
  }
  template <class Visit>
  void for_each_to(std::size_t first, std::size_t rows, Visit visit) const {
    part_to(first, rows, [&](const group& g) { visit_runs(g, visit); });
  }

 private:
  /// From this many rows on, a run costs less than a list.
  static constexpr std::size_t shortest_run = 8;

  row_run run_at(const group& g, std::size_t k) const {
    return {g.side == listed::from ? numbers_[g.from + k] : g.from + k,
            g.side == listed::to ? numbers_[g.to + k] : g.to + k, 1};
  }
  template <class Visit>
  void visit_runs(const group& g, Visit& visit) const {
    if (g.side == listed::none) return visit(row_run{g.from, g.to, g.rows});
    for (std::size_t k = 0; k < g.rows; ++k) visit(run_at(g, k));
  }
  /// Lists the rows of the last group, which is a short run, because `next` follows it on one side only.
  PARTITA_DECL void list_last(const row_run& next);

  std::vector<group> groups_;  // the last one is always a run
  std::vector<std::uint32_t> numbers_;
  std::size_t rows_ = 0;
};

template <class Part>
void row_moves::part_to(std::size_t first, std::size_t rows, Part part) const {
  const std::size_t last = first + rows;
  std::size_t g = 0;
  for (std::size_t end = groups_.size(); end > g + 1;) {
    const std::size_t half = g + (end - g) / 2;
    if (groups_[half].to <= first) g = half;
    else end = half;
  }
  for (; g < groups_.size() && groups_[g].to < last; ++g) {
    group now = groups_[g];
    const std::size_t skip = first > now.to ? first - now.to : 0;
    const std::size_t stop = now.to + now.rows < last ? now.rows : last - now.to;
    if (skip >= stop) continue;
    now.from += skip, now.to += skip, now.rows = stop - skip;
    part(now);
  }
}

}  // namespace partita::detail

#ifndef PARTITA_CORE
#include <partita/kernel/detail/impl/row_moves.ipp>
#endif
