// Parses the environment variables of the library. Any text gives a valid value: the default or the nearest valid
// value.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <initializer_list>

namespace partita::detail {

/// PARTITA_NODES: the number of nodes the workers pretend to be on; 1 if it is not set.
inline int nodes_said(const char* said) {
  const long nodes = said == nullptr ? 0 : std::strtol(said, nullptr, 10);
  return nodes < 1 ? 1 : nodes < 1'000'000'000 ? static_cast<int>(nodes) : 1'000'000'000;
}
/// PARTITA_SHARED: 0 turns shared memory off.
inline bool sharing_said(const char* said) { return said == nullptr || std::strtol(said, nullptr, 10) != 0; }
/// PARTITA_SHARED_FREE: pretends that shared memory has room for this many bytes.
inline std::size_t room_said(const char* said) { return std::strtoull(said, nullptr, 10); }
/// PARTITA_LINK: the cost of messages between nodes, `latency,message,byte` in seconds, optionally followed by
/// `,bytes`, the longest message that is sent eagerly. `given` is false if a number is missing or not above 0.
struct link_said {
  double latency = 0, message = 0, byte = 0;
  std::size_t at_once = 2048;
  bool given = false;

  explicit link_said(const char* said) {
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
};
/// PARTITA_PATIENCE: seconds until waiting is an error; 0 means never.
inline double patience_said(const char* said) {
  const double seconds = said == nullptr ? 0 : std::strtod(said, nullptr);
  return seconds > 0 && seconds < 1e9 ? seconds : 0;
}

}  // namespace partita::detail
