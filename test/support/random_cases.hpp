// The number of cases that a test tries (random cases, rounds of a loop, elements), and counters of these cases.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>

namespace test {

/// The number of cases to try: `all`, or in the quick run all / PARTITA_TEST_SHARE, but at least one. Runs inside a
/// sanitizer or valgrind, which look for a different kind of mistake, also try a share.
inline std::size_t random_cases(std::size_t all) {
  const char* const share = std::getenv("PARTITA_TEST_SHARE");
  return share == nullptr || all == 0 ? all : std::max(all / std::strtoul(share, nullptr, 10), std::size_t{1});
}

/// The number of random calls of kernels and layers that this program has compared with an oracle so far. The main
/// function prints the number at the end, and support/summary.py adds up the numbers of all programs.
inline std::size_t& random_calls() {
  static std::size_t made = 0;
  return made;
}

/// The number of random operations on sharded tensors, over MPI or on simulated devices, that this program has compared
/// with the same operations on whole arrays so far. The main function prints the number, and summary.py adds it up.
inline std::size_t& random_operations() {
  static std::size_t made = 0;
  return made;
}

}  // namespace test
