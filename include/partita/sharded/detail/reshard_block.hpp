// Executes a reshard plan on this worker's block; consecutive steps without a reduction become one exchange.
#pragma once

#include <array>
#include <cstddef>
#include <partita/plan/plan_reshard.hpp>
#include <partita/sharded/detail/bound_mesh.hpp>
#include <partita/sharded/detail/movement_log.hpp>
#include <partita/sharded/detail/step_list.hpp>
#include <vector>

namespace partita::detail {

/// A sharding reduced to the placement of its elements and its pending reductions.
constexpr sharding bare(const sharding& s) {
  sharding only = s;
  only.open = only.kept_whole = only.reduced_over = 0;
  only.priority = 0;
  return only;
}

/// The same without axes of size 1, which neither shard nor replicate nor need a reduction.
inline sharding without_single_axes(const sharding& s) {
  sharding only = s;
  for (std::size_t d = 0; d < s.rank(); ++d) {
    only.cuts[d] = axis_list();
    for (std::size_t k = 0; k < s.cuts[d].size(); ++k)
      if (s.on.size(s.cuts[d][k]) > 1) only.cuts[d].push_back(s.cuts[d][k]);
  }
  for (std::size_t a = 0; a < s.on.rank(); ++a)
    if (s.on.size(a) == 1) only.owed[a] = owed_reduction::none;
  return only;
}

/// Whether each worker has the same elements under both shardings.
inline bool is_one_block(const sharding& a, const sharding& b) {
  return a.same_layout(b) || without_single_axes(bare(a)).same_layout(without_single_axes(bare(b)));
}

/// One step of a reshard: a single exchange, or local work only.
struct reshard_leg {
  enum class what { slice, exchange, reduce, all_reduce, owe };
  what done;
  sharding from, to;
  std::size_t axis = 0;
  owed_reduction kind = owed_reduction::none;
};

/// The steps of a plan.
template <class = void>
inline std::vector<reshard_leg> legs_of(const reshard_plan& plan, const sharding& from) {
  using step = reshard_step::what;
  std::vector<reshard_leg> legs;
  sharding now = bare(from);
  for (const reshard_step& one : plan) {
    const bool slices = one.done == step::slice;
    if (slices || one.done == step::all_gather || one.done == step::all_to_all || one.done == step::permute) {
      const bool moving = !legs.empty() && (legs.back().done == reshard_leg::what::exchange ||
                                            (legs.back().done == reshard_leg::what::slice));
      if (moving) {
        legs.back().to = one.after;
        if (!slices) legs.back().done = reshard_leg::what::exchange;
      } else {
        legs.push_back({slices ? reshard_leg::what::slice : reshard_leg::what::exchange, now, one.after});
      }
    } else {
      const auto done = one.done == step::owe          ? reshard_leg::what::owe
                        : one.done == step::all_reduce ? reshard_leg::what::all_reduce
                                                       : reshard_leg::what::reduce;
      legs.push_back({done, now, one.after, one.axis, one.kind});
    }
    now = one.after;
  }
  return legs;
}

/// The amount that the worker at a mesh position receives in these steps.
template <class = void>
inline movement_counts received_in(const std::vector<reshard_leg>& legs, const shape_list& shape, std::size_t place,
                                   std::size_t element_bytes) {
  using what = reshard_leg::what;
  movement_counts all;
  const auto add = [&](const reshard_exchange& e, const shape_list& extents) {
    ++all.exchanges;
    for (const reshard_overlap& o : overlaps_taken(e, extents, place))
      if (o.place != place) {
        ++all.messages;
        all.bytes += volume_in(shape_of_box(o.where)) * element_bytes;
      }
  };
  for (const reshard_leg& leg : legs) {
    if (leg.done == what::slice || leg.done == what::owe) continue;
    const std::uint32_t along = leg.done == what::exchange ? 0 : std::uint32_t{1} << leg.axis;
    if (leg.done != what::all_reduce || leg.from.on.size(leg.axis) <= 2) {
      add({leg.from, leg.to, along}, shape);
      continue;
    }
    const shape_list row{volume_in(shape_of_box(mesh_block(leg.from, shape, place)))};  // as in all_reduced
    const sharding whole(leg.from.on, 1), cut = whole.cut(0, axis_list(leg.axis));
    add({whole.partial(leg.axis, leg.kind), cut, along}, row);
    add({cut, whole, 0}, row);
  }
  return all;
}

/// Combines two summands.
template <class T>
T combined(owed_reduction kind, const T& a, const T& b) {
  switch (kind) {
    case owed_reduction::prod:
      return static_cast<T>(a * b);
    case owed_reduction::max:
      return a > b || a != a ? a : b;
    case owed_reduction::min:
      return a < b || a != a ? a : b;
    case owed_reduction::any:
      return static_cast<T>(a != T(0) || b != T(0));
    case owed_reduction::all:
      return static_cast<T>(a != T(0) && b != T(0));
    default:
      return static_cast<T>(a + b);
  }
}
/// Combines `parts` consecutive blocks of n elements into one.
template <class T>
void combine(owed_reduction kind, std::size_t parts, const T* from, std::size_t n, T* to) {
  for (std::size_t k = 0; k < n; ++k) to[k] = from[k];
  for (std::size_t p = 1; p < parts; ++p)
    for (std::size_t k = 0; k < n; ++k) to[k] = combined(kind, to[k], from[p * n + k]);
  if (kind == owed_reduction::avg)
    for (std::size_t k = 0; k < n; ++k) to[k] = static_cast<T>(to[k] / static_cast<T>(parts));
}

/// Copies the part of a block that another box covers.
template <class T>
tensor_block<T> sliced(const tensor_block<T>& x, const short_list<interval>& had, const short_list<interval>& wanted) {
  tensor_block<T> y(shape_of_box(wanted));
  std::array<short_list<std::ptrdiff_t>, 2> steps{steps_in(y.shape), steps_in(x.shape)};
  std::ptrdiff_t start = 0;
  for (std::size_t d = 0; d < had.size(); ++d)
    start += static_cast<std::ptrdiff_t>(wanted[d].start - had[d].start) * steps[1][d];
  const auto copy = [shape = y.shape, steps, start](const T* const* from, T* to) {
    for_each_row(shape, steps, [&](const std::ptrdiff_t* at, std::size_t n) {
      for (std::size_t k = 0; k < n; ++k)
        to[at[0] + static_cast<std::ptrdiff_t>(k)] = from[0][start + at[1] + static_cast<std::ptrdiff_t>(k)];
    });
  };
  const T* const from[] = {x.data()};
  if (auto* const steps_of_program = step_list<T>::in_use) steps_of_program->add({x}, y, copy);
  else copy(from, y.data());
  return y;
}

/// Executes an exchange, or records it as a step.
template <class T>
void move_block(bound_mesh& on, const reshard_exchange& e, const shape_list& shape, const tensor_block<T>& x,
                const tensor_block<T>& y) {
  auto* const steps = step_list<T>::in_use;
  if (steps == nullptr) return on.move(e, shape, x.data(), y.data());
  if (const auto made = on.prepared<T>(e, shape))
    steps->add(
        {x}, y, [made](const T* const* from, T* to) { (*made)(from[0], to); }, true);
}

/// Executes one exchange, and combines the received summands.
template <class T>
tensor_block<T> exchanged(bound_mesh& on, const tensor_block<T>& x, const reshard_exchange& e, const shape_list& shape,
                          owed_reduction kind) {
  const shape_list mine = shape_of_box(on.box(e.to, shape));
  const std::size_t parts = e.summands();
  if (parts == 1) {
    tensor_block<T> y(mine, on.memory());
    move_block(on, e, shape, x, y);
    return y;
  }
  shape_list staged{parts};
  for (const std::size_t extent : mine) staged.push_back(extent);
  const tensor_block<T> all(staged, on.memory());
  move_block(on, e, shape, x, all);
  tensor_block<T> y(mine, on.memory());
  if (!on.active()) return y;
  const std::size_t n = y.size();
  if (auto* const steps = step_list<T>::in_use)
    steps->add({all}, y, [=](const T* const* from, T* to) { combine(kind, parts, from[0], n, to); });
  else combine(kind, parts, all.data(), n, y.data());
  return y;
}

/// An all-reduce as a reduce-scatter and an all-gather. The block, seen as a row, is divided among the workers that
/// hold its summands, reduced, and gathered. No worker receives more than twice the size of its block.
template <class T>
tensor_block<T> all_reduced(bound_mesh& on, const tensor_block<T>& x, const reshard_leg& leg, const shape_list& shape) {
  const std::uint32_t along = std::uint32_t{1} << leg.axis;
  // With two workers one exchange of whole blocks moves as few bytes, in one round instead of two.
  if (on.mesh().size(leg.axis) <= 2) return exchanged(on, x, {leg.from, leg.to, along}, shape, leg.kind);
  const shape_list row{x.size()};
  const sharding whole(on.mesh(), 1), cut = whole.cut(0, axis_list(leg.axis));
  tensor_block<T> flat = x;
  flat.shape = row;
  const auto part = exchanged(on, flat, {whole.partial(leg.axis, leg.kind), cut, along}, row, leg.kind);
  auto y = exchanged(on, part, {cut, whole, 0}, row, owed_reduction::none);
  y.shape = x.shape;
  return y;
}

/// Makes a replicated value partial. For sums and products all summands but the first hold the neutral element; for the
/// other reductions equal summands do not change the result.
template <class T>
tensor_block<T> owing(const bound_mesh& on, const tensor_block<T>& x, const reshard_leg& leg) {
  const bool counts = leg.kind == owed_reduction::sum || leg.kind == owed_reduction::prod;
  if (!on.active() || !counts || coordinate_of(on.mesh(), on.place(), leg.axis) == 0) return x;
  tensor_block<T> y(x.shape);
  y.fill(leg.kind == owed_reduction::prod ? T(1) : T(0));
  return y;
}

/// The bytes that a worker receives in a reshard, as planned; the same number on all workers.
template <class = void>
inline std::size_t planned_bytes(const sharding& from, const sharding& to, const shape_list& shape,
                                 std::size_t element_bytes) {
  if (is_one_block(from, to)) return 0;
  return plan_reshard(from.on, without_single_axes(bare(from)), without_single_axes(bare(to)), shape, mesh_links{},
                      element_bytes)
      .bytes();
}
/// This worker's block of the same tensor under another sharding. Collective over the world if anything moves. If
/// nothing moves, the result may share its memory with x.
template <class T>
tensor_block<T> resharded(bound_mesh& on, const tensor_block<T>& x, const sharding& from, const sharding& to,
                          const shape_list& shape) {
  if (is_one_block(from, to)) return x;
  return on.one_call([&] {
    // 1. Plan the steps, and find out whether one of them needs messages.
    const sharding source = without_single_axes(bare(from)), target = without_single_axes(bare(to));
    const auto legs = legs_of(plan_reshard(on.mesh(), source, target, shape, mesh_links{}, sizeof(T)), source);
    bool moves = false;
    for (const reshard_leg& leg : legs)
      moves = moves || (leg.done != reshard_leg::what::slice && leg.done != reshard_leg::what::owe);
    if (is_dry_run()) {
      if (moves)
        log_movement("reshard", source, target, shape,
                     on.active() ? received_in(legs, shape, on.place(), sizeof(T)).bytes : 0);
      return shape_alone<T>(shape_of_box(on.box(target, shape)));
    }
    // 2. Agree on the movement if there is one.
    const std::size_t bytes_before = movements.bytes;
    if (auto* const steps = moves ? step_list<T>::in_use : nullptr) {  // one agreement for all its steps
      const std::size_t bytes = on.active() ? received_in(legs, shape, on.place(), sizeof(T)).bytes : 0;
      steps->add_note([=, name = text(operation_in_use != nullptr ? operation_in_use : "reshard")] {
        const naming_operation now(name.c_str());
        log_movement("reshard", source, target, shape, bytes);
      });
    } else if (moves) {
      on.agree<T>("partita::reshard", source, target, shape);
    }
    // 3. Execute the steps.
    tensor_block<T> now = x;
    for (const reshard_leg& leg : legs) {
      switch (leg.done) {
        case reshard_leg::what::slice:
          if (on.active()) now = sliced(now, on.box(leg.from, shape), on.box(leg.to, shape));
          break;
        case reshard_leg::what::exchange:
          now = exchanged(on, now, {leg.from, leg.to, 0}, shape, owed_reduction::none);
          break;
        case reshard_leg::what::reduce:
          now = exchanged(on, now, {leg.from, leg.to, std::uint32_t{1} << leg.axis}, shape, leg.kind);
          break;
        case reshard_leg::what::all_reduce:
          now = all_reduced(on, now, leg, shape);
          break;
        case reshard_leg::what::owe:
          now = owing(on, now, leg);
          break;
      }
    }
    if (moves && step_list<T>::in_use == nullptr)
      log_movement("reshard", source, target, shape, movements.bytes - bytes_before);
    return now;
  });
}

}  // namespace partita::detail
