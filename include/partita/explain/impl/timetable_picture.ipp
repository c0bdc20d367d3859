// Defines the functions that explain/timetable_picture.hpp declares.
#pragma once

#include <partita/explain/quantities.hpp>
#include <partita/explain/timeline.hpp>
#include <partita/explain/timetable_picture.hpp>

namespace partita {
namespace detail {

PARTITA_DECL long_text entry_text(const timetable::entry& one) {
  long_text all(one.moves ? "moves for " : "");
  all << (one.operation.empty() ? "a value" : one.operation.c_str());
  if (one.others > 0) all << " and " << one.others << " more";
  return all;
}

PARTITA_DECL long_text total_text(const timetable& times) {
  long_text all("a step takes ");
  all << in_seconds(times.seconds()) << (times.is_measured ? ", measured: " : ", estimated: ") << "computing "
      << in_seconds(times.computing()) << ", waiting for movements " << in_seconds(times.waiting());
  if (times.moving() > 0) {
    const double hidden_share = 1 - times.waiting() / times.moving();
    all << "; movements are pending for " << in_seconds(times.moving()) << ", "
        << in_percent(hidden_share < 0 ? 0 : hidden_share) << " of it while something is computed";
  }
  return all;
}

}  // namespace detail

PARTITA_DEF long_text to_text(const timetable& times) {
  std::size_t wide = 0;
  for (const timetable::entry& one : times.entries)
    if (const std::size_t own = detail::entry_text(one).columns() + 2; own > wide) wide = own;
  long_text all;
  for (const timetable::entry& one : times.entries) {
    long_text line = long_text("at ") << detail::in_seconds(one.from);
    line.pad(12) << detail::entry_text(one);
    line.pad(12 + wide) << "takes " << detail::in_seconds(one.until - one.from);
    line.pad(28 + wide) << detail::in_bytes(one.held) << " held";
    if (one.moves) line << ", " << detail::in_bytes(one.received) << " received";
    all << line << "\n";
  }
  all << detail::total_text(times) << "\n";
  return all << "no order takes less than " << detail::in_seconds(times.least())
             << ", the larger of computing and moving, or than " << detail::in_seconds(times.longest_chain)
             << ", the longest chain of entries of which each needs the one before\n";
}

PARTITA_DEF long_text to_svg(const timetable& times) {
  detail::timeline on{detail::total_text(times), "time, bytes received"};
  on.add_to_legend(2, "computes");
  on.add_to_legend(4, "moves");
  for (const timetable::entry& one : times.entries) {
    long_text beside = detail::in_seconds(one.until - one.from);
    if (one.moves) beside << ", " << detail::in_bytes(one.received);
    on.bars.push_back(
        {detail::entry_text(one), beside, one.from, one.until, one.moves ? 4U : 2U, one.held, one.is_backward});
  }
  return on.svg();
}

}  // namespace partita
