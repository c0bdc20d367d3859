// The part of a Fourier transform that does not depend on its element type: its layouts, the moves between them, and
// how all workers find them. The moves are repartitions; no other code of the transform moves elements between workers.
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
#include <partita/kernel/detail/fourier_plan.hpp>
#include <partita/kernel/detail/make_collective_movement.hpp>
#include <partita/kernel/detail/pencils.hpp>
#include <partita/kernel/detail/plan_cache.hpp>
#include <partita/kernel/detail/target.hpp>
#include <partita/kernel/kernel_counts.hpp>
#include <utility>
#include <vector>

namespace partita::detail {

/// A layout of a transform, and the transforms in this layout. The adjoint transforms are in the opposite order.
template <std::size_t Rank>
struct fourier_stage {
  dynamic_partition<Rank> p;
  std::array<std::size_t, Rank> before{}, after{};  ///< the extents of the tensor before and after the transforms
  std::vector<line_transform> lines{}, adjoint_lines{};
  bool complex_after = false;
};
template <std::size_t Rank>
using fourier_route = std::vector<fourier_stage<Rank>>;

/// The plan of a transform for blocks of certain shapes.
template <std::size_t Rank>
struct fourier_structure {
  std::array<std::size_t, Rank> block_x{}, block_y{};  ///< this worker's blocks; no elements if it has none
  bool gives = false, takes = false;                   ///< whether this worker is active in the first (last) layout
  std::shared_ptr<const fourier_route<Rank>> route{};
  std::vector<fields_repartition<Rank>*> moves{};  ///< the moves from each layout to the next
};

/// A call: the values that the workers compare, and the shapes of this worker's blocks and views, equal for all fields.
template <std::size_t Rank>
struct fourier_call {
  bool forward = true;
  std::size_t fields = 1;
  std::array<std::size_t, Rank> block{};
  std::optional<std::array<std::size_t, Rank>> view{};  ///< the shape of the view to fill, if the caller passes one
  std::uint64_t type = 0;
  text (*name_of_type)() = nullptr;

  std::uint64_t number() const { return mixed(mixed(type, fields), forward ? 1U : 2U); }
};

/// The arguments with which a transform is constructed.
template <std::size_t Rank>
struct fourier_definition {
  dynamic_partition<Rank> p_x;
  std::optional<dynamic_partition<Rank>> p_y{};  ///< empty if the layout of the result is free
  shape_list dimensions{};
  std::vector<line_kind> kinds{};
  std::vector<real_transform> real_kinds{};
  fourier_options options{};

  bool has(line_kind kind) const { return kinds.back() == kind; }
  std::size_t last() const { return dimensions[dimensions.size() - 1]; }
  std::uint64_t fingerprint() const {
    hasher hash(128);
    hash.mix(p_x.grid().fingerprint()).mix(p_y ? p_y->grid().fingerprint() : 0).mix(dimensions).mix(kinds);
    hash.mix(real_kinds).mix(options.norm).mix(options.inverse).mix(options.real_extent);
    return hash.value();
  }
};

template <std::size_t Rank>
class fourier_engine {
 public:
  using shape_type = std::array<std::size_t, Rank>;
  using structure = fourier_structure<Rank>;
  static constexpr const char* name = "partita::fourier_transform(p_x, p_y)";

  explicit fourier_engine(fourier_definition<Rank> definition)
      : definition_(std::move(definition)),
        fingerprint_(definition_.fingerprint()),
        local_(definition_.options.measure) {
    const bool half = definition_.has(line_kind::real_to_complex) || definition_.has(line_kind::complex_to_real);
    if (definition_.p_y) expect_one_world(definition_.p_x, *definition_.p_y, "partita::fourier_transform");
    if (half && definition_.options.inverse)
      throw shape_error(
          text(name) << ": real_to_complex has no option .inverse, because complex_to_real is its inverse; "
                        "leave the option out");
    if (definition_.has(line_kind::complex_to_real) && definition_.options.real_extent == 0)
      throw shape_error(
          text(name) << ": complex_to_real requires the number of real elements along dimension " << definition_.last()
                     << ", as m complex numbers are half of the spectrum of 2 m - 2 or 2 m - 1 real ones; "
                        "give {.real_extent = n}");
  }

  const fourier_definition<Rank>& definition() const { return definition_; }
  world_state& state() const { return *definition_.p_x.world().state(); }
  local_transforms& local() { return local_; }
  chained_calls& calls(bool forward) { return calls_[forward ? 0 : 1]; }

  /// The extents of the result.
  shape_type result_extents(shape_type global) const {
    if (definition_.has(line_kind::real_to_complex))
      global[definition_.last()] = half_spectrum(global[definition_.last()]);
    if (definition_.has(line_kind::complex_to_real)) global[definition_.last()] = definition_.options.real_extent;
    return global;
  }
  /// The error message if a tensor of these extents has no such transform; empty if it has one.
  text error_message(const shape_type& global) const {
    text problem;
    const std::size_t n = global[definition_.last()], wanted = definition_.options.real_extent;
    if (definition_.has(line_kind::real_to_complex)) {
      if (n == 0)
        problem << "requires at least one element along dimension " << definition_.last() << ", got a tensor of "
                << global;
      else if (wanted != 0 && n != wanted)
        problem << "requires " << wanted << " elements along dimension " << definition_.last()
                << ", as {.real_extent = " << wanted << "} says, got a tensor of " << global
                << "; give that tensor, or leave the option out";
    } else if (definition_.has(line_kind::complex_to_real) && n != half_spectrum(wanted)) {
      problem << "requires half of the spectrum of " << wanted << " real elements along dimension "
              << definition_.last() << ", which is " << half_spectrum(wanted) << " complex numbers, got a tensor of "
              << global << "; give {.real_extent = n} of the tensor whose spectrum it is";
    }
    for (std::size_t k = 0; k < definition_.dimensions.size() && problem.empty(); ++k)
      if (definition_.kinds[k] == line_kind::real_to_real && definition_.real_kinds[k] == real_transform::dct_1 &&
          global[definition_.dimensions[k]] == 1)
        problem << "a cosine transform of type I requires at least 2 elements along dimension "
                << definition_.dimensions[k] << ", got a tensor of " << global << "; take another type";
    return problem;
  }

  /// The layouts for a tensor of these extents. `balanced`: whether the blocks of x are balanced on p_x.
  fourier_route<Rank> route(const shape_type& global, bool balanced) const {
    const shape_type result = result_extents(global);
    const bool real_x = definition_.has(line_kind::real_to_complex),
               real_y = definition_.has(line_kind::complex_to_real);
    pencil_request request{.extents = real_x ? result : global,
                           .grid_x = definition_.p_x.grid().shape(),
                           .grid_y = {},
                           .dimensions = definition_.dimensions};
    if (definition_.p_y) request.grid_y = definition_.p_y->grid().shape();
    const bool of_x = !definition_.p_y || definition_.p_x.size() >= definition_.p_y->size();
    const workers& workers_of_layouts = of_x ? definition_.p_x.workers() : definition_.p_y->workers();
    request.workers = workers_of_layouts.size();
    request.in_place = balanced && (!definition_.p_y || definition_.p_x == *definition_.p_y);
    if (real_x) request.before_all = definition_.last();
    if (real_y) request.after_all = definition_.last();

    fourier_route<Rank> all;
    const std::vector<pencil> pencils = choose_pencils(request);
    shape_type now = global;
    bool complex_now = !real_x && !definition_.has(line_kind::real_to_real);
    for (std::size_t k = 0; k < pencils.size(); ++k) {
      const bool given = k + 1 == pencils.size() && definition_.p_y.has_value();
      fourier_stage<Rank> stage{k == 0  ? definition_.p_x
                                : given ? *definition_.p_y
                                        : layout(workers_of_layouts, pencils[k].grid),
                                now, now};
      for (const std::size_t d : pencils[k].dimensions) {
        const std::size_t at = place_of(d), n = real_y ? result[d] : global[d];
        const bool inverse = definition_.options.inverse || real_y;  // complex_to_real is an inverse
        const line_transform line =
            line_of(d, definition_.kinds[at], definition_.real_kinds[at], inverse, definition_.options.norm, n);
        stage.lines.push_back(line);
        stage.adjoint_lines.insert(stage.adjoint_lines.begin(), adjoint_of(line, n));
        if (line.kind == line_kind::real_to_complex) complex_now = true;
        if (line.kind == line_kind::complex_to_real) complex_now = false;
        now[d] = result[d];
      }
      stage.after = now;
      stage.complex_after = complex_now;
      all.push_back(std::move(stage));
    }
    return all;
  }
  /// The partition of the result of a tensor of these extents.
  dynamic_partition<Rank> result_partition(const shape_type& global) const {
    if (definition_.p_y) return *definition_.p_y;
    require_transform(global, ".result_partition(extents)");
    return route(global, true).back().p;
  }
  fourier_plan<Rank> plan(const shape_type& global) const {
    require_transform(global, ".plan(extents)");
    fourier_plan<Rank> all{global, result_extents(global), {}};
    const fourier_route<Rank> layouts = route(global, true);
    for (std::size_t k = 0; k < layouts.size(); ++k) {
      fourier_step<Rank> step;
      step.grid = layouts[k].p.grid().shape();
      step.workers = layouts[k].p.workers();
      for (const line_transform& line : layouts[k].lines) step.dimensions.push_back(line.dimension);
      step.of_complex_numbers = layouts[k].complex_after;
      step.moves = k + 1 < layouts.size();
      if (step.moves)
        step.move = repartition_planner<Rank>(name, layouts[k].p, layouts[k + 1].p).plan(layouts[k].after);
      all.steps.push_back(std::move(step));
    }
    return all;
  }

  /// All workers agree on a call, and find its layouts or choose them.
  const structure& agree(const fourier_call<Rank>& call, const local_error& before) {
    const bool forward = call.forward;
    return agreed_structure(
        state(), structures_, {mixed(fingerprint_, call.number()), before, true},
        [&](const structure& known) {
          if ((forward ? known.gives : known.takes) && (forward ? known.block_x : known.block_y) != call.block)
            return false;
          const shape_type& filled = forward ? known.block_y : known.block_x;
          return !call.view || volume_of(filled) == 0 || *call.view == filled;
        },
        [&](local_error& found_error) {
          structure s = forward ? learn_forward(call.block, found_error) : learn_backward(call.block, found_error);
          if (call.view && !found_error.any())
            expect_shape(*call.view, forward ? s.block_y : s.block_x,
                         (text(name) << (forward ? "" : ".adjoint")).c_str(), found_error);
          return s;
        },
        [&] {
          text all(name);
          all << (forward ? "(x" : ".adjoint(dy") << (call.fields > 1 ? "...)" : ")")
              << " with p_x = " << definition_.p_x.grid().shape() << " on " << workers_text(definition_.p_x.workers())
              << " and ";
          if (call.fields > 1) all << call.fields << " blocks";
          else all << "a block";
          return all << " of shape " << call.block << " of " << call.name_of_type();
        });
  }
  /// The error message if this worker's fields, or the views to fill, cannot be moved in one exchange; empty if one
  /// exchange suffices. Workers outside of a layout may pass any blocks.
  template <std::size_t N>
  text unequal_fields(bool forward, const std::array<shape_type, N>& blocks, const shape_type* views) const {
    const auto of = [&](const shape_type* shapes, bool of_x, const char* what) {
      text problem;
      for (std::size_t f = 1;
           f < N && (of_x ? definition_.p_x.active() : !definition_.p_y || definition_.p_y->active()); ++f)
        if (shapes[f] != shapes[0] && problem.empty())
          problem << name << (forward ? "(x...)" : ".adjoint(dy...)") << ": requires " << what << " of one shape, got "
                  << shapes[0] << " and " << shapes[f] << " on worker " << state().id()
                  << "; transform fields of different shapes one by one";
      return problem;
    };
    const text problem = of(blocks.data(), forward, "fields");
    return views == nullptr || !problem.empty() ? problem : of(views, !forward, "views");
  }

  arena* memory() const {
    const structure* const s = structures_.latest();
    return s == nullptr || s->moves.empty() ? nullptr : s->moves.back()->memory();
  }
  std::size_t plans_made() const {
    std::size_t n = structures_.made();
    for (const exchange_of_layouts& m : moves_) n += m.movement->plans_made();
    return n;
  }
  /// The counts of all moves of the last call.
  kernel_counts counts() const {
    kernel_counts all = moved_;
    all.plans_made = plans_made();
    return all;
  }
  /// Resets the counts when a call begins; one move may occur twice in a call.
  void begin_counting() { moved_ = {}; }
  void count(const fields_repartition<Rank>& started_move) {
    const kernel_counts of_move = started_move.counts();
    moved_.messages += of_move.messages;
    moved_.bytes_by_message += of_move.bytes_by_message;
    moved_.bytes_shared += of_move.bytes_shared;
  }
  kernel_identity identity() const {
    std::uint64_t number = 0;
    for (const exchange_of_layouts& m : moves_) number += m.movement->identity().number;
    return {&state(), mixed(fingerprint_, number)};
  }
  /// Collective: throws on all workers if one of them has an error.
  void throw_together(const text& error_message) const {
    agree_if_checked(state(), mixed(fingerprint_, 3), local_error(error_message), [] { return text(name); });
  }

 private:
  struct exchange_of_layouts {
    dynamic_partition<Rank> from, to;
    bool of_x;  ///< whether it is the first move of a call, whose blocks may have any shapes
    std::unique_ptr<fields_repartition<Rank>> movement;
  };

  std::size_t place_of(std::size_t dimension) const {
    std::size_t k = 0;
    while (definition_.dimensions[k] != dimension) ++k;
    return k;
  }
  /// Makes the partition of a layout from the first of the workers `workers_of_layouts`.
  dynamic_partition<Rank> layout(const workers& workers_of_layouts, const shape_list& grid_of_layout) const {
    shape_type shape{};
    for (std::size_t d = 0; d < Rank; ++d) shape[d] = grid_of_layout[d];
    return {definition_.p_x.world(),
            grid<dynamic_extents<Rank>>(dynamic_extents<Rank>(shape),
                                        workers_of_layouts.subset(workers(0, volume_of(shape))))};
  }
  void require_transform(const shape_type& global, const char* call) const {
    const text problem = error_message(global);
    if (!problem.empty()) throw shape_error(text(name) << call << ": " << problem);
  }
  static shape_type balanced_block(const dynamic_partition<Rank>& p, const shape_type& global) {
    return p.active() ? decomposition<Rank>::balanced(global, p.grid().shape()).shape(p.index()) : shape_type{};
  }

  structure learn_forward(const shape_type& own_shape, local_error& found_error) {
    shape_type global = extents_along_lines(definition_.p_x, own_shape);
    const bool balanced =
        holds_on_all(state(), !definition_.p_x.active() || own_shape == balanced_block(definition_.p_x, global));
    if (!balanced) {  // the shapes of all blocks determine the tensor
      const auto shapes = gathered(state(), facts_of(own_shape));
      std::vector<shape_type> by_place(definition_.p_x.size());
      for (std::size_t k = 0; k < by_place.size(); ++k)
        for (std::size_t d = 0; d < Rank; ++d) by_place[k][d] = shapes[definition_.p_x.workers()[k]][d];
      const layout_of_blocks<Rank> layout_of_x = lay_out(by_place, definition_.p_x.grid().shape());
      if (!layout_of_x.problem.empty()) {
        found_error = local_error(text(name) << "(x) with p_x = " << definition_.p_x.grid().shape() << ": "
                                             << layout_of_x.problem);
        return {};
      }
      global = layout_of_x.extents;
    }
    const text problem = error_message(global);
    if (!problem.empty()) {
      found_error = local_error(text(name) << "(x): " << problem);
      return {};
    }
    structure s = make_structure(global, balanced);
    s.block_x = s.gives ? own_shape : shape_type{};
    return s;
  }

  /// Without a forward call, dy determines x: the blocks of x were balanced.
  structure learn_backward(const shape_type& own_shape, local_error& found_error) {
    const auto refuse = [&](const text& problem) {
      found_error = local_error(text(name) << ".adjoint(dy): " << problem);
      return structure();
    };
    if (!definition_.p_y)
      return refuse(
          "requires a dy of the shape of a result; call it with an x first, because the layout of the result "
          "follows from the extents of x");
    const shape_type result = extents_along_lines(*definition_.p_y, own_shape);
    shape_type global = result;
    if (definition_.has(line_kind::real_to_complex)) {
      if (definition_.options.real_extent == 0)
        return refuse(text("requires the number of real elements along dimension ")
                      << definition_.last()
                      << ", which half of a spectrum does not tell; call it with an x first, or give "
                      << "{.real_extent = n}");
      global[definition_.last()] = definition_.options.real_extent;
    }
    if (definition_.has(line_kind::complex_to_real))
      global[definition_.last()] = half_spectrum(definition_.options.real_extent);
    if (result_extents(global) != result)
      return refuse(text("requires a dy of the extents of a result, ") << result_extents(global) << ", got " << result);
    const text problem = error_message(global);
    if (!problem.empty()) return refuse(problem);
    structure s = make_structure(global, true);
    if (s.takes && own_shape != s.block_y)
      return refuse(text("requires dy in the balanced blocks of the result, which are ")
                    << s.block_y << " on worker " << state().id() << ", got a block of " << own_shape);
    s.block_x = balanced_block(definition_.p_x, global);
    return s;
  }

  structure make_structure(const shape_type& global, bool balanced) {
    structure s;
    auto layouts = std::make_shared<fourier_route<Rank>>(route(global, balanced));
    s.gives = layouts->front().p.active();
    s.takes = layouts->back().p.active();
    s.block_y = balanced_block(layouts->back().p, layouts->back().after);
    for (std::size_t k = 0; k + 1 < layouts->size(); ++k)
      s.moves.push_back(&move((*layouts)[k].p, (*layouts)[k + 1].p, k == 0));
    s.route = std::move(layouts);
    return s;
  }
  /// Finds or makes the move between two layouts, which all calls share. The first move of a call is separate from an
  /// equal later move: the adjoint of the later move goes to balanced blocks.
  fields_repartition<Rank>& move(const dynamic_partition<Rank>& from, const dynamic_partition<Rank>& to, bool of_x) {
    for (const exchange_of_layouts& m : moves_)
      if (m.from == from && m.to == to && m.of_x == of_x) return *m.movement;
    moves_.push_back(
        {from, to, of_x, std::make_unique<fields_repartition<Rank>>(fields_planner<Rank>(name, from, to))});
    return *moves_.back().movement;
  }

  fourier_definition<Rank> definition_;
  std::uint64_t fingerprint_;
  local_transforms local_;
  std::vector<exchange_of_layouts> moves_;
  plan_cache<structure> structures_;
  kernel_counts moved_;
  chained_calls calls_[2];
};

}  // namespace partita::detail
