// The movement of a repartition. Code that depends only on the rank is compiled once for the usual ranks.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <partita/kernel/detail/box_movement.hpp>
#include <partita/kernel/detail/repartition_planner.hpp>

namespace partita::detail {

/// The movement of repartitions of rank Rank; partitions and policies are run-time values.
template <std::size_t Rank>
using repartition_movement = planned_movement<repartition_planner<Rank>>;

/// What this worker sends, keeps and receives for a tensor x of these extents.
template <std::size_t Rank>
exchange_plan<Rank> make_plan_of_tensor(const repartition_planner<Rank>& planner,
                                        const std::array<std::size_t, Rank>& global) {
  return planner.make_checked_plan(global);
}
/// What this worker's node sends to other nodes for a tensor of these extents.
template <std::size_t Rank>
node_messages messages_between_nodes(const repartition_planner<Rank>& planner,
                                     const std::shared_ptr<transport>& shared_transport,
                                     const std::array<std::size_t, Rank>& global, std::size_t element_bytes) {
  const exchange_plan<Rank> own = planner.make_checked_plan(global);
  if (!shared_transport) return {};
  return shared_transport->messages_between_nodes(own.worker, element_bytes,
                                                  [&](std::size_t k) { return planner.plan(global, k); });
}

#ifdef PARTITA_CORE
// The compiled core has these functions for the usual ranks. EXTERN is `extern` for a program, and empty in the core.
#define PARTITA_REPARTITION_OF_RANK(EXTERN, R)                                                \
  EXTERN template void require_fitting_cuts<R>(const repartition_cuts<R>&);                   \
  PARTITA_INSTANTIATE_BOX_MOVEMENT(EXTERN, repartition_planner<R>)                            \
  EXTERN template exchange_plan<R> make_plan_of_tensor<R>(const repartition_planner<R>&,      \
                                                          const std::array<std::size_t, R>&); \
  EXTERN template node_messages messages_between_nodes<R>(const repartition_planner<R>&,      \
                                                          const std::shared_ptr<transport>&,  \
                                                          const std::array<std::size_t, R>&, std::size_t);
#define PARTITA_INSTANTIATE_REPARTITIONS(EXTERN) \
  PARTITA_REPARTITION_OF_RANK(EXTERN, 1)         \
  PARTITA_REPARTITION_OF_RANK(EXTERN, 2)         \
  PARTITA_REPARTITION_OF_RANK(EXTERN, 3)         \
  PARTITA_REPARTITION_OF_RANK(EXTERN, 4)
PARTITA_INSTANTIATE_REPARTITIONS(extern)
#endif

}  // namespace partita::detail
