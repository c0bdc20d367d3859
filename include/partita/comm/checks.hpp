// How much the workers of a world check at each call.
#pragma once

namespace partita {

/// The level of checks at each call of a kernel.
enum class checks {
  /// each worker checks what it can see locally, and the program must make the same calls on all workers. The workers
  /// agree only on calls that need it, such as broadcast, whose receivers pass no block, and calls on files
  local,
  /// the workers first agree on each call that communicates, through shared memory and, between nodes, by messages of
  /// 32 bytes, so that workers that make different calls get an error and do not hang (the default)
  agree
};

}  // namespace partita
