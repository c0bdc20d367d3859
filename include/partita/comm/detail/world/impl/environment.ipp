// Defines the functions that comm/detail/world/environment.hpp declares.
#pragma once

#include <partita/comm/detail/world/environment.hpp>

namespace partita::detail {

PARTITA_DEF int parse_node_count(const char* setting_text) {
  const long nodes = setting_text == nullptr ? 0 : std::strtol(setting_text, nullptr, 10);
  return nodes < 1 ? 1 : nodes < 1'000'000'000 ? static_cast<int>(nodes) : 1'000'000'000;
}

PARTITA_DEF node_link_settings::node_link_settings(const char* setting_text) {
  for (double* const number : {&latency, &message, &byte}) {
    if (setting_text == nullptr) return;
    char* end = nullptr;
    *number = std::strtod(setting_text, &end);
    if (end == setting_text || !(*number > 0 && *number < 1e9)) return;
    setting_text = *end == ',' ? end + 1 : nullptr;
  }
  given = true;
  const unsigned long long bytes = setting_text == nullptr ? 0 : std::strtoull(setting_text, nullptr, 10);
  if (bytes >= 1 && bytes < (1ULL << 30U)) eager_bytes = static_cast<std::size_t>(bytes);
}

PARTITA_DEF double parse_patience(const char* setting_text) {
  const double seconds = setting_text == nullptr ? 0 : std::strtod(setting_text, nullptr);
  return seconds > 0 && seconds < 1e9 ? seconds : 0;
}

}  // namespace partita::detail
