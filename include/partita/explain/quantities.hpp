// Seconds, bytes and fractions in readable form: three digits and a unit.
#pragma once

#include <cstddef>
#include <partita/explain/long_text.hpp>

namespace partita::detail {

/// Three significant digits of a number below 1000: 1.93, 25.7, 320.
inline long_text three_figures(double number) {
  const std::size_t scale = number < 10 ? 100 : number < 100 ? 10 : 1;
  const auto figures = static_cast<std::size_t>(number * static_cast<double>(scale) + 0.5);
  long_text all = long_text() << figures / scale;
  if (scale > 1) all << (scale == 100 && figures % scale < 10 ? ".0" : ".") << figures % scale;
  return all;
}
/// A number with the unit that makes it 1 to 1000, if there is such a unit.
inline long_text in_units(double number, const char* const* units, std::size_t count) {
  std::size_t u = 0;
  while (u + 1 < count && number >= 999.5) number /= 1000, ++u;
  return three_figures(number) << ' ' << units[u];
}
inline long_text in_seconds(double seconds) {
  constexpr const char* units[] = {"ns", "us", "ms", "s"};
  return in_units(seconds * 1e9, units, 4);
}
inline long_text in_bytes(std::size_t bytes) {
  constexpr const char* units[] = {"B", "kB", "MB", "GB", "TB"};
  if (bytes < 1000) return long_text() << bytes << " B";
  return in_units(static_cast<double>(bytes) / 1000, units + 1, 4);
}
inline long_text in_percent(double share) { return three_figures(share * 100) << " %"; }

}  // namespace partita::detail
