// MPI datatypes for strided boxes.
#pragma once

#include <cstddef>
#include <partita/comm/detail/exchange/box_list.hpp>
#include <partita/comm/detail/world/mpi_call.hpp>
#include <partita/comm/mpi.hpp>
#include <partita/core/config.hpp>

namespace partita::detail {

/// Makes the MPI datatype of a strided box with elements of `element` bytes, without committing it.
PARTITA_DECL MPI_Datatype make_box_type(const std::size_t* shape, const std::ptrdiff_t* strides, std::size_t rank,
                                        std::size_t element);

}  // namespace partita::detail

#ifndef PARTITA_CORE
#include <partita/comm/detail/message/impl/message_type.ipp>
#endif
