// Turns the error code of an MPI call into an exception. Boost.MPI makes communicators return errors; a worker that
// ignored an error could wait forever.
#pragma once

#include <partita/comm/mpi.hpp>
#include <partita/core/error.hpp>

namespace partita::detail {

/// Throws communication_error if an MPI function, whose name is `call`, has not returned MPI_SUCCESS.
inline void check(int result, const char* call) {
  if (result == MPI_SUCCESS) return;
  char reason[MPI_MAX_ERROR_STRING + 1] = {};
  int length = 0;
  MPI_Error_string(result, reason, &length);
  throw communication_error(text("partita: ") << call << " failed: " << reason);
}

}  // namespace partita::detail
