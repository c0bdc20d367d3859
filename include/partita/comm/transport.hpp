// What one kernel needs to move boxes: the workers that share memory, that memory, the flags, and the form of messages.
#pragma once

#include <cstddef>
#include <memory>
#include <partita/comm/box_exchange.hpp>
#include <partita/comm/detail/joint_messages.hpp>
#include <partita/comm/detail/message/pair_messages.hpp>
#include <partita/comm/detail/node/arena.hpp>
#include <partita/comm/detail/node/memory_way.hpp>
#include <partita/core/error.hpp>
#include <partita/rule/transport_choice.hpp>
#include <utility>
#include <vector>

namespace partita::detail {

/// How the workers of a kernel reach each other. All workers pass the same values, except for `pretended_node`.
struct transport_policy {
  bool shared = true;                         ///< use shared memory where it is available
  bool refuse_messages = false;               ///< fail where shared memory is not available
  int pretended_node = -1;                    ///< workers with different numbers act as if on different machines
  std::size_t arena_bytes = ~std::size_t{0};  ///< at most this much shared memory for each worker
  message_policy message{};

  /// The default, except that PARTITA_SHARED=0 in the environment turns shared memory off.
  static transport_policy from_environment() {
    transport_policy policy;
    policy.shared = arena::shared_by_environment();
    return policy;
  }
  /// The policy that follows from a kernel's options and the environment.
  static transport_policy of(strategy how, messages form) {
    transport_policy policy = from_environment();
    policy.shared = policy.shared && how != strategy::message;
    policy.refuse_messages = how == strategy::shared;
    policy.message.how = form;
    return policy;
  }
};

/// The channels between the workers of one kernel. Collective to construct.
/// Requires: if messages are refused, one node that shares memory [communication_error, on all workers].
template <class = void>
class basic_transport {
 public:
  explicit basic_transport(MPI_Comm everyone, const transport_policy& policy = transport_policy::from_environment())
      : everyone_(everyone),
        policy_(policy),
        pretended_(policy.pretended_node < 0 ? nullptr : std::make_unique<own_node>(everyone, policy.pretended_node)),
        members_(pretended_ ? *pretended_ : own_node::of(everyone)),
        tag_(own_node::of(everyone).next_tag()),
        memory_(arena::of(members_, policy.shared ? policy.arena_bytes : 0)),
        channel_(members_, memory_, tag_),
        memory_way_(members_, channel_),
        message_way_(everyone, tag_, policy.message, members_.oversubscribed(), &own_node::of(everyone)),
        ways_{&memory_way_, &message_way_} {
    if (policy.refuse_messages) expect_one_memory();
  }

  const own_node& members() const { return members_; }
  /// Whether all workers reach each other through shared memory. The result is the same on all workers.
  bool one_memory() const {
    int all = 0;
    MPI_Comm_size(everyone_, &all);
    return members_.size() == static_cast<std::size_t>(all) && channel_.usable();
  }
  arena& memory() { return memory_; }
  /// The same on all workers, and different from that of any other transport or collective_channels of the world.
  std::uint64_t number() const { return static_cast<std::uint64_t>(tag_); }

  /// From now on, boxes from workers of one node to another node may be combined into joint messages, if the kernel
  /// lets the library choose the form of messages. Collective.
  void join_messages() {
    if (!members_.is_one_of_many() || !policy_.shared || policy_.message != message_policy{}) return;
    if (!members_.joint())
      members_.joint() = std::make_shared<joint_ways>(everyone_, members_, own_node::of(everyone_), memory_);
    joint_ = members_.joint();
  }

  /// The workers whose plans an exchange needs to know besides its own: the workers of this node, in order, or none.
  std::vector<std::size_t> whose_plans() const {
    std::vector<std::size_t> all;
    for (std::size_t k = 0; joint_ && k < members_.size(); ++k) all.push_back(members_.worker(k));
    return all;
  }

  /// The messages that leave this worker's node for other nodes; `plan_of(worker)` returns the plan of a worker. With
  /// joint messages these are all messages of the node, without them only this worker's own.
  template <class PlanOf>
  node_messages between_nodes(std::size_t worker, std::size_t element_bytes, PlanOf plan_of) const {
    if (!members_.is_one_of_many()) return {};
    const node_numbers node_of(members_.first_of());
    return plan_node_messages(joint_ ? whose_plans() : std::vector<std::size_t>{worker}, true, element_bytes, plan_of,
                              node_of, joint_ != nullptr);
  }

  /// An exchange that executes a plan for elements of this kind. `of_node` holds the plans of the workers in
  /// whose_plans().
  std::unique_ptr<box_exchange> exchange(lowered_plan plan, const element_kind& kind,
                                         std::vector<lowered_plan> of_node = {}) {
    joint_plan joint;
    if (!of_node.empty() && !plan.accumulate) {
      joint = joint_planner(plan.worker, kind.bytes, std::move(of_node), members_.first_of()).split();
      if (!joint.empty()) plan = joint.direct;
    }
    auto made = std::make_unique<box_exchange>(ways_, memory_, std::move(plan), kind, members_.oversubscribed());
    if (!joint.empty()) made->also(std::make_unique<joint_messages>(*joint_, std::move(joint), kind));
    return made;
  }

 private:
  /// All workers throw, or none: either every node is smaller than the world or there is only one node, and its workers
  /// share memory on all of them or on none.
  void expect_one_memory() const {
    int workers = 0;
    MPI_Comm_size(everyone_, &workers);
    const auto all = static_cast<std::size_t>(workers);
    if (members_.size() != all)
      throw communication_error(text("partita: strategy::shared requires workers of one node, and ")
                                << members_.size() << " of " << all
                                << " share the node of this worker; take strategy::mixed");
    if (all > 1 && !channel_.usable())
      throw communication_error(
          text("partita: strategy::shared requires shared memory, and there is none or too little (")
          << arena::free_shared_bytes()
          << " bytes are free), or it is turned off (PARTITA_SHARED=0); take strategy::mixed");
  }

  MPI_Comm everyone_;
  transport_policy policy_;
  std::unique_ptr<own_node> pretended_;
  const own_node& members_;
  int tag_;
  arena& memory_;
  node_channel channel_;
  memory_way memory_way_;
  message_way message_way_;
  std::vector<way*> ways_;  // the nearest first
  std::shared_ptr<joint_ways> joint_;
};
using transport = basic_transport<>;

}  // namespace partita::detail
