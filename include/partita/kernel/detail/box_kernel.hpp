// The common interface of kernels that exchange boxes: repartition, all_gather, reduce_scatter, halo_exchange.
#pragma once

#include <cstddef>
#include <partita/core/rejected_call.hpp>
#include <partita/kernel/detail/box_movement.hpp>
#include <partita/kernel/kernel_access.hpp>
#include <type_traits>
#include <utility>

namespace partita::detail {

/// A kernel on the blocks of a partition. The functions `takes`, `takes_back` and `accepts_view` of `Kernel` check
/// arguments. If `Transposed` is true, operator() executes the adjoint of the movement, and adjoint() executes the
/// movement.
template <class Kernel, class Movement, bool Transposed = false>
class box_kernel {
 public:
  /// Executes the kernel and returns this worker's block of the result.
  template <class X>
  auto operator()(const X& x) const {
    if constexpr (Kernel::template takes<X>()) return forward_(x, no_error);
    else return rejected_call{};
  }
  /// Non-blocking: returns a pending operation whose finish() returns the result, as in `auto later = k.start(x); …;
  /// auto y = later.finish();`. The block x must not change until the operation is complete. At checks::agree the next
  /// call of a kernel on this world completes the operation first. If x is a temporary tensor, the operation keeps it.
  template <class X>
  auto start(X&& x) const {
    if constexpr (Kernel::template takes<std::remove_cvref_t<X>>())
      return start_pending_call_<true>(std::forward<X>(x), ".start(x)", no_error, nothing_to_fill{});
    else return rejected_call{};
  }
  /// Writes the result into an array or view, of the result's shape and without common memory with x [shape_error].
  template <class X, class View>
  void into(const X& x, View&& view) const {
    if constexpr (Kernel::template takes<X>() && Kernel::template accepts_view<View, X>()) forward_(x, view, no_error);
  }
  /// The adjoint: moves dy back to the decomposition of the last x whose result had blocks of the same shapes as dy.
  /// Without such an x, the balanced decomposition is used; halo_exchange throws a shape_error instead. If x was not
  /// balanced and its plan was evicted by 32 newer plans, a shape_error is thrown.
  template <class Y>
  auto adjoint(const Y& dy) const {
    if constexpr (Kernel::template takes_back<Y>()) return backward_(dy, no_error);
    else return rejected_call{};
  }
  /// Writes the result of the adjoint into an array or view, as into() does for a call.
  template <class Y, class View>
  void adjoint_into(const Y& dy, View&& view) const {
    if constexpr (Kernel::template takes_back<Y>() && Kernel::template accepts_view<View, Y>())
      backward_(dy, view, no_error);
  }
  /// Starts the adjoint, as start() starts a call.
  template <class Y>
  auto start_adjoint(Y&& dy) const {
    if constexpr (Kernel::template takes_back<std::remove_cvref_t<Y>>())
      return begin_backward_(std::forward<Y>(dy), no_error, nothing_to_fill{});
    else return rejected_call{};
  }

  /// The memory pool from which results are allocated; null before the first call (not null in an index_exchange).
  arena* memory() const { return movement_.memory(); }
  /// The number of plans made so far. A call that finds its plan in the cache makes no plan.
  std::size_t plans_made() const { return movement_.plans_made(); }
  /// The number of plans made so far, and what this worker sends in a call with the plan used last.
  kernel_counts counts() const { return movement_.counts(); }

 protected:
  explicit box_kernel(typename Movement::planner_type planner) : movement_(std::move(planner)) {}

  /// Moves the blocks in calls. Mutable, because a call caches its plan.
  mutable Movement movement_;

 private:
  friend struct kernel_access;

  kernel_identity identity_() const { return movement_.identity(); }  ///< this kernel's world and fingerprint
  /// Collective: throws on all workers if one of them has an error; at checks::local only on that worker.
  void throw_together_(const text& error_message) const { movement_.throw_together(error_message); }

  /// Starts a call in one direction. A non-empty `error_message` is this worker's error, and makes the call throw.
  template <bool Forward, class T, std::size_t Rank, class Fill>
  auto begin_call_(const strided<const T, Rank>& x, const target<T, Rank>& output, const char* direction,
                   const text& error_message, Fill fill) const {
    if constexpr (Forward != Transposed)
      return movement_.template forward<T>(x, output, direction, local_error(error_message), fill);
    else return movement_.template backward<T>(x, output, direction, local_error(error_message), fill);
  }
  template <bool Forward, class X>
  auto call_and_wait_(const X& x, const target<element_of<X>, rank_of<X>>& output, const char* direction,
                      const text& error_message) const {  // runs a blocking call; the error is this worker's, if any
    return movement_.one_call([&] {
      const block_argument<X> argument(x);
      return begin_call_<Forward, element_of<X>, rank_of<X>>(argument.block(), output, direction, error_message,
                                                             nothing_to_fill{})
          .finish();
    });
  }
  /// Starts a call that remains pending after this function.
  template <bool Forward, class X, class Fill>
  auto start_pending_call_(X&& x, const char* direction, const text& error_message, Fill fill) const {
    using argument_type = std::remove_cvref_t<X>;  ///< the type of the block x
    return start_call_on_block(std::forward<X>(x), [&](const auto& block) {
      return movement_.one_call([&] {
        auto later = begin_call_<Forward, element_of<argument_type>, rank_of<argument_type>>(block, {}, direction,
                                                                                             error_message, fill);
        movement_.keep_call_pending();
        return later;
      });
    });
  }

  template <class X>
  auto forward_(const X& x, const text& error_message) const {  // a blocking call; the error is this worker's, if any
    return call_and_wait_<true>(x, {}, "(x)", error_message);
  }
  template <class X, class View>
  void forward_(const X& x, View& view, const text& error_message) const {
    call_and_wait_<true>(x, make_target<element_of<X>, rank_of<X>>(view), "(x)", error_message);
  }
  template <class Y>
  auto backward_(const Y& dy, const text& error_message) const {  // a blocking call; the error is this worker's, if any
    return call_and_wait_<false>(dy, {}, ".adjoint(dy)", error_message);
  }
  template <class Y, class View>
  void backward_(const Y& dy, View& view, const text& error_message) const {
    call_and_wait_<false>(dy, make_target<element_of<Y>, rank_of<Y>>(view), ".adjoint(dy)", error_message);
  }
  template <class Y, class Fill>
  auto begin_backward_(Y&& dy, const text& error_message, Fill fill) const {  // starts a pending adjoint call
    return start_pending_call_<false>(std::forward<Y>(dy), ".start_adjoint(dy)", error_message, fill);
  }
};

}  // namespace partita::detail
