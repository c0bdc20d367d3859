// How often this worker has asked the heap for memory: for tests that say a call does not.
#pragma once

#include <cstddef>

namespace test {

/// Calls of operator new in this worker so far.
std::size_t allocations();

}  // namespace test
