// How many cases a test tries: random ones, rounds of a loop, elements.
#pragma once

#include <cstddef>
#include <cstdlib>

namespace test {

/// `all` of them, or one in PARTITA_TEST_SHARE: inside a sanitizer or valgrind, which look for another kind of mistake.
inline std::size_t random_cases(std::size_t all) {
  const char* const share = std::getenv("PARTITA_TEST_SHARE");
  return share == nullptr ? all : all / std::strtoul(share, nullptr, 10);
}

/// How many random calls of kernels and layers this program has compared with an oracle of their own so far. The main
/// says it at the end, and support/summary.py adds up what the programs say.
inline std::size_t& random_calls() {
  static std::size_t made = 0;
  return made;
}

/// How many random operations on sharded tensors this program has compared with the same on whole arrays so far: over
/// MPI, or on simulated devices. Said and added up in the same way.
inline std::size_t& random_operations() {
  static std::size_t made = 0;
  return made;
}

}  // namespace test
