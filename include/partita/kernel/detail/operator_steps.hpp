// Common parts of composed operators: the concept operator_like, and non-blocking steps.
#pragma once

#include <partita/array/strided.hpp>
#include <type_traits>
#include <utility>

namespace partita::detail {

/// A base class with a member `adjoint`. In a class that inherits from this class and from K, the name `adjoint` is
/// ambiguous if K has a member of that name, which shows whether K has one.
struct ambiguous_adjoint {
  void adjoint();  ///< makes the name `adjoint` ambiguous in a derived class; has no definition
};
template <class K>
struct ambiguous_adjoint_probe : K, ambiguous_adjoint {};  ///< see ambiguous_adjoint

/// K is an operator on blocks with an adjoint: a kernel, or a composition of kernels; not an array. The adjoint itself
/// is not instantiated, because it does not compile for an operator without an adjoint.
template <class K>
concept operator_like = std::is_class_v<K> && !xt::is_xexpression<K>::value && !std::is_final_v<K> &&
                        !requires { &ambiguous_adjoint_probe<K>::adjoint; };

/// The result of a step that has no non-blocking form and was carried out immediately.
template <class Result>
struct finished_step {
  Result result;                                 ///< the result that finish() returns
  Result finish() { return std::move(result); }  ///< gives away the result
};
/// Starts operator k; an operator without start() is applied at once. The result has a function finish().
template <class K, class X>
auto start_step(const K& k, X&& x) {
  if constexpr (requires { k.start(std::forward<X>(x)); }) return k.start(std::forward<X>(x));
  else return finished_step<decltype(k(x))>{k(x)};
}
/// Starts the adjoint of operator k; without start_adjoint() the adjoint is applied at once.
template <class K, class Y>
auto start_adjoint_step(const K& k, Y&& dy) {
  if constexpr (requires { k.start_adjoint(std::forward<Y>(dy)); }) return k.start_adjoint(std::forward<Y>(dy));
  else return finished_step<decltype(k.adjoint(dy))>{k.adjoint(dy)};
}

/// An operator K whose plan() can be called without arguments.
template <class K>
concept has_plan = requires(const K& k) { k.plan(); };

/// A pending chain of steps: the first step has started, all later steps run in finish().
template <class First, class Rest>
class pending_chain {
 public:
  pending_chain(First first, Rest rest) : first_step_(std::move(first)), remaining_steps_(std::move(rest)) {}
  /// Waits for the first operator's pending result, and applies all later operators to it.
  auto finish() { return remaining_steps_(first_step_.finish()); }

 private:
  First first_step_;      ///< the first step, which is pending
  Rest remaining_steps_;  ///< a function of the first step's result
};

}  // namespace partita::detail
