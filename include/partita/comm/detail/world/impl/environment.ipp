// Defines the functions that comm/detail/world/environment.hpp declares.
#pragma once

#include <partita/comm/detail/world/environment.hpp>

namespace partita::detail {

PARTITA_DEF int nodes_said(const char* said) {
  const long nodes = said == nullptr ? 0 : std::strtol(said, nullptr, 10);
  return nodes < 1 ? 1 : nodes < 1'000'000'000 ? static_cast<int>(nodes) : 1'000'000'000;
}

PARTITA_DEF link_said::link_said(const char* said) {
  for (double* const number : {&latency, &message, &byte}) {
    if (said == nullptr) return;
    char* end = nullptr;
    *number = std::strtod(said, &end);
    if (end == said || !(*number > 0 && *number < 1e9)) return;
    said = *end == ',' ? end + 1 : nullptr;
  }
  given = true;
  const unsigned long long bytes = said == nullptr ? 0 : std::strtoull(said, nullptr, 10);
  if (bytes >= 1 && bytes < (1ULL << 30U)) at_once = static_cast<std::size_t>(bytes);
}

PARTITA_DEF double patience_said(const char* said) {
  const double seconds = said == nullptr ? 0 : std::strtod(said, nullptr);
  return seconds > 0 && seconds < 1e9 ? seconds : 0;
}

}  // namespace partita::detail
