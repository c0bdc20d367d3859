// MPI_INFO_NULL for folders that do not use MPI directly: no hints for a library that opens files through MPI.
#pragma once

#include <partita/comm/mpi.hpp>

namespace partita::detail {

inline MPI_Info mpi_info_null() { return MPI_INFO_NULL; }  ///< no hints for MPI

}  // namespace partita::detail
