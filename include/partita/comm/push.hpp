// Writing boxes straight into the blocks of workers on the same node: one copy, no message.
#pragma once

#include <array>
#include <cstddef>
#include <partita/array/copy.hpp>
#include <partita/core/index.hpp>
#include <vector>

namespace partita {

/// A box of this worker's block and where it lies in the dense block of a worker of the node (perhaps this worker).
template <std::size_t Rank>
struct pushed_box {
  std::size_t place = 0;                      ///< of the worker that receives it, on the node
  std::array<std::size_t, Rank> shape{};
  index<Rank> at{};                           ///< where it starts in this worker's block
  std::ptrdiff_t offset = 0;                  ///< where it starts in the receiver's block, in elements
  std::array<std::ptrdiff_t, Rank> strides{}; ///< of the receiver's block, for the dimensions of this worker's block
};

/// Copies boxes in the order of their source, slab by slab over all receivers: the source is then read forwards once,
/// while stores past the cache do not care where they go (0.70 of a memcpy at 8192^2; 0.85 receiver by receiver).
template <class T, std::size_t Rank>
void push_in_source_order(const std::vector<pushed_box<Rank>>& boxes, const std::array<std::size_t, Rank>& shape,
                          const T* from, const std::array<std::ptrdiff_t, Rank>& from_strides,
                          const std::vector<char*>& blocks, bool streaming) {
  constexpr std::size_t slab_bytes = std::size_t{128} << 10;
  const stores how = streaming ? stores::streaming : stores::cached;
  const auto copy = [&](const pushed_box<Rank>& b, std::array<std::size_t, Rank> part, std::size_t d, std::size_t skip) {
    const T* source = from;
    T* target = reinterpret_cast<T*>(blocks[b.place]) + b.offset;
    for (std::size_t k = 0; k < Rank; ++k) source += static_cast<std::ptrdiff_t>(b.at[k]) * from_strides[k];
    if constexpr (Rank > 0) {
      source += static_cast<std::ptrdiff_t>(skip) * from_strides[d];
      target += static_cast<std::ptrdiff_t>(skip) * b.strides[d];
    }
    copy_block(target, b.strides.data(), source, from_strides.data(), part.data(), Rank, how);
  };
  std::size_t slabbed = 0, row = sizeof(T);
  while (slabbed + 1 < Rank && shape[slabbed] == 1) ++slabbed;
  for (std::size_t d = slabbed + 1; d < Rank; ++d) row *= shape[d];
  const std::size_t rows = Rank == 0 ? 1 : shape[slabbed], slab = row == 0 || row >= slab_bytes ? 1 : slab_bytes / row;
  if (boxes.size() < 2 || rows <= slab) {
    for (const pushed_box<Rank>& b : boxes) copy(b, b.shape, 0, 0);
    return;
  }
  if constexpr (Rank > 0)
    for (std::size_t r = 0; r < rows; r += slab)
      for (const pushed_box<Rank>& b : boxes) {
        const std::size_t start = b.at[slabbed] > r ? b.at[slabbed] : r, end = b.at[slabbed] + b.shape[slabbed];
        const std::size_t stop = end < r + slab ? end : r + slab;
        if (start >= stop) continue;
        std::array<std::size_t, Rank> part = b.shape;
        part[slabbed] = stop - start;
        copy(b, part, slabbed, start - b.at[slabbed]);
      }
}

}  // namespace partita
