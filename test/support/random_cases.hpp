// How many cases a test tries (random cases, rounds of a loop, elements), and counters of them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>

namespace test {

/// `all`, or all / PARTITA_TEST_SHARE and at least one, in the quick run, and inside a sanitizer or valgrind, which
/// look for a different kind of mistake.
inline std::size_t random_cases(std::size_t all) {
  const char* const share = std::getenv("PARTITA_TEST_SHARE");
  return share == nullptr || all == 0 ? all : std::max(all / std::strtoul(share, nullptr, 10), std::size_t{1});
}

/// How many random calls of kernels and layers this program has compared with an oracle so far. The main function
/// prints it at the end, and support/summary.py adds up the numbers of all programs.
inline std::size_t& random_calls() {
  static std::size_t made = 0;
  return made;
}

/// How many random operations on sharded tensors, over MPI or on simulated devices, this program has compared with the
/// same operations on whole arrays so far. Printed and added up in the same way.
inline std::size_t& random_operations() {
  static std::size_t made = 0;
  return made;
}

}  // namespace test
