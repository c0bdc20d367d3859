// Dropout with random numbers that depend on the global index: the mask is the same for every partition.
#pragma once

#include <cstddef>
#include <cstdint>
#include <partita/array/philox.hpp>
#include <partita/comm/fingerprint.hpp>
#include <partita/core/rejected_call.hpp>
#include <partita/kernel/block_from.hpp>
#include <partita/kernel/block_layout.hpp>

namespace partita {

struct dropout_options {
  double probability = 0.5;  ///< the probability that an element is set to 0
  /// Layers with equal seeds and probabilities drop the same elements of tensors of equal extents, at equal step().
  std::uint64_t seed = 0;

  std::uint64_t fingerprint() const { return detail::fingerprint_of_members<2>(*this); }  ///< a hash of all members
};

/// y = x / (1 - probability) or 0, decided for each element by its own random number, as in `dropout d(p_x, {.seed =
/// 7})`. The layer starts in training mode; after evaluate(), y = x.
/// Shapes:   x is a tensor on p, partitioned in any way; y is partitioned as x. An inactive worker gets zero volume.
/// Requires: a probability from 0 to 1 [shape_error], blocks that fit together [shape_error, on all workers].
/// Cost:     one agreement, and one all-gather of the block shapes if they are new; no tensor data is sent. The
///           generator Philox4x32-10 is called once for four elements; the mask takes no memory.
/// Adjoint:  adjoint(dy) is dy times the mask of the last call. The mask depends on the options, step(), the extents
///           of x and the global index, not on the partition.
template <class Extents>
class dropout {
  static constexpr std::size_t rank = partition<Extents>::rank();  ///< the number of dimensions of x
  static_assert(rank >= 1, "partita::dropout(p, options): requires p of rank 1 at least");

 public:
  explicit dropout(const partition<Extents>& p, const dropout_options& options = {})
      : layout_(partition<dynamic_extents<rank>>(p), "partita::dropout(p, options)", options.fingerprint()),
        options_(options) {
    if (!(options.probability >= 0 && options.probability <= 1))
      throw shape_error("partita::dropout(p, options): requires a probability from 0 to 1");
  }

  template <class X>
  auto operator()(const X& x) {
    static_assert(detail::has_rank<X, rank>(),
                  "partita::dropout(p, options)(x): requires x of the rank of p, as an xt::xtensor");
    using T = element_of<X>;
    xt::xtensor<T, rank> y = block_on(layout_.p(), x);
    layout_.log_call(hasher(step_).mix(training_).value());
    const auto& tensor = layout_.find_layout(detail::shape_array<rank>(y.shape()));
    own_box_ = tensor.own_box;
    extents_ = tensor.extents;
    drops_elements_ = training_;
    if (training_) ++step_;
    step_of_mask_ = step_;
    was_called_ = true;
    drop_elements(y);
    return y;
  }
  template <class X>
  auto forward(const X& x) {  ///< the same as operator()
    return (*this)(x);
  }
  /// Returns dy times the mask of the last call, or dy if this call was made in evaluation mode.
  template <class Y>
  auto adjoint(const Y& dy) {
    static_assert(detail::has_rank<Y, rank>(),
                  "partita::dropout(p, options).adjoint(dy): requires dy of the rank of p, as an xt::xtensor");
    using T = element_of<Y>;
    xt::xtensor<T, rank> dx = block_on(layout_.p(), dy);
    text error_message;
    if (!was_called_ || (layout_.p().active() && detail::shape_array<rank>(dx.shape()) != own_box_.shape()))
      error_message << "partita::dropout(p, options).adjoint(dy): requires a dy of the shape of the last result, "
                    << own_box_.shape() << ", got " << dx.shape() << "; call the layer first";
    layout_.throw_together(error_message);
    drop_elements(dx);
    return dx;
  }

  /// After train() the layer drops elements; after evaluate() it returns x unchanged.
  void train() { training_ = true; }
  void evaluate() { training_ = false; }       ///< the next calls return x unchanged
  bool training() const { return training_; }  ///< whether calls drop elements, as they do initially
  /// The number of calls in training mode, which selects the mask. A program that resumes training sets this number.
  std::uint64_t step() const { return step_; }
  void step(std::uint64_t calls) { step_ = calls; }
  const dropout_options& options() const { return options_; }

 private:
  /// Multiplies a block by the mask of the last call; after a call in evaluation mode does nothing.
  template <class T>
  void drop_elements(xt::xtensor<T, rank>& block) const {
    if (!drops_elements_ || block.size() == 0) return;
    const auto scale = static_cast<T>(options_.probability < 1 ? 1 / (1 - options_.probability) : 0);
    detail::random_words words(options_.seed, step_of_mask_);
    const std::size_t row = own_box_.shape()[rank - 1];
    for (std::size_t k = 0; k < block.size(); k += row) {
      index<rank> i = index_of(k, own_box_.shape());
      for (std::size_t d = 0; d < rank; ++d) i[d] += own_box_.start[d];
      const std::size_t first = flat_index(i, extents_);
      for (std::size_t j = 0; j < row; ++j) {
        T& element = block.data()[k + j];
        const bool kept = static_cast<double>(words[first + j]) * 0x1p-32 >= options_.probability;
        element = kept ? static_cast<T>(element * scale) : T(0);
      }
    }
  }

  detail::block_layout<rank> layout_;  ///< finds the extents of x and the splits of its dimensions
  dropout_options options_;
  box<rank> own_box_{};                        ///< the global indices of this worker's block of the last x
  std::array<std::size_t, rank> extents_{};    ///< the extents of the whole last x
  std::uint64_t step_ = 0, step_of_mask_ = 0;  ///< the calls in training mode so far; this number after the last call
  /// Whether the mode is training now, whether it was so in the last call, and whether the layer was called.
  bool training_ = true, drops_elements_ = false, was_called_ = false;
};

PARTITA_FALLBACK_CLASS(dropout, detail::arguments_not_given) {
  static_assert(detail::dependent_false<Given...>,
                "partita::dropout(p, options): requires a partition, and options that say their names; write "
                "dropout(p, {.probability = 0.5})");
}

}  // namespace partita
