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

class collective_movement {
 public:
  /// The properties of the kernel to which a movement belongs; names are string literals.
  struct facts_of_kernel {
    const char* name;
    text call;
    std::uint64_t fingerprint = 0;
    bool keep_batch = true;
    bool sums_blindly = false;  ///< some worker receives a sum to which it contributes no block
  };

  PARTITA_DECL collective_movement(std::shared_ptr<world_state> world, group_plan plan, facts_of_kernel facts);

  const group_plan& plan() const { return plan_; }
  /// The number of exchanges of block shapes so far.
  std::size_t plans_made() const { return spread_.made() + collect_.made(); }
  PARTITA_DECL kernel_counts counts() const;
  kernel_identity identity() const { return {world_.get(), mixed(facts_.fingerprint, ways_ ? ways_->number() : 0)}; }
  arena* memory() const { return ways_ ? &ways_->memory() : nullptr; }

  /// Completes the pending operation, and agrees on the next call. Returns the shape of the block that this worker
  /// receives.
  PARTITA_DECL block_shape agree(const collective_call& call);
  /// Runs f() as one call that all workers make.
  template <class F>
  decltype(auto) one_call(F f) const {
    require_world();
    const one_thread only(world_->caller(), facts_.name);
    return partita::detail::one_call(*world_, f);
  }
  /// Collective: throws on all workers if one of them has an error.
  void object(const text& error_message) const {
    agree_if_checked(*world_, mixed(facts_.fingerprint, 2), local_error(error_message), [&] { return facts_.call; });
  }
  /// Moves the blocks of a call on which all workers have agreed.
  PARTITA_DECL void carry_out(const collective_call& call, const untyped_block& y);
  /// Starts to move the blocks. Returns the number of the operation, which is needed to wait for its completion.
  PARTITA_DECL std::uint64_t begin(const collective_call& call, const untyped_block& y);
  /// Starts and completes the operation at once after an error, because other workers depend on this worker.
  PARTITA_DECL void fail(const collective_call& call, const untyped_block& y);
  const std::shared_ptr<pending_operation>& operation() const { return operation_; }

  /// Spreads blocks so that the workers of a node share one block; returns null if this worker receives no block.
  PARTITA_DECL lent_header* share(const collective_call& call, std::size_t elements);

 private:
  /// Throws an error if the kernel has been moved from.
  PARTITA_DECL void require_world() const;

  /// Sends small blocks to other nodes, or shows them to workers of this node, before the agreement is complete: one
  /// latency instead of two.
  class sends_speculatively final : public speculative_send {
   public:
    sends_speculatively(collective_movement& movement, const collective_call& call)
        : movement_(&movement), call_(&call) {}
    sends_speculatively(const sends_speculatively&) = delete;
    sends_speculatively& operator=(const sends_speculatively&) = delete;
    PARTITA_INLINE ~sends_speculatively();
    PARTITA_DECL speculative_send* if_worth_it();
    void was_agreed_on() { movement_ = nullptr; }

   private:
    PARTITA_INLINE void begin_alone() override;
    PARTITA_INLINE void begin(std::uint64_t) override;

    collective_movement* movement_;
    const collective_call* call_;
    bool began_ = false;
  };

  struct structure {
    structure_key key;
    block_shape shape{};  ///< the shape of the block that this worker receives
  };

  bool gives(group_direction where) const { return where == group_direction::spread ? plan_.small : plan_.large; }
  PARTITA_DECL bool takes(group_direction where) const;
  bool beside() const { return !plan_.small && !plan_.large; }
  bool writes(group_direction where) const { return takes(where) || beside(); }

  std::uint64_t fingerprint_of(const collective_call& call) const {
    return call.fingerprint(facts_.fingerprint, ways_ ? ways_->number() : 0);
  }

  /// Agreement before blocks are spread: checks that all workers make the same call; receivers learn the shape of their
  /// block from a header.
  PARTITA_DECL const structure& agree_on_block(const collective_call& call, const local_error& before,
                                               speculative_send* ahead);

  /// Agreement before a reduction: checks that all workers make the same call with blocks of equal shapes in each sum.
  PARTITA_DECL const structure& agree_on_sum(const collective_call& call, const local_error& before,
                                             speculative_send* ahead);

  PARTITA_DECL block_shape result_shape(const untyped_block& x, const structure& s, bool takes, bool gives) const;

  /// Opens the channels, once, with the first plan. Collective.
  PARTITA_DECL void find_ways();

  PARTITA_DECL collective_job job_of(const collective_call& call, const untyped_block* y = nullptr) const;
  PARTITA_DECL void make_dense(collective_job& job);

  std::shared_ptr<world_state> world_;
  group_plan plan_;
  facts_of_kernel facts_;
  plan_cache<structure> spread_, collect_;
  std::shared_ptr<collective_channels> ways_;
  std::shared_ptr<started_transfer> started_;
  std::shared_ptr<pending_operation> operation_ = std::make_shared<pending_operation>();
};

}  // namespace partita::detail

#ifndef PARTITA_CORE
#include <partita/kernel/detail/impl/collective_movement.ipp>
#endif
