// Makes the plans of a repartition: from the decompositions where they are given or balanced, else from one exchange of
// block extents.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <partita/comm/facts.hpp>
#include <partita/comm/fingerprint.hpp>
#include <partita/comm/partition.hpp>
#include <partita/comm/transport.hpp>
#include <partita/kernel/detail/box_movement.hpp>
#include <partita/kernel/detail/cut_of_blocks.hpp>
#include <partita/kernel/detail/described.hpp>
#include <partita/kernel/detail/evicted_plans.hpp>
#include <partita/kernel/detail/repartition_cuts.hpp>
#include <partita/plan/repartition_plan.hpp>
#include <partita/rule/kernel_policy.hpp>
#include <partita/rule/transport_choice.hpp>
#include <type_traits>
#include <vector>

namespace partita::detail {

/// The plans for blocks of certain shapes, in both directions.
template <std::size_t Rank>
struct repartition_structure : planned_boxes<Rank> {
  std::optional<decomposition<Rank>> of_x{}, of_y{};  ///< the decompositions of x and of the result
  std::vector<box<Rank>> boxes{};  ///< the boxes of all workers of p_x, if the blocks of x are staggered
  bool follows = true;             ///< the decomposition of x follows from its extents: given, or balanced
  std::shared_ptr<evicted_plans> forgotten{};

  /// Called when this plan is evicted from the cache.
  void forget() const {
    if (forgotten) forgotten->note(this->there.extents, follows);
  }
};

/// Plans for partitions of this rank; their extents are run-time numbers here, so that all repartitions of one rank
/// share the code.
template <std::size_t Rank>
class repartition_planner {
  using shape_type = std::array<std::size_t, Rank>;

 public:
  static constexpr std::size_t rank = Rank;
  static constexpr bool sums_back = false, checks_itself = false;
  using structure = repartition_structure<rank>;

  template <class... Policies>
  repartition_planner(const char* name, const dynamic_partition<Rank>& p_x, const dynamic_partition<Rank>& p_y,
                      const Policies&... policies)
      : name_(name),
        p_x_(p_x),
        p_y_(p_y),
        cuts_(p_x.grid().shape(), p_y.grid().shape(), policies...),
        keeps_batch_(!has_policy<discard_batch_t, Policies...>),
        fingerprint_(mixed(mixed(mixed(p_x.grid().fingerprint(), p_y.grid().fingerprint()), cuts_.fingerprint()), 64)) {
    (heed(policies), ...);
    fingerprint_ =
        mixed(mixed(fingerprint_, static_cast<std::uint64_t>(strategy_)), static_cast<std::uint64_t>(messages_));
  }

  /// "partita::repartition(p_x, p_y)", or the name of the kernel that uses it.
  const char* name() const { return name_; }
  /// Describes the call of this direction with a block of this shape, for error messages.
  text describe(const char* direction, const shape_type& shape, const text& type) const {
    return text(name_) << direction << " with p_x = " << p_x_.grid().shape() << " on " << named(p_x_.workers())
                       << ", p_y = " << p_y_.grid().shape() << " on " << named(p_y_.workers())
                       << " and a block of shape " << shape << " of " << type;
  }
  std::shared_ptr<world_state> world() const { return p_x_.world().state(); }
  bool keeps_batch() const { return keeps_batch_; }
  /// A fingerprint: equal for equal repartitions.
  std::uint64_t fingerprint() const { return fingerprint_; }

  /// The plan for a tensor x of these extents, in the given decomposition or the balanced one.
  exchange_plan<rank> plan(const shape_type& global) const { return plan(global, state().id()); }
  exchange_plan<rank> plan(const shape_type& global, std::size_t worker) const {
    return plan_repartition(p_x_.grid(), cuts_.of_x(global), p_y_.grid(), cuts_.of_y(global), worker, cuts_.axes());
  }
  /// The same. Requires extents that match the given cuts [shape_error].
  exchange_plan<rank> checked_plan(const shape_type& global) const {
    const text problem = cuts_.error_message(global);
    if (!problem.empty()) throw shape_error(text(name_) << ".plan(extents): " << problem);
    return plan(global);
  }

  /// What any worker sends, keeps and receives in the forward direction.
  exchange_plan<rank> plan_of(const structure& s, std::size_t worker) const {
    if (s.of_x) return plan_repartition(p_x_.grid(), *s.of_x, p_y_.grid(), *s.of_y, worker, cuts_.axes());
    return plan_repartition(p_x_.grid(), s.boxes, p_y_.grid(), *s.of_y, worker, cuts_.axes());
  }

  /// The plan for this call. Collective; opens the transport `ways` if it is null.
  structure learn(const box_call<Rank>& call, std::shared_ptr<transport>& ways, local_error& trouble) const {
    return call.forward ? learn_forward(call.shape, ways, trouble) : learn_backward(call.shape, ways, trouble);
  }
  /// What carries out a plan in one direction.
  std::shared_ptr<box_exchange> exchange(const structure& s, bool forward, const element_kind& kind,
                                         const std::shared_ptr<transport>& ways) const {
    std::vector<lowered_plan> of_node;
    for (const std::size_t worker : ways->whose_plans()) {
      const exchange_plan<Rank> there = plan_of(s, worker);
      of_node.push_back(lowered(forward ? there : reversed(there)));
    }
    return lasting_exchange(ways, world(), lowered(s.plan(forward)), kind, std::move(of_node));
  }

 private:
  structure learn_forward(const shape_type& mine, std::shared_ptr<transport>& ways, local_error& trouble) const {
    if (cuts_.from()) {
      if (p_x_.active() && mine != cuts_.from()->shape(p_x_.index()))
        report_error(trouble, text("partita::repartition(p_x, p_y, from_cuts(...))(x): requires blocks that are cut as "
                                   "from_cuts(...) says, which gives worker ")
                                  << state().id() << " " << cuts_.from()->shape(p_x_.index()) << " of "
                                  << cuts_.from()->extents() << "; got a block of " << mine
                                  << "; give that block, or other cuts");
      return regular(cuts_.from()->extents(), *cuts_.from(), ways, true);
    }
    if (were_irregular_) return learn_irregular(mine, ways, trouble);
    const shape_type global = extents_along_lines(p_x_, mine);
    const bool as_balanced = !p_x_.active() || mine == cuts_.of_x(global).shape(p_x_.index());
    if (!on_all(state(), as_balanced)) {
      were_irregular_ = true;
      return learn_irregular(mine, ways, trouble);
    }
    if (object(global, trouble)) return {};
    return regular(global, cuts_.of_x(global), ways, true);
  }

  /// The plan of the adjoint when no forward call with such a result is cached.
  structure learn_backward(const shape_type& mine, std::shared_ptr<transport>& ways, local_error& trouble) const {
    const shape_type global = cuts_.extents_of_x(cuts_.to() ? cuts_.to()->extents() : extents_along_lines(p_y_, mine));
    if (object(global, trouble)) return {};
    if (forgotten_->know(global)) {
      report_error(trouble, evicted_plans::error_message((text(name_) << ".adjoint(dy)").c_str()));
      return {};
    }
    const auto of_y = cuts_.of_y(global);
    if (p_y_.active() && mine != of_y.shape(p_y_.index()))
      report_error(trouble, text(name_) << ".adjoint(dy): requires dy to be cut over p_y as the result "
                                           "of the forward call was (the "
                                        << (cuts_.to() ? "given" : "balanced") << " cut of " << of_y.extents()
                                        << " over " << p_y_.grid().shape() << " gives worker " << state().id() << " "
                                        << of_y.shape(p_y_.index()) << "), got a block of " << mine);
    return regular(global, cuts_.of_x(global), ways, true);
  }

  template <class Policy>
  void heed(const Policy& policy) {
    if constexpr (std::is_same_v<Policy, strategy>) strategy_ = policy;
    if constexpr (std::is_same_v<Policy, messages>) messages_ = policy;
  }
  static void report_error(local_error& trouble, const text& sentence) {
    trouble.kind = failure::shape;
    trouble.sentence = sentence;
  }
  /// Sets the same error on all workers if a tensor does not match the given cuts.
  bool object(const shape_type& global, local_error& trouble) const {
    const text problem = cuts_.error_message(global);
    if (!problem.empty()) report_error(trouble, text(name_) << ": " << problem);
    return !problem.empty();
  }

  structure regular(const shape_type& global, const decomposition<rank>& of_x, std::shared_ptr<transport>& ways,
                    bool follows) const {
    structure s;
    s.of_x = of_x, s.of_y = cuts_.of_y(global);
    complete(s, ways, follows);
    return s;
  }

  /// Gathers the shapes of all blocks on every worker.
  structure learn_irregular(const shape_type& mine, std::shared_ptr<transport>& ways, local_error& trouble) const {
    const auto shapes = gathered(state(), facts_of(mine));
    std::vector<shape_type> by_place(p_x_.size());
    for (std::size_t k = 0; k < by_place.size(); ++k)
      for (std::size_t d = 0; d < rank; ++d) by_place[k][d] = shapes[p_x_.workers()[k]][d];
    const layout_of_blocks<rank> layout = lay_out(by_place, p_x_.grid().shape());
    if (!layout.problem.empty()) {
      report_error(trouble, text(name_) << "(x) with p_x = " << p_x_.grid().shape() << ": " << layout.problem);
      return {};
    }
    if (object(layout.extents, trouble)) return {};
    if (layout.cartesian) {
      const decomposition<rank> of_x =
          decomposition<rank>::make([&](std::size_t d) { return cut::at(layout.sizes[d]); });
      const decomposition<rank> usual = cuts_.of_x(layout.extents);
      bool follows = true;
      for (std::size_t d = 0; d < rank; ++d)
        for (std::size_t k = 0; k < layout.sizes[d].size(); ++k)
          follows = follows && usual.cuts[d].size(k) == layout.sizes[d][k];
      return regular(layout.extents, follows ? usual : of_x, ways, follows);
    }
    structure s;
    s.boxes = layout.boxes, s.of_y = cuts_.of_y(layout.extents);
    complete(s, ways, false);
    return s;
  }

  void complete(structure& s, std::shared_ptr<transport>& ways, bool follows) const {
    s.there = plan_of(s, state().id());
    s.back = reversed(s.there);
    if (!ways) {
      ways = std::make_shared<transport>(state().communicator(), transport_policy::of(strategy_, messages_));
      ways->join_messages();
    }
    s.follows = follows;
    s.forgotten = forgotten_;
  }

  world_state& state() const { return *p_x_.world().state(); }

  const char* name_;
  dynamic_partition<Rank> p_x_, p_y_;
  repartition_cuts<rank> cuts_;
  strategy strategy_ = strategy::mixed;
  messages messages_ = messages::by_size;
  bool keeps_batch_;
  std::uint64_t fingerprint_;
  std::shared_ptr<evicted_plans> forgotten_ = std::make_shared<evicted_plans>();
  /// Blocks were not balanced in an earlier call: then the shapes of all blocks are gathered at once, in one collective
  /// instead of three. The same on all workers.
  mutable bool were_irregular_ = false;
};

}  // namespace partita::detail
