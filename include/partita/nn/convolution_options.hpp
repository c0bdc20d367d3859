// The options of a convolution, other than its partitions.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <partita/comm/fingerprint.hpp>
#include <partita/core/error.hpp>
#include <partita/core/per_dimension.hpp>
#include <partita/core/product.hpp>
#include <partita/core/rejected_call.hpp>
#include <partita/nn/linear_options.hpp>
#include <partita/rule/boundary.hpp>
#include <partita/rule/sliding.hpp>

namespace partita {

/// The values in the padding around the whole tensor (not around blocks).
enum class padding_mode {
  zeros,     ///< all cells of the padding are 0
  circular,  ///< the padding repeats the cells of the opposite end
  reflect,   ///< the padding mirrors the tensor at its border cell, which is not repeated
  replicate  ///< every cell of the padding is a copy of the border cell
};

/// The options of a convolution over `Features` dimensions. All numbers are those of the whole tensors, as in
/// `{.in_channels = 8, .out_channels = 16, .kernel = {3, 3}, .padding = {1, 1}}`. Layers with the same seed and shape
/// start with the same weights: give each layer its own seed.
template <std::size_t Features>
struct convolution_options {
  std::size_t in_channels = 0;           ///< the number of channels of x
  std::size_t out_channels = 0;          ///< the number of channels of y
  per_dimension<Features> kernel{};      ///< the number of elements of the kernel along each dimension
  per_dimension<Features> stride = 1;    ///< the distance in cells between the starts of two windows
  per_dimension<Features> padding{};     ///< the number of cells added before and after the tensor
  per_dimension<Features> dilation = 1;  ///< the distance in cells between two elements of the kernel
  /// each group of output channels reads its group of input channels only; groups == in_channels is depthwise
  /// convolution
  std::size_t groups = 1;
  bool bias = true;                                  ///< whether the layer has a bias
  padding_mode mode = padding_mode::zeros;           ///< the values in the padding
  initial_values initial = initial_values::uniform;  ///< uniform: in [-b, b], b = 1 / sqrt(weights per output)
  std::uint64_t seed = 0;                            ///< the seed of the initial weights

  /// How the kernel slides along one of the feature dimensions, which are counted from 0.
  constexpr sliding along(std::size_t feature) const {
    return {kernel[feature], stride[feature], padding[feature], dilation[feature]};
  }
  /// The number of elements of the kernel, the product over all feature dimensions.
  constexpr std::size_t taps() const {
    std::size_t all = 1;
    for (const std::size_t k : kernel) all *= k;
    return all;
  }
  /// The shape of W: out x in / groups x kernel.
  constexpr std::array<std::size_t, Features + 2> weight_shape() const {
    std::array<std::size_t, Features + 2> shape{out_channels, in_channels / groups};
    for (std::size_t f = 0; f < Features; ++f) shape[2 + f] = kernel[f];
    return shape;
  }

  std::uint64_t fingerprint() const { return detail::fingerprint_of_members<11>(*this); }  ///< a hash of all members
};

/// The error message of options that describe no valid convolution; empty if they are valid.
template <std::size_t Features>
text convolution_error(const convolution_options<Features>& o) {
  text problem;
  constexpr std::size_t most = static_cast<std::size_t>(-1) / 8;  // chosen: sums of a few such numbers do not overflow
  if (o.groups == 0 || o.in_channels % o.groups != 0 || o.out_channels % o.groups != 0)
    return problem << "requires channels that are multiples of groups, got " << o.in_channels << " in_channels and "
                   << o.out_channels << " out_channels in " << o.groups << " groups";
  for (std::size_t f = 0; f < Features; ++f) {
    for (const auto& [name, value] :
         {std::pair("kernel", o.kernel[f]), {"stride", o.stride[f]}, {"dilation", o.dilation[f]}})
      if (value == 0 || value > most)
        return problem << "requires a " << name << " of at least 1 along every feature dimension, got " << value
                       << " along dimension " << f << " of the features";
    if (o.padding[f] > most)
      return problem << "requires a padding of at least 0, got " << o.padding[f] << " along dimension " << f
                     << " of the features; a negative padding is none";
    if (o.kernel[f] > most / o.dilation[f])
      return problem << "requires a kernel that reaches over at most " << most << " cells, got a kernel of "
                     << o.kernel[f] << " and a dilation of " << o.dilation[f] << " along dimension " << f
                     << " of the features";
  }
  constexpr std::size_t most_weights = std::size_t{1} << 40U;  // chosen: an array of this size can be requested
  std::size_t weights = 0;
  if (o.in_channels > most_weights || o.out_channels > most_weights || !multiply(o.weight_shape(), weights) ||
      weights > most_weights)
    return problem << "requires weights of at most 2^40 elements in all, got " << o.weight_shape()
                   << "; a negative number of channels is none";
  return problem;
}

/// The error message if a tensor of these extents (batch x channels x features) cannot be convolved with these options;
/// empty if it can.
template <std::size_t Features>
text convolution_error(const convolution_options<Features>& o, const std::array<std::size_t, Features + 2>& extents) {
  text problem;
  if (extents[1] != o.in_channels)
    return problem << "requires x of " << o.in_channels << " channels, got extents " << extents;
  for (std::size_t f = 0; f < Features; ++f) {
    const std::size_t n = extents[2 + f];
    if (n > 0 && ((o.mode == padding_mode::circular && o.padding[f] > n) ||
                  (o.mode == padding_mode::reflect && o.padding[f] >= n)))
      return problem << "requires a padding that x can fill (circular: at most its extent, reflect: less), got "
                     << o.padding[f] << " along dimension " << f << " of the features of extents " << extents;
    if (o.along(f).output_extent(n) == 0)
      return problem << "requires a kernel that fits into the padded x, got one that reaches over "
                     << o.along(f).reach() << " cells and a padded x of " << n + 2 * o.padding[f] << " along dimension "
                     << f << " of the features of extents " << extents;
  }
  return problem;
}

/// The extent of the result of a transposed convolution: the number of cells that n positions of a sliding kernel
/// cover, plus `added_output_cells` at the end, minus the padding at both ends. The result is 0 if n is 0, if
/// `added_output_cells` is not below the stride, or if the extent would not be positive or would overflow.
constexpr std::size_t transposed_extent(const sliding& along, std::size_t n, std::size_t added_output_cells) {
  constexpr std::size_t most = static_cast<std::size_t>(-1) / 4;  // chosen: adding a reach does not overflow
  if (n == 0 || added_output_cells >= along.stride ||
      n - 1 > (most - along.reach() - added_output_cells) / along.stride)
    return 0;
  const std::size_t all = (n - 1) * along.stride + along.reach() + added_output_cells;
  return all > 2 * along.padding ? all - 2 * along.padding : 0;
}

/// The boundary conditions of a window that correspond to the padding mode.
template <std::size_t Features>
halo_boundaries<Features + 2> padding_of(const convolution_options<Features>& o) {
  constexpr boundary all[] = {boundary::zero, boundary::periodic, boundary::reflect, boundary::replicate};
  halo_boundaries<Features + 2> beyond(all[static_cast<std::size_t>(o.mode)]);
  for (std::size_t d = 0; d < 2; ++d) beyond.before[d] = beyond.after[d] = boundary::none;
  return beyond;
}

}  // namespace partita
