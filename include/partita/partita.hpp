// Includes the headers that most programs need; docs/cheat-sheet.md lists the others. No other header includes
// partita.hpp. Includes are ordered by folder, bottom layer first; headers that others include come first, so that
// compiler errors have short "included from" lists.
#pragma once

#include <partita/core/version.hpp>

#include <partita/rule/sharding/mesh.hpp>
#include <partita/rule/sharding/notation.hpp>
#include <partita/rule/sharding/registry.hpp>
#include <partita/rule/sharding/rule.hpp>
#include <partita/rule/sharding/sharding.hpp>

#include <partita/plan/complete.hpp>
#include <partita/plan/cost.hpp>
#include <partita/plan/halo_rounds.hpp>
#include <partita/plan/plan_reshard.hpp>
#include <partita/plan/search.hpp>
#include <partita/plan/step_plan.hpp>
#include <partita/sharded/cut_further.hpp>

#include <partita/explain/broadcast_picture.hpp>
#include <partita/explain/completion_picture.hpp>
#include <partita/explain/linear_picture.hpp>
#include <partita/explain/plan_svg.hpp>
#include <partita/explain/plan_text.hpp>
#include <partita/explain/propagation_picture.hpp>
#include <partita/explain/propagation_text.hpp>
#include <partita/explain/refused_broadcast_picture.hpp>
#include <partita/explain/repartition_picture.hpp>
#include <partita/explain/step_picture.hpp>
#include <partita/explain/sum_reduce_picture.hpp>
#include <partita/explain/worker_broadcast_picture.hpp>

#include <partita/array/as_rank.hpp>
#include <partita/array/as_rank_of_memory.hpp>
#include <partita/array/broadcast_in_dim.hpp>
#include <partita/array/broadcast_operator.hpp>
#include <partita/array/functions.hpp>
#include <partita/array/in_place.hpp>
#include <partita/array/numpy.hpp>
#include <partita/array/select_and_clamp.hpp>
#include <partita/array/strided.hpp>

#include <partita/comm/balanced_extents.hpp>
#include <partita/comm/mesh_groups.hpp>
#include <partita/comm/over_workers.hpp>
#include <partita/comm/partition.hpp>
#include <partita/comm/stop_signal.hpp>

#include <partita/kernel/repartition.hpp>

#include <partita/kernel/adjoint_test.hpp>
#include <partita/kernel/all_gather.hpp>
#include <partita/kernel/all_reduce.hpp>
#include <partita/kernel/all_sum_reduce.hpp>
#include <partita/kernel/all_to_all.hpp>
#include <partita/kernel/block_from.hpp>
#include <partita/kernel/broadcast.hpp>
#include <partita/kernel/compose.hpp>
#include <partita/kernel/halo_cells.hpp>
#include <partita/kernel/halo_exchange.hpp>
#include <partita/kernel/halo_exchanges.hpp>
#include <partita/kernel/operator_sum.hpp>
#include <partita/kernel/partitioned_elementwise.hpp>
#include <partita/kernel/reduce.hpp>
#include <partita/kernel/reduce_scatter.hpp>
#include <partita/kernel/relabel.hpp>
#include <partita/kernel/relabelled.hpp>
#include <partita/kernel/sequentially.hpp>
#include <partita/kernel/sum_reduce.hpp>

#include <partita/nn/activation.hpp>
#include <partita/nn/batch_norm.hpp>
#include <partita/nn/convolution.hpp>
#include <partita/nn/convolution_sequentially.hpp>
#include <partita/nn/cross_entropy.hpp>
#include <partita/nn/dropout.hpp>
#include <partita/nn/embedding.hpp>
#include <partita/nn/flatten.hpp>
#include <partita/nn/group_norm.hpp>
#include <partita/nn/initialise.hpp>
#include <partita/nn/initialise_convolution.hpp>
#include <partita/nn/layer.hpp>
#include <partita/nn/layer_norm.hpp>
#include <partita/nn/linear.hpp>
#include <partita/nn/loss.hpp>
#include <partita/nn/optimiser.hpp>
#include <partita/nn/pooling.hpp>
#include <partita/nn/schedules.hpp>
#include <partita/nn/sequential.hpp>
#include <partita/nn/softmax_cross_entropy.hpp>
#include <partita/nn/transposed_convolution.hpp>
#include <partita/nn/upsampling.hpp>

#include <partita/sharded/sharded_tensor.hpp>

#include <partita/sharded/einsum.hpp>
#include <partita/sharded/element_operations.hpp>

#include <partita/sharded/arithmetic.hpp>
#include <partita/sharded/attention.hpp>

#include <partita/sharded/value_and_gradient.hpp>

#include <partita/sharded/bound_program.hpp>
#include <partita/sharded/cast.hpp>
#include <partita/sharded/clip.hpp>
#include <partita/sharded/compare.hpp>
#include <partita/sharded/convolve.hpp>
#include <partita/sharded/cumulative.hpp>
#include <partita/sharded/drop.hpp>
#include <partita/sharded/fallback_overloads.hpp>
#include <partita/sharded/indexed.hpp>
#include <partita/sharded/label_losses.hpp>
#include <partita/sharded/losses.hpp>
#include <partita/sharded/movements.hpp>
#include <partita/sharded/named_parameters.hpp>
#include <partita/sharded/norms.hpp>
#include <partita/sharded/operate.hpp>
#include <partita/sharded/parts.hpp>
#include <partita/sharded/pool.hpp>
#include <partita/sharded/printed.hpp>
#include <partita/sharded/rearrange.hpp>
#include <partita/sharded/recompute.hpp>
#include <partita/sharded/scatter.hpp>
#include <partita/sharded/sharded_optimiser.hpp>
#include <partita/sharded/sharded_partition.hpp>
#include <partita/sharded/sort_along.hpp>
#include <partita/sharded/tensor_functions.hpp>
#include <partita/sharded/traced_function.hpp>
#include <partita/sharded/tuple_sums.hpp>

#include <partita/io/load_checkpoint.hpp>
#include <partita/io/npy.hpp>
#include <partita/io/optimiser_state.hpp>
#include <partita/io/save_checkpoint.hpp>
#include <partita/io/sharded_checkpoint.hpp>
#include <partita/io/sharded_npy.hpp>
