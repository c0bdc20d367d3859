// Defines the functions that comm/detail/message/message_type.hpp declares.
#pragma once

#include <partita/comm/detail/message/message_type.hpp>

namespace partita::detail {

PARTITA_DEF MPI_Datatype make_box_type(const std::size_t* shape, const std::ptrdiff_t* strides, std::size_t rank,
                                       std::size_t element) {
  strided_pair loops;  // only to merge dimensions
  for (std::size_t d = 0; d < rank; ++d) {
    const auto stride = strides[d] * static_cast<std::ptrdiff_t>(element);
    loops.append(shape[d], stride, stride);
  }
  std::size_t run = element, d = loops.loops;
  if (d > 0 && loops.dst_stride[d - 1] == static_cast<std::ptrdiff_t>(element)) run *= loops.extent[--d];
  MPI_Datatype type = MPI_DATATYPE_NULL;
  check(MPI_Type_contiguous(static_cast<int>(run), MPI_BYTE, &type), "MPI_Type_contiguous");
  while (d-- > 0) {
    MPI_Datatype wider = MPI_DATATYPE_NULL;
    check(MPI_Type_create_hvector(static_cast<int>(loops.extent[d]), 1, loops.dst_stride[d], type, &wider),
          "MPI_Type_create_hvector");
    MPI_Type_free(&type);
    type = wider;
  }
  return type;
}

}  // namespace partita::detail
