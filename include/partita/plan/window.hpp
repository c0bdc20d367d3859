// A window that slides along dimensions: how many places it has, and which inputs the outputs of a block need.
#pragma once

#include <array>
#include <cstddef>
#include <partita/core/box.hpp>
#include <partita/plan/cut.hpp>

namespace partita {

/// The window along one dimension: output o looks at the inputs o * stride - padding + t * dilation, t < kernel; those
/// outside of the tensor are padding. With `ceil_mode` a last window may reach beyond the padding, if it begins before.
struct window {
  std::size_t kernel = 1;
  std::size_t stride = 1;
  std::size_t dilation = 1;
  std::size_t padding = 0;  ///< on both sides
  bool ceil_mode = false;

  /// From the first tap to the last, the holes of dilation included; 0 if there is no tap.
  constexpr std::size_t span() const { return kernel == 0 ? 0 : dilation * (kernel - 1) + 1; }
  /// The input of output o's first tap; negative in the padding.
  constexpr std::ptrdiff_t first(std::size_t o) const {
    return static_cast<std::ptrdiff_t>(o * stride) - static_cast<std::ptrdiff_t>(padding);
  }
  /// How many outputs n inputs have: as PyTorch, none if the window is wider than the padded inputs. Requires a kernel
  /// and a stride of at least 1.
  constexpr std::size_t outputs(std::size_t n) const {
    const std::size_t padded = n + 2 * padding;
    if (padded < span()) return 0;
    const std::size_t steps = padded - span(), whole = steps / stride;
    const bool one_more = ceil_mode && steps % stride != 0 && (whole + 1) * stride < n + padding;
    return whole + 1 + (one_more ? 1 : 0);
  }
  /// The inputs of n from the first tap of the first output to the last tap of the last: inside the tensor, none for no
  /// output or where all of them lie in the padding.
  constexpr interval needed(const interval& of_outputs, std::size_t n) const {
    if (of_outputs.size() == 0) return {};
    const auto inside = [n](std::ptrdiff_t i) {
      return i < 0 ? std::size_t{0} : static_cast<std::size_t>(i) > n ? n : static_cast<std::size_t>(i);
    };
    return {inside(first(of_outputs.start)), inside(first(of_outputs.stop - 1) + static_cast<std::ptrdiff_t>(span()))};
  }

  friend constexpr bool operator==(const window&, const window&) = default;
};

/// How many outputs a tensor has along each dimension.
template <std::size_t Rank>
constexpr std::array<std::size_t, Rank> outputs_of(const std::array<window, Rank>& windows,
                                                   const std::array<std::size_t, Rank>& extents) {
  std::array<std::size_t, Rank> outputs{};
  for (std::size_t d = 0; d < Rank; ++d) outputs[d] = windows[d].outputs(extents[d]);
  return outputs;
}

/// The box of inputs that a box of outputs needs; all zeros if there is no output.
template <std::size_t Rank>
constexpr box<Rank> needed_box(const std::array<window, Rank>& windows, const std::array<std::size_t, Rank>& extents,
                               const box<Rank>& outputs) {
  box<Rank> needed{};
  if (outputs.empty()) return needed;
  for (std::size_t d = 0; d < Rank; ++d) {
    const interval along = windows[d].needed({outputs.start[d], outputs.stop[d]}, extents[d]);
    needed.start[d] = along.start;
    needed.stop[d] = along.stop;
  }
  return needed;
}

}  // namespace partita
