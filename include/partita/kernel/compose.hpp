// Composition of operators: each operator is applied to the result of the previous operator.
#pragma once

#include <memory>
#include <partita/core/rejected_call.hpp>
#include <partita/kernel/detail/chained_calls.hpp>
#include <partita/kernel/detail/operator_steps.hpp>
#include <partita/kernel/kernel_access.hpp>
#include <partita/kernel/linear_operator.hpp>
#include <tuple>
#include <type_traits>
#include <utility>

namespace partita {

/// The operator compose(first, next, …): applies the first operator to a block, and each next operator to the result of
/// the previous operator.
template <class... Operators>
class composition {
 public:
  static constexpr bool is_linear = (detail::may_be_linear<Operators> && ...);  ///< whether this has an adjoint

  /// Keeps the operators, which are given in the order in which a call applies them.
  explicit composition(Operators... operators)
      : parts_(std::make_shared<parts>(std::tuple<Operators...>(std::move(operators)...))) {}

  template <class X>
  auto operator()(const X& x) const {
    return run_after_agreement<direction::forward>(x, [&] { return forward<0>(x); });
  }
  template <class X, class View>
  void into(const X& x, View&& view) const {  ///< writes the result into an array or view of the caller
    const auto filled = [&] {
      if constexpr (last == 0) operator_at<0>().into(x, view);
      else operator_at<last>().into(forward<0, last>(x), view);
      return true;
    };
    run_after_agreement<direction::forward>(x, filled, view);
  }
  /// Starts the first operator; all other operators run in finish(), which every worker must call.
  template <class X>
  auto start(X&& x) const {
    return detail::pending_chain(detail::start_step(operator_at<0>(), std::forward<X>(x)), [self = *this](auto&& y) {
      if constexpr (last == 0) return std::move(y);
      else return self.template forward<1>(y);
    });
  }
  template <class Y>
  auto adjoint(const Y& dy) const {  ///< applies the adjoints of the operators, the last operator first
    check_linear();
    if constexpr (is_linear) return run_after_agreement<direction::adjoint>(dy, [&] { return backward<last>(dy); });
  }
  template <class Y, class View>
  void adjoint_into(const Y& dy, View&& view) const {  ///< writes the result of the adjoint into an array or view
    check_linear();
    if constexpr (is_linear) {
      const auto filled = [&] {
        if constexpr (last == 0) operator_at<0>().adjoint_into(dy, view);
        else operator_at<0>().adjoint_into(backward<last, 1>(dy), view);
        return true;
      };
      run_after_agreement<direction::adjoint>(dy, filled, view);
    }
  }
  /// Starts the adjoint of the last operator; all other adjoints run in finish(), which every worker must call.
  template <class Y>
  auto start_adjoint(Y&& dy) const {
    check_linear();
    if constexpr (is_linear)
      return detail::pending_chain(detail::start_adjoint_step(operator_at<last>(), std::forward<Y>(dy)),
                                   [self = *this](auto&& x) {
                                     if constexpr (last == 0) return std::move(x);
                                     else return self.template backward<last - 1>(x);
                                   });
  }
  /// Returns a tuple of the operators' plans, in the order of the operators. Requires operators whose plan() needs no
  /// argument [compile time].
  auto plan() const
    requires(detail::has_plan<Operators> && ...)
  {
    return std::apply([](const auto&... k) { return std::make_tuple(k.plan()...); }, parts_->operators);
  }
  /// The memory pool of the last operator, from which the results of forward calls are allocated.
  auto* memory() const { return operator_at<last>().memory(); }
  kernel_counts counts() const {  ///< the sums of the counts of all operators
    kernel_counts all;
    std::apply([&](const auto&... k) { ((all += k.counts()), ...); }, parts_->operators);
    return all;
  }

 private:
  static constexpr std::size_t last = sizeof...(Operators) - 1;  ///< the number of the last operator, counted from 0

  static constexpr void check_linear() {  ///< a compile-time error if one of the operators has no adjoint
    static_assert(is_linear,
                  "partita::compose(a, b, ...).adjoint(dy): requires linear operators; one of these has no adjoint");
  }
  /// Applies the operators with the numbers K, K + 1, …, End - 1 to x, one after the other.
  template <std::size_t K, std::size_t End = sizeof...(Operators), class X>
  auto forward(const X& x) const {
    if constexpr (K + 1 == End) return operator_at<K>()(x);
    else return forward<K + 1, End>(operator_at<K>()(x));
  }
  /// Applies the adjoints of the operators with the numbers K, K - 1, …, End to dy, one after the other.
  template <std::size_t K, std::size_t End = 0, class Y>
  auto backward(const Y& dy) const {
    if constexpr (K == End) return operator_at<K>().adjoint(dy);
    else return backward<K - 1, End>(operator_at<K>().adjoint(dy));
  }

  friend struct detail::kernel_access;
  void throw_together_(const text& error_message) const  ///< throws a worker's error on all; at checks::local its own
    requires(detail::reports_errors<Operators> || ...)
  {
    std::apply(
        [&](const auto&... k) { detail::kernel_access::throw_together(detail::reporter_of(k...), error_message); },
        parts_->operators);
  }

  enum class direction : std::uint64_t { forward = 1, adjoint = 2 };  ///< of a call; part of its fingerprint
  /// The state that copies of a composition share.
  struct parts {
    explicit parts(std::tuple<Operators...> given) : operators(std::move(given)) {}
    std::tuple<Operators...> operators;
    detail::chained_calls calls[2];  ///< the cached calls: [0] forward, [1] adjoint
  };
  /// The operator with the number K.
  template <std::size_t K>
  const auto& operator_at() const {
    return std::get<K>(std::as_const(parts_->operators));
  }

  /// Runs all operators of a call. If every operator allows this and all operators are on one world, repeated calls
  /// take one agreement of the workers; otherwise each operator makes its own agreement.
  template <direction Where, class X, class Run, class... View>
  auto run_after_agreement(const X& x, Run run, const View&... view) const {
    if constexpr (last > 0 && (detail::has_identity<Operators> && ...) && detail::has_shape<X> &&
                  (detail::has_shape<View> && ...) && !std::is_void_v<decltype(run())>) {
      detail::kernel_identity chain_identity;
      bool one_world = true;
      const auto add = [&](detail::kernel_identity k) {
        one_world =
            one_world && (chain_identity.world == nullptr || chain_identity.world == k.world) && k.world != nullptr;
        chain_identity = {k.world, detail::mixed(chain_identity.number, k.number)};
      };
      std::apply([&](const auto&... k) { (add(detail::kernel_access::identity(k)), ...); }, parts_->operators);
      if (!one_world) return run();
      using T = element_of<X>;
      chain_identity.number = detail::mixed(chain_identity.number, static_cast<std::uint64_t>(Where));
      detail::chained_call call{
          Where == direction::forward ? "compose(a, b, ...)(x)" : "compose(a, b, ...).adjoint(dy)",
          sizeof...(Operators),
          chain_identity,
          detail::type_number<T>(),
          &detail::type_name<T>,
          rank_of<X>,
          detail::to_block_shape(x)};
      ((call.view_shape = detail::to_block_shape(view), call.fills_view = true), ...);
      const auto made = [&] {
        return std::apply([](const auto&... k) { return (k.plans_made() + ...); }, parts_->operators);
      };
      return parts_->calls[Where == direction::forward ? 0 : 1].carry_out(call, made, run);
    } else {
      return run();
    }
  }

  std::shared_ptr<parts> parts_;  ///< shared, so that copies of the operator share the plans
};

/// Composes operators: compose(a, b)(x) is b(a(x)), and further operators are applied in the order of the arguments.
/// Shapes:   x is an input block of the first operator, the result an output block of the last operator.
/// Requires: each operator accepts the result of the previous operator [compile time]; operators are copied.
/// Cost:     the sum of the costs of the operators. From the third call with blocks of equal shapes on, when each
///           operator knows its plan, one agreement serves all operators. In earlier calls, in `start`, and if one
///           operator is not a kernel of the library, each operator makes its own agreement.
/// Adjoint:  the adjoints in the opposite order; a composition has no adjoint if one operator has none.
template <detail::operator_like First, detail::operator_like... Next>
auto compose(First first, Next... next) {
  return composition<First, Next...>(std::move(first), std::move(next)...);
}
/// Fallback for arguments that are not operators: a compile-time error with one readable message.
template <class... A>
  requires(sizeof...(A) == 0 || !(detail::operator_like<A> && ...))
auto compose(const A&...) {
  static_assert(
      detail::dependent_false<A...>,
      "partita::compose(a, b, ...): requires one operator or more, as kernels and layers are; give a function "
      "a struct with operator() and adjoint()");
  return detail::rejected_call{};
}

}  // namespace partita
