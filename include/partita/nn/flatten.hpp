// The layer flatten, which merges all dimensions after the batch into one dimension.
#pragma once

#include <array>
#include <cstddef>
#include <partita/core/rejected_call.hpp>
#include <partita/kernel/block_layout.hpp>
#include <partita/kernel/repartition.hpp>

namespace partita {

/// y = x with channels and features merged into one dimension, in C order. The layer connects the convolutions of a
/// network to its linear layers: `flatten f(p_x, p_h)`.
/// Shapes:   x is batch x channels x features on p_x, partitioned in any way; y is batch x (channels * features) on
///           p_y, balanced.
/// Requires: p_x of rank 2 at least, p_y = b x f of rank 2 [compile time]; p_x and p_y in one world [partition_error].
/// Cost:     two repartitions: the first gives the workers of p_y whole features, the second balances the merged
///           dimension. A repartition whose input has the required layout already sends no data.
/// Adjoint:  adjoint(dy) makes the reverse repartitions, back to the layout of x.
template <class Src, class Dst>
class flatten {
  static constexpr std::size_t rank = Src::rank();  ///< the number of dimensions of x
  static_assert(rank >= 2, "partita::flatten(p_x, p_y): requires p_x = batch x channels x features");
  static_assert(Dst::rank() == 2, "partita::flatten(p_x, p_y): requires p_y = b x f, of rank 2");

 public:
  flatten(const partition<Src>& p_x, const partition<Dst>& p_y)
      : to_whole_features_(p_x, partition_of_whole_features(p_y)),
        to_balanced_(partition<dynamic_extents<2>>(p_y), p_y) {}

  template <class X>
  auto operator()(const X& x) {
    static_assert(detail::has_rank<X, rank>(),
                  "partita::flatten(p_x, p_y)(x): requires x of the rank of p_x, as an xt::xtensor");
    using T = element_of<X>;
    const auto block = to_whole_features_(x);
    shape_ = detail::shape_array<rank>(block.shape());
    std::size_t merged_extent = 1;
    for (std::size_t d = 1; d < rank; ++d) merged_extent *= shape_[d];
    return to_balanced_(copy_to_shape<T, 2>(block, {shape_[0], merged_extent}));
  }
  template <class X>
  auto forward(const X& x) {  ///< the same as operator()
    return (*this)(x);
  }
  /// Returns this worker's block of the gradient with respect to the last x, in the layout of x.
  template <class Y>
  auto adjoint(const Y& dy) {
    static_assert(detail::has_rank<Y, 2>(), "partita::flatten(p_x, p_y).adjoint(dy): requires dy of rank 2");
    using T = element_of<Y>;
    const auto block = to_balanced_.adjoint(dy);
    const auto shape = detail::shape_array<2>(block.shape());
    text error_message;
    if (shape[0] * shape[1] != volume_of(shape_))
      error_message
          << "partita::flatten(p_x, p_y).adjoint(dy): requires a dy of the shape of the last result; call the "
             "layer first";
    return detail::kernel_access::adjoint(
        to_whole_features_,
        error_message.empty() ? copy_to_shape<T, rank>(block, shape_) : uninitialised<T, rank>(shape_), error_message);
  }

 private:
  /// The workers of p_y as a partition of x that splits the batch and the channels as p_y does, but no features.
  static partition<dynamic_extents<rank>> partition_of_whole_features(const partition<Dst>& p_y) {
    const auto shape = p_y.grid().shape();
    return [&]<std::size_t... D>(std::index_sequence<D...>) {
      return p_y.reshape(dynamic_extents<rank>((D < 2 ? shape[D < 2 ? D : 0] : 1)...));
    }(std::make_index_sequence<rank>());
  }
  /// A copy of the elements of a dense block, in C order, as a tensor of this shape.
  template <class T, std::size_t R, class Block>
  static xt::xtensor<T, R> copy_to_shape(const Block& block, const std::array<std::size_t, R>& shape) {
    auto all = uninitialised<T, R>(shape);
    std::copy(block.data(), block.data() + block.size(), all.data());
    return all;
  }

  repartition<Src, dynamic_extents<rank>> to_whole_features_;  ///< gives the workers of p_y whole features
  /// Balances the merged dimension over p_y.
  detail::member_if_accepted<Dst::rank() == 2, repartition<dynamic_extents<2>, Dst>> to_balanced_;
  std::array<std::size_t, rank> shape_{};  ///< the shape of this worker's block of the last x with whole features
};

PARTITA_FALLBACK_CLASS(flatten, detail::arguments_not_given, detail::arguments_not_given) {
  static_assert(detail::dependent_false<Given...>,
                "partita::flatten(p_x, p_y): requires two partitions, that of x and one of rank 2 for the result");
}

}  // namespace partita
