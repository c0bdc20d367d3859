// Random programs of steps, for the laws of their orders and timetables.
#pragma once

#include <cstdint>
#include <partita/plan/step_order.hpp>
#include <random>
#include <vector>

namespace test {

using partita::step_use;

/// A program of steps that read some of the last blocks and set a new one, or sometimes one that was set before.
inline std::vector<step_use> random_program(std::mt19937& random, std::size_t n) {
  const auto below = [&](std::size_t bound) { return static_cast<std::uint32_t>(random() % bound); };
  std::vector<step_use> all;
  for (std::uint32_t k = 0; k < n; ++k) {
    step_use one;
    one.moves = below(3) == 0;
    for (std::uint32_t reads = one.moves ? 1 : below(3); reads > 0; --reads) one.reads.push_back(below(k + 3));
    one.sets = below(8) == 0 ? step_use::nothing : below(6) == 0 ? below(k + 3) : k + 3;
    one.seconds = 1 + below(9);
    one.bytes = 8 * below(100);
    if (one.moves) one.received = one.bytes;
    all.push_back(one);
  }
  return all;
}

/// Whether b must come after a in the program.
inline bool depends(const step_use& a, const step_use& b) {
  const auto reads = [](const step_use& one, std::uint32_t block) {
    bool any = false;
    for (const std::uint32_t x : one.reads) any = any || (x == block && block != step_use::nothing);
    return any;
  };
  return reads(b, a.sets) || reads(a, b.sets) || (a.sets != step_use::nothing && a.sets == b.sets);
}

}  // namespace test
