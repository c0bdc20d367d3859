// What one kernel needs to move boxes: the workers that share memory, their memory and flags, and its messages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <partita/comm/box_exchange.hpp>
#include <partita/comm/detail/exchange/joint_messages.hpp>
#include <partita/comm/detail/message/pair_messages.hpp>
#include <partita/comm/detail/node/arena.hpp>
#include <partita/comm/detail/node/memory_way.hpp>
#include <partita/core/config.hpp>
#include <partita/core/error.hpp>
#include <partita/rule/transport_choice.hpp>
#include <utility>
#include <vector>

namespace partita::detail {

/// A function that makes a channel for one kernel of the workers `everyone`; `number` identifies the kernel.
/// Collective.
using make_channel = std::unique_ptr<way> (*)(MPI_Comm everyone, std::uint64_t number);
/// The channels that a program adds, in the order in which kernels try them: after the memory of a node, before
/// messages. Requires: all workers add the same channels before they construct a kernel.
PARTITA_DECL std::vector<make_channel>& added_channels();

/// How the workers of a kernel reach each other. All workers pass equal policies, except for `simulated_node`.
struct transport_policy {
  bool shared = true;                         ///< whether to use shared memory where it is available
  bool refuse_messages = false;               ///< whether to fail where shared memory is not available
  int simulated_node = -1;                    ///< workers with different numbers act as on different machines; -1: off
  std::size_t arena_bytes = ~std::size_t{0};  ///< the most bytes of shared memory for each worker
  message_policy message{};                   ///< the form of messages
  std::vector<make_channel> more{};           ///< further channels, see added_channels()

  /// The default policy with the channels of added_channels(); PARTITA_SHARED=0 in the environment turns shared memory
  /// off.
  PARTITA_DECL static transport_policy from_environment();
  /// The policy that follows from a kernel's options and the environment.
  PARTITA_DECL static transport_policy of(strategy how, message_form form);
};

/// The channels between the workers of one kernel. Collective to construct.
/// Requires: if messages are refused, one node that shares memory [communication_error, on all workers].
class transport {
 public:
  PARTITA_DECL explicit transport(MPI_Comm everyone,
                                  const transport_policy& policy = transport_policy::from_environment());

  const own_node& members() const { return members_; }  ///< The workers of this node.
  /// Whether all workers reach each other through shared memory. All workers get the same result.
  PARTITA_DECL bool shares_one_memory() const;
  arena& memory() { return memory_; }  ///< The shared memory of this node's workers.
  /// The id of this transport and MPI tag of its messages: the same on all workers, and used again after 30000 others.
  std::uint64_t number() const { return static_cast<std::uint64_t>(tag_); }

  /// Allows joint messages for boxes from workers of one node to another node, if memory is shared and the kernel lets
  /// the library choose the form of messages. Collective.
  PARTITA_DECL void join_messages();

  /// Whether boxes that several workers of a node need may be sent to one of them, which passes the boxes on: there are
  /// several nodes, one of which has several workers, and the policy allows shared memory. All workers get the same
  /// result.
  PARTITA_DECL bool can_forward() const;
  /// The channel on which workers of a node pass on boxes while other boxes are pending. The first call is collective
  /// over the workers of the node.
  PARTITA_DECL way& forwarding_channel(const element_kind& kind);

  /// The workers whose plans exchange() needs in `plans_of_node`: with joint messages all workers of this node, in
  /// ascending order; without joint messages none.
  PARTITA_DECL std::vector<std::size_t> workers_with_needed_plans() const;

  /// The messages from this worker's node to other nodes; `make_plan_of_worker(worker)` returns the plan of a worker.
  /// The result lists all messages of the node if messages are joint, else only those of this worker.
  template <class PlanOf>
  node_messages messages_between_nodes(std::size_t worker, std::size_t element_bytes,
                                       PlanOf make_plan_of_worker) const {
    if (!members_.has_other_nodes()) return {};
    const node_numbers node_of(members_.node_table());
    return plan_node_messages(joint_channels_ ? workers_with_needed_plans() : std::vector<std::size_t>{worker}, true,
                              element_bytes, make_plan_of_worker, node_of, joint_channels_ != nullptr);
  }

  /// An exchange that executes a plan for elements of this kind. `plans_of_node` holds the plans of the workers in
  /// workers_with_needed_plans().
  PARTITA_DECL std::unique_ptr<box_exchange> exchange(lowered_plan plan, const element_kind& kind,
                                                      std::vector<lowered_plan> plans_of_node = {});

  /// Makes an exchange of this transport execute another plan, see box_exchange::follow; not with joint messages.
  void follow(box_exchange& exchange, lowered_plan& plan) const { exchange.follow(channels_by_preference_, plan); }
  bool has_joint_messages() const { return joint_channels_ != nullptr; }  ///< Whether messages between nodes are joint.

 private:
  /// Throws a communication_error on all workers if they are on several nodes or do not share memory, which every
  /// worker knows without communication.
  PARTITA_DECL void require_one_memory() const;

  MPI_Comm everyone_;                                       ///< the workers of the kernel
  transport_policy policy_;                                 ///< the policy of the constructor
  std::unique_ptr<own_node> simulated_node_;                ///< null if the policy simulates no node
  const own_node& members_;                                 ///< the workers of this node
  int tag_;                                                 ///< the MPI tag of this kernel's messages
  arena& memory_;                                           ///< the shared memory of this node's workers
  node_channel channel_;                                    ///< the flags and the memory that memory_way_ uses
  memory_way memory_way_;                                   ///< the channel to the workers of this node
  message_way message_way_;                                 ///< the channel to all other workers
  std::vector<std::unique_ptr<way>> added_channels_;        ///< the channels that the program added
  std::vector<way*> channels_by_preference_;                ///< in the order in which boxes try them
  std::shared_ptr<joint_channels> joint_channels_;          ///< null if messages are not joint
  std::unique_ptr<node_local_channel> forwarding_channel_;  ///< null until the first use
};

}  // namespace partita::detail

#ifndef PARTITA_CORE
#include <partita/comm/impl/transport.ipp>
#endif
