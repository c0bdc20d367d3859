// How many messages this worker has put on the way: for tests that say a call needs none.
#pragma once

#include <cstddef>
#include <string>

namespace test {

/// Point-to-point sends and collective calls of this worker so far, counted below MPI's profiling interface.
std::size_t messages();
/// Bytes of its point-to-point sends so far.
std::size_t bytes_sent();
/// Its persistent requests in the order in which they were started since it asked last, at most 64: an s for a send, an
/// r for a receive.
std::string order_of_starts();

}  // namespace test
