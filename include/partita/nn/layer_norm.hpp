// Layer normalisation and root mean square normalisation, over the last dimensions of a tensor, which may be
// partitioned.
#pragma once

#include <cstddef>
#include <optional>
#include <partita/comm/fingerprint.hpp>
#include <partita/core/product.hpp>
#include <partita/core/rejected_call.hpp>
#include <partita/nn/detail/normaliser.hpp>
#include <partita/nn/detail/scale_and_shift.hpp>

namespace partita {

/// The options of layer_norm and rms_norm, which normalise over the last K dimensions of x.
template <std::size_t K>
struct layer_norm_options {
  std::array<std::size_t, K> shape{};  ///< the last K extents of x
  double epsilon = 1e-5;               ///< added to the variance (in rms_norm, the mean of x^2) under the square root
  bool affine = true;                  ///< the result is multiplied by weight(), and in layer_norm bias() is added
  /// How the last K dimensions are split over the workers; balanced by default.
  std::optional<decomposition<K>> cuts{};

  std::uint64_t fingerprint() const { return detail::fingerprint_of_members<4>(*this); }  ///< a hash of all members
};

namespace detail {

/// The common part of layer_norm (`Centred`, which subtracts the mean) and rms_norm.
template <class T, std::size_t Rank, std::size_t K, bool Centred>
class last_dimensions_norm : public scale_and_shift<T, K> {
  static_assert(std::is_floating_point_v<T>, "partita::layer_norm<T, Rank, K>: requires floating-point elements");
  static_assert(K >= 1 && K <= Rank,
                "partita::layer_norm<T, Rank, K>: requires 1 <= K <= Rank, the dimensions of x that are normalised");
  using any_grid_shape = dynamic_extents<Rank>;  ///< the extents of a partition of any grid shape
  static constexpr const char* name =
      Centred ? "partita::layer_norm(p, options)(x)" : "partita::rms_norm(p, options)(x)";  ///< the call in errors

 public:
  template <class Extents>
  last_dimensions_norm(const partition<Extents>& p, const layer_norm_options<K>& options)
      : scale_and_shift<T, K>(own_shape(erase_extents<Rank>(p), options), options.affine, options.affine && Centred),
        layout_(erase_extents<Rank>(p), name, layer_fingerprint<T>(options)),
        normaliser_(erase_extents<Rank>(p), last_dimensions(), leading_dimensions(), Centred),
        options_(options),
        cuts_(make_cuts(p.grid().shape(), options)) {
    static_assert(Extents::rank() == Rank, "partita::layer_norm<T, Rank, K>(p, options): requires p of the rank of x");
    require_epsilon(name, options.epsilon);
  }

  template <class X>
  xt::xtensor<T, Rank> operator()(const X& x) {
    static_assert(block_of_rank<X, T, Rank>(),
                  "partita::layer_norm<T, Rank, K>(x): requires an xt::xtensor of elements T and of that rank");
    const xt::xtensor<T, Rank> block = block_on(layout_.p(), x);
    const auto shape = shape_array<Rank>(block.shape());
    require_extents(layout_.find_layout(shape, this->error_in_parameters(name)));
    forward_done_ = true;
    normaliser_.set_element_maps({shape, leading_dimensions()}, {shape, last_dimensions()});
    const auto all = normaliser_.compute_moments(block);
    element_counts_.clear();
    for (const auto& m : all) element_counts_.push_back(m.count);
    return normaliser_.normalise(
        block, [&](std::size_t s) { return all[s].mean; },
        [&](std::size_t s) {
          return all[s].squared_deviation_sum / all[s].count + (Centred ? 0 : all[s].mean * all[s].mean);
        },
        options_.epsilon, this->weight_pointers());
  }
  template <class X>
  auto forward(const X& x) {  ///< the same as operator()
    return (*this)(x);
  }
  /// Returns dx for the last x, and adds gradients, summed over workers, to weight_gradient() and bias_gradient().
  template <class Y>
  xt::xtensor<T, Rank> adjoint(const Y& dy) {
    static_assert(
        block_of_rank<Y, T, Rank>(),
        "partita::layer_norm<T, Rank, K>.adjoint(dy): requires an xt::xtensor of elements T and of that rank");
    const xt::xtensor<T, Rank> block = block_on(layout_.p(), dy);
    layout_.throw_together(
        normaliser_.error_in(block, layout_.p().active(), forward_done_, name, this->error_in_parameters(name)), 2);
    return normaliser_.adjoint(block, false, element_counts_, this->weight_pointers());
  }

  /// The box of indices of this worker's weight and bias in the global weight and bias; empty on a worker outside of p.
  box<K> weight_box() const { return own_box(layout_.p(), cuts_); }
  const layer_norm_options<K>& options() const { return options_; }

 private:
  /// A mask of the last K dimensions.
  static constexpr std::array<bool, Rank> last_dimensions() {
    std::array<bool, Rank> mask{};
    for (std::size_t d = 0; d < Rank; ++d) mask[d] = d + K >= Rank;
    return mask;
  }
  /// A mask of the dimensions before the last K.
  static constexpr std::array<bool, Rank> leading_dimensions() {
    std::array<bool, Rank> mask = last_dimensions();
    for (bool& is_marked : mask) is_marked = !is_marked;
    return mask;
  }
  /// The split of the last K dimensions: that of the options, by default balanced.
  static decomposition<K> make_cuts(const std::array<std::size_t, Rank>& grid, const layer_norm_options<K>& options) {
    require_no_overflow(options.shape, "a shape", name);
    std::array<std::size_t, K> parts{};
    for (std::size_t d = 0; d < K; ++d) parts[d] = grid[Rank - K + d];
    if (options.cuts && (options.cuts->parts() != parts || options.cuts->extents() != options.shape))
      throw shape_error(text(name) << ": requires cuts of " << options.shape << " into " << parts
                                   << " parts, as p has along its last dimensions, got cuts of "
                                   << options.cuts->extents() << " into " << options.cuts->parts());
    return options.cuts ? *options.cuts : decomposition<K>::balanced(options.shape, parts);
  }
  /// The indices in the last K dimensions of x that this worker's block holds.
  static box<K> own_box(const partition<any_grid_shape>& p, const decomposition<K>& cuts) {
    if (!p.active()) return {};
    index<K> i{};
    for (std::size_t d = 0; d < K; ++d) i[d] = p.index()[Rank - K + d];
    return cuts.block(i);
  }
  /// The shape of this worker's block of weight and bias.
  static std::array<std::size_t, K> own_shape(const partition<any_grid_shape>& p,
                                              const layer_norm_options<K>& options) {
    return own_box(p, make_cuts(p.grid().shape(), options)).shape();
  }
  /// Throws an error if x cannot be normalised; `tensor` is equal on all workers, so all throw the same error.
  void require_extents(const tensor_layout<Rank>& tensor) const {
    for (std::size_t d = 0; d < K; ++d) {
      if (tensor.extents[Rank - K + d] != options_.shape[d])
        throw shape_error(text(name) << ": requires x whose last extents are " << options_.shape << ", got "
                                     << tensor.extents);
      for (std::size_t k = 0; k < tensor.sizes[Rank - K + d].size(); ++k)
        if (tensor.sizes[Rank - K + d][k] != cuts_.cuts[d].size(k))
          throw shape_error(text(name) << ": requires x cut along dimension " << Rank - K + d
                                       << " as the layer was made for, " << cuts_.cuts[d].size(k) << " in part " << k
                                       << ", got " << tensor.sizes[Rank - K + d][k]
                                       << "; say {.cuts = ...}, or repartition x");
    }
  }

  block_layout<Rank> layout_;       ///< finds the extents of x and the splits of its dimensions
  normaliser<T, Rank> normaliser_;  ///< computes moments, results and gradients
  layer_norm_options<K> options_;
  decomposition<K> cuts_;               ///< the splits of the last K dimensions over the workers
  std::vector<double> element_counts_;  ///< for each statistic of the last x, its elements on all workers
  bool forward_done_ = false;           ///< whether the layer was called, as adjoint() requires
};

}  // namespace detail

/// y = (x - mean) / sqrt(variance + epsilon) * weight + bias, with mean and variance over the last K dimensions, which
/// may be partitioned, as in `layer_norm<float, 3> n(p_x, {.shape = {512}})`.
/// Shapes: x is partitioned over p in any way, except that its last K dimensions are split as the options say; y is
/// partitioned as x. weight() and bias() hold the values of this worker's indices in the last K dimensions,
/// and are the same on all workers with these indices.
/// Requires: an x whose last K extents and their splits are those of the options [shape_error, on all workers].
/// Cost: one all_reduce of three numbers per row along the last K dimensions of p. The adjoint takes one all_reduce
/// of two numbers per row along these dimensions, and with `affine` one of two numbers per element of weight() along
/// the other dimensions.
/// Adjoint: adjoint(dy) returns dx, and adds gradients, summed over workers, to weight_gradient() and bias_gradient().
template <class T, std::size_t Rank = detail::rank_not_given, std::size_t K = 1>
class layer_norm : public detail::last_dimensions_norm<T, Rank, K, true> {
 public:
  using detail::last_dimensions_norm<T, Rank, K, true>::last_dimensions_norm;
};
PARTITA_FALLBACK_LAYER(layer_norm, layer_norm_options<1>) {
  static_assert(detail::dependent_false<Given...>,
                "partita::layer_norm<T, Rank>(p, options): requires an element type and the rank of x; write "
                "layer_norm<float, 3>(p, {.shape = {512}})");
}

/// y = x / sqrt(mean of x^2 + epsilon) * weight (Zhang and Sennrich 2019), without a bias. Shapes, requirements and
/// cost are those of layer_norm.
template <class T, std::size_t Rank = detail::rank_not_given, std::size_t K = 1>
class rms_norm : public detail::last_dimensions_norm<T, Rank, K, false> {
 public:
  using detail::last_dimensions_norm<T, Rank, K, false>::last_dimensions_norm;
};
PARTITA_FALLBACK_LAYER(rms_norm, layer_norm_options<1>) {
  static_assert(detail::dependent_false<Given...>,
                "partita::rms_norm<T, Rank>(p, options): requires an element type and the rank of x; write "
                "rms_norm<float, 3>(p, {.shape = {512}})");
}

}  // namespace partita
