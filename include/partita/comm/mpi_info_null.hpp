// MPI_INFO_NULL, for the rooms that do not name MPI: no hints for a library that opens files by MPI.
#pragma once

#include <partita/comm/mpi.hpp>

namespace partita::detail {

inline MPI_Info mpi_info_null() { return MPI_INFO_NULL; }

}  // namespace partita::detail
