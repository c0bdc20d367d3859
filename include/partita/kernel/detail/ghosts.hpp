// Fills the ghost cells of a window (a block with its ghost cells) that are not copies of another block's cells.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <partita/array/strided.hpp>
#include <partita/core/index.hpp>
#include <partita/plan/halo_plan.hpp>
#include <type_traits>

namespace partita::detail {

/// Converts the value of boundary::constant to an element of type T.
template <class T>
T to_ghost_value(double value) {
  if constexpr (std::is_arithmetic_v<T>) return static_cast<T>(value);
  else if constexpr (requires { T(typename T::value_type()); }) return T(static_cast<typename T::value_type>(value));
  else return T{};
}

/// The function of boundary::function, which returns the value at a global index outside the tensor.
template <std::size_t Rank>
using outside_function = std::function<double(const std::array<std::ptrdiff_t, Rank>&)>;

/// Sets the corners of a window to 0: the cells that are outside the window's block along more than one dimension; d is
/// the first of these dimensions and e the second.
template <class T, std::size_t Rank>
void clear_corners(const box<Rank>& own, const strided<T, Rank>& window) {
  const T zero = to_ghost_value<T>(0);
  const auto sides = [&](std::size_t d) {
    return std::array<interval, 2>{interval{0, own.start[d]}, interval{own.stop[d], window.shape[d]}};
  };
  for (std::size_t d = 0; d < Rank; ++d)
    for (std::size_t e = d + 1; e < Rank; ++e)
      for (const interval along_d : sides(d))
        for (const interval along_e : sides(e)) {
          std::array<std::size_t, Rank> at{}, shape = window.shape;
          for (std::size_t f = 0; f < e; ++f) at[f] = own.start[f], shape[f] = own.stop[f] - own.start[f];
          at[d] = along_d.start, shape[d] = along_d.size();
          at[e] = along_e.start, shape[e] = along_e.size();
          copy<T, Rank>(window.part(at, shape), strided<const T, Rank>{&zero, shape, {}});
        }
}

/// Sets the ghost cells that no worker sends: cells beyond the borders of the tensor that are not copies of its cells,
/// and for halo_shape::star also the corners. If a cell is beyond several borders, the boundary of the first of these
/// dimensions applies. `outside` must be set if a boundary is a function.
template <class T, std::size_t Rank>
void fill_outside(const halo_plan<Rank>& plan, const strided<T, Rank>& window, const halo_boundaries<Rank>& boundaries,
                  const outside_function<Rank>& outside = {}) {
  if (window.size() == 0) return;
  if (plan.star) clear_corners(plan.own_cells, window);
  std::array<std::size_t, Rank> at{}, shape = window.shape;
  const auto fill = [&](boundary b, double constant) {
    const strided<T, Rank> slab = window.part(at, shape);
    if (b != boundary::function) {
      const T value = to_ghost_value<T>(b == boundary::constant ? constant : 0);
      return copy<T, Rank>(slab, strided<const T, Rank>{&value, shape, {}});
    }
    for (std::size_t k = 0; k < slab.size(); ++k) {
      const index<Rank> local = index_of(k, shape);
      std::array<std::ptrdiff_t, Rank> i{};
      std::ptrdiff_t offset = 0;
      for (std::size_t d = 0; d < Rank; ++d) {
        i[d] = plan.start[d] + static_cast<std::ptrdiff_t>(at[d] + local[d]);
        offset += static_cast<std::ptrdiff_t>(local[d]) * slab.strides[d];
      }
      slab.data[offset] = to_ghost_value<T>(outside(i));
    }
  };
  for (std::size_t d = 0; d < Rank; ++d) {  // two slabs for each dimension; slabs of later dimensions are between them
    shape[d] = plan.tensor_cells.start[d];
    fill(boundaries.before[d], boundaries.value_before[d]);
    at[d] = plan.tensor_cells.stop[d], shape[d] = window.shape[d] - plan.tensor_cells.stop[d];
    fill(boundaries.after[d], boundaries.value_after[d]);
    at[d] = plan.tensor_cells.start[d], shape[d] = plan.tensor_cells.stop[d] - plan.tensor_cells.start[d];
  }
}

}  // namespace partita::detail
