// The common interface of collective kernels in groups of workers: templates for all element types and ranks that call
// one collective_movement, which is not a template.
#pragma once

#include <cstddef>
#include <memory>
#include <partita/array/strided.hpp>
#include <partita/comm/pooled.hpp>
#include <partita/core/rejected_call.hpp>
#include <partita/kernel/detail/accepted.hpp>
#include <partita/kernel/detail/collective_call.hpp>
#include <partita/kernel/detail/collective_movement.hpp>
#include <partita/kernel/detail/requirements.hpp>
#include <partita/kernel/detail/target.hpp>
#include <partita/kernel/kernel_access.hpp>
#include <partita/rule/kernel_policy.hpp>
#include <partita/rule/reduction.hpp>
#include <type_traits>
#include <utility>

namespace partita::detail {

/// Whether X is an array of a rank that kernels support. Rejects a rank above 16; kernels report all other errors.
template <class X>
consteval bool is_block() {
  if constexpr (ranked_array<X>) {
    static_assert(rank_of<X> <= most_dimensions,
                  "partita: requires blocks of rank 0 to 16; reshape the block to fewer dimensions");
    return rank_of<X> <= most_dimensions;
  } else {
    return false;
  }
}

/// Base class of a kernel. The derived class `Kernel` defines `there` and `back`, the group directions of the call and
/// of its adjoint; `shares`, whether the workers of a node share one result; `exact`, whether sums are rounded once;
/// the class `reduction`; and takes<X>() and takes_back<Y>(), which return whether the call accepts X and the adjoint
/// accepts Y. takes<X>() and takes_back<Y>() contain the static_asserts with the kernel's error messages; these test
/// variables, because g++ prints ten more lines to explain a concept.
template <class Kernel>
class collective_kernel {
 public:
  /// Executes the kernel and returns this worker's block of the result.
  template <class X>
  auto operator()(const X& x) const {
    if constexpr (Kernel::template takes<X>()) return forward_(x, no_error);
    else return rejected_call{};
  }
  /// Writes the result into a caller's array or view, which must have the shape of the result and share no memory with
  /// x [shape_error, on all workers]; in an all-reduce the view may be x itself.
  template <class X, class View>
  void into(const X& x, View&& view) const {
    if constexpr (Kernel::template takes<X>() && accepts_view<View, X>())
      fill_view_and_wait<Kernel::there>(x, view, no_error, false);
  }
  /// Non-blocking: returns a pending operation whose finish() returns the result, as in `auto later = k.start(x); …;
  /// auto y = later.finish();`. The block x must not change until the operation is complete. At checks::agree the next
  /// call of a kernel on this world completes the operation first. If x is a temporary tensor, the operation keeps it.
  template <class X>
  auto start(X&& x) const {
    if constexpr (Kernel::template takes<std::remove_cvref_t<X>>())
      return start_call_on_block(std::forward<X>(x),
                                 [&](const auto& block) { return begin<Kernel::there>(block, {}, no_error, [] {}); });
    else return rejected_call{};
  }
  /// Executes the adjoint and returns this worker's block of its result.
  template <class Y>
  auto adjoint(const Y& dy) const {
    if constexpr (Kernel::template takes_back<Y>()) return backward_(dy, no_error);
    else return rejected_call{};
  }
  /// Writes the result of the adjoint into an array or view, as into() does for a call.
  template <class Y, class View>
  void adjoint_into(const Y& dy, View&& view) const {
    if constexpr (Kernel::template takes_back<Y>() && accepts_view<View, Y>())
      fill_view_and_wait<Kernel::back>(dy, view, no_error, false);
  }
  /// Starts the adjoint, as start() starts a call.
  template <class Y>
  auto start_adjoint(Y&& dy) const {
    if constexpr (Kernel::template takes_back<std::remove_cvref_t<Y>>())
      return start_call_on_block(std::forward<Y>(dy),
                                 [&](const auto& block) { return begin<Kernel::back>(block, {}, no_error, [] {}); });
    else return rejected_call{};
  }

  /// The memory pool from which results are allocated; null before the first call. If the input block is in this pool,
  /// other workers of the same node can read it in place.
  arena* memory() const { return movement_.memory(); }
  /// This worker's plan: its groups of workers, and which worker of a group sends its block to which worker.
  const group_plan& plan() const { return movement_.plan(); }
  /// The number of plans made so far. A call that finds its plan in the cache makes no plan.
  std::size_t plans_made() const { return movement_.plans_made(); }
  /// The number of plans made so far, and what this worker moved in the last call.
  kernel_counts counts() const { return movement_.counts(); }

 protected:
  explicit collective_kernel(collective_movement movement) : movement_(std::move(movement)) {}

 private:
  friend struct kernel_access;

  /// Whether View can be filled with the result for X; if not, the compiler prints one error message.
  template <class View, class X>
  static consteval bool accepts_view() {
    constexpr bool fits = is_matching_view<View, X>();
    static_assert(fits, PARTITA_REQUIRES_VIEW("partita: kernel.into(x, view)"));
    return fits;
  }

  template <class X>
  auto forward_(const X& x, const text& error_message) const {  // a blocking call; the error is this worker's, if any
    const block_argument<X> argument(x);
    return run_kernel_and_wait<Kernel::there>(argument.block(), error_message);
  }
  template <class X, class View>
  void forward_(const X& x, View& view, const text& error_message) const {
    fill_view_and_wait<Kernel::there>(x, view, error_message, true);
  }
  template <class Y>
  auto backward_(const Y& dy, const text& error_message) const {  // a blocking call; the error is this worker's, if any
    const block_argument<Y> argument(dy);
    return run_kernel_and_wait<Kernel::back>(argument.block(), error_message);
  }
  template <strided_array Y, class Fill>
  auto begin_backward_(const Y& dy, const text& error_message, Fill fill) const {  // starts a pending adjoint call
    return begin<Kernel::back>(block_argument<Y>(dy).block(), {}, error_message, fill);
  }
  /// Starts a pending adjoint call that writes its result into `view`.
  template <strided_array Y, class View, class Fill>
  auto begin_backward_(const Y& dy, View& view, const text& error_message, Fill fill) const {
    static_assert(Kernel::back != group_direction::to_all, "only a caller's own tensor can be written by the others");
    return begin<Kernel::back>(block_argument<Y>(dy).block(), make_target<element_of<Y>, rank_of<Y>>(view),
                               error_message, fill);
  }

  /// Collective: throws on all workers if one of them has an error; at checks::local only on that worker.
  void throw_together_(const text& error_message) const { movement_.throw_together(error_message); }
  kernel_identity identity_() const { return movement_.identity(); }  ///< this kernel's world and fingerprint

  /// The arguments of a call in direction `Where`.
  template <group_direction Where, class T, std::size_t Rank>
  static collective_call make_call(const strided<const T, Rank>& x, const text& error_message) {
    collective_call call{.direction = Where,
                         .kind = &element_kind_v<T>,
                         .element_type = &element_type_id_v<T>,
                         .x = untyped_block(x),
                         .error_message = &error_message};
    using reduction = typename Kernel::reduction;  ///< the reduction of the kernel
    if constexpr (Where != group_direction::spread)
      call.operation = &element_operation_v<reduction, T, Kernel::exact>,
      call.steps = collective_transfer::steps_of_reductions();
    else if constexpr (std::is_same_v<reduction, mean_t>) call.operation = &element_operation_v<reduction, T>;
    call.shares = Where == group_direction::spread && Kernel::shares;
    return call;
  }
  /// Allocates the result. On workers that receive no block, a result of rank 0 is the reduction's identity (or 0).
  template <class T, std::size_t Rank>
  pooled_tensor<T, Rank> allocate_result(const block_shape& shape) const {
    auto tensor = make_pooled<T, Rank>(*movement_.memory(), unpad_shape<Rank>(shape));
    if constexpr (Rank == 0) {
      if constexpr (reduction_of<typename Kernel::reduction, T>)
        *tensor.data() = reduction_identity<typename Kernel::reduction, T>();
      else *tensor.data() = T{};
    }
    return tensor;
  }

  /// Runs a call that allocates its result, and returns the result.
  template <group_direction Where, class T, std::size_t Rank>
  auto run_kernel_and_wait(const strided<const T, Rank>& x, const text& error_message) const {
    return movement_.one_call([&] {
      const collective_call call = make_call<Where>(x, error_message);
      const block_shape shape = movement_.agree(call);
      if constexpr (Where == group_direction::spread && Kernel::shares) {
        return make_shared_view<T, Rank>(movement_.share(call, element_count_of_shape(shape, Rank)),
                                         unpad_shape<Rank>(shape));
      } else {
        auto y = allocate_result<T, Rank>(shape);
        movement_.carry_out(call, block_of(y));
        return y;
      }
    });
  }

  /// Runs a call that fills the caller's view. If `in_place` is true, the view may be the memory of x.
  template <group_direction Where, class X, class View>
  void fill_view_and_wait(const X& x, View& view, const text& error_message, bool in_place) const {
    using T = element_of<X>;
    constexpr std::size_t rank = rank_of<X>;
    if constexpr (is_matching_result<T, rank, View>()) {
      return movement_.one_call([&] {
        const block_argument<X> argument(x);
        collective_call call = make_call<Where>(argument.block(), error_message);
        call.shares = false;
        const untyped_block output(block_of(view));
        call.view = &output;
        constexpr bool to_all = Where == group_direction::to_all;  // other workers write only into pooled memory
        call.in_place = in_place || (to_all && output == call.x);
        const block_shape shape = movement_.agree(call);
        const bool needs_pooled_copy =
            to_all && movement_.plan().large && movement_.plan().groups[0].members.size() > 1;
        if (needs_pooled_copy || element_count_of_shape(shape, rank) == 0) {
          auto y = allocate_result<T, rank>(shape);
          movement_.carry_out(call, block_of(y));
          if (element_count_of_shape(shape, rank) != 0) copy<T, rank>(block_of(view), block_of(y));
        } else {
          movement_.carry_out(call, output);
        }
      });
    }
  }

  /// Starts a call. `fill()` is called after the agreement on the call, and must have written x when it returns.
  template <group_direction Where, class T, std::size_t Rank, class Fill>
  auto begin(const strided<const T, Rank>& x, const target<T, Rank>& output, const text& error_message,
             Fill fill) const {
    if constexpr (Where == group_direction::spread && Kernel::shares) {
      fill();
      return pending<shared_view_of<T, Rank>>(run_kernel_and_wait<Where>(x, error_message), nullptr,
                                              0);  // the operation is complete at once
    } else {
      return movement_.one_call([&] {
        collective_call call = make_call<Where>(x, error_message);
        call.is_non_blocking = true;
        call.in_place = true;
        const untyped_block view(output.block);
        if (output.is_given) call.view = &view;
        const block_shape shape = movement_.agree(call);
        const bool fills_view = output.is_given && element_count_of_shape(shape, Rank) != 0;
        pooled_tensor<T, Rank> y;
        if (!fills_view) y = allocate_result<T, Rank>(shape);
        const untyped_block result = fills_view ? view : untyped_block(block_of(y));
        try {
          fill();
        } catch (...) {  // other workers depend on this worker's messages
          movement_.begin(call, result);
          movement_.operation()->wait();
          throw;
        }
        const std::uint64_t number = movement_.begin(call, result);
        return pending<pooled_tensor<T, Rank>>(std::move(y), movement_.operation(), number);
      });
    }
  }

  mutable collective_movement movement_;  ///< moves the blocks of all calls; mutable, because a call caches its plan
};

}  // namespace partita::detail
