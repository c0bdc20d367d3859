// How much the workers of a world check at each call.
#pragma once

namespace partita {

/// How much is checked at each call of a kernel.
enum class checks {
  local,  ///< a worker checks what it can see, and workers must make the same calls. They still agree where what a
          ///< worker receives does not follow from what it gives: all calls but sums that every member of a group gets
  agree   ///< the workers agree first, by a look at shared memory or one message of 32 bytes: no wrong call hangs (the
          ///< default)
};

}  // namespace partita
