// Counts the heap allocations of this worker, for tests of calls that must not allocate.
#pragma once

#include <cstddef>

namespace test {

/// The number of calls of operator new in this worker so far.
std::size_t allocations();
/// The bytes of the largest one since the last call of this function.
std::size_t largest_allocation();
/// The most bytes that were in use at one time since the last call of this function, above those in use at that call.
std::size_t most_in_use();

}  // namespace test
