// How much the workers of a world check at each call.
#pragma once

namespace partita {

/// The level of checks at each call of a kernel.
enum class checks {
  /// each worker checks what it can see locally, and the program must make the same calls on all workers. The workers
  /// agree only on calls in which some worker receives data without passing a block of the same shape, such as
  /// broadcast
  local,
  /// the workers first agree on each call, through shared memory and, between nodes, by messages of 32 bytes, so that
  /// workers that make different calls get an error and do not hang (the default)
  agree
};

}  // namespace partita
