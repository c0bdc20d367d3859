// Defines the functions that comm/transport.hpp declares.
#pragma once

#include <partita/comm/transport.hpp>

namespace partita::detail {

PARTITA_DEF std::vector<make_channel>& added_channels() {
  static std::vector<make_channel> all;
  return all;
}

PARTITA_DEF transport_policy transport_policy::from_environment() {
  transport_policy policy;
  policy.shared = arena::environment_allows_sharing();
  policy.more = added_channels();
  return policy;
}

PARTITA_DEF transport_policy transport_policy::of(strategy how, message_form form) {
  transport_policy policy = from_environment();
  policy.shared = policy.shared && how != strategy::message;
  policy.refuse_messages = how == strategy::shared;
  policy.message.how = form;
  return policy;
}

PARTITA_DEF transport::transport(MPI_Comm everyone, const transport_policy& policy)
    : everyone_(everyone),
      policy_(policy),
      simulated_node_(policy.simulated_node < 0 ? nullptr
                                                : std::make_unique<own_node>(everyone, policy.simulated_node)),
      members_(simulated_node_ ? *simulated_node_ : own_node::of(everyone)),
      tag_(own_node::of(everyone).next_tag()),
      memory_(arena::of(members_, policy.shared ? policy.arena_bytes : 0)),
      channel_(members_, memory_, tag_),
      memory_way_(members_, channel_),
      message_way_(everyone, tag_, policy.message, members_.oversubscribed(), &own_node::of(everyone)),
      channels_by_preference_{&memory_way_} {
  for (const make_channel make : policy.more)
    channels_by_preference_.push_back(added_channels_.emplace_back(make(everyone, number())).get());
  channels_by_preference_.push_back(&message_way_);
  if (policy.refuse_messages) require_one_memory();
}

PARTITA_DEF bool transport::shares_one_memory() const {
  int all = 0;
  MPI_Comm_size(everyone_, &all);
  return members_.size() == static_cast<std::size_t>(all) && channel_.is_usable();
}

PARTITA_DEF void transport::join_messages() {
  if (!members_.has_other_nodes() || !policy_.shared || policy_.message != message_policy{}) return;
  if (!members_.joint())
    members_.joint() = std::make_shared<joint_channels>(everyone_, members_, own_node::of(everyone_), memory_);
  joint_channels_ = members_.joint();
}

PARTITA_DEF bool transport::can_forward() const {
  return policy_.shared && members_.has_other_nodes() &&
         members_.lowest_workers().size() < members_.node_table().size();
}

PARTITA_DEF way& transport::forwarding_channel(const element_kind& kind) {
  if (!forwarding_channel_)
    forwarding_channel_ = std::make_unique<node_local_channel>(everyone_, members_, own_node::of(everyone_), memory_);
  return forwarding_channel_->channel_for(kind);
}

PARTITA_DEF std::vector<std::size_t> transport::workers_with_needed_plans() const {
  std::vector<std::size_t> all;
  for (std::size_t k = 0; joint_channels_ && k < members_.size(); ++k) all.push_back(members_.worker(k));
  return all;
}

PARTITA_DEF std::unique_ptr<box_exchange> transport::exchange(lowered_plan plan, const element_kind& kind,
                                                              std::vector<lowered_plan> plans_of_node) {
  joint_plan joint;
  if (!plans_of_node.empty() && !plan.accumulate) {
    joint = joint_planner(plan.worker, kind.bytes, std::move(plans_of_node), members_.node_table()).make_joint_plan();
    if (!joint.empty()) plan = joint.direct_plan;
  }
  auto made = std::make_unique<box_exchange>(channels_by_preference_, memory_, std::move(plan), kind,
                                             members_.oversubscribed());
  if (!joint.empty()) made->add_transport(std::make_unique<joint_messages>(*joint_channels_, std::move(joint), kind));
  return made;
}

PARTITA_DEF void transport::require_one_memory() const {
  int workers = 0;
  MPI_Comm_size(everyone_, &workers);
  const auto all = static_cast<std::size_t>(workers);
  if (members_.size() != all)
    throw communication_error(text("partita: strategy::shared requires workers of one node, and ")
                              << members_.size() << " of " << all
                              << " share the node of this worker; take strategy::mixed");
  if (all > 1 && !channel_.is_usable())
    throw communication_error(
        text("partita: strategy::shared requires shared memory, and there is none or too little (")
        << arena::free_shared_bytes()
        << " bytes are free), or it is turned off (PARTITA_SHARED=0); take strategy::mixed");
}

}  // namespace partita::detail
