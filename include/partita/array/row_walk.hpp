// Iterates over several strided blocks of one shape, plane by plane. A plane has the two innermost dimensions, so that
// the caller selects its inner loop once per walk instead of once per row.
#pragma once

#include <array>
#include <cstddef>
#include <partita/core/short_list.hpp>

namespace partita::detail {

/// N strided blocks of one shape, iterated together, with dimensions merged where all N are contiguous. If the rank is
/// known, setting `MostDimensions` to it lets the compiler keep the state of the iteration in registers.
template <std::size_t N, std::size_t MostDimensions = most_dimensions>
class row_walk {
 public:
  using steps = std::array<std::ptrdiff_t, N>;  ///< a stride or an offset for each block, in elements

  /// A plane of `rows` rows of n elements, with each block's strides from row to row and along a row.
  struct plane {
    std::size_t rows = 1, n = 1;      ///< the number of rows, and of elements in a row
    steps row_step{}, column_step{};  ///< the strides from row to row and along a row, for each block
  };

  /// Adds a dimension to the blocks, which is the innermost of all dimensions added so far.
  void add(std::size_t extent, const steps& strides) {
    if (extent == 0) has_zero_extent_ = true;
    if (extent == 1) return;
    if (rank_ > 0) {
      bool contiguous = true;
      for (std::size_t k = 0; k < N; ++k)
        contiguous = contiguous && strides_[rank_ - 1][k] == strides[k] * static_cast<std::ptrdiff_t>(extent);
      if (contiguous) {
        extents_[rank_ - 1] *= extent;
        strides_[rank_ - 1] = strides;
        return;
      }
    }
    extents_[rank_] = extent;
    strides_[rank_++] = strides;
  }

  /// Orders the dimensions by decreasing strides of block 0, so that its elements are visited in the order of its
  /// memory.
  void sort_by_first_block() {
    bool moved = false;
    for (std::size_t d = 1; d < rank_; ++d) {
      const std::size_t extent = extents_[d];
      const steps strides = strides_[d];
      std::size_t to = d;
      for (; to > 0 && magnitude(strides_[to - 1]) < magnitude(strides); --to) {
        extents_[to] = extents_[to - 1];
        strides_[to] = strides_[to - 1];
      }
      extents_[to] = extent;
      strides_[to] = strides;
      moved = moved || to != d;
    }
    if (moved) merge_dimensions();
  }

  /// The plane of the two innermost dimensions. Blocks of rank below 2 get dimensions of extent 1.
  plane innermost_plane() const {
    plane p;
    if (rank_ > 0) p.n = extents_[rank_ - 1], p.column_step = strides_[rank_ - 1];
    if (rank_ > 1) p.rows = extents_[rank_ - 2], p.row_step = strides_[rank_ - 2];
    return p;
  }

  /// Calls `visit(offsets)` with the offset of each block's first element of each plane.
  template <class Visit>
  void for_each_plane(Visit visit) const {
    if (has_zero_extent_) return;
    steps offsets{};
    if (rank_ <= 2) return visit(offsets);
    std::array<std::size_t, MostDimensions> position{};
    for (;;) {
      visit(offsets);
      std::size_t d = rank_ - 2;
      for (;;) {
        if (d == 0) return;
        --d;
        for (std::size_t k = 0; k < N; ++k) offsets[k] += strides_[d][k];
        if (++position[d] < extents_[d]) break;
        for (std::size_t k = 0; k < N; ++k) offsets[k] -= strides_[d][k] * static_cast<std::ptrdiff_t>(extents_[d]);
        position[d] = 0;
      }
    }
  }

  /// Calls `visit(offsets, n)` with the offset of each block's first element of each row of n elements.
  template <class Visit>
  void for_each_row(Visit visit) const {
    const plane p = innermost_plane();
    for_each_plane([&](steps offsets) {
      for (std::size_t r = 0; r < p.rows; ++r) {
        visit(offsets, p.n);
        for (std::size_t k = 0; k < N; ++k) offsets[k] += p.row_step[k];
      }
    });
  }

 private:
  /// The absolute value of the stride of block 0.
  static std::ptrdiff_t magnitude(const steps& s) { return s[0] < 0 ? -s[0] : s[0]; }

  /// Merges dimensions that can be iterated as one, after the dimensions were reordered.
  void merge_dimensions() {
    const std::size_t rank = rank_;
    rank_ = 0;
    for (std::size_t d = 0; d < rank; ++d) add(extents_[d], steps(strides_[d]));
  }

  std::array<std::size_t, MostDimensions> extents_{};  ///< the extents of the merged dimensions, outermost first
  std::array<steps, MostDimensions> strides_{};        ///< the strides of each block along the merged dimensions
  std::size_t rank_ = 0;                               ///< the number of dimensions after merging
  bool has_zero_extent_ = false;                       ///< whether the blocks have no elements
};

}  // namespace partita::detail
