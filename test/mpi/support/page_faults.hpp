// Counts the page faults of a loop.
#pragma once

#include <sys/resource.h>

#include <algorithm>
#include <cstdlib>

namespace test {

/// The minor page faults of this worker in the best of five windows of many calls: faults of the library would occur in
/// each window, those of MPI and of the machine occur only sometimes. Returns zero inside a sanitizer or valgrind,
/// which cause page faults themselves.
template <class Call>
long least_page_faults(int calls, Call call) {
  const auto so_far = [] {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_minflt;
  };
  const bool counts = std::getenv("PARTITA_TEST_SHARE") == nullptr;
  long least = 1 << 20;
  for (int window = 0; window < (counts ? 5 : 1); ++window) {
    const long before = so_far();
    for (int k = 0; k < calls; ++k) call();
    least = std::min(least, so_far() - before);
  }
  return counts ? least : 0;
}

}  // namespace test
