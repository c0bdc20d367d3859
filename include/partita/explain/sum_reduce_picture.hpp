// A sum-reduce as a drawing: two partitions, where each worker has the colour of the sum to which its block is added.
#pragma once

#include <partita/explain/worker_broadcast_picture.hpp>

namespace partita {

/// A call sum_reduce(p_x, p_y, policies...) and its adjoint. The arguments are grids or partitions. Requires a call
/// that the kernel sum_reduce accepts [partition_error].
template <class Src, class Dst>
struct sum_reduce_picture {
  grid<Src> p_x;                                          ///< the source partition
  grid<Dst> p_y;                                          ///< the destination partition
  bool is_x_transposed = false, is_y_transposed = false;  ///< whether the call reverses p_x, or p_y

  template <class P, class Q, class... Policies>
  sum_reduce_picture(const P& x, const Q& y, Policies...)
      : p_x(detail::worker_grid(x)),
        p_y(detail::worker_grid(y)),
        is_x_transposed(has_policy<transpose_src_t, Policies...>),
        is_y_transposed(has_policy<transpose_dest_t, Policies...>) {
    static_assert(detail::are_broadcast_policies<Policies...>,
                  "partita::sum_reduce_picture(p_x, p_y, policies...): requires policies among transpose_src, "
                  "transpose_dest, discard_batch");
    const auto rule = judge_worker_broadcast(p_y.shape(), p_x.shape(), is_y_transposed, is_x_transposed, true);
    if (!rule) throw partition_error(explain_verdict(rule, p_y.shape(), p_x.shape(), is_y_transposed, is_x_transposed));
  }

  /// Which workers of p_x are summed on each worker of p_y.
  worker_pairing<Src::rank()> pairing() const {
    if constexpr (Dst::rank() <= Src::rank()) return {p_y.shape(), p_x.shape(), is_y_transposed, is_x_transposed};
    else return {};
  }
};

template <class P, class Q, class... Policies>
sum_reduce_picture(const P&, const Q&, Policies...) -> sum_reduce_picture<detail::grid_shape<P>, detail::grid_shape<Q>>;

/// Draws both partitions side by side, with arrows for the forward and the adjoint communication between them; below,
/// one line for the forward and one for the adjoint communication of every block of the result.
template <class Src, class Dst>
long_text to_svg(const sum_reduce_picture<Src, Dst>& picture) {
  return detail::draw_paired_partitions(picture.p_y, picture.p_x, picture.pairing(), picture.is_y_transposed,
                                        picture.is_x_transposed, true);
}

}  // namespace partita
