// What the variables of the environment say, whatever they say: the default or what comes nearest, and no wrong value.
#pragma once

#include <cstddef>
#include <cstdlib>

namespace partita::detail {

/// PARTITA_NODES: on how many nodes the workers act as if they lived; 1 if it says nothing.
inline int nodes_said(const char* said) {
  const long nodes = said == nullptr ? 0 : std::strtol(said, nullptr, 10);
  return nodes < 1 ? 1 : nodes < 1'000'000'000 ? static_cast<int>(nodes) : 1'000'000'000;
}
/// PARTITA_SHARED: nothing is shared if it is 0.
inline bool sharing_said(const char* said) { return said == nullptr || std::strtol(said, nullptr, 10) != 0; }
/// PARTITA_SHARED_FREE: how many bytes shared memory pretends to have room for.
inline std::size_t room_said(const char* said) { return std::strtoull(said, nullptr, 10); }
/// PARTITA_PATIENCE: seconds until waiting is an error; 0 is never.
inline double patience_said(const char* said) {
  const double seconds = said == nullptr ? 0 : std::strtod(said, nullptr);
  return seconds > 0 && seconds < 1e9 ? seconds : 0;
}

}  // namespace partita::detail
