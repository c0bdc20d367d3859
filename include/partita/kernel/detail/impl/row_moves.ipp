// Defines the functions that kernel/detail/row_moves.hpp declares.
#pragma once

#include <limits>
#include <partita/kernel/detail/row_moves.hpp>

namespace partita::detail {

PARTITA_DEF void row_moves::add(const row_run& rows) {
  rows_ += rows.rows;
  if (!runs_and_lists_.empty()) {
    group& last = runs_and_lists_.back();
    const bool next_from = last.from + last.rows == rows.from, next_to = last.to + last.rows == rows.to;
    if (next_from && next_to) {
      last.rows += rows.rows;
      return;
    }
    if (last.rows < min_run_length && (next_from || next_to)) store_last_group_as_list(rows);
  }
  runs_and_lists_.push_back({rows.from, rows.to, rows.rows, listed_side::none});
}

PARTITA_DEF void row_moves::store_last_group_as_list(const row_run& next) {
  constexpr std::size_t most = std::numeric_limits<std::uint32_t>::max();
  const group last = runs_and_lists_.back();
  const listed_side side = last.to + last.rows == next.to ? listed_side::from : listed_side::to;
  const std::size_t first = side == listed_side::from ? last.from : last.to;
  if (first + last.rows > most) return;
  runs_and_lists_.pop_back();
  // If the group before the run is a list of the same side, the run extends that list (the other side is consecutive).
  const bool continues_last_group = !runs_and_lists_.empty() && runs_and_lists_.back().side == side;
  if (continues_last_group) runs_and_lists_.back().rows += last.rows;
  else if (side == listed_side::from) runs_and_lists_.push_back({listed_rows_.size(), last.to, last.rows, side});
  else runs_and_lists_.push_back({last.from, listed_rows_.size(), last.rows, side});
  for (std::size_t k = 0; k < last.rows; ++k) listed_rows_.push_back(static_cast<std::uint32_t>(first + k));
}

}  // namespace partita::detail
