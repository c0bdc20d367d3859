// Changes the sharding of a global tensor, on the same mesh or to another mesh. Reshards are differentiable.
#pragma once

#include <partita/sharded/detail/fingerprint_of.hpp>
#include <partita/sharded/detail/operation_fingerprint.hpp>
#include <partita/sharded/detail/tape.hpp>

namespace partita {

/// Changes the layout of a tensor on its mesh, by the steps of `plan_reshard`.
/// Shapes:   those of x.
/// Requires: a layout of the same mesh [partition_error] and rank [shape_error].
/// Cost:     that of the plan that plan_reshard returns. Slicing a block, and making a replicated value partial, need
///           no message.
/// Adjoint:  reshard(dy, cotangent of the layout of x).
template <class T>
sharded_tensor<T> reshard(const sharded_tensor<T>& x, const sharding& to) {
  if (!x.state()->on) return x;
  if (to.rank() != x.rank()) detail::require_layout(to, x.extents(), "partita::reshard");
  if (!(to.on == x.layout().on))
    throw partition_error(text("partita::reshard: requires a layout of the tensor's mesh ")
                          << "" << x.layout().on << ", but " << to << " is one of " << to.on
                          << "; make it from that mesh, or say where the other one is: reshard(x, placed_mesh(mesh), "
                             "layout)");
  const sharding from = x.layout();
  const std::uint64_t number =
      detail::record_operation<T>(detail::fingerprint_of(to), "reshard", x.state()->on.get(), x.extents(), *x.state());
  auto y = detail::tensor_of<T>(x.state()->on, to, x.extents(),
                                detail::resharded(*x.state()->on, x.state()->block, from, to, x.extents()), number);
  y = detail::record_on_tape<T>(std::move(y), {x}, [&] {
    return [from](std::size_t, const sharded_tensor<T>& dy) { return reshard(dy, detail::cotangent_sharding(from)); };
  });
  if (y.state()->node) y.state()->node->is_reshard = true;
  return y;
}

/// Moves a tensor to another mesh of its world, which may have different workers, as in `reshard(x, placed_mesh(m,
/// workers(4, 8)), m.layout("data", ""))`. Pending reductions are executed on the old mesh. A worker copies an element
/// from its own old block if possible, and otherwise receives the element from one of the workers that hold it; these
/// workers are chosen in turn.
/// Shapes:   those of x.
/// Requires: a layout of the new mesh [partition_error] and of the tensor's rank [shape_error]; workers of the world
///           [partition_error]. All workers of the world must make the call.
/// Cost:     one exchange, in which no worker receives more than its new block; before it, the reductions that are
///           pending.
/// Adjoint:  reshards dy to the mesh of x, in the layout cotangent(layout of x).
template <class T>
sharded_tensor<T> reshard(const sharded_tensor<T>& x, const placed_mesh& where, const sharding& to) {
  const auto from = x.state()->on;
  if (!from) return x;
  if (to.rank() != x.rank()) detail::require_layout(to, x.extents(), "partita::reshard");
  if (!(to.on == where.mesh()))
    throw partition_error(text("partita::reshard(x, mesh, layout): requires a layout of the mesh ")
                          << "" << where.mesh() << ", but " << to << " is one of " << to.on
                          << "; make it from that mesh");
  const auto on = detail::bound_mesh::of(from->everyone(), where);
  if (on == from) return reshard(x, to);
  return from->one_call([&] {
    const std::uint64_t number =
        detail::record_operation<T>(hasher(on->fingerprint()).mix(detail::fingerprint_of(to)).value(), "reshard",
                                    from.get(), x.extents(), *x.state());
    const sharding old_layout = x.layout(), source_layout = detail::layout_of(old_layout.without_partials()),
                   target_layout = detail::layout_of(to.without_partials());
    const auto given = detail::resharded(*from, x.state()->block, old_layout, source_layout, x.extents());
    const auto exchange = from->template plan_exchange<T>(from->boxes_of(source_layout, x.extents()),
                                                          on->boxes_of(target_layout, x.extents()));
    const shape_list shape = detail::shape_of_box(on->box(target_layout, x.extents()));
    const detail::announced_movement<T> one(*from, "reshard", source_layout, target_layout, x.extents(),
                                            exchange->counts().bytes, 0, on->fingerprint());
    detail::tensor_block<T> block = detail::new_block<T>(shape, from->memory());
    detail::move_boxes(*from, exchange, given, block);
    one.log_received_bytes();
    block = detail::resharded(*on, block, target_layout, detail::layout_of(to), x.extents());
    return detail::record_on_tape<T>(detail::tensor_of<T>(on, to, x.extents(), std::move(block), number), {x}, [&] {
      return [from, old_layout](std::size_t, const sharded_tensor<T>& dy) {
        return reshard(dy, from->where(), detail::cotangent_sharding(old_layout));
      };
    });
  });
}

#define PARTITA_INSTANTIATE_TENSOR_RESHARD(EXTERN, T)                                      \
  EXTERN template sharded_tensor<T> reshard<T>(const sharded_tensor<T>&, const sharding&); \
  EXTERN template sharded_tensor<T> reshard<T>(const sharded_tensor<T>&, const placed_mesh&, const sharding&);
PARTITA_FOR_EACH_USUAL_ELEMENT(PARTITA_INSTANTIATE_TENSOR_RESHARD, extern)

}  // namespace partita
