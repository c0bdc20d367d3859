// How the members of each group of a collective operation reach each other: by the first channel that reaches all of
// them; if no channel does, through shared memory inside a node and by messages between nodes.
//
// A group consists of one subgroup for each node, and the group of the first members (leaders) of all subgroups. If one
// channel reaches all members, the group has no leaders' group; if each member is on its own node, it has no subgroups.
// All workers choose together between these three strategies, at the first use of an operation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <partita/comm/detail/collective/collective_channel.hpp>
#include <partita/comm/detail/collective/node_pages.hpp>
#include <partita/comm/detail/diagnostics/trace.hpp>
#include <partita/comm/detail/node/group_page.hpp>
#include <partita/comm/transport.hpp>
#include <partita/core/config.hpp>
#include <partita/plan/group_plan.hpp>
#include <partita/plan/members_by_node.hpp>
#include <type_traits>
#include <utility>
#include <vector>

namespace partita::detail {

/// The channels of one worker, one for each group of its plan, and the memory in which results are stored. Collective
/// to construct.
class collective_channels {
 public:
  /// The most bytes of a block that workers of a node copy for each other through shared memory.
  static constexpr std::size_t most_copied = group_page::small;

  PARTITA_DECL collective_channels(MPI_Comm everyone, group_plan plan,
                                   const transport_policy& policy = transport_policy::from_environment());
  collective_channels(const collective_channels&) = delete;
  collective_channels& operator=(const collective_channels&) = delete;

  arena& memory() { return memory_; }
  /// The number of these channels: the same on all workers, and different from those of all others of the world.
  std::uint64_t number() const { return static_cast<std::uint64_t>(ahead_); }
  const group_plan& plan() const { return plan_; }
  /// The traffic of this worker since the counters were last reset.
  traffic& moved() { return moved_; }
  void begins_to_move() {
    if (!std::exchange(is_ahead_, false)) moved_ = {};
  }
  /// Makes the next call start before all workers have agreed on it.
  void sends_speculatively() { moved_ = {}, is_ahead_ = true; }
  /// The measured cost of messages between nodes.
  const measured_link& link() const { return members_.link(); }
  /// Whether all workers are on one node, not only the workers of these groups.
  bool all_on_one_node() const { return !members_.is_one_of_many(); }
  /// Called if the agreement failed: undoes what was started speculatively.
  PARTITA_DECL void discard_speculative();
  /// Makes the operation that starts now be finished in a later call.
  void ends_later() {
    if (trace::on()) traced_ = trace::current();
  }
  PARTITA_DECL void has_moved(bool later);
  /// Whether a call does more than move the blocks of groups: this worker is in no group, or calls are traced.
  bool has_more_work() const { return has_more_work_; }
  /// The channel of the k-th group of the plan.
  collective_channel& way(std::size_t k) { return ways_[k]; }

 private:
  PARTITA_DECL collective_channel way_of(const worker_group& g);
  /// The first channel that reaches all members of a group; null if no channel does.
  PARTITA_DECL group_channel* channel_of(const worker_group& g);

  group_plan plan_;
  const own_node& members_;
  tag ahead_;
  arena& memory_;
  node_pages pages_;
  std::vector<std::unique_ptr<class way>> more_;
  traffic moved_;
  bool is_ahead_ = false;
  bool has_more_work_ = plan_.groups.empty() || trace::on();
  std::size_t traced_ = ~std::size_t{0};  // the index of the pending call in the trace
  std::vector<collective_channel> ways_;
};

}  // namespace partita::detail

#ifndef PARTITA_CORE
#include <partita/comm/impl/collective_channels.ipp>
#endif
