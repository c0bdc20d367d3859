// The sum of two operators: both are applied to the same block, and their results are added.
#pragma once

#include <partita/array/strided.hpp>
#include <partita/core/error.hpp>
#include <partita/kernel/detail/accepted.hpp>
#include <partita/kernel/detail/operator_steps.hpp>
#include <partita/kernel/kernel_access.hpp>
#include <partita/kernel/linear_operator.hpp>
#include <utility>

namespace partita {

namespace detail {

/// Throws this worker's error: at checks::agree on all workers, if `reporter` can report errors to all of them.
template <class Operator>
void throw_together(const Operator& reporter, const text& error_message) {
  if constexpr (reports_errors<Operator>) kernel_access::throw_together(reporter, error_message);
  else if (!error_message.empty()) throw shape_error(error_message);
}

/// Computes to += from. If the shapes differ, throw_together() reports the error.
template <class Operator, class A, class B>
void add_into(const Operator& reporter, A& to, const B& from) {
  using T = element_of<A>;
  const auto y = block_of(to);
  const block_argument<B> argument(from);
  text error_message;
  if (y.shape != argument.block().shape)
    error_message << "partita::add(a, b)(x): requires operators whose results have one shape on each worker, got "
                  << y.shape << " and " << argument.block().shape << "; add operators between the same partitions";
  throw_together(reporter, error_message);
  if (y.size() != 0)
    add_block<T>(y.data, y.strides.data(), argument.block().data, argument.block().strides.data(), y.shape.data(),
                 rank_of<A>);
}

/// Makes a result that can be added to: a read-only result of a kernel is copied.
template <class Result>
decltype(auto) writable_result(Result&& result) {
  if constexpr (requires { *result.data() = *result.data(); }) return std::forward<Result>(result);
  else return xt::xtensor<element_of<Result>, rank_of<Result>>(result);
}

}  // namespace detail

/// The operator add(a, b): applies both operators to one block and adds their results.
template <class A, class B>
class operator_sum {
 public:
  static constexpr bool is_linear = detail::may_be_linear<A> && detail::may_be_linear<B>;  ///< whether adjoint compiles

  operator_sum(A a, B b) : a_(std::move(a)), b_(std::move(b)) {}

  template <class X>
  auto operator()(const X& x) const {
    auto y = detail::writable_result(a_(x));
    detail::add_into(detail::reporter_of(a_, b_), y, b_(x));
    return y;
  }
  template <class X, class View>
  void into(const X& x, View&& view) const {  ///< writes the sum into an array or view of the caller
    a_.into(x, view);
    detail::add_into(detail::reporter_of(a_, b_), view, b_(x));
  }
  /// Non-blocking: starts both operators.
  template <class X>
  auto start(X&& x) const {
    auto first = detail::start_step(a_, detail::copy_if_temporary<X>(x));
    return add_pending_results(std::move(first), detail::start_step(b_, std::forward<X>(x)));
  }
  template <class Y>
  auto adjoint(const Y& dy) const {  ///< the sum of the adjoints of both operators
    check_linear();
    if constexpr (is_linear) {
      auto dx = detail::writable_result(a_.adjoint(dy));
      detail::add_into(detail::reporter_of(a_, b_), dx, b_.adjoint(dy));
      return dx;
    }
  }
  template <class Y, class View>
  void adjoint_into(const Y& dy, View&& view) const {  ///< writes the sum of both adjoints into an array or view
    check_linear();
    if constexpr (is_linear) {
      a_.adjoint_into(dy, view);
      detail::add_into(detail::reporter_of(a_, b_), view, b_.adjoint(dy));
    }
  }
  template <class Y>
  auto start_adjoint(Y&& dy) const {  ///< starts the adjoints of both operators; finish() returns their sum
    check_linear();
    if constexpr (is_linear) {
      auto first = detail::start_adjoint_step(a_, detail::copy_if_temporary<Y>(dy));
      return add_pending_results(std::move(first), detail::start_adjoint_step(b_, std::forward<Y>(dy)));
    }
  }
  /// Returns the pair of the plans of both operators. Requires operators whose plan() needs no argument [compile time].
  auto plan() const
    requires(detail::has_plan<A> && detail::has_plan<B>)
  {
    return std::make_pair(a_.plan(), b_.plan());
  }
  auto* memory() const { return a_.memory(); }  ///< the memory pool of the results of the first operator
  kernel_counts counts() const { return a_.counts() += b_.counts(); }  ///< the sums of the counts of both operators

 private:
  static constexpr void check_linear() {  ///< a compile-time error if one of the operators has no adjoint
    static_assert(is_linear, "partita::add(a, b).adjoint(dy): requires linear operators; one of these has no adjoint");
  }
  friend struct detail::kernel_access;
  void throw_together_(const text& error_message) const  ///< throws a worker's error on all; at checks::local its own
    requires(detail::reports_errors<A> || detail::reports_errors<B>)
  {
    detail::kernel_access::throw_together(detail::reporter_of(a_, b_), error_message);
  }
  template <class First, class Second>
  auto add_pending_results(First first, Second second) const {  ///< an operation whose finish() adds both results
    return detail::pending_chain(std::move(first),
                                 [reports = detail::reporter_of(a_, b_), other = std::move(second)](auto&& y) mutable {
                                   auto both = detail::writable_result(std::move(y));
                                   detail::add_into(reports, both, other.finish());
                                   return both;
                                 });
  }

  A a_;  ///< the first operator
  B b_;  ///< the second operator
};

/// Makes the sum of two operators: add(a, b)(x) = a(x) + b(x).
/// Shapes:   x is an input block of both operators; on each worker both results have equal shapes [shape_error; on all
///           workers, unless both operators are a program's own].
/// Requires: operators, which are copied; elements that can be added.
/// Cost:     the cost of both operators and one pass over the result.
/// Adjoint:  the sum of the adjoints; the sum has no adjoint if one operator has none.
template <detail::operator_like A, detail::operator_like B>
auto add(A a, B b) {
  return operator_sum<A, B>(std::move(a), std::move(b));
}

}  // namespace partita
