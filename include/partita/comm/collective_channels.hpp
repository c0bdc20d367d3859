// How the members of each group of a collective operation reach each other: by the first channel that reaches all of
// them; if no channel does, usually through shared memory inside a node, and by messages between nodes.
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

/// The channels of one worker, one for each group of its plan, and the memory of the results. Collective to construct.
class collective_channels {
 public:
  /// The size in bytes of the largest block that is copied as a whole through a slot in shared memory; members read a
  /// larger block in place or in chunks.
  static constexpr std::size_t max_copied_bytes = group_page::slot_bytes;

  PARTITA_DECL collective_channels(MPI_Comm everyone, group_plan plan,
                                   const transport_policy& policy = transport_policy::from_environment());
  collective_channels(const collective_channels&) = delete;
  collective_channels& operator=(const collective_channels&) = delete;

  arena& memory() { return memory_; }  ///< The shared memory of this node's workers.
  /// The id of these channels, and MPI tag of the messages of their pending operations: the same on all workers, and
  /// used again after 30000 others.
  std::uint64_t number() const { return static_cast<std::uint64_t>(pending_tag_); }
  const group_plan& plan() const { return plan_; }  ///< The groups of this worker.
  traffic& call_traffic() { return traffic_; }      ///< The traffic of this worker in the current or the last call.
  /// Sets the traffic to zero when a call begins, unless note_speculative_start() has done so.
  void reset_traffic() {
    if (!std::exchange(has_begun_early_, false)) traffic_ = {};
  }
  /// Notes that the next call starts before all workers have agreed on it, and sets the traffic to zero.
  void note_speculative_start() { traffic_ = {}, has_begun_early_ = true; }
  const measured_link& link() const { return members_.link(); }  ///< The measured cost of messages between nodes.
  /// Whether all workers are on one node, not only the workers of these groups.
  bool are_all_on_one_node() const { return !members_.has_other_nodes(); }
  /// Undoes the sends that were started speculatively, because the workers did not agree on the call.
  PARTITA_DECL void discard_speculative_sends();
  /// Notes, if calls are traced, that a later call finishes the operation that starts now.
  void note_pending_operation() {
    if (trace::is_on()) traced_call_ = trace::current_call();
  }
  /// Adds the traffic to the current call in the trace or, with `later`, to that of note_pending_operation().
  PARTITA_DECL void add_traffic_to_trace(bool later);
  /// Whether a call has work beyond the transfers in groups: this worker is in no group and may have to copy its own
  /// block, or calls are traced.
  bool does_more_than_move() const { return does_more_than_move_; }
  collective_channel& channel(std::size_t k) { return group_channels_[k]; }  ///< The channel of the plan's k-th group.

 private:
  PARTITA_DECL collective_channel make_group_channel(const worker_group& g);  ///< Finds how members reach each other.
  /// The first channel that reaches all members of a group; null if no channel does.
  PARTITA_DECL group_channel* find_channel(const worker_group& g);

  group_plan plan_;                                         ///< the groups of this worker
  const own_node& members_;                                 ///< the workers of this node
  tag pending_tag_;                                         ///< the MPI tag of the messages of pending operations
  arena& memory_;                                           ///< the shared memory of this node's workers
  node_pages node_pages_;                                   ///< the channel through the shared memory of this node
  std::vector<std::unique_ptr<class way>> added_channels_;  ///< the channels that the program added
  traffic traffic_;                                         ///< of this worker, in the current or the last call
  bool has_begun_early_ = false;  ///< whether the next call has started before all workers have agreed on it
  bool does_more_than_move_ = plan_.groups.empty() || trace::is_on();  ///< see does_more_than_move()
  std::size_t traced_call_ = ~std::size_t{0};                          ///< the index of the pending call in the trace
  std::vector<collective_channel> group_channels_;                     ///< one for each group of the plan
};

}  // namespace partita::detail

#ifndef PARTITA_CORE
#include <partita/comm/impl/collective_channels.ipp>
#endif
