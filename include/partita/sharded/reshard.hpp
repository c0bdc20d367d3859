// Reshard: the same global tensor under another sharding, differentiable.
#pragma once

#include <partita/sharded/detail/tape.hpp>

namespace partita {

/// Brings a tensor to another layout of its mesh: what `plan_reshard` says, with all steps between two reductions as
/// one exchange.
/// Shapes:   those of x.
/// Requires: a layout of the same mesh [partition_error] and rank [shape_error].
/// Cost:     no worker receives more than the plan says; what is a slice, or owes what was whole, talks to nobody.
/// Adjoint:  reshard(dy, cotangent of the layout of x).
template <class T>
sharded_tensor<T> reshard(const sharded_tensor<T>& x, const sharding& to) {
  if (!x.state()->on) return x;
  if (to.rank() != x.rank()) detail::require_layout(to, x.extents());
  if (!(to.on == x.layout().on))
    throw partition_error(text("partita::reshard: requires a layout of the tensor's mesh ")
                          << "" << x.layout().on << ", but " << to << " is one of " << to.on
                          << "; make it from that mesh");
  const sharding from = x.layout();
  auto y = detail::tensor_of<T>(x.state()->on, to, x.extents(),
                                detail::resharded(*x.state()->on, x.state()->block, from, to, x.extents()));
  return detail::recorded<T>(std::move(y), {x}, [&] {
    return [from](std::size_t, const sharded_tensor<T>& dy) { return reshard(dy, detail::place_of_cotangent(from)); };
  });
}

}  // namespace partita
