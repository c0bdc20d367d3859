// What a kernel has done so far, in numbers.
#pragma once

#include <cstddef>

namespace partita {

/// How often a kernel worked out a structure, and what this worker moved by the last call of the last structure used.
struct kernel_counts {
  std::size_t structures_made = 0, messages = 0, bytes_by_message = 0, bytes_shared = 0;
};

}  // namespace partita
