// Defines the functions that explain/timetable_picture.hpp declares.
#pragma once

#include <partita/explain/quantities.hpp>
#include <partita/explain/timeline.hpp>
#include <partita/explain/timetable_picture.hpp>

namespace partita {
namespace detail {

PARTITA_DECL long_text entry_text(const timetable::entry& entry) {  ///< the operation that computes, or waits for data
  long_text all(entry.moves ? "moves for " : "");
  all << (entry.operation.empty() ? "a value" : entry.operation.c_str());
  if (entry.joint_movements > 0) all << " and " << entry.joint_movements << " more";
  return all;
}

PARTITA_DECL long_text total_text(const timetable& times) {  ///< the time of a step, and its parts
  long_text all("a step takes ");
  all << seconds_text(times.seconds()) << (times.is_measured ? ", measured: " : ", estimated: ") << "computing "
      << seconds_text(times.computing()) << ", waiting for movements " << seconds_text(times.waiting());
  if (times.moving() > 0) {
    const double hidden_share = 1 - times.waiting() / times.moving();
    all << "; movements are pending for " << seconds_text(times.moving()) << ", "
        << percentage(hidden_share < 0 ? 0 : hidden_share) << " of it while something is computed";
  }
  return all;
}

}  // namespace detail

PARTITA_DEF long_text to_text(const timetable& times) {
  std::size_t wide = 0;
  for (const timetable::entry& entry : times.entries)
    if (const std::size_t own = detail::entry_text(entry).columns() + 2; own > wide) wide = own;
  long_text all;
  for (const timetable::entry& entry : times.entries) {
    long_text line = long_text("at ") << detail::seconds_text(entry.from);
    line.pad(12) << detail::entry_text(entry);
    line.pad(12 + wide) << "takes " << detail::seconds_text(entry.until - entry.from);
    line.pad(28 + wide) << detail::bytes_text(entry.bytes_held) << " held";
    if (entry.moves) line << ", " << detail::bytes_text(entry.received_bytes) << " received";
    all << line << "\n";
  }
  all << detail::total_text(times) << "\n";
  return all << "no order takes less than " << detail::seconds_text(times.lower_bound())
             << ", the larger of computing and moving, or than " << detail::seconds_text(times.longest_chain)
             << ", the longest chain of entries of which each needs the one before\n";
}

PARTITA_DEF long_text to_svg(const timetable& times) {
  detail::timeline on{detail::total_text(times), "time, bytes received"};
  on.add_to_legend(2, "computes");
  on.add_to_legend(4, "moves");
  for (const timetable::entry& entry : times.entries) {
    long_text label = detail::seconds_text(entry.until - entry.from);
    if (entry.moves) label << ", " << detail::bytes_text(entry.received_bytes);
    on.bars.push_back({detail::entry_text(entry), label, entry.from, entry.until, entry.moves ? 4U : 2U,
                       entry.bytes_held, entry.is_backward});
  }
  return on.svg();
}

}  // namespace partita
