// A list of moves of rows: which rows of one block go to which rows of another block.
#pragma once

#include <cstddef>
#include <cstdint>
#include <partita/core/config.hpp>
#include <vector>

namespace partita::detail {

/// Consecutive rows that go from one block to consecutive rows of another.
struct row_run {
  std::size_t from = 0, to = 0, rows = 0;  ///< the first row in each block, and the number of rows

  /// The same run of rows, moved in the opposite direction.
  row_run reversed() const { return {to, from, rows}; }
};

/// Adds one row to a list of runs; the row extends the last run if it is the next row on both sides.
inline void add_row(std::vector<row_run>& runs, std::size_t from, std::size_t to) {
  if (!runs.empty() && runs.back().from + runs.back().rows == from && runs.back().to + runs.back().rows == to)
    ++runs.back().rows;
  else runs.push_back({from, to, 1});
}

/// A list of moves of rows between two blocks, in the order in which the moves were added. Many consecutive rows are
/// stored as a run; rows that are consecutive on one side only are usually stored as a list of their numbers on the
/// other side, four bytes each, because reading longer row numbers would take as long as copying narrow rows.
class row_moves {
 public:
  /// The side of a group on which row numbers are listed, or `none` if row numbers are consecutive on both sides.
  enum class listed_side : std::uint8_t { none, from, to };
  /// Rows that are stored together: a run, or rows of which one side is listed.
  struct group {
    std::size_t from = 0, to = 0;  ///< the first row; on the listed side, the start of the list in listed_rows()
    std::size_t rows = 0;          ///< the number of rows
    listed_side side = listed_side::none;  ///< the side on which the row numbers are listed

    /// The same group of rows, moved in the opposite direction.
    group reversed() const {
      return {to, from, rows,
              side == listed_side::from ? listed_side::to
              : side == listed_side::to ? listed_side::from
                                        : listed_side::none};
    }
  };

  void add(std::size_t from, std::size_t to) { add(row_run{from, to, 1}); }  ///< moves one row
  /// Adds a move of one or several consecutive rows.
  PARTITA_DECL void add(const row_run& rows);

  bool empty() const { return runs_and_lists_.empty(); }  ///< whether no row is moved
  std::size_t rows() const { return rows_; }              ///< the number of rows that are moved
  /// Whether rows are moved, and all are consecutive in the source and in the destination.
  bool has_one_run() const { return runs_and_lists_.size() == 1; }  // because the last group is a run
  /// The source row and the destination row of the first move; all numbers are 0 if no row is moved.
  row_run first() const { return empty() ? row_run{} : make_single_row_run(runs_and_lists_[0], 0); }

  const std::vector<group>& groups() const { return runs_and_lists_; }      ///< the runs and the lists, in order
  const std::uint32_t* listed_rows() const { return listed_rows_.data(); }  ///< the row numbers of all lists
  /// Calls `part(group)` for the moves to the rows [first, first + rows). Requires: the destination rows of all moves,
  /// in the order of the list, are consecutive.
  template <class Part>
  void for_each_group_in_rows(std::size_t first, std::size_t rows, Part part) const {
    const std::size_t last = first + rows;
    std::size_t g = 0;
    for (std::size_t end = runs_and_lists_.size(); end > g + 1;) {
      const std::size_t half = g + (end - g) / 2;
      if (runs_and_lists_[half].to <= first) g = half;
      else end = half;
    }
    for (; g < runs_and_lists_.size() && runs_and_lists_[g].to < last; ++g) {
      group now = runs_and_lists_[g];
      const std::size_t skip = first > now.to ? first - now.to : 0;
      const std::size_t stop = now.to + now.rows < last ? now.rows : last - now.to;
      if (skip >= stop) continue;
      now.from += skip, now.to += skip, now.rows = stop - skip;
      part(now);
    }
  }
  /// Calls visit(run) for all moves; for_each_run_in_rows() visits the moves to the rows [first, first + rows) only.
  template <class Visit>
  void for_each(Visit visit) const {
    for (const group& g : runs_and_lists_) visit_runs(g, visit);
  }
  template <class Visit>
  void for_each_run_in_rows(std::size_t first, std::size_t rows, Visit visit) const {  // visits moves to these rows
    for_each_group_in_rows(first, rows, [&](const group& g) { visit_runs(g, visit); });
  }

 private:
  /// A run of at least this many rows costs less than a list.
  static constexpr std::size_t min_run_length = 8;

  row_run make_single_row_run(const group& g, std::size_t k) const {  // row k of the group
    return {g.side == listed_side::from ? listed_rows_[g.from + k] : g.from + k,
            g.side == listed_side::to ? listed_rows_[g.to + k] : g.to + k, 1};
  }
  template <class Visit>
  void visit_runs(const group& g, Visit& visit) const {  // calls visit(run) for the rows of a group
    if (g.side == listed_side::none) return visit(row_run{g.from, g.to, g.rows});
    for (std::size_t k = 0; k < g.rows; ++k) visit(make_single_row_run(g, k));
  }
  /// Stores the rows of the last group, a short run, as a list, because `next` continues the group on one side only.
  PARTITA_DECL void store_last_group_as_list(const row_run& next);

  std::vector<group> runs_and_lists_;       ///< all moves; the last group is always a run
  std::vector<std::uint32_t> listed_rows_;  ///< the row numbers of all lists
  std::size_t rows_ = 0;                    ///< the number of rows that are moved
};

}  // namespace partita::detail

#ifndef PARTITA_CORE
#include <partita/kernel/detail/impl/row_moves.ipp>
#endif
