// The line that every test program of many cases ends with; support/summary.py adds these lines up.
#pragma once

#include <cstddef>
#include <ostream>

namespace test {

inline void write_closing_line(std::ostream& out, std::size_t passed, std::size_t failed, std::size_t skipped) {
  out << passed << " passed, " << failed << " failed, " << skipped << " skipped" << std::endl;
}

/// The exit status of the program: 77, which Meson reports as skipped, if no case ran; 1 if one failed.
inline int status_of(std::size_t passed, std::size_t failed, std::size_t skipped) {
  if (failed > 0) return 1;
  if (passed > 0) return 0;
  return skipped > 0 ? 77 : 1;
}

}  // namespace test
