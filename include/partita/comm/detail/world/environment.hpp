// Parses the environment variables of the library. Any text of a variable gives a valid value: the default or the
// nearest valid value.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <initializer_list>

namespace partita::detail {

/// PARTITA_NODES is the number of nodes that the workers simulate, or 1 if it is not set.
inline int parse_node_count(const char* setting_text) {
  const long nodes = setting_text == nullptr ? 0 : std::strtol(setting_text, nullptr, 10);
  return nodes < 1 ? 1 : nodes < 1'000'000'000 ? static_cast<int>(nodes) : 1'000'000'000;
}
/// Whether PARTITA_SHARED allows shared memory: 0 turns it off.
inline bool parse_sharing(const char* setting_text) {
  return setting_text == nullptr || std::strtol(setting_text, nullptr, 10) != 0;
}
/// PARTITA_SHARED_FREE: the number of free bytes of shared memory that the library assumes instead of asking the
/// system.
inline std::size_t parse_free_bytes(const char* setting_text) { return std::strtoull(setting_text, nullptr, 10); }
/// PARTITA_LINK: the cost of messages between nodes, `latency,message,byte` in seconds, optionally followed by
/// `,bytes`, the longest message that is sent eagerly. `given` is false if a number is missing or not above 0.
struct node_link_settings {
  double latency = 0, message = 0, byte = 0;  ///< the latency, and the cost of a message and of a byte
  std::size_t eager_bytes = 2048;             ///< the longest message that is sent eagerly
  bool given = false;                         ///< whether the variable is set and valid

  explicit node_link_settings(const char* setting_text) {
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
};
/// PARTITA_PATIENCE: the seconds after which a wait becomes an error; 0 means never.
inline double parse_patience(const char* setting_text) {
  const double seconds = setting_text == nullptr ? 0 : std::strtod(setting_text, nullptr);
  return seconds > 0 && seconds < 1e9 ? seconds : 0;
}

}  // namespace partita::detail
