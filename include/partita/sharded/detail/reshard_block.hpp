// Executes a reshard plan on this worker's block, step by step.
#pragma once

#include <array>
#include <cstddef>
#include <partita/array/real_part.hpp>
#include <partita/plan/plan_reshard.hpp>
#include <partita/sharded/detail/bound_mesh.hpp>
#include <partita/sharded/detail/execution.hpp>
#include <vector>

namespace partita::detail {

/// The sharding s without axes of size 1, which have no effect.
inline sharding drop_trivial_axes(const sharding& s) {
  sharding only = s;
  for (std::size_t d = 0; d < s.rank(); ++d) {
    only.cuts[d] = axis_list();
    for (std::size_t k = 0; k < s.cuts[d].size(); ++k)
      if (s.on.size(s.cuts[d][k]) > 1) only.cuts[d].push_back(s.cuts[d][k]);
  }
  for (std::size_t a = 0; a < s.on.rank(); ++a)
    if (s.on.size(a) == 1) only.pending[a] = pending_reduction::none;
  return only;
}

/// Whether two shardings differ at most in axes of size 1, so that each worker has the same elements under both.
inline bool have_same_block(const sharding& a, const sharding& b) {
  return a.same_layout(b) || drop_trivial_axes(layout_of(a)).same_layout(drop_trivial_axes(layout_of(b)));
}

/// Whether the reduction R of two elements of T gives a T, or a floating-point number if T is a floating-point type.
template <class R, class T>
inline constexpr bool gives_elements = accepts_element_type<R, T>() && requires(const R& r, const T& a) {
  requires std::is_same_v<decltype(r(a, a)), T> ||
               (std::is_floating_point_v<T> && std::is_floating_point_v<decltype(r(a, a))>);
};
/// Whether elements of T can be reduced by R, either directly or after conversion to bool.
template <class R, class T>
inline constexpr bool can_reduce_elements = is_linear_reduction<R> || gives_elements<R, T> || gives_elements<R, bool>;

/// Combines two elements by the reduction R.
template <class R, class T>
T combine_two_elements(const T& a, const T& b) {
  if constexpr (is_linear_reduction<R>) return static_cast<T>(a + b);
  else if constexpr (gives_elements<R, T>) return static_cast<T>(R()(a, b));
  else return static_cast<T>(R()(a != T(0), b != T(0)));
}

/// Combines `parts` consecutive blocks of n elements into one block. For a mean, the sum is divided by the number of
/// summands, `divisor`.
template <class T>
void combine(pending_reduction kind, std::size_t parts, std::size_t divisor, const T* from, std::size_t n, T* to) {
  for (std::size_t k = 0; k < n; ++k) to[k] = from[k];
  pending_reductions::visit(kind, [&]<class R>(R) {
    if constexpr (can_reduce_elements<R, T>)
      for (std::size_t p = 1; p < parts; ++p)
        for (std::size_t k = 0; k < n; ++k) to[k] = combine_two_elements<R>(to[k], from[p * n + k]);
  });
  for (std::size_t k = 0; k < n && divisor > 1; ++k) to[k] = static_cast<T>(to[k] / static_cast<real_of<T>>(divisor));
}

/// Copies the elements of box `target` from a block that holds box `source`.
template <class T>
tensor_block<T> crop(const tensor_block<T>& x, const short_list<interval>& source, const short_list<interval>& target) {
  tensor_block<T> y(shape_of_box(target));
  std::array<short_list<std::ptrdiff_t>, 2> steps{strides_of(y.shape), strides_of(x.shape)};
  std::ptrdiff_t start = 0;
  for (std::size_t d = 0; d < source.size(); ++d)
    start += static_cast<std::ptrdiff_t>(target[d].start - source[d].start) * steps[1][d];
  const auto copy = [shape = y.shape, steps, start](const T* const* from, T* to) {
    for_each_row(shape, steps, [&](const std::ptrdiff_t* at, std::size_t n) {
      for (std::size_t k = 0; k < n; ++k)
        to[at[0] + static_cast<std::ptrdiff_t>(k)] = from[0][start + at[1] + static_cast<std::ptrdiff_t>(k)];
    });
  };
  run_step({x}, y, copy);
  return y;
}

/// One movement of a tensor, for which all workers of the world make the calls. The workers first agree on the movement
/// (except at checks::local); afterwards each worker logs the bytes that it received, if movements are logged.
template <class T>
class announced_movement {
 public:
  /// Makes the workers agree on the call and on `parameters`. Collective over the world. In a program that is being
  /// bound, a step that logs the planned movement is added instead; a dry run only logs the movement.
  announced_movement(bound_mesh& on, const char* call, const sharding& from, const sharding& to,
                     const shape_list& extents, std::size_t bytes, std::size_t most_bytes = 0,
                     std::uint64_t parameters = 0)
      : call_name_(run_state.operation != nullptr ? run_state.operation : call),
        source_(from),
        target_(to),
        extents_(extents),
        max_bytes_(most_bytes),
        bytes_before_(run_state.movement_totals.bytes) {
    if (run_state.is_dry_run) {
      if (run_state.log != nullptr) run_state.log->push_back(make_log_entry(bytes));
    } else if (run_state.steps != nullptr) {
      run_state.steps->add_callback([one = make_log_entry(bytes)] {
        if (run_state.log == nullptr) return;
        run_state.log->push_back(one);
        run_state.log->back().backward = run_state.is_backward;
      });
    } else {
      on.agree<T>(call, from, to, extents, parameters);
    }
  }
  /// Logs the bytes that this worker has received. To be called after the exchanges of the movement.
  void log_received_bytes() const {
    if (run_state.log != nullptr && !run_state.is_dry_run && run_state.steps == nullptr)
      run_state.log->push_back(make_log_entry(run_state.movement_totals.bytes - bytes_before_));
  }

 private:
  movement make_log_entry(std::size_t bytes) const {  ///< with the bytes that this worker receives
    return {text(call_name_), run_state.is_backward, source_, target_, extents_, bytes, max_bytes_, is_complex<T>};
  }

  const char* call_name_;                 ///< the operation that needs the movement
  const sharding &source_, &target_;      ///< the layouts before and after the movement
  const shape_list& extents_;             ///< the extents of the tensor
  std::size_t max_bytes_, bytes_before_;  ///< see movement::most_bytes; the bytes that this worker received before
};
/// Executes a planned exchange, or adds it as a step to a program that is being bound. Does nothing in dry runs.
template <class T>
void move_boxes(bound_mesh& on, const std::shared_ptr<planned_exchange>& made, const tensor_block<T>& x,
                const tensor_block<T>& y) {
  if (run_state.is_dry_run) return;
  if (run_state.steps == nullptr) on.move(*made, x.data(), y.data());
  else run_state.steps->add_exchange(x, y, made);
}
/// Executes one exchange of a reshard, and combines the received summands.
template <class T>
tensor_block<T> exchange_block(bound_mesh& on, const tensor_block<T>& x, const reshard_exchange& e,
                               const shape_list& shape, pending_reduction kind, std::size_t divisor) {
  const shape_list mine = shape_of_box(on.box(e.to, shape));
  const std::size_t parts = e.summands();
  shape_list received = parts == 1 ? shape_list() : shape_list{parts};
  for (const std::size_t extent : mine) received.push_back(extent);
  tensor_block<T> all(received, on.memory());
  move_boxes(on, on.plan_exchange<T>(e, shape), x, all);
  if (parts == 1) return all;
  tensor_block<T> y(mine, on.memory());
  if (!on.active()) return y;
  run_step({all}, y, [=, n = y.size()](const T* const* from, T* to) { combine(kind, parts, divisor, from[0], n, to); });
  return y;
}

/// Executes one step of a reshard that moves elements.
template <class T>
tensor_block<T> run_moving_step(bound_mesh& on, const tensor_block<T>& x, const reshard_step& step,
                                const sharding& before, const shape_list& shape) {
  std::size_t divisor = 1;
  for (std::size_t a = 0; a < before.on.rank(); ++a)
    if ((step.reduced >> a & 1U) != 0 && before.pending[a] == pending_reduction::avg) divisor *= before.on.size(a);
  tensor_block<T> now = x;
  for_each_exchange(step, before, shape, x.size(), [&](const reshard_exchange& e, const shape_list& whole) {
    if (on.active()) now.shape = shape_of_box(on.box(e.from, whole));
    now = exchange_block(on, now, e, whole, step.kind, divisor);
  });
  now.shape = shape_of_box(on.box(step.after, shape));
  return now;
}

/// Makes a replicated value partial: the first summand is the value, the others are the neutral element. If the
/// reduction is idempotent, all summands are the value, which does not change the result.
template <class T>
tensor_block<T> make_partial_block(const bound_mesh& on, const tensor_block<T>& x, const reshard_step& step) {
  tensor_block<T> y = x;
  if (!on.active() || coordinate_of(on.mesh(), on.place(), step.axis) == 0) return y;
  pending_reductions::visit(step.kind, [&]<class R>(R) {
    if constexpr (!is_idempotent_reduction<R> && can_reduce_elements<R, T>) {
      y = tensor_block<T>(x.shape);
      y.fill(reduction_identity<R, T>());
    }
  });
  return y;
}

/// The most bytes that any worker receives in a reshard.
template <class T>
std::size_t max_reshard_bytes(bound_mesh& on, const sharding& from, const sharding& to, const shape_list& shape) {
  if (have_same_block(from, to)) return 0;
  return on.plan_reshard<T>(drop_trivial_axes(layout_of(from)), drop_trivial_axes(layout_of(to)), shape)
      ->max_received_bytes;
}
/// Executes the steps of a reshard plan on this worker's block.
template <class T>
tensor_block<T> run_reshard_steps(bound_mesh& on, const tensor_block<T>& x, const sharding& from, const sharding& to,
                                  const planned_reshard& plan, const shape_list& shape) {
  if (run_state.is_dry_run) return new_block<T>(shape_of_box(on.box(to, shape)));
  tensor_block<T> now = x;
  const sharding* layout = &from;
  for (const reshard_step& step : plan.steps) {
    if (step.rounds > 0) now = run_moving_step(on, now, step, *layout, shape);
    else if (step.done == reshard_step::what::make_partial) now = make_partial_block(on, now, step);
    else if (on.active()) now = crop(now, on.box(*layout, shape), on.box(step.after, shape));
    layout = &step.after;
  }
  return now;
}
/// Returns this worker's block of a tensor under the sharding `to`, from its block x under `from`. Collective over the
/// world if elements move. If no element moves, the result may share its memory with x.
template <class T>
tensor_block<T> resharded(bound_mesh& on, const tensor_block<T>& x, const sharding& from, const sharding& to,
                          const shape_list& shape) {
  if (have_same_block(from, to)) return x;
  return on.one_call([&] {
    // 1. Find the steps of the reshard, in the cache or by planning them.
    const sharding source = drop_trivial_axes(layout_of(from)), target = drop_trivial_axes(layout_of(to));
    const auto plan = on.plan_reshard<T>(source, target, shape);
    if (!plan->moves) return run_reshard_steps(on, x, source, target, *plan, shape);
    // 2. Make all workers agree on the reshard, and execute the steps of its plan.
    const announced_movement<T> one(on, "reshard", source, target, shape, plan->received_bytes);
    const tensor_block<T> y = run_reshard_steps(on, x, source, target, *plan, shape);
    one.log_received_bytes();
    return y;
  });
}

#define PARTITA_INSTANTIATE_BLOCK_RESHARD(EXTERN, T)                                                                  \
  EXTERN template tensor_block<T> crop<T>(const tensor_block<T>&, const short_list<interval>&,                        \
                                          const short_list<interval>&);                                               \
  EXTERN template std::size_t max_reshard_bytes<T>(bound_mesh&, const sharding&, const sharding&, const shape_list&); \
  EXTERN template tensor_block<T> resharded<T>(bound_mesh&, const tensor_block<T>&, const sharding&, const sharding&, \
                                               const shape_list&);
PARTITA_FOR_EACH_USUAL_ELEMENT(PARTITA_INSTANTIATE_BLOCK_RESHARD, extern)

}  // namespace partita::detail
