// The work of one worker in a collective call that broadcasts or reduces blocks: the worker starts and finishes the
// transfer in every group to which it sends its block or from which it receives a block. The code is compiled once, for
// all element types, ranks and reductions.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <partita/comm/collective_channels.hpp>
#include <partita/core/config.hpp>
#include <partita/kernel/detail/untyped_block.hpp>
#include <utility>

namespace partita::detail {

/// The direction in which blocks move in the groups of a plan.
enum class group_direction {
  spread,   ///< blocks of workers of the small partition move to workers of the large partition
  to_root,  ///< reduced blocks of the large partition move to workers of the small partition
  to_all    ///< reduced blocks of the large partition move to all its workers
};

class collective_transfer;

/// The steps of a collective transfer that only reductions need. The steps are called through function pointers, so
/// that programs without reductions do not compile them.
struct reduction_steps {
  using step = void (*)(collective_transfer&, const worker_group&, collective_channel&);  ///< one step in one group
  step send_speculatively, start, finish;  ///< for a group: early send (if any), start (if several members), end
};

/// The blocks of a call on this worker and the operation on them. The blocks are pointers: an untyped_block has room
/// for 16 dimensions, and copying it would take longer than copying the elements of a small block.
struct collective_job {
  group_direction direction = group_direction::spread;  ///< the direction in which the blocks move
  const element_kind* kind = nullptr;                   ///< how the elements are copied and sent
  const element_operation* operation = nullptr;         ///< the reduction, if the call needs it; else null
  const reduction_steps* steps = nullptr;               ///< the code of reductions; null if blocks are spread
  const untyped_block* x = nullptr;                     ///< the input
  const untyped_block* y = nullptr;                     ///< the block that receives the result
  const char* dense_x = nullptr;      ///< the elements of x contiguously, if this worker contributes them
  std::size_t contributor_count = 0;  ///< in a mean's adjoint the number of blocks, by which x is divided; else 0
  bool is_completed = false;          ///< whether dense_x points to elements that have been divided

  /// Whether the input block must be packed into contiguous memory before the transfer.
  bool needs_packing() const { return contributor_count != 0 || !x->is_dense(); }
  /// Packs the input block into the contiguous memory at `packing_memory`; if contributor_count is not 0, completes the
  /// reduction in this memory (for a mean: divides the elements by contributor_count).
  PARTITA_DECL void pack(char* packing_memory);
  /// Copies this worker's input block to its own result block.
  PARTITA_DECL void copy_to_own_result() const;
};

/// This worker's part in a call on which the workers agree, or may agree: what it sends and receives in its groups.
class collective_transfer {
 public:
  /// All blocks and the job must stay in place until the end of the transfer. The messages of a transfer that stays
  /// pending have tags of their own, so that they cannot be confused with the messages of another transfer.
  collective_transfer(world_state& world, collective_channels& channels, const collective_job& job, bool stays_pending)
      : world_(&world),
        channels_(&channels),
        job_(&job),
        is_dense_y_(job.y != nullptr && job.y->is_dense()),
        stays_pending_(stays_pending) {}

  PARTITA_DECL static const reduction_steps* steps_of_reductions();  ///< the steps of all reductions

  /// Once the workers of this node, but not yet all workers, have agreed on the call: sends to other nodes.
  PARTITA_DECL void send_speculatively();
  /// Before any agreement on the call: shows this worker's block to the workers of its node.
  PARTITA_DECL void show_block_early();
  /// Starts the transfer in all groups of this worker, without waiting for another worker.
  PARTITA_DECL void start();
  PARTITA_DECL void finish();  ///< completes the transfer in all groups, and writes this worker's result

 private:
  template <class F>
  void for_each_group(F f) {  // calls f(group, channel) for this worker's groups
    const group_plan& plan = channels_->plan();
    for (std::size_t k = 0; k < plan.groups.size(); ++k) f(plan.groups[k], channels_->channel(k));
  }
  PARTITA_DECL element_messages messages(const collective_channel& channel);  ///< to send and receive for it
  /// A buffer of the world for n elements; buffers in different slots exist side by side.
  char* buffer(std::size_t slot, std::size_t n) { return world_->buffer_in_slot<char>(slot, n * job_->kind->bytes); }

  PARTITA_DECL void finish_spread(const worker_group& g, collective_channel& channel);  ///< moves a group's block

  PARTITA_DECL void send_sum_early(const worker_group& g, collective_channel& channel);  ///< before all agree
  PARTITA_DECL void start_sum(const worker_group& g, collective_channel& channel);       ///< starts a group's reduction
  PARTITA_DECL void finish_sum(const worker_group& g, collective_channel& channel);      ///< completes the reduction

  bool receives_result(const worker_group& g) const {  // whether this worker gets the result of the reduction
    return g.position == 0 || job_->direction == group_direction::to_all;
  }
  PARTITA_DECL const char* input_data(const worker_group& g) const;     ///< dense x; null if it contributes none to g
  PARTITA_DECL std::size_t element_count(const worker_group& g) const;  ///< the elements of each block in g

  world_state* world_;               ///< the world of the kernel
  collective_channels* channels_;    ///< the channels of this worker's groups
  const collective_job* job_;        ///< the blocks and the operation of the call
  bool is_dense_y_, stays_pending_;  ///< whether the result block is contiguous; whether the call is non-blocking
};

/// A pending transfer, which owns the blocks, the buffers and the channels that it needs.
class started_transfer {
 public:
  started_transfer(std::shared_ptr<world_state> world, std::shared_ptr<collective_channels> channels)
      : world_(std::move(world)), channels_(std::move(channels)) {}

  /// Starts the transfer. If `gives` is true, this worker contributes a block x, which is broadcast or reduced.
  PARTITA_DECL void start(const collective_job& job, bool gives);
  PARTITA_DECL void finish();  ///< completes the transfer, and frees the packed elements

 private:
  std::shared_ptr<world_state> world_;             ///< the world, which must exist until the end
  std::shared_ptr<collective_channels> channels_;  ///< the channels of this worker's groups
  untyped_block x_, y_;                            ///< the blocks to which job_ points
  collective_job job_;                             ///< the blocks and the operation of the last started call
  std::optional<arena_block> packed_;              ///< the packed elements of x, if x is not contiguous
  std::optional<collective_transfer> transfer_;    ///< the last started transfer; empty before the first
};

}  // namespace partita::detail

#ifndef PARTITA_CORE
#include <partita/kernel/detail/impl/collective_transfer.ipp>
#endif
