// A box of a worker's block that travels by itself: where it lies, how it is cut, gathered, or described to MPI.
#pragma once

#include <array>
#include <cstddef>
#include <partita/array/copy.hpp>
#include <partita/comm/check.hpp>
#include <partita/comm/mpi.hpp>
#include <partita/core/index.hpp>

namespace partita {

/// A box that goes to or comes from a worker, and where it starts in this worker's block.
template <std::size_t Rank>
struct mailed_box {
  std::size_t worker = 0;
  std::array<std::size_t, Rank> shape{};
  index<Rank> at{};
};

namespace detail {

/// Cuts a box into slabs of at most `most` bytes along its outer dimensions, in C order.
template <std::size_t Rank, class Emit>
void cut_box(mailed_box<Rank> b, std::size_t element, std::size_t most, Emit emit) {
  const std::size_t bytes = volume_of(b.shape) * element;
  if (bytes == 0) return;
  if constexpr (Rank > 0) {
    if (bytes > most) {
      std::size_t d = 0;
      while (d + 1 < Rank && b.shape[d] == 1) ++d;
      if (b.shape[d] > 1) {
        const std::size_t row = bytes / b.shape[d], rows = b.shape[d], slab = row < most ? most / row : 1;
        const std::size_t start = b.at[d];
        for (std::size_t r = 0; r < rows; r += slab) {
          b.at[d] = start + r;
          b.shape[d] = r + slab < rows ? slab : rows - r;
          cut_box(b, element, most, emit);
        }
        return;
      }
    }
  }
  emit(b);
}

/// Where a box starts in a block with these strides.
template <std::size_t Rank>
std::ptrdiff_t offset_of(const mailed_box<Rank>& b, const std::array<std::ptrdiff_t, Rank>& strides) {
  std::ptrdiff_t offset = 0;
  for (std::size_t d = 0; d < Rank; ++d) offset += static_cast<std::ptrdiff_t>(b.at[d]) * strides[d];
  return offset;
}

/// Whether the elements of a box follow each other in a block with these strides.
template <std::size_t Rank>
bool is_contiguous(const std::array<std::size_t, Rank>& shape, const std::array<std::ptrdiff_t, Rank>& strides) {
  std::ptrdiff_t next = 1;
  for (std::size_t d = Rank; d-- > 0;) {
    if (shape[d] != 1 && strides[d] != next) return false;
    next *= static_cast<std::ptrdiff_t>(shape[d]);
  }
  return true;
}

/// Copies a box between its block and dense memory in the box's own order; `Out` of the block. Returns the end of the
/// memory.
template <bool Out, class T, class Block, std::size_t Rank>
T* pack_box(const mailed_box<Rank>& b, Block* block, const std::array<std::ptrdiff_t, Rank>& strides, T* packed,
            stores how) {
  std::array<std::ptrdiff_t, Rank> dense{};
  std::ptrdiff_t next = 1;
  for (std::size_t d = Rank; d-- > 0;) {
    dense[d] = next;
    next *= static_cast<std::ptrdiff_t>(b.shape[d]);
  }
  if constexpr (Out)
    copy_block(packed, dense.data(), block + offset_of(b, strides), strides.data(), b.shape.data(), Rank, how);
  else
    copy_block(block + offset_of(b, strides), strides.data(), static_cast<const T*>(packed), dense.data(),
               b.shape.data(), Rank, how);
  return packed + next;
}

/// MPI's type for a strided box of elements of `element` bytes; not committed.
template <std::size_t Rank>
MPI_Datatype type_of_box(const std::array<std::size_t, Rank>& shape, const std::array<std::ptrdiff_t, Rank>& strides,
                         std::size_t element) {
  strided_pair loops;  // only its collapsing is wanted
  for (std::size_t d = 0; d < Rank; ++d) {
    const auto stride = strides[d] * static_cast<std::ptrdiff_t>(element);
    loops.append(shape[d], stride, stride);
  }
  std::size_t run = element, d = loops.loops;
  if (d > 0 && loops.to_stride[d - 1] == static_cast<std::ptrdiff_t>(element)) run *= loops.extent[--d];
  MPI_Datatype type = MPI_DATATYPE_NULL;
  check(MPI_Type_contiguous(static_cast<int>(run), MPI_BYTE, &type), "MPI_Type_contiguous");
  while (d-- > 0) {
    MPI_Datatype wider = MPI_DATATYPE_NULL;
    check(MPI_Type_create_hvector(static_cast<int>(loops.extent[d]), 1, loops.to_stride[d], type, &wider),
          "MPI_Type_create_hvector");
    MPI_Type_free(&type);
    type = wider;
  }
  return type;
}

}  // namespace detail

}  // namespace partita
