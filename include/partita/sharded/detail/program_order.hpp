// The order in which all workers execute the steps of a bound program.
#pragma once

#include <cstddef>
#include <optional>
#include <partita/core/config.hpp>
#include <partita/plan/step_order.hpp>
#include <partita/sharded/detail/bound_mesh.hpp>
#include <vector>

namespace partita::detail {

/// The events of a program's steps in their order, and the position at which the backward pass begins.
struct program_order {
  std::vector<ordered_step> events;  ///< computations, and the actions of movements, in order
  std::size_t backward_begin = 0;    ///< the index of the first event of the backward pass
};

/// Orders steps, of which the first `forward` are the forward pass, by this worker's estimates of their times. If
/// `join` is true, small movements may share messages, and the members `message_leader` of the steps say which do.
PARTITA_DECL program_order order_program(std::vector<step_use>& uses, std::size_t forward, const order_limits& limits,
                                         bool join);
/// Orders the steps on all workers as the first worker of the mesh orders them, because estimates differ between
/// workers whose blocks differ. The steps use `block_count` blocks. Returns nullopt on all workers if some worker
/// cannot use this order, because its steps differ from those of the first worker. Collective.
PARTITA_DECL std::optional<program_order> agree_on_program_order(bound_mesh& on, std::vector<step_use>& uses,
                                                                 std::size_t forward, std::size_t block_count,
                                                                 const order_limits& limits, bool join);

}  // namespace partita::detail

#ifndef PARTITA_CORE
#include <partita/sharded/detail/impl/program_order.ipp>
#endif
