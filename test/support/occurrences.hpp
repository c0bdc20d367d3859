// Counts a part of a text.
#pragma once

#include <cstddef>
#include <string>

namespace test {

/// How often `part` occurs in a text.
inline std::size_t occurrences(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

}  // namespace test
