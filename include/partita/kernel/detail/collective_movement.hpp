// The collective movements that broadcasts and reductions are built on: agreement, start and finish, without knowledge
// of the element type or the rank of the blocks.
#pragma once

#include <cstddef>
#include <memory>
#include <partita/comm/collective_channels.hpp>
#include <partita/comm/fingerprint.hpp>
#include <partita/comm/partition.hpp>
#include <partita/comm/shared_view.hpp>
#include <partita/comm/tree.hpp>
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

template <class = void>
class basic_collective_movement {
 public:
  /// The kernel that a movement belongs to; names are string literals.
  struct facts_of_kernel {
    const char* name;
    text call;
    std::uint64_t fingerprint = 0;
    bool keep_batch = true;
    bool sums_blindly = false;  ///< some worker receives a sum to which it contributes no block
  };

  basic_collective_movement(std::shared_ptr<world_state> world, group_plan plan, facts_of_kernel facts)
      : world_(std::move(world)), plan_(std::move(plan)), facts_(std::move(facts)) {}

  const group_plan& plan() const { return plan_; }
  /// How often block shapes were exchanged.
  std::size_t structures_made() const { return spread_.made() + collect_.made(); }
  kernel_counts counts() const {
    if (!ways_) return {structures_made()};
    const traffic& moved = ways_->moved();
    return {structures_made(), moved.messages, moved.bytes_by_message, moved.bytes_shared};
  }
  kernel_identity identity() const { return {world_.get(), mixed(facts_.fingerprint, ways_ ? ways_->number() : 0)}; }
  arena* memory() const { return ways_ ? &ways_->memory() : nullptr; }

  /// Completes the pending operation, and agrees on the next call. Returns the shape of the block that this worker
  /// gets.
  template <bool Spreads>
  block_shape agree(const collective_call& call) {
    operation_->wait();
    if (call.has_objection() || (writes(call.where) && call.overlaps()))
      return agree<Spreads>(call, call.own_complaint(facts_.name, world_->id()));
    static const complaint none;
    return agree<Spreads>(call, none);
  }
  template <bool Spreads>
  block_shape agree(const collective_call& call, const complaint& before) {
    sends_speculatively ahead(*this, call);
    const structure* agreed_on = nullptr;
    if constexpr (Spreads) agreed_on = &agree_on_block(call, before, ahead.if_worth_it());
    else agreed_on = &agree_on_sum(call, before, ahead.if_worth_it());
    ahead.was_agreed_on();
    if (call.where == group_direction::to_all) return call.x.shape;
    return Spreads ? result_shape(call.x, *agreed_on, plan_.large, plan_.small)
                   : result_shape(call.x, *agreed_on, plan_.small, plan_.large);
  }
  /// Runs f() as one call of all workers.
  template <class F>
  decltype(auto) one_call(F f) const {
    if (!world_)
      throw error(
          text(facts_.name) << ": requires a kernel that has not been moved from; call the one it was moved to");
    const one_thread only(world_->caller(), [&] { return text(facts_.name); });
    return partita::detail::one_call(*world_, f);
  }
  /// Collective: throws on all workers if one of them has an objection.
  void object(const text& objection) const {
    agree_if_checked(*world_, mixed(facts_.fingerprint, 2), complaint(objection), [&] { return facts_.call; });
  }
  /// Moves the blocks of a call that was agreed on.
  void carry_out(const collective_call& call, const untyped_block& y) {
    collective_job job = job_of(call, &y);
    if (gives(call.where)) make_dense(job);
    collective_transfer transfer(*world_, *ways_, job, false);
    transfer.start();
    transfer.finish();
  }
  /// Starts to move the blocks. Returns the number of the operation, to wait for its completion.
  std::uint64_t begin(const collective_call& call, const untyped_block& y) {
    if (!started_) started_ = std::make_shared<started_transfer>(world_, ways_);
    started_->start(job_of(call, &y), gives(call.where));
    const std::uint64_t number = operation_->start(started_);
    world_->leave_under_way(operation_);
    return number;
  }
  /// Starts and completes the operation at once, because other workers depend on this worker.
  void fail(const collective_call& call, const untyped_block& y) {
    begin(call, y);
    operation_->wait();
  }
  const std::shared_ptr<pending_operation>& operation() const { return operation_; }

  /// Like a spread, but the workers of a node share one block; returns null if this worker gets none.
  lent_header* share(const collective_call& call, std::size_t elements) {
    lent_header* block = nullptr;
    ways_->begins_to_move();
    collective_job job = job_of(call);
    if (plan_.small) make_dense(job);
    for (std::size_t k = 0; k < plan_.groups.size(); ++k) {
      const worker_group& g = plan_.groups[k];
      const bool root = g.position == 0;
      const std::size_t n = root ? call.x.size() : elements;
      if (n == 0) continue;
      const element_messages messages(*world_, *call.of, tag::block, ways_->moved(), ways_->link());
      lent_header* const got =
          ways_->way(k).share(messages, ways_->memory(), root ? job.dense_x : nullptr, n, g.root_is_large);
      if (got != nullptr) block = got;
    }
    if (!plan_.small && !plan_.large && call.x.size() != 0) {  // this worker's own input
      block = lent_blocks::lend(ways_->memory(), call.x.size() * call.of->bytes, 1);
      copy(*call.of, call.x.dense_at(lent_blocks::elements(block)), call.x);
    }
    ways_->has_moved(false);
    return block;
  }

 private:
  /// Sends small blocks to other nodes, or shows them to workers of this node, before the agreement is complete: one
  /// latency instead of two.
  class sends_speculatively final : public speculative_send {
   public:
    sends_speculatively(basic_collective_movement& movement, const collective_call& call)
        : movement_(&movement), call_(&call) {}
    sends_speculatively(const sends_speculatively&) = delete;
    sends_speculatively& operator=(const sends_speculatively&) = delete;
    ~sends_speculatively() {
      if (!began_ || movement_ == nullptr) return;
      try {
        movement_->ways_->began_for_nothing();
      } catch (const communication_error&) {  // an error is already being reported
      }
    }
    speculative_send* if_worth_it() {
      if (!movement_->ways_ || !movement_->gives(call_->where) || call_->later || call_->shares) return nullptr;
      const bool alone = movement_->ways_->all_on_one_node();  // then other workers read the block themselves
      if (alone && (call_->where != group_direction::spread || movement_->job_of(*call_).packs())) return nullptr;
      const measured_link& link = movement_->ways_->link();
      const std::size_t most = alone                                     ? group_page::small
                               : call_->where == group_direction::spread ? link.most_at_once()
                               : link.at_once < group_page::small        ? link.at_once
                                                                         : group_page::small;
      const std::size_t bytes = call_->x.size() * call_->of->bytes;
      return bytes != 0 && bytes <= most ? this : nullptr;
    }
    void was_agreed_on() { movement_ = nullptr; }

   private:
    void begin_alone() override {
      began_ = true;
      collective_job job = movement_->job_of(*call_);
      movement_->make_dense(job);
      collective_transfer(*movement_->world_, *movement_->ways_, job, false).show_ahead();
    }
    void begin(std::uint64_t) override {
      began_ = true;
      collective_job job = movement_->job_of(*call_);
      movement_->make_dense(job);
      collective_transfer(*movement_->world_, *movement_->ways_, job, false).begin_ahead();
    }

    basic_collective_movement* movement_;
    const collective_call* call_;
    bool began_ = false;
  };

  struct structure {
    structure_key key;
    block_shape shape{};  ///< of the block that this worker gets
  };

  bool gives(group_direction where) const { return where == group_direction::spread ? plan_.small : plan_.large; }
  bool takes(group_direction where) const {
    return where == group_direction::spread    ? plan_.large
           : where == group_direction::to_root ? plan_.small
                                               : plan_.large;
  }
  bool beside() const { return !plan_.small && !plan_.large; }
  bool writes(group_direction where) const { return takes(where) || beside(); }

  std::uint64_t fingerprint_of(const collective_call& call) const {
    return call.fingerprint(facts_.fingerprint, ways_ ? ways_->number() : 0);
  }

  /// Before a block is spread: checks that all workers make the same call; receivers learn the block's shape from a
  /// header.
  const structure& agree_on_block(const collective_call& call, const complaint& before, speculative_send* ahead) {
    const worker_group* joined = plan_.joined();
    return agreed_structure(
        *world_, spread_, {fingerprint_of(call), before, true, ahead},
        [&](const structure& known) { return call.has_key(known.key, plan_.small); },
        [&](complaint& trouble) {
          structure fresh{call.key(plan_.small), {}};
          find_ways();
          for (const worker_group& g : plan_.groups) {
            block_shape header = call.x.shape;
            partita::detail::spread(*world_, g, header.data(), call.x.rank, tag::header);
            if (&g == joined) fresh.shape = header;
          }
          call.expect_view_shape(facts_.name, result_shape(call.x, fresh, plan_.large, plan_.small), trouble);
          return fresh;
        },
        [&] { return call.describe(facts_.call); });
  }

  /// Before a reduction: checks that all workers make the same call and that the blocks of a sum have equal shapes.
  const structure& agree_on_sum(const collective_call& call, const complaint& before, speculative_send* ahead) {
    const bool to_all = call.where == group_direction::to_all;
    const std::size_t rank = call.x.rank;
    return agreed_structure(
        *world_, collect_, {fingerprint_of(call), before, facts_.sums_blindly && !to_all, ahead},
        [&](const structure& known) { return call.has_key(known.key, plan_.large); },
        [&](complaint& trouble) {
          structure fresh{call.key(plan_.large), {}};
          find_ways();
          for (const worker_group& g : plan_.groups) {
            const bool contributes = g.position != 0 || g.root_is_large;
            // One message holds the largest and the smallest extents of the group: the maximum of n and of its
            // complement.
            std::array<std::uint64_t, 2 * most_dimensions> mine{}, most{}, incoming{};
            for (std::size_t d = 0; d < rank; ++d) {
              mine[d] = call.x.shape[d];
              mine[rank + d] = ~std::uint64_t{call.x.shape[d]};
            }
            partita::detail::collect(*world_, g, contributes ? mine.data() : nullptr, most.data(), incoming.data(),
                                     2 * rank, tag::header,
                                     [](std::uint64_t& a, std::uint64_t b) { a = a > b ? a : b; });
            if (g.position != 0) continue;
            block_shape least{};
            for (std::size_t d = 0; d < rank; ++d) {
              fresh.shape[d] = most[d];
              least[d] = ~most[rank + d];
            }
            if (fresh.shape == least) continue;
            trouble.kind = failure::shape;
            trouble.sentence << facts_.call
                             << ": requires the blocks that are summed to have one shape, got extents from "
                             << shape_text(least, rank) << " to " << shape_text(fresh.shape, rank)
                             << " among the workers " << g.members
                             << "; give every worker of a sum a block of the same shape";
          }
          call.expect_view_shape(
              facts_.name, to_all ? call.x.shape : result_shape(call.x, fresh, plan_.small, plan_.large), trouble);
          return fresh;
        },
        [&] { return call.describe(facts_.call); });
  }

  block_shape result_shape(const untyped_block& x, const structure& s, bool takes, bool gives) const {
    if (takes) return s.shape;
    if (!gives) return x.shape;
    block_shape none{};
    if (x.rank >= 2 && facts_.keep_batch) none[0] = x.shape[0];
    return none;
  }

  /// Opens the channels, once, with the first plan. Collective.
  void find_ways() {
    if (!ways_) ways_ = std::make_shared<collective_channels>(world_->communicator(), plan_);
  }

  collective_job job_of(const collective_call& call, const untyped_block* y = nullptr) const {
    collective_job job{call.where, call.of, call.how, call.sums, &call.x, y};
    if (call.where == group_direction::spread && call.how != nullptr && plan_.small)
      job.parts = plan_.rooted()->contributors();
    return job;
  }
  void make_dense(collective_job& job) {
    if (job.packs()) job.pack(world_->buffer_of<char>(0, job.x->size() * job.of->bytes));
    else job.dense_x = job.x->data;
  }

  std::shared_ptr<world_state> world_;
  group_plan plan_;
  facts_of_kernel facts_;
  plan_cache<structure> spread_, collect_;
  std::shared_ptr<collective_channels> ways_;
  std::shared_ptr<started_transfer> started_;
  std::shared_ptr<pending_operation> operation_ = std::make_shared<pending_operation>();
};
using collective_movement = basic_collective_movement<>;

}  // namespace partita::detail
