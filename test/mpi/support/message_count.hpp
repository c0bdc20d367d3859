// Counts the messages of this worker, for tests of calls that must not send any.
#pragma once

#include <cstddef>
#include <string>

namespace test {

/// The point-to-point sends and collective calls of this worker so far, counted by MPI's profiling interface.
std::size_t messages();
/// The bytes of its point-to-point sends so far.
std::size_t bytes_sent();
/// The persistent requests that were started since the last call, in order, at most 64: an s for each send, an r for
/// each receive.
std::string order_of_starts();

}  // namespace test
