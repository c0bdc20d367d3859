// MPI_INFO_NULL (no hints for a library that opens files through MPI), for headers that do not include MPI themselves.
#pragma once

#include <partita/comm/mpi.hpp>

namespace partita::detail {

inline MPI_Info mpi_info_null() { return MPI_INFO_NULL; }  ///< no hints for MPI

}  // namespace partita::detail
