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

}  // namespace test
