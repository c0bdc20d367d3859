// Makes the plans of a repartition: from the decompositions if they are given or balanced, otherwise from one exchange
// of block extents.
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

template <std::size_t Rank>
struct shared_plan_state;

/// The plans of a repartition for blocks of certain shapes, in both directions.
template <std::size_t Rank>
struct repartition_structure : planned_boxes<Rank> {
  std::optional<decomposition<Rank>> source_cuts{}, result_cuts{};  ///< of x (empty if `boxes` are used), of the result
  std::vector<box<Rank>> boxes{};       ///< the boxes of all workers of p_x, if they form no Cartesian grid
  bool has_default_source_cuts = true;  ///< whether x has the decomposition that its extents imply: given, or balanced
  bool is_known_to_all = false;         ///< whether all workers know the data from which the plan was made
  /// For the adjoint [0] and a call [1]: whether the plan's next call may use the exchange that new plans share.
  std::array<bool, 2> has_shared_exchange{};
  std::shared_ptr<shared_plan_state<Rank>> shared_state{};  ///< shared by all plans of the kernel

  /// The cache calls forget() when it evicts this plan: the next new plan takes over its memory.
  void forget() {
    if (const auto all = std::move(shared_state)) all->take_over(*this);
  }
};

/// The data that all plans of one repartition kernel share. If blocks have different shapes in every call, new plans
/// take the memory of evicted plans, and one exchange carries out all of them: a call usually allocates only its
/// result.
template <std::size_t Rank>
struct shared_plan_state {
  evicted_plans evicted_tensors;                      ///< the tensors whose plans were evicted
  bool has_evicted_plans = false;                     ///< whether the cache has evicted a plan
  repartition_structure<Rank> evicted_plan;           ///< the plan that was evicted last, until a new plan takes it
  std::array<exchanges_by_kind, 2> exchanges;         ///< the exchanges that new plans share, backward and forward
  lowered_plan scratch_plan{Rank};                    ///< memory for a plan that find_transient_exchange() passes on
  std::vector<std::array<std::size_t, Rank>> shapes;  ///< the shapes of the blocks, in the order of p_x's workers
  std::vector<std::size_t> scratch_sizes;             ///< memory that join_shapes() reuses

  /// Keeps the memory of a plan that the cache evicts.
  void take_over(repartition_structure<Rank>& plan) {
    evicted_tensors.note_eviction(plan.there.extents, plan.has_default_source_cuts);
    plan.forward_exchanges.clear(), plan.backward_exchanges.clear();
    evicted_plan = std::move(plan);
    has_evicted_plans = true;
  }
};

/// The planner of repartitions of rank Rank; the extents of the partitions are run-time numbers, so that all
/// repartitions of one rank share the code.
template <std::size_t Rank>
class repartition_planner {
  using shape_type = std::array<std::size_t, Rank>;  ///< the extents of a tensor, a block or a grid

 public:
  static constexpr std::size_t rank = Rank;                        ///< the number of dimensions of the tensor
  static constexpr bool sums_back = false, checks_itself = false;  ///< the adjoint copies, and its plan is agreed on
  using structure = repartition_structure<rank>;                   ///< a cached plan

  template <class... Policies>
  repartition_planner(const char* name, const dynamic_partition<Rank>& p_x, const dynamic_partition<Rank>& p_y,
                      const Policies&... policies)
      : name_(name),
        p_x_(p_x),
        p_y_(p_y),
        cuts_(p_x.grid().shape(), p_y.grid().shape(), policies...),
        keeps_batch_(!has_policy<discard_batch_t, Policies...>),
        fingerprint_(mixed(mixed(mixed(p_x.grid().fingerprint(), p_y.grid().fingerprint()), cuts_.fingerprint()), 64)) {
    (apply_policy(policies), ...);
    fingerprint_ =
        mixed(mixed(fingerprint_, static_cast<std::uint64_t>(strategy_)), static_cast<std::uint64_t>(message_form_));
  }

  /// The name of the call in error messages, such as "partita::repartition(p_x, p_y)".
  const char* name() const { return name_; }
  /// Describes a call in a direction with a block of the given shape and element type, for error messages.
  text describe(const char* direction, const shape_type& shape, const text& type) const {
    return text(name_) << direction << " with p_x = " << p_x_.grid().shape() << " on " << workers_text(p_x_.workers())
                       << ", p_y = " << p_y_.grid().shape() << " on " << workers_text(p_y_.workers())
                       << " and a block of shape " << shape << " of " << type;
  }
  std::shared_ptr<world_state> world() const { return p_x_.world().state(); }  ///< the world of p_x and p_y
  bool keeps_batch() const { return keeps_batch_; }  ///< whether empty results have the batch extent of x
  /// A fingerprint of the planner: equal for equal repartitions.
  std::uint64_t fingerprint() const { return fingerprint_; }

  /// This worker's plan for a tensor x of these extents, in the given decomposition or the balanced one.
  exchange_plan<rank> plan(const shape_type& global) const { return plan(global, state().id()); }
  exchange_plan<rank> plan(const shape_type& global, std::size_t worker) const {
    return plan_repartition(p_x_.grid(), cuts_.source_cuts(global), p_y_.grid(), cuts_.result_cuts(global), worker,
                            cuts_.axes());
  }
  /// This worker's plan for a tensor x of these extents, which must match the cuts of the policies [shape_error].
  exchange_plan<rank> make_checked_plan(const shape_type& global) const {
    const text problem = cuts_.error_message(global);
    if (!problem.empty()) throw shape_error(text(name_) << ".plan(extents): " << problem);
    return plan(global);
  }

  /// The plan of the worker with id `worker`: what this worker sends, keeps and receives in the forward direction. The
  /// result takes over the memory of `spare_plan`.
  exchange_plan<rank> plan_of(const structure& s, std::size_t worker, exchange_plan<rank>&& spare_plan = {}) const {
    const auto made = [&](const auto& from) {
      return plan_repartition(p_x_.grid(), from, p_y_.grid(), *s.result_cuts, worker, cuts_.axes(),
                              std::move(spare_plan));
    };
    return s.source_cuts ? made(*s.source_cuts) : made(s.boxes);
  }

  /// In a forward call of workers that share memory, publishes this worker's shape to all, with the agreement.
  void prepare_agreement(const box_call<Rank>& call) const {
    constexpr std::size_t numbers = Rank + 1;
    if constexpr (numbers <= shared_flags::max_numbers) {
      std::array<std::uint64_t, numbers> own_shape{};
      for (std::size_t d = 0; d < Rank; ++d) own_shape[d] = call.shape[d];
      own_shape[Rank] = call.fills_view ? 1 : 0;
      publishes_shapes_ = call.forward && state().publish_numbers(own_shape.data(), numbers);
    }
  }
  /// Makes the plan for a call. Collective; the function opens a transport if `shared_transport` is null.
  structure learn(const box_call<Rank>& call, std::shared_ptr<transport>& shared_transport,
                  local_error& found_error) const {
    return call.forward ? plan_forward_call(call.shape, shared_transport, found_error)
                        : plan_backward_call(call.shape, shared_transport, found_error);
  }
  /// Makes the exchange that carries out a plan in one direction.
  std::shared_ptr<box_exchange> exchange(const structure& s, bool forward, const element_kind& kind,
                                         const std::shared_ptr<transport>& shared_transport) const {
    std::vector<lowered_plan> of_node;
    for (const std::size_t worker : shared_transport->workers_with_needed_plans()) {
      const exchange_plan<Rank> there = plan_of(s, worker);
      of_node.push_back(lowered(forward ? there : reversed(there)));
    }
    return lasting_exchange(shared_transport, world(), lowered(s.plan(forward)), kind, std::move(of_node));
  }
  /// Returns the exchange that new plans share, if this is the first call of plan s in a direction, another plan was
  /// evicted before s was made, and no messages are joint; otherwise null. A plan that is used again has its own.
  const std::shared_ptr<box_exchange>* find_transient_exchange(
      structure& s, bool forward, const element_kind& kind, const std::shared_ptr<transport>& shared_transport) const {
    if (!std::exchange(s.has_shared_exchange[forward], false) || shared_transport->has_joint_messages()) return nullptr;
    exchanges_by_kind& known = state_of_all_plans_->exchanges[forward];
    if (box_exchange* const open = known.find_existing(kind)) {
      lower_plan(s.plan(forward), state_of_all_plans_->scratch_plan);
      shared_transport->follow(*open, state_of_all_plans_->scratch_plan);
    }
    return &known.find_or_make(kind, [&] { return exchange(s, forward, kind, shared_transport); });
  }

 private:
  /// Makes the plan of a forward call. Collective.
  structure plan_forward_call(const shape_type& own_shape, std::shared_ptr<transport>& shared_transport,
                              local_error& found_error) const {
    if (cuts_.given_source_cuts()) {
      if (p_x_.active() && own_shape != cuts_.given_source_cuts()->shape(p_x_.index()))
        report_error(found_error,
                     text("partita::repartition(p_x, p_y, source_cuts(...))(x): requires blocks that are cut as "
                          "source_cuts(...) says, which gives worker ")
                         << state().id() << " " << cuts_.given_source_cuts()->shape(p_x_.index()) << " of "
                         << cuts_.given_source_cuts()->extents() << "; got a block of " << own_shape
                         << "; give that block, or other cuts");
      return plan_for_cuts(*cuts_.given_source_cuts(), shared_transport);
    }
    if (publishes_shapes_ || had_unbalanced_blocks_) return plan_from_shapes(own_shape, shared_transport, found_error);
    const shape_type global = global_extents_of_blocks(p_x_, own_shape);
    const bool is_balanced = !p_x_.active() || own_shape == cuts_.source_cuts(global).shape(p_x_.index());
    if (!state().is_true_on_all(is_balanced)) {
      had_unbalanced_blocks_ = true;
      return plan_from_shapes(own_shape, shared_transport, found_error);
    }
    if (reject_extents(global, found_error)) return {};
    return plan_for_cuts(cuts_.source_cuts(global), shared_transport);
  }

  /// Makes the plan of an adjoint call whose dy does not fit the result of any cached plan.
  structure plan_backward_call(const shape_type& own_shape, std::shared_ptr<transport>& shared_transport,
                               local_error& found_error) const {
    const shape_type global = cuts_.source_extents(
        cuts_.given_result_cuts() ? cuts_.given_result_cuts()->extents() : global_extents_of_blocks(p_y_, own_shape));
    if (reject_extents(global, found_error)) return {};
    if (state_of_all_plans_->evicted_tensors.contains(global)) {
      report_error(found_error, evicted_plans::error_message((text(name_) << ".adjoint(dy)").c_str()));
      return {};
    }
    const auto result_cuts = cuts_.result_cuts(global);
    if (p_y_.active() && own_shape != result_cuts.shape(p_y_.index()))
      report_error(found_error, text(name_) << ".adjoint(dy): requires dy to be cut over p_y as the result "
                                               "of the forward call was (the "
                                            << (cuts_.given_result_cuts() ? "given" : "balanced") << " cut of "
                                            << result_cuts.extents() << " over " << p_y_.grid().shape()
                                            << " gives worker " << state().id() << " "
                                            << result_cuts.shape(p_y_.index()) << "), got a block of " << own_shape);
    return plan_for_cuts(cuts_.source_cuts(global), shared_transport);
  }

  template <class Policy>
  void apply_policy(const Policy& policy) {  // stores a strategy or a message form
    if constexpr (std::is_same_v<Policy, strategy>) strategy_ = policy;
    if constexpr (std::is_same_v<Policy, message_form>) message_form_ = policy;
  }
  static void report_error(local_error& found_error, const text& sentence) {  // sets this worker's error
    found_error.kind = failure::shape;
    found_error.sentence = sentence;
  }
  /// Sets the same error on all workers, and returns true, if a tensor does not match the given cuts.
  bool reject_extents(const shape_type& global, local_error& found_error) const {
    if (!cuts_.given_source_cuts() && !cuts_.given_result_cuts()) return false;
    const text problem = cuts_.error_message(global);
    if (!problem.empty()) report_error(found_error, text(name_) << ": " << problem);
    return !problem.empty();
  }

  /// Returns a plan to be overwritten, which has the memory of the plan that was evicted last, if there is one.
  structure take_evicted_plan() const {
    structure s = std::move(state_of_all_plans_->evicted_plan);
    s.has_shared_exchange.fill(state_of_all_plans_->has_evicted_plans);
    s.is_known_to_all = false;
    return s;
  }
  /// Makes the plan for an x in this decomposition.
  structure plan_for_cuts(const decomposition<rank>& source_cuts, std::shared_ptr<transport>& shared_transport) const {
    structure s = take_evicted_plan();
    s.source_cuts = source_cuts;
    make_both_plans(s, source_cuts.extents(), shared_transport, true);
    return s;
  }

  /// Gathers the shapes of the blocks of p_x on every worker, unless the agreement has passed them. Returns whether no
  /// worker alone can find an error: the agreement has passed the shapes, and no worker fills a view, whose shape other
  /// workers do not know.
  bool gather_shapes(const shape_type& own_shape) const {
    bool is_known_to_all = publishes_shapes_;
    std::vector<number_array<rank + 1>> gathered_shapes;
    if (!publishes_shapes_) gathered_shapes = gather_numbers(state(), extents_and_zero(own_shape));
    const auto published_numbers = [&](std::size_t worker) {
      return publishes_shapes_ ? state().published_numbers(worker) : gathered_shapes[worker].data();
    };
    state_of_all_plans_->shapes.resize(p_x_.size());
    for (std::size_t k = 0; k < p_x_.size(); ++k) {
      const std::uint64_t* const shape = published_numbers(p_x_.workers()[k]);
      for (std::size_t d = 0; d < rank; ++d) state_of_all_plans_->shapes[k][d] = shape[d];
    }
    for (std::size_t k = 0; is_known_to_all && k < state().size(); ++k)
      is_known_to_all = published_numbers(k)[rank] == 0;
    return is_known_to_all;
  }

  /// The decomposition of x, if its blocks have the same sizes on all parallel lines of p_x; otherwise empty. The
  /// result takes over the memory of `spare_cuts`.
  std::optional<decomposition<rank>> join_shapes(std::optional<decomposition<rank>> spare_cuts) const {
    const auto& shapes = state_of_all_plans_->shapes;
    const shape_type grid = p_x_.grid().shape();
    bool same = true;
    std::optional<decomposition<rank>> found = decomposition<rank>::make([&](std::size_t d) {
      std::vector<std::size_t>& sizes = state_of_all_plans_->scratch_sizes;
      sizes.resize(grid[d]);
      std::size_t left = ~std::size_t{0};
      for (index<rank> i{}; i[d] < grid[d]; ++i[d]) {
        const std::size_t size = shapes[flat_index(i, grid)][d];
        same = same && size <= left;  // false if the sum of the sizes overflows
        sizes[i[d]] = same ? size : 0, left -= sizes[i[d]];
      }
      return cut::at(sizes, spare_cuts ? std::move(spare_cuts->cuts[d]) : cut::balanced(0, 1));
    });
    for (std::size_t place = 0; rank > 1 && same && place < shapes.size(); ++place)
      same = shapes[place] == found->shape(index_of(place, grid));
    if (!same) found.reset();
    return found;
  }

  /// Makes the plan for blocks of any shapes that tile a tensor.
  structure plan_from_shapes(const shape_type& own_shape, std::shared_ptr<transport>& shared_transport,
                             local_error& found_error) const {
    structure s = take_evicted_plan();
    s.is_known_to_all = gather_shapes(own_shape);
    s.source_cuts = join_shapes(std::move(s.source_cuts));
    if (s.source_cuts) {
      const shape_type global = s.source_cuts->extents();
      if (reject_extents(global, found_error)) return {};
      const decomposition<rank> default_cuts = cuts_.source_cuts(global);
      bool has_default_source_cuts = true;
      for (std::size_t d = 0; d < rank; ++d)
        for (std::size_t k = 0; has_default_source_cuts && k < default_cuts.cuts[d].parts(); ++k)
          has_default_source_cuts = default_cuts.cuts[d].size(k) == s.source_cuts->cuts[d].size(k);
      if (has_default_source_cuts) s.source_cuts = default_cuts;
      make_both_plans(s, global, shared_transport, has_default_source_cuts);
      return s;
    }
    layout_of_blocks<rank> layout = lay_out(state_of_all_plans_->shapes, p_x_.grid().shape());
    if (!layout.error_message.empty()) {
      report_error(found_error, text(name_)
                                    << "(x) with p_x = " << p_x_.grid().shape() << ": " << layout.error_message);
      return {};
    }
    if (reject_extents(layout.extents, found_error)) return {};
    s.boxes = std::move(layout.boxes);
    make_both_plans(s, layout.extents, shared_transport, false);
    return s;
  }

  /// Completes s, which has the decomposition of x, for a tensor of these extents; opens the transport if necessary.
  void make_both_plans(structure& s, const shape_type& global, std::shared_ptr<transport>& shared_transport,
                       bool has_default_source_cuts) const {
    s.result_cuts = cuts_.result_cuts(global);
    s.there = plan_of(s, state().id(), std::move(s.there));
    s.back = reversed(s.there, std::move(s.back));
    if (!shared_transport) {
      shared_transport =
          std::make_shared<transport>(state().communicator(), transport_policy::of(strategy_, message_form_));
      shared_transport->join_messages();
    }
    s.has_default_source_cuts = has_default_source_cuts;
    s.shared_state = state_of_all_plans_;
  }

  world_state& state() const { return *p_x_.world().state(); }  ///< the state of the world

  const char* name_;                                   ///< the call in messages
  dynamic_partition<Rank> p_x_, p_y_;                  ///< the partitions of x and of the result
  repartition_cuts<rank> cuts_;                        ///< the decompositions that the policies set, or balanced ones
  strategy strategy_ = strategy::mixed;                ///< how blocks are moved between workers
  message_form message_form_ = message_form::by_size;  ///< how messages are built from boxes
  bool keeps_batch_;           ///< whether the empty result of a worker that only sends keeps x's batch extent
  std::uint64_t fingerprint_;  ///< identifies partitions and policies; equal on all workers
  /// Shared by all plans of this planner and of its copies.
  std::shared_ptr<shared_plan_state<rank>> state_of_all_plans_ = std::make_shared<shared_plan_state<rank>>();
  /// Whether blocks were not balanced in an earlier call: then the shapes of all blocks are gathered at once, in one
  /// collective instead of three. Equal on all workers.
  mutable bool had_unbalanced_blocks_ = false;
  /// Whether the shapes of all blocks were passed with the last agreement. Equal on all workers.
  mutable bool publishes_shapes_ = false;
};

}  // namespace partita::detail
