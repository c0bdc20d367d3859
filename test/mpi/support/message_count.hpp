// How many messages this worker has put on the way: for tests that say a call needs none.
#pragma once

#include <cstddef>

namespace test {

/// Point-to-point sends and collective calls of this worker so far, counted below MPI's profiling interface.
std::size_t messages();
/// Bytes of its point-to-point sends so far.
std::size_t bytes_sent();

}  // namespace test
