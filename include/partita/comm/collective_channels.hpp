// How the members of each group of a collective operation reach each other: by the first channel that reaches all of
// them; if no channel does, through shared memory inside a node and by messages between nodes.
//
// A group consists of one subgroup for each node, and the group of the first members (leaders) of all subgroups. If one
// channel reaches all members, the group has no leaders' group; if each member is on its own node, it has no subgroups.
// All members of a group find the same structure without communication, because "reaches" is symmetric and transitive.
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
  /// The size in bytes of the largest block that is copied through a slot in shared memory; members read a larger block
  /// in place or in chunks.
  static constexpr std::size_t max_copied_bytes = group_page::slot_bytes;

  PARTITA_DECL collective_channels(MPI_Comm everyone, group_plan plan,
                                   const transport_policy& policy = transport_policy::from_environment());
  collective_channels(const collective_channels&) = delete;
  collective_channels& operator=(const collective_channels&) = delete;

  arena& memory() { return memory_; }
  /// The id of these channels, their MPI tag: the same on all workers; it is reused after 30000 tags.
  std::uint64_t number() const { return static_cast<std::uint64_t>(pending_tag_); }
  const group_plan& plan() const { return plan_; }
  /// The traffic of this worker since the counters were last reset.
  traffic& moved() { return traffic_; }
  void start_traffic_count() {
    if (!std::exchange(has_begun_early_, false)) traffic_ = {};
  }
  /// Notes that the next call starts before all workers have agreed on it, and sets the traffic to zero.
  void note_speculative_start() { traffic_ = {}, has_begun_early_ = true; }
  /// The measured cost of messages between nodes.
  const measured_link& link() const { return members_.link(); }
  /// Whether all workers are on one node, not only the workers of these groups.
  bool are_all_on_one_node() const { return !members_.has_other_nodes(); }
  /// Undoes the sends that were started speculatively, because the workers did not agree on the call.
  PARTITA_DECL void discard_speculative_sends();
  /// Notes, if calls are traced, that a later call finishes the operation that starts now.
  void keep_operation_pending() {
    if (trace::is_on()) traced_ = trace::current_call();
  }
  PARTITA_DECL void add_traffic_to_trace(bool later);
  /// Whether a call has work beyond the transfers in groups: this worker is in no group and may have to copy its own
  /// block, or calls are traced.
  bool does_more_than_move() const { return does_more_than_move_; }
  /// The channel of the k-th group of the plan.
  collective_channel& channel(std::size_t k) { return group_channels_[k]; }

 private:
  PARTITA_DECL collective_channel make_group_channel(const worker_group& g);
  /// The first channel that reaches all members of a group; null if no channel does.
  PARTITA_DECL group_channel* find_channel(const worker_group& g);

  group_plan plan_;
  const own_node& members_;
  tag pending_tag_;
  arena& memory_;
  node_pages node_pages_;
  std::vector<std::unique_ptr<class way>> added_channels_;
  traffic traffic_;
  bool has_begun_early_ = false;
  bool does_more_than_move_ = plan_.groups.empty() || trace::is_on();
  std::size_t traced_ = ~std::size_t{0};  // the index of the pending call in the trace
  std::vector<collective_channel> group_channels_;
};

}  // namespace partita::detail

#ifndef PARTITA_CORE
#include <partita/comm/impl/collective_channels.ipp>
#endif
