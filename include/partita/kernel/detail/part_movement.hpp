// The two movements of all_gather and reduce_scatter: from parts of a tensor to the whole tensor, and back.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <partita/comm/fingerprint.hpp>
#include <partita/comm/partition.hpp>
#include <partita/comm/transport.hpp>
#include <partita/kernel/detail/box_movement.hpp>
#include <partita/kernel/detail/cut_of_blocks.hpp>
#include <partita/kernel/detail/described.hpp>
#include <partita/kernel/detail/evicted_plans.hpp>
#include <partita/kernel/detail/wholes_by_node.hpp>
#include <partita/plan/block_group.hpp>
#include <vector>

namespace partita::detail {

/// The decompositions that a movement accepts: any decomposition that tiles the tensor, or only the balanced one.
enum class accepted_cuts { any, balanced };

/// The plans from parts of a tensor to the whole tensor, and from whole tensors to parts of their sum.
template <std::size_t Rank>
struct part_structure : planned_boxes<Rank> {
  tensor_parts<Rank> tensor{};                     ///< the tensor's parts, if the exchange takes two steps
  bool is_cut_balanced = true;                     ///< whether the parts are balanced
  std::shared_ptr<evicted_plans> eviction_list{};  ///< the kernel's list of tensors whose plans were evicted

  /// The plan cache calls forget() when it evicts the plan; eviction_list then has the extents of a tensor whose parts
  /// are not balanced, and not those of a balanced one.
  void forget() const {
    if (eviction_list && this->there.gives) eviction_list->note_eviction(this->there.extents, is_cut_balanced);
  }
};

/// Each worker of a group holds a part of a tensor. The forward movement gives the whole tensor to all workers of the
/// group; the adjoint takes a whole tensor from each of them and gives each its part of the sum of these tensors, which
/// are added in the order of the group's members. A worker outside the partition gets a copy of its own input.
template <std::size_t Rank>
class part_planner {
  using shape_type = std::array<std::size_t, Rank>;  ///< the extents of a block or a tensor

 public:
  static constexpr std::size_t rank = Rank;                      ///< the number of dimensions of the tensor
  static constexpr bool sums_back = true, checks_itself = true;  ///< the adjoint adds; no agreement at checks::local
  using structure = part_structure<Rank>;                        ///< a cached plan

  /// The text `name` stands for the call in error messages: "partita::all_gather(p, dimensions)".
  part_planner(const dynamic_partition<Rank>& p, const std::array<bool, rank>& kept, const char* name,
               accepted_cuts cuts)
      : p_(p), group_(block_group_of(p.grid(), kept, p.world().id())), name_(name), cuts_(cuts) {
    fingerprint_ = mixed(p.grid().fingerprint(), cuts == accepted_cuts::any ? 128 : 129);
    for (bool k : kept) fingerprint_ = mixed(fingerprint_, k ? 1 : 0);
  }

  std::shared_ptr<world_state> world() const { return p_.world().state(); }  ///< the world of the partition
  const char* name() const { return name_; }                                 ///< the call in messages
  std::uint64_t fingerprint() const { return fingerprint_; }  ///< identifies the kernel; equal on all workers
  static constexpr bool keeps_batch() { return true; }        ///< empty results have the batch extent of x
  const std::vector<std::size_t>& members() const { return group_.members; }  ///< the workers of this worker's group
  text describe(const char* direction, const shape_type& shape, const text& type) const {  // a call in messages
    return describe_call(name_, direction, p_, shape, type);
  }
  /// This worker's plan for gathering a tensor of these extents from balanced parts.
  exchange_plan<rank> plan_allgather(const shape_type& whole) const {
    return partita::plan_allgather(group_, group_.active() ? balanced_parts(whole, group_.shape) : tensor_parts<rank>{},
                                   p_.world().id());
  }

  /// Makes the plan of a call. Collective.
  structure learn(const box_call<rank>& call, std::shared_ptr<transport>& shared_transport,
                  local_error& found_error) const {
    const transport& open = open_transport(shared_transport, *world());
    const auto shapes = gather_block_shapes(*world(), group_.members, call.shape);
    tensor_parts<rank> tensor;
    if (group_.active() && call.forward) {
      tensor = tensor_of_blocks(shapes, group_.shape);
      if (!tensor.error_message.empty()) report_error(found_error, call) << tensor.error_message;
      else if (cuts_ == accepted_cuts::balanced && !tensor.balanced(group_.shape))
        report_error(found_error, call)
            << "requires blocks cut as the result of the forward call was (the balanced cut of " << tensor.extents
            << " over " << group_.shape << "), got a block of " << call.shape;
    } else if (group_.active()) {
      for (std::size_t k = 0; k < shapes.size() && !found_error.any(); ++k)
        if (shapes[k] != shapes[0])
          report_error(found_error, call)
              << "requires the blocks that are summed to have one shape, got " << shapes[0] << " on worker "
              << group_.members[0] << " and " << shapes[k] << " on worker " << group_.members[k]
              << "; give every worker of a sum a block of the same shape";
      if (!found_error.any() && evicted_tensors_->contains(call.shape))
        found_error = local_error(evicted_plans::error_message((text(name_) << call.direction).c_str()));
      tensor = balanced_parts(call.shape, group_.shape);
    }
    return found_error.any() ? structure() : make_plan_of_parts(tensor, open);
  }

  /// If the group spans several nodes and one of these has several members, the exchange takes two steps, so that a
  /// part (in the adjoint: a node's sum of a part) is sent from one node to another at most once.
  std::shared_ptr<box_exchange> exchange(const structure& s, bool forward, const element_kind& kind,
                                         const std::shared_ptr<transport>& shared_transport) const {
    const exchange_plan<rank>& plan = s.plan(forward);
    const auto make = [&](const exchange_plan<rank>& one) {
      return lasting_exchange(shared_transport, world(), lowered(one), kind);
    };
    if constexpr (rank > 0)
      if (!s.tensor.parts.empty()) {
        const members_by_node nodes(list_member_nodes(*shared_transport));
        const std::size_t me = p_.world().id();
        const auto steps = plan.accumulate ? plan_sums_by_node(group_, s.tensor, nodes, me)
                                           : plan_all_gather_by_node(group_, s.tensor, nodes, me);
        auto both = make(steps.first_step);
        both->append_exchange(shared_transport->exchange(lowered(steps.second_step), kind));
        return both;
      }
    return make(plan);
  }

 private:
  std::vector<std::size_t> list_member_nodes(const transport& shared_transport) const {  // each member's node
    std::vector<std::size_t> nodes(group_.members.size());
    for (std::size_t k = 0; k < nodes.size(); ++k) nodes[k] = shared_transport.members().node_of(group_.members[k]);
    return nodes;
  }
  /// Whether this worker's group spans several nodes, at least one of which has two members of the group.
  bool spans_several_nodes(const transport& shared_transport) const {
    if (!shared_transport.members().has_other_nodes()) return false;
    const members_by_node nodes(list_member_nodes(shared_transport));
    return nodes.nodes() > 1 && nodes.nodes() < group_.members.size();
  }

  /// Makes the plan for a tensor in these parts.
  structure make_plan_of_parts(const tensor_parts<rank>& tensor, const transport& shared_transport) const {
    structure s;
    s.there = partita::plan_allgather(group_, tensor, p_.world().id());
    s.back = reversed(s.there);
    if (rank > 0 && spans_several_nodes(shared_transport)) s.tensor = tensor;
    s.is_cut_balanced = !group_.active() || tensor.balanced(group_.shape);
    s.eviction_list = evicted_tensors_;
    return s;
  }

  /// Sets an error and returns its message, which names the call; the caller appends the rest of the message.
  text& report_error(local_error& found_error, const box_call<rank>& call) const {
    found_error.kind = failure::shape;
    return found_error.sentence << name_ << call.direction << " with p = " << p_.grid().shape() << ": ";
  }

  dynamic_partition<Rank> p_;  ///< the partition whose workers hold the parts
  block_group<rank> group_;    ///< the workers of this worker's group, and its position among them
  const char* name_;           ///< the call in messages
  accepted_cuts cuts_;         ///< which decompositions of x are accepted
  std::uint64_t fingerprint_;  ///< identifies the kernel; equal on all workers
  std::shared_ptr<evicted_plans> evicted_tensors_ = std::make_shared<evicted_plans>();  ///< all plans share it
};

template <std::size_t Rank>
using part_movement = planned_movement<part_planner<Rank>>;  ///< the movement of all_gather and reduce_scatter

#ifdef PARTITA_CORE
#define PARTITA_PART_MOVEMENTS(EXTERN)                      \
  PARTITA_INSTANTIATE_BOX_MOVEMENT(EXTERN, part_planner<1>) \
  PARTITA_INSTANTIATE_BOX_MOVEMENT(EXTERN, part_planner<2>) \
  PARTITA_INSTANTIATE_BOX_MOVEMENT(EXTERN, part_planner<3>) \
  PARTITA_INSTANTIATE_BOX_MOVEMENT(EXTERN, part_planner<4>)
PARTITA_PART_MOVEMENTS(extern)
#endif

}  // namespace partita::detail
