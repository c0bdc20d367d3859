// The common interface of kernels that exchange boxes: all_gather, reduce_scatter, halo_exchange.
#pragma once

#include <cstddef>
#include <partita/core/left_out.hpp>
#include <partita/kernel/detail/part_movement.hpp>
#include <partita/kernel/kernel_access.hpp>
#include <utility>
#include <vector>

namespace partita::detail {

/// A kernel on the blocks of a partition. `Kernel` defines the checks of arguments `takes`, `takes_back` and `fills`,
/// and the movements of its call and of its adjoint, `forward(movement, ...)` and `backward(movement, ...)`.
template <class Kernel, class Movement>
class part_kernel {
 public:
  /// Returns the result on this worker.
  template <class X>
  auto operator()(const X& x) const {
    if constexpr (Kernel::template takes<X>()) return forward_(x, text());
    else return rejected_call{};
  }
  /// Non-blocking: returns a pending operation whose finish() gives the result:
  /// `auto later = k.start(x); …; auto y = later.finish();`. Until then x must not change. The next call of a kernel on
  /// this world completes it first.
  template <class X>
  auto start(const X& x) const {
    if constexpr (Kernel::template takes<X>()) return begin_forward_(x, text());
    else return rejected_call{};
  }
  /// Writes the result into a caller's array or view, which must have its shape and share no memory with x
  /// [shape_error, on all workers].
  template <class X, class View>
  void into(const X& x, View&& view) const {
    if constexpr (Kernel::template takes<X>() && Kernel::template fills<View, X>()) forward_(x, view, text());
  }
  /// The adjoint: moves dy back to the decomposition of the last x whose result had the shape of dy. Without such an x,
  /// the balanced decomposition is used; halo_exchange throws a shape_error instead. If x was not balanced and its plan
  /// was evicted by 32 newer plans, a shape_error is thrown.
  template <class Y>
  auto adjoint(const Y& dy) const {
    if constexpr (Kernel::template takes_back<Y>()) return backward_(dy, text());
    else return rejected_call{};
  }
  template <class Y, class View>
  void adjoint_into(const Y& dy, View&& view) const {
    if constexpr (Kernel::template takes_back<Y>() && Kernel::template fills<View, Y>()) backward_(dy, view, text());
  }
  template <class Y>
  auto start_adjoint(const Y& dy) const {
    if constexpr (Kernel::template takes_back<Y>()) return begin_backward_(dy, text(), [] {});
    else return rejected_call{};
  }

  /// The memory pool that results are allocated from; null before the first call.
  arena* memory() const { return movement_.memory(); }
  /// The ids of the workers whose blocks are gathered, or summed, with this worker's; empty if it is inactive.
  const std::vector<std::size_t>& members() const { return movement_.members(); }
  /// How often block shapes have been exchanged so far.
  std::size_t structures_made() const { return movement_.structures_made(); }
  /// The number of plans made so far, and what this worker sends in a call with the plan used last.
  kernel_counts counts() const { return movement_.counts(); }

 protected:
  explicit part_kernel(Movement movement) : movement_(std::move(movement)) {}

  mutable Movement movement_;

 private:
  friend struct kernel_access;

  auto identity_() const
    requires requires(const Movement& movement) { movement.identity(); }
  {
    return movement_.identity();
  }

  template <class X>
  auto forward_(const X& x, const text& objection) const {
    return movement_.one_call([&] {
      const block_argument<X> argument(x);
      return Kernel::forward(movement_, argument.block(), {}, "(x)", complaint(objection), [] {}).finish();
    });
  }
  template <class X, class View>
  void forward_(const X& x, View& view, const text& objection) const {
    return movement_.one_call([&] {
      const block_argument<X> argument(x);
      Kernel::forward(movement_, argument.block(), target_of<element_of<X>, rank_of<X>>(view), "(x)",
                      complaint(objection), [] {})
          .finish();
    });
  }
  template <class X>
  auto begin_forward_(const X& x, const text& objection) const {
    return begun(x, [&](const auto& block) {
      return movement_.one_call([&] {
        auto later = Kernel::forward(movement_, block, {}, ".start(x)", complaint(objection), [] {});
        movement_.leave_under_way();
        return later;
      });
    });
  }
  template <class Y>
  auto backward_(const Y& dy, const text& objection) const {
    return movement_.one_call([&] {
      const block_argument<Y> argument(dy);
      return Kernel::backward(movement_, argument.block(), {}, ".adjoint(dy)", complaint(objection), [] {}).finish();
    });
  }
  template <class Y, class View>
  void backward_(const Y& dy, View& view, const text& objection) const {
    return movement_.one_call([&] {
      const block_argument<Y> argument(dy);
      Kernel::backward(movement_, argument.block(), target_of<element_of<Y>, rank_of<Y>>(view), ".adjoint(dy)",
                       complaint(objection), [] {})
          .finish();
    });
  }
  template <class Y, class Fill>
  auto begin_backward_(const Y& dy, const text& objection, Fill fill) const {
    return begun(dy, [&](const auto& block) {
      return movement_.one_call([&] {
        auto later = Kernel::backward(movement_, block, {}, ".start_adjoint(dy)", complaint(objection), fill);
        movement_.leave_under_way();
        return later;
      });
    });
  }
};

}  // namespace partita::detail
