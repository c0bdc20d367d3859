// Two strided blocks of one shape, reduced to the smallest number of loops in the best order before anything is copied.
#pragma once

#include <cstddef>
#include <partita/core/config.hpp>
#include <partita/core/short_list.hpp>

namespace partita::detail {

/// The maximal number of loops after collapsing; a block with more loops is processed in slices along its first
/// dimension.
inline constexpr std::size_t max_loops = most_dimensions;

/// The loops over two blocks, outermost first: extents above 1, strides in bytes. A single element needs no loop.
struct strided_pair {
  std::size_t loops = 0;                      ///< the number of loops
  std::size_t extent[max_loops] = {};         ///< the number of iterations of each loop
  std::ptrdiff_t dst_stride[max_loops] = {};  ///< the bytes from one element to the next in the block that is written
  std::ptrdiff_t src_stride[max_loops] = {};  ///< the bytes from one element to the next in the block that is read

  /// Appends an inner loop, or extends the innermost loop if, in both blocks, one loop can replace the two loops.
  constexpr void append(std::size_t n, std::ptrdiff_t to, std::ptrdiff_t from) {
    if (n == 1) return;
    const auto m = static_cast<std::ptrdiff_t>(n);
    if (loops > 0 && dst_stride[loops - 1] == m * to && src_stride[loops - 1] == m * from) {
      extent[loops - 1] *= n;
      dst_stride[loops - 1] = to;
      src_stride[loops - 1] = from;
    } else {
      extent[loops] = n;
      dst_stride[loops] = to;
      src_stride[loops] = from;
      ++loops;
    }
  }

  /// Exchanges the loops i and j.
  constexpr void swap(std::size_t i, std::size_t j) {
    const std::size_t n = extent[i];
    const std::ptrdiff_t to = dst_stride[i], from = src_stride[i];
    extent[i] = extent[j], dst_stride[i] = dst_stride[j], src_stride[i] = src_stride[j];
    extent[j] = n, dst_stride[j] = to, src_stride[j] = from;
  }

  /// Moves loop i to position j and shifts the loops between i and j.
  constexpr void move_loop(std::size_t i, std::size_t j) {
    if (i >= loops || j >= loops) return;  // never true: avoids a warning of g++ 12 at -O3
    for (; i < j; ++i) swap(i, i + 1);
    for (; i > j; --i) swap(i, i - 1);
  }

  /// The size of one block in bytes, for elements of `element` bytes.
  constexpr std::size_t bytes(std::size_t element) const {
    for (std::size_t d = 0; d < loops; ++d) element *= extent[d];
    return element;
  }
};

constexpr std::size_t magnitude(std::ptrdiff_t stride) {  ///< the absolute value of a stride
  return static_cast<std::size_t>(stride < 0 ? -stride : stride);
}

/// Makes the pair of two blocks of `element` bytes per element, with strides in elements. A loop with a negative stride
/// in the source and no positive stride in the destination is reversed (the pointers move to the other end of the
/// loop). Loops are in descending order of the source's strides, so that the source is read in the order of its memory.
/// Requires a rank of at most max_loops and extents that are not 0.
PARTITA_DECL strided_pair make_strided_pair(char*& to, const std::ptrdiff_t* dst_strides, const char*& from,
                                            const std::ptrdiff_t* src_strides, const std::size_t* shape,
                                            std::size_t rank, std::size_t element);

/// Iterates over the outermost `loops` loops of a pair, and advances the pointers to both blocks.
class odometer {
 public:
  /// Starts at the first position of the outermost `loops` loops of `pair`, which must outlive this object.
  odometer(const strided_pair& pair, std::size_t loops) : strided_pair_(pair), loop_count_(loops) {}

  /// Moves both pointers to the next position of the iterated loops; after the last, moves them back, returns false.
  PARTITA_DECL bool step(char*& to, const char*& from);

 private:
  const strided_pair& strided_pair_;           ///< all loops over both blocks
  std::size_t loop_count_;                     ///< the number of loops that are iterated, outermost first
  std::size_t loop_position_[max_loops] = {};  ///< the current iteration of each loop
};

}  // namespace partita::detail

#ifndef PARTITA_CORE
#include <partita/array/detail/impl/strided_pair.ipp>
#endif
