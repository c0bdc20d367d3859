// Parses the environment variables of the library. No text of a variable is an error: every text stands for some valid
// value.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <initializer_list>
#include <partita/core/config.hpp>

namespace partita::detail {

/// PARTITA_NODES: the number of nodes that the workers simulate; 1 if it is not set, or is no positive number.
PARTITA_DECL int parse_node_count(const char* setting_text);
/// Whether PARTITA_SHARED allows shared memory: 0, or a text without a number, turns it off.
inline bool parse_sharing(const char* setting_text) {
  return setting_text == nullptr || std::strtol(setting_text, nullptr, 10) != 0;
}
/// PARTITA_SHARED_FREE: the number of free bytes of shared memory that the library assumes instead of asking the
/// system.
inline std::size_t parse_free_bytes(const char* setting_text) { return std::strtoull(setting_text, nullptr, 10); }
/// PARTITA_LINK: the cost of messages between nodes, `latency,message,byte` in seconds, optionally followed by
/// `,bytes`, the longest message that is sent eagerly. `given` is false if one of the first three numbers is missing,
/// not above 0, or 1e9 or more.
struct node_link_settings {
  double latency = 0, message = 0, byte = 0;  ///< the latency, and the cost of a message and of a byte
  std::size_t eager_bytes = 2048;             ///< the bytes of the longest message that is sent eagerly
  bool given = false;                         ///< whether the variable is set and valid

  PARTITA_DECL explicit node_link_settings(const char* setting_text);  ///< parses PARTITA_LINK; null: not set
};
/// PARTITA_PATIENCE: the seconds after which a wait becomes an error; 0 means never.
PARTITA_DECL double parse_patience(const char* setting_text);

}  // namespace partita::detail

#ifndef PARTITA_CORE
#include <partita/comm/detail/world/impl/environment.ipp>
#endif
