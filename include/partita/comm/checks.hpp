// How much the workers of a world check at each call.
#pragma once

namespace partita {

/// How much is checked at each call of a kernel.
enum class checks {
  /// a worker checks what it can see locally; workers must make the same calls. Workers agree only in calls where a
  /// receiver cannot check the data against its own block: all but sums to which each receiver contributes
  local,
  /// the workers first agree on each call, through shared memory or by one message of 32 bytes: no wrong call hangs
  /// (the default)
  agree
};

}  // namespace partita
