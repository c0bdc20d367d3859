// The collective movements of broadcasts and reductions: agreement, start and finish, without knowledge of the element
// type or the rank of the blocks.
#pragma once

#include <cstddef>
#include <memory>
#include <partita/comm/collective_channels.hpp>
#include <partita/comm/fingerprint.hpp>
#include <partita/comm/partition.hpp>
#include <partita/comm/shared_view.hpp>
#include <partita/comm/tree.hpp>
#include <partita/core/config.hpp>
#include <partita/kernel/detail/collective_call.hpp>
#include <partita/kernel/detail/collective_transfer.hpp>
#include <partita/kernel/detail/pending.hpp>
#include <partita/kernel/detail/plan_cache.hpp>
#include <partita/kernel/detail/target.hpp>
#include <partita/kernel/detail/untyped_block.hpp>
#include <partita/kernel/kernel_counts.hpp>
#include <partita/plan/group_plan.hpp>
#include <utility>

namespace partita::detail {

/// The movement of a broadcast or reduction kernel: its cached plans, its channels, and its pending operation.
class collective_movement {
 public:
  /// The properties of the kernel to which a movement belongs; `name` must be a string literal.
  struct kernel_description {
    const char* name;                     ///< the kernel in messages
    text call;                            ///< the kernel and its partitions, for messages
    std::uint64_t fingerprint = 0;        ///< identifies the kernel; equal on all workers
    bool keep_batch = true;               ///< whether a worker that only sends gets a result with x's batch extent
    bool sums_other_blocks_only = false;  ///< at checks::local: whether a worker's sum lacks its own block; else false
  };

  PARTITA_DECL collective_movement(std::shared_ptr<world_state> world, group_plan plan, kernel_description description);

  const group_plan& plan() const { return plan_; }  ///< the groups to which this worker belongs
  std::size_t plans_made() const { return broadcast_plans_.plans_made() + reduction_plans_.plans_made(); }
  PARTITA_DECL kernel_counts counts() const;  ///< the plans made so far, and the traffic of the last call
  kernel_identity identity() const {          // the kernel's world and number, equal on all workers
    return {world_.get(), mixed(kernel_description_.fingerprint, channels_ ? channels_->number() : 0)};
  }
  arena* memory() const { return channels_ ? &channels_->memory() : nullptr; }  ///< memory pool of the results, or null

  /// Completes the pending operation, agrees on the call with all workers, returns the shape of this worker's result.
  PARTITA_DECL block_shape agree(const collective_call& call);
  /// Runs f() as one call, which all workers make.
  template <class F>
  decltype(auto) one_call(F f) const {
    require_world();
    const thread_guard only(world_->calling_thread(), kernel_description_.name);
    return partita::detail::one_call(*world_, f);
  }
  /// Collective: throws on all workers if one of them has an error; at checks::local only on that worker.
  void throw_together(const text& error_message) const {
    agree_if_checked(*world_, mixed(kernel_description_.fingerprint, 2), local_error(error_message),
                     [&] { return kernel_description_.call; });
  }
  /// Moves the blocks of a call for which agree() has returned.
  PARTITA_DECL void carry_out(const collective_call& call, const untyped_block& y);
  /// Starts to move the call's blocks. Returns the number of the operation, which is needed to wait for its completion.
  PARTITA_DECL std::uint64_t begin(const collective_call& call, const untyped_block& y);
  const std::shared_ptr<pending_operation>& operation() const { return operation_; }  ///< the pending call; never null

  /// Broadcasts blocks into memory that the workers of a node share; returns null if this worker's result is empty.
  PARTITA_DECL lent_header* share(const collective_call& call, std::size_t elements);

 private:
  /// Throws an error if this kernel has been moved from and has no world.
  PARTITA_DECL void require_world() const;

  /// Sends small blocks to other nodes, or shows them to workers of this node, before the agreement is complete, so
  /// that a call takes one message latency instead of two.
  class speculative_start final : public speculative_send {
   public:
    speculative_start(collective_movement& movement, const collective_call& call)
        : movement_(&movement), call_(&call) {}
    speculative_start(const speculative_start&) = delete;
    speculative_start& operator=(const speculative_start&) = delete;
    PARTITA_INLINE ~speculative_start();
    PARTITA_DECL speculative_send* useful_send_or_null();  ///< this, if an early start saves time; otherwise null
    void mark_as_agreed() { movement_ = nullptr; }  ///< keeps what was sent; otherwise the destructor discards it

   private:
    PARTITA_INLINE void begin_undoable_send() override;  ///< shows this worker's block to its node
    PARTITA_INLINE void begin(std::uint64_t) override;   ///< sends its block or sum to other nodes

    collective_movement* movement_;    ///< null once all workers have agreed
    const collective_call* call_;      ///< the call whose block is sent
    bool has_begun_movement_ = false;  ///< whether anything was sent or shown
  };

  /// A cached plan: the shapes of a call, and the shape of the block that this worker receives.
  struct structure {
    plan_key key;         ///< the shapes of this worker's block and of the view to fill
    block_shape shape{};  ///< the shape of the received block; for sums set on the worker that is first in its group
  };

  bool sends_blocks(group_direction direction) const {  // whether this worker contributes a block
    return direction == group_direction::spread ? plan_.small : plan_.large;
  }
  bool receives_blocks(group_direction direction) const {  // whether this worker gets a block
    return direction == group_direction::to_root ? plan_.small : plan_.large;
  }
  bool is_in_no_group() const { return !plan_.small && !plan_.large; }  ///< whether this worker only copies x
  /// Whether this worker has a result block: it receives a block or, if it is in no group, copies its input.
  bool writes_result(group_direction direction) const { return receives_blocks(direction) || is_in_no_group(); }

  std::uint64_t call_fingerprint(const collective_call& call) const {  // identifies the call; equal on all workers
    return call.fingerprint(kernel_description_.fingerprint, channels_ ? channels_->number() : 0);
  }

  /// Agrees on a broadcast: all workers make equal calls; receivers get the shapes of their blocks in message headers.
  PARTITA_DECL const structure& agree_on_block(const collective_call& call, const local_error& before,
                                               speculative_send* ahead);

  /// Agrees on a reduction: all workers make equal calls, and the blocks of each sum have equal shapes.
  PARTITA_DECL const structure& agree_on_sum(const collective_call& call, const local_error& before,
                                             speculative_send* ahead);

  /// The shape of this worker's result with plan s, if it `takes` (receives) a block or `gives` (contributes) one.
  PARTITA_DECL block_shape result_shape(const untyped_block& x, const structure& s, bool takes, bool gives) const;

  /// Opens the channels of all groups, once, when the first plan is made. Collective.
  PARTITA_DECL void open_channels();

  /// The blocks and the operation of a call; `y` is the block that receives the result, if there is one.
  PARTITA_DECL collective_job make_job(const collective_call& call, const untyped_block* y = nullptr) const;
  PARTITA_DECL void set_dense_x(collective_job& job);  ///< packs x into a buffer unless x is contiguous

  std::shared_ptr<world_state> world_;                       ///< the kernel's world; null if the kernel was moved from
  group_plan plan_;                                          ///< the groups to which this worker belongs
  kernel_description kernel_description_;                    ///< the kernel in messages and fingerprints
  plan_cache<structure> broadcast_plans_, reduction_plans_;  ///< the plans of calls that spread, and that reduce
  std::shared_ptr<collective_channels> channels_;            ///< the channels of all groups; null before the first plan
  std::shared_ptr<started_transfer> pending_transfer_;       ///< the transfer of non-blocking calls
  std::shared_ptr<pending_operation> operation_ = std::make_shared<pending_operation>();  ///< the pending call, if any
};

}  // namespace partita::detail

#ifndef PARTITA_CORE
#include <partita/kernel/detail/impl/collective_movement.ipp>
#endif
