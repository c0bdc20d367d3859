// What is given to a library that opens files by MPI when there is nothing to tell it.
#pragma once

#include <partita/comm/mpi.hpp>

namespace partita::detail {

inline MPI_Info no_hints() { return MPI_INFO_NULL; }

}  // namespace partita::detail
