// The part of a Fourier transform that does not depend on its element type: its layouts, the moves between them, and
// the agreement of all workers on them. The moves are repartitions; no other code of the transform moves elements
// between workers.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <partita/array/fourier_rule.hpp>
#include <partita/array/local_transform.hpp>
#include <partita/comm/partition.hpp>
#include <partita/kernel/detail/chained_calls.hpp>
#include <partita/kernel/detail/cut_of_blocks.hpp>
#include <partita/kernel/detail/described.hpp>
#include <partita/kernel/detail/fields_movement.hpp>
#include <partita/kernel/detail/fourier_definition.hpp>
#include <partita/kernel/detail/fourier_plan.hpp>
#include <partita/kernel/detail/plan_cache.hpp>
#include <partita/kernel/detail/target.hpp>
#include <partita/kernel/kernel_counts.hpp>
#include <utility>
#include <vector>

namespace partita::detail {

/// The plan of a transform for blocks of certain shapes.
template <std::size_t Rank>
struct fourier_structure {
  std::array<std::size_t, Rank> x_shape{}, y_shape{};  ///< the shapes of this worker's blocks, 0 if it has none
  bool gives = false, takes = false;                   ///< whether this worker is active in the first (last) layout
  std::shared_ptr<const fourier_route<Rank>> route{};  ///< the layouts of the transform
  std::vector<fields_repartition<Rank>*> moves{};      ///< the moves from each layout to the next
};

/// A call of a transform: the values that the workers compare, and this worker's shapes, equal for all fields.
template <std::size_t Rank>
struct fourier_call {
  bool forward = true;                                        ///< false in an adjoint call
  std::size_t field_count = 1;                                ///< the number of tensors that are transformed together
  std::array<std::size_t, Rank> shape{};                      ///< the shape of this worker's block
  std::optional<std::array<std::size_t, Rank>> view_shape{};  ///< the shape of the view to fill, if there is one
  std::uint64_t type = 0;                                     ///< the number of the element type, equal on all workers
  text (*name_of_type)() = nullptr;                           ///< writes the element type in messages

  /// A fingerprint of the call, without its shapes.
  std::uint64_t number() const { return mixed(mixed(type, field_count), forward ? 1U : 2U); }
};

/// The layouts of a transform, the moves between them, and the cached plans, for all element types.
template <std::size_t Rank>
class fourier_engine {
 public:
  using shape_type = std::array<std::size_t, Rank>;                    ///< the extents of a tensor or a block
  using structure = fourier_structure<Rank>;                           ///< a cached plan
  static constexpr const char* name = fourier_definition<Rank>::name;  ///< the transform in messages

  explicit fourier_engine(fourier_definition<Rank> definition)
      : definition_(std::move(definition)),
        fingerprint_(definition_.fingerprint()),
        local_transforms_(definition_.options.measure) {
    definition_.require_options();
  }

  const fourier_definition<Rank>& definition() const { return definition_; }  ///< the arguments of the transform
  world_state& state() const { return *definition_.p_x.world().state(); }     ///< the state of the world
  local_transforms& transforms() { return local_transforms_; }            ///< transforms blocks, without moving them
  chained_calls& calls(bool forward) { return calls_[forward ? 0 : 1]; }  ///< the cached calls of one direction

  /// The partition of the result if a tensor of these extents is transformed.
  dynamic_partition<Rank> result_partition(const shape_type& global) const {
    if (definition_.p_y) return *definition_.p_y;
    require_transform(global, ".result_partition(extents)");
    return definition_.route(global, true).back().p;
  }
  /// This worker's plan for a tensor of these extents in balanced blocks, for the user to read.
  fourier_plan<Rank> plan(const shape_type& global) const {
    require_transform(global, ".plan(extents)");
    fourier_plan<Rank> all{global, definition_.result_extents(global), {}};
    const fourier_route<Rank> layouts = definition_.route(global, true);
    for (std::size_t k = 0; k < layouts.size(); ++k) {
      fourier_step<Rank> step;
      step.grid = layouts[k].p.grid().shape();
      step.workers = layouts[k].p.workers();
      for (const line_transform& line : layouts[k].lines) step.dimensions.push_back(line.dimension);
      step.moves_complex = layouts[k].has_complex_result;
      step.moves = k + 1 < layouts.size();
      if (step.moves)
        step.move = repartition_planner<Rank>(name, layouts[k].p, layouts[k + 1].p).plan(layouts[k].extents_after);
      all.steps.push_back(std::move(step));
    }
    return all;
  }

  /// Makes all workers agree on a call, and finds the plan of the call in the cache or makes the plan.
  const structure& agree(const fourier_call<Rank>& call, const local_error& before) {
    const bool forward = call.forward;
    return agreed_structure(
        state(), plans_, {mixed(fingerprint_, call.number()), before, true},
        [&](const structure& known) {
          if ((forward ? known.gives : known.takes) && (forward ? known.x_shape : known.y_shape) != call.shape)
            return false;
          const shape_type& filled = forward ? known.y_shape : known.x_shape;
          return !call.view_shape || volume_of(filled) == 0 || *call.view_shape == filled;
        },
        [&](local_error& found_error) {
          structure s =
              forward ? plan_forward_call(call.shape, found_error) : plan_backward_call(call.shape, found_error);
          if (call.view_shape && !found_error.any())
            expect_shape(*call.view_shape, forward ? s.y_shape : s.x_shape,
                         (text(name) << (forward ? "" : ".adjoint")).c_str(), found_error);
          return s;
        },
        [&] {
          text all(name);
          all << (forward ? "(x" : ".adjoint(dy") << (call.field_count > 1 ? "...)" : ")")
              << " with p_x = " << definition_.p_x.grid().shape() << " on " << workers_text(definition_.p_x.workers())
              << " and ";
          if (call.field_count > 1) all << call.field_count << " blocks";
          else all << "a block";
          return all << " of shape " << call.shape << " of " << call.name_of_type();
        });
  }
  /// The error message if the shapes of this worker's fields, or of the views to fill, differ; empty if they are equal.
  /// A worker that has no block in the first (last) layout may pass fields (views) of different shapes.
  template <std::size_t N>
  text describe_unequal_fields(bool forward, const std::array<shape_type, N>& blocks, const shape_type* views) const {
    const auto of = [&](const shape_type* shapes, bool are_blocks_of_x, const char* what) {
      text problem;
      for (std::size_t f = 1;
           f < N && (are_blocks_of_x ? definition_.p_x.active() : !definition_.p_y || definition_.p_y->active()); ++f)
        if (shapes[f] != shapes[0] && problem.empty())
          problem << name << (forward ? "(x...)" : ".adjoint(dy...)") << ": requires " << what << " of one shape, got "
                  << shapes[0] << " and " << shapes[f] << " on worker " << state().id()
                  << "; transform fields of different shapes one by one";
      return problem;
    };
    const text problem = of(blocks.data(), forward, "fields");
    return views == nullptr || !problem.empty() ? problem : of(views, !forward, "views");
  }

  arena* memory() const {  // the memory pool of the last move of the plan used last; null if there is none
    const structure* const s = plans_.last_plan();
    return s == nullptr || s->moves.empty() ? nullptr : s->moves.back()->memory();
  }
  std::size_t plans_made() const {  // the number so far, for transforms and for moves
    std::size_t n = plans_.plans_made();
    for (const layout_move& m : layout_moves_) n += m.movement->plans_made();
    return n;
  }
  /// The number of plans made so far, and the messages and bytes of all moves of the last call.
  kernel_counts counts() const {
    kernel_counts all = counted_traffic_;
    all.plans_made = plans_made();
    return all;
  }
  /// Resets the counts of messages and bytes when a call begins. Each started move adds its counts, because one
  /// repartition may be used twice in a call.
  void reset_counted_traffic() { counted_traffic_ = {}; }
  void add_traffic(const fields_repartition<Rank>& started_move) {  // counts what the move sends
    const kernel_counts of_move = started_move.counts();
    counted_traffic_.messages += of_move.messages;
    counted_traffic_.bytes_by_message += of_move.bytes_by_message;
    counted_traffic_.bytes_shared += of_move.bytes_shared;
  }
  kernel_identity identity() const {  // the world, and a number that is equal on all workers
    std::uint64_t number = 0;
    for (const layout_move& m : layout_moves_) number += m.movement->identity().number;
    return {&state(), mixed(fingerprint_, number)};
  }
  /// Collective: throws on all workers if one of them has an error; at checks::local only on that worker.
  void throw_together(const text& error_message) const {
    agree_if_checked(state(), mixed(fingerprint_, 3), local_error(error_message), [] { return text(name); });
  }

 private:
  /// The move of fields from one layout to another.
  struct layout_move {
    dynamic_partition<Rank> from, to;  ///< the layouts
    bool are_blocks_of_x;              ///< whether `from` is the layout of x, whose blocks need not be balanced
    std::unique_ptr<fields_repartition<Rank>> movement;  ///< moves the blocks of all fields
  };

  /// Throws an error if a tensor of these extents cannot be transformed.
  void require_transform(const shape_type& global, const char* call) const {
    const text problem = definition_.error_message(global);
    if (!problem.empty()) throw shape_error(text(name) << call << ": " << problem);
  }
  static shape_type balanced_block_shape(const dynamic_partition<Rank>& p, const shape_type& global) {  // this worker's
    return p.active() ? decomposition<Rank>::balanced(global, p.grid().shape()).shape(p.index()) : shape_type{};
  }

  /// Makes the plan of a forward call. Collective.
  structure plan_forward_call(const shape_type& own_shape, local_error& found_error) {
    shape_type global = global_extents_of_blocks(definition_.p_x, own_shape);
    const bool balanced =
        state().is_true_on_all(!definition_.p_x.active() || own_shape == balanced_block_shape(definition_.p_x, global));
    if (!balanced) {  // the shapes of all blocks determine the extents of the tensor
      const auto shapes = gather_block_shapes(state(), definition_.p_x.workers(), own_shape);
      const layout_of_blocks<Rank> layout_of_x = lay_out(shapes, definition_.p_x.grid().shape());
      if (!layout_of_x.error_message.empty()) {
        found_error = local_error(text(name) << "(x) with p_x = " << definition_.p_x.grid().shape() << ": "
                                             << layout_of_x.error_message);
        return {};
      }
      global = layout_of_x.extents;
    }
    const text problem = definition_.error_message(global);
    if (!problem.empty()) {
      found_error = local_error(text(name) << "(x): " << problem);
      return {};
    }
    structure s = make_structure(global, balanced);
    s.x_shape = s.gives ? own_shape : shape_type{};
    return s;
  }

  /// Makes the plan of an adjoint call that fits no cached plan: from the extents of dy, for balanced blocks of x.
  structure plan_backward_call(const shape_type& own_shape, local_error& found_error) {
    const auto refuse = [&](const text& problem) {
      found_error = local_error(text(name) << ".adjoint(dy): " << problem);
      return structure();
    };
    if (!definition_.p_y)
      return refuse(
          "requires a dy of the shape of a result; call it with an x first, because the layout of the result "
          "follows from the extents of x");
    const shape_type result = global_extents_of_blocks(*definition_.p_y, own_shape);
    shape_type global = result;
    if (definition_.has_kind(line_kind::real_to_complex)) {
      if (definition_.options.real_extent == 0)
        return refuse(text("requires the number of real elements along dimension ")
                      << definition_.last_dimension()
                      << ", which half of a spectrum does not tell; call it with an x first, or give "
                      << "{.real_extent = n}");
      global[definition_.last_dimension()] = definition_.options.real_extent;
    }
    if (definition_.has_kind(line_kind::complex_to_real))
      global[definition_.last_dimension()] = half_spectrum_extent(definition_.options.real_extent);
    if (definition_.result_extents(global) != result)
      return refuse(text("requires a dy of the extents of a result, ")
                    << definition_.result_extents(global) << ", got " << result);
    const text problem = definition_.error_message(global);
    if (!problem.empty()) return refuse(problem);
    structure s = make_structure(global, true);
    if (s.takes && own_shape != s.y_shape)
      return refuse(text("requires dy in the balanced blocks of the result, which are ")
                    << s.y_shape << " on worker " << state().id() << ", got a block of " << own_shape);
    s.x_shape = balanced_block_shape(definition_.p_x, global);
    return s;
  }

  /// Makes the plan for a tensor of these extents. `balanced`: whether x has balanced blocks.
  structure make_structure(const shape_type& global, bool balanced) {
    structure s;
    auto layouts = std::make_shared<fourier_route<Rank>>(definition_.route(global, balanced));
    s.gives = layouts->front().p.active();
    s.takes = layouts->back().p.active();
    s.y_shape = balanced_block_shape(layouts->back().p, layouts->back().extents_after);
    for (std::size_t k = 0; k + 1 < layouts->size(); ++k)
      s.moves.push_back(&find_move((*layouts)[k].p, (*layouts)[k + 1].p, k == 0));
    s.route = std::move(layouts);
    return s;
  }
  /// Finds or makes the repartition between two layouts, which all calls share. A repartition from the layout of x is
  /// kept apart from an equal one between later layouts, because the adjoint of the latter moves to balanced blocks.
  fields_repartition<Rank>& find_move(const dynamic_partition<Rank>& from, const dynamic_partition<Rank>& to,
                                      bool are_blocks_of_x) {
    for (const layout_move& m : layout_moves_)
      if (m.from == from && m.to == to && m.are_blocks_of_x == are_blocks_of_x) return *m.movement;
    layout_moves_.push_back(
        {from, to, are_blocks_of_x, std::make_unique<fields_repartition<Rank>>(fields_planner<Rank>(name, from, to))});
    return *layout_moves_.back().movement;
  }

  fourier_definition<Rank> definition_;    ///< the arguments of the transform
  std::uint64_t fingerprint_;              ///< the fingerprint of these arguments
  local_transforms local_transforms_;      ///< transforms blocks on this worker
  std::vector<layout_move> layout_moves_;  ///< all moves made so far; plans share them
  plan_cache<structure> plans_;            ///< the plans for tensors of recent shapes
  kernel_counts counted_traffic_;          ///< the traffic of the last call
  chained_calls calls_[2];                 ///< the cached forward calls and the cached adjoint calls
};

}  // namespace partita::detail
