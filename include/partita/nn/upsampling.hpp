// The upsampling layer, which interpolates the features of a tensor at more or fewer positions.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <partita/core/per_dimension.hpp>
#include <partita/core/rejected_call.hpp>
#include <partita/nn/detail/windowed.hpp>

namespace partita {

/// Whether an output is the nearest input at or left of its position, or interpolated between two along each dimension.
enum class upsampling_mode { nearest, linear };

/// Options of upsampling over D feature dimensions. Requires either the size of the features of the result, or a scale.
template <std::size_t D>
struct upsampling_options {
  std::optional<per_dimension<D>> size{};           ///< the number of outputs along each dimension
  std::optional<double> scale{};                    ///< the number of outputs for one input along each dimension
  upsampling_mode mode = upsampling_mode::nearest;  ///< the nearest input, or interpolation
  bool align_corners = false;  ///< linear mode only: the first and last outputs equal the first and last inputs
};

namespace detail {

/// The inputs and weights from which upsampling interpolates its outputs.
template <std::size_t Rank>
class upsampling_rule {
  static constexpr std::size_t feature_dims = feature_dims_of_rank<Rank>;  ///< the number of feature dimensions

 public:
  upsampling_rule(const char* name_of_call, const upsampling_options<feature_dims>& options)
      : name_(name_of_call), options_(options) {
    if (options.size.has_value() == options.scale.has_value())
      throw shape_error(text(name()) << ": requires either a size or a scale, got "
                                     << (options.size ? "both" : "neither"));
    if (options.align_corners && options.mode == upsampling_mode::nearest)
      throw shape_error(text(name()) << ": requires upsampling_mode::linear with align_corners; the nearest input has "
                                        "no corners");
    if (options.scale && !(*options.scale > 0 && *options.scale < 1e9))
      throw shape_error(text(name()) << ": requires a scale above 0 and below 10^9");
    if (options.size)
      for (const std::size_t n : *options.size)
        if (n > most)
          throw shape_error(text(name()) << ": requires a size of at most " << most << ", got " << n
                                         << "; a negative one is none");
  }
  const char* name() const { return name_; }  ///< the call in error messages
  std::uint64_t fingerprint() const {
    std::uint64_t hash = options_.mode == upsampling_mode::linear ? (options_.align_corners ? 6 : 5) : 4;
    if (options_.size)
      for (const std::size_t n : *options_.size) hash = mixed(hash, n);
    return options_.scale ? mixed(hash, static_cast<std::uint64_t>(*options_.scale * 0x1p32)) : hash;
  }
  /// The error message if x or the result has no features; empty if both have.
  text error_message(const std::array<std::size_t, Rank>& extents) const {
    text problem;
    const auto all = outputs(extents);
    for (std::size_t d = 2; d < Rank && problem.empty(); ++d)
      if (extents[d] == 0 || all[d] == 0)
        problem << "requires features, of x and of the result, got extents " << extents << " and " << all;
    return problem;
  }
  /// The extents of y for an x of these extents.
  std::array<std::size_t, Rank> outputs(const std::array<std::size_t, Rank>& extents) const {
    auto all = extents;
    for (std::size_t d = 0; d < feature_dims; ++d)
      all[d + 2] = options_.size ? (*options_.size)[d]
                                 : static_cast<std::size_t>(static_cast<double>(extents[d + 2]) * *options_.scale);
    return all;
  }
  /// The taps of outputs along dimension d, in which x has the extent n.
  taps taps_of(std::size_t d, interval outputs, std::size_t n) const {
    if (d < 2) return taps_of_identity(outputs);
    const std::size_t m =
        options_.size ? (*options_.size)[d - 2] : static_cast<std::size_t>(static_cast<double>(n) * *options_.scale);
    const interpolation between{
        .linear = options_.mode == upsampling_mode::linear,
        .align_corners = options_.align_corners,
        .step = options_.size ? static_cast<double>(n) / static_cast<double>(m) : 1 / *options_.scale};
    return between.taps_of(outputs, n, m);
  }

 private:
  static constexpr std::size_t most = std::size_t{1} << 40U;  // chosen: products of two do not overflow

  const char* name_;  ///< the call in error messages
  upsampling_options<feature_dims> options_;
};

}  // namespace detail

/// y has the features of x at other positions, as in PyTorch's Upsample: `upsampling u(p_x, {.scale = 2})`. In mode
/// nearest, an output is the nearest input at or left of its position; in mode linear, it is interpolated between two
/// inputs along each dimension (linear, bilinear, trilinear).
/// Shapes:   x is batch x channels x features, partitioned over p in any way; y has the same batch and channels and the
///           requested size, or floor(n * scale) along each dimension, balanced over p.
/// Requires: p of the rank of x, at least 3 [compile time]; either a size or a scale, at least one output, no
///           align_corners for nearest [shape_error, on all workers].
/// Cost:     that of max_pooling: a worker receives the inputs that its outputs need from the workers that own them.
/// Adjoint:  adjoint(dy) adds each element of dy, times its weights, to the gradients of the inputs from which the
///           output was interpolated.
template <class Extents>
class upsampling
    : public detail::windowed_layer<detail::upsampling_rule<Extents::rank()>, Extents, detail::weighted_taps> {
  static_assert(Extents::rank() >= 3, "partita::upsampling(p, options): requires p = batch x channels x features");
  using rule = detail::upsampling_rule<Extents::rank()>;  ///< the inputs and weights of an output
  using options_type = upsampling_options<detail::feature_dims_of_rank<Extents::rank()>>;

 public:
  upsampling(const partition<Extents>& p, const options_type& options)
      : detail::windowed_layer<rule, Extents, detail::weighted_taps>(
            p, rule("partita::upsampling(p, options)", options)) {}
};

PARTITA_FALLBACK_CLASS(upsampling, detail::arguments_not_given) {
  static_assert(detail::dependent_false<Given...>,
                "partita::upsampling(p, options): requires a partition, and options that say their names; write "
                "upsampling(p, {.scale = 2})");
}

}  // namespace partita
