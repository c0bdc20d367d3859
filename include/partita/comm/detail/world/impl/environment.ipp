// Defines the functions that comm/detail/world/environment.hpp declares.
#pragma once

#include <partita/comm/detail/world/environment.hpp>

namespace partita::detail {

PARTITA_DEF int number_of_nodes_from(const char* setting) {
  const long nodes = setting == nullptr ? 0 : std::strtol(setting, nullptr, 10);
  return nodes < 1 ? 1 : nodes < 1'000'000'000 ? static_cast<int>(nodes) : 1'000'000'000;
}

PARTITA_DEF link_settings::link_settings(const char* setting) {
  for (double* const number : {&latency, &message, &byte}) {
    if (setting == nullptr) return;
    char* end = nullptr;
    *number = std::strtod(setting, &end);
    if (end == setting || !(*number > 0 && *number < 1e9)) return;
    setting = *end == ',' ? end + 1 : nullptr;
  }
  given = true;
  const unsigned long long bytes = setting == nullptr ? 0 : std::strtoull(setting, nullptr, 10);
  if (bytes >= 1 && bytes < (1ULL << 30U)) eager_bytes = static_cast<std::size_t>(bytes);
}

PARTITA_DEF double patience_from(const char* setting) {
  const double seconds = setting == nullptr ? 0 : std::strtod(setting, nullptr);
  return seconds > 0 && seconds < 1e9 ? seconds : 0;
}

}  // namespace partita::detail
