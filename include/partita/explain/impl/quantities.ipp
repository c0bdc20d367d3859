// Defines the functions that explain/quantities.hpp declares.
#pragma once

#include <partita/explain/quantities.hpp>

namespace partita::detail {

PARTITA_DEF long_text round_to_three_digits(double number) {
  const std::size_t scale = number < 10 ? 100 : number < 100 ? 10 : 1;
  const auto scaled_number = static_cast<std::size_t>(number * static_cast<double>(scale) + 0.5);
  long_text all = long_text() << scaled_number / scale;
  if (scale > 1) all << (scale == 100 && scaled_number % scale < 10 ? ".0" : ".") << scaled_number % scale;
  return all;
}

/// Writes a number, given in the first of `units`, in the first unit in which it is below 1000, or in the last unit.
/// Each unit is 1000 times the unit before.
PARTITA_DECL long_text number_with_unit(double number, const char* const* units, std::size_t count) {
  std::size_t u = 0;
  while (u + 1 < count && number >= 999.5) number /= 1000, ++u;
  return round_to_three_digits(number) << ' ' << units[u];
}

PARTITA_DEF long_text seconds_text(double seconds) {
  constexpr const char* units[] = {"ns", "us", "ms", "s"};
  return number_with_unit(seconds * 1e9, units, 4);
}

PARTITA_DEF long_text bytes_text(std::size_t bytes) {
  constexpr const char* units[] = {"B", "kB", "MB", "GB", "TB"};
  if (bytes < 1000) return long_text() << bytes << " B";
  return number_with_unit(static_cast<double>(bytes) / 1000, units + 1, 4);
}

}  // namespace partita::detail
