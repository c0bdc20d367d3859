// Operators made of operators, one after the other.
#pragma once

#include <memory>
#include <partita/core/left_out.hpp>
#include <partita/kernel/detail/operator_steps.hpp>
#include <partita/kernel/hooked.hpp>
#include <partita/kernel/linear_operator.hpp>
#include <tuple>
#include <type_traits>
#include <utility>

namespace partita {

/// The first operator, then the next on its result, and so on; made by compose(first, next, …).
template <class... Operators>
class composition {
 public:
  static constexpr bool is_linear = (detail::may_be_linear<Operators> && ...);

  explicit composition(Operators... operators)
      : operators_(std::make_shared<const std::tuple<Operators...>>(std::move(operators)...)) {}

  template <class X>
  auto operator()(const X& x) const {
    return forward<0>(x);
  }
  template <class X, class View>
  void into(const X& x, View&& view) const {
    if constexpr (last == 0) std::get<0>(*operators_).into(x, view);
    else std::get<last>(*operators_).into(forward<0, last>(x), view);
  }
  /// Begins the first operator; the others follow when it is finished, which every worker does.
  template <class X>
  auto start(const X& x) const {
    return detail::pending_chain(detail::begun_step(std::get<0>(*operators_), x),
                                 [self = *this](auto&& y) { return self.template after<1>(std::move(y)); });
  }
  template <class Y>
  auto adjoint(const Y& dy) const {
    check_linear();
    if constexpr (is_linear) return backward<last>(dy);
  }
  template <class Y, class View>
  void adjoint_into(const Y& dy, View&& view) const {
    check_linear();
    if constexpr (is_linear) {
      if constexpr (last == 0) std::get<0>(*operators_).adjoint_into(dy, view);
      else std::get<0>(*operators_).adjoint_into(backward<last, 1>(dy), view);
    }
  }
  /// Begins the adjoint of the last operator; the others follow when it is finished.
  template <class Y>
  auto start_adjoint(const Y& dy) const {
    check_linear();
    if constexpr (is_linear)
      return detail::pending_chain(detail::begun_step_back(std::get<last>(*operators_), dy),
                                   [self = *this](auto&& x) { return self.template before<last>(std::move(x)); });
  }
  /// The plan of each operator, in their order. Requires operators whose plans depend on no block.
  auto plan() const
    requires(detail::has_plan<Operators> && ...)
  {
    return std::apply([](const auto&... k) { return std::make_tuple(k.plan()...); }, *operators_);
  }
  /// The memory that results come from.
  auto* memory() const { return std::get<last>(*operators_).memory(); }
  kernel_counts counts() const {
    return std::apply(
        [](const auto&... k) {
          kernel_counts all;
          ((all.structures_made += k.counts().structures_made, all.messages += k.counts().messages,
            all.bytes_by_message += k.counts().bytes_by_message, all.bytes_shared += k.counts().bytes_shared),
           ...);
          return all;
        },
        *operators_);
  }

 private:
  static constexpr std::size_t last = sizeof...(Operators) - 1;

  static constexpr void check_linear() {
    static_assert(is_linear,
                  "partita::compose(a, b, ...).adjoint(dy): requires linear operators; one of these has no adjoint");
  }
  /// Operators K … End - 1, one after the other.
  template <std::size_t K, std::size_t End = sizeof...(Operators), class X>
  auto forward(const X& x) const {
    if constexpr (K + 1 == End) return std::get<K>(*operators_)(x);
    else return forward<K + 1, End>(std::get<K>(*operators_)(x));
  }
  /// The adjoints of operators K … End, in this falling order.
  template <std::size_t K, std::size_t End = 0, class Y>
  auto backward(const Y& dy) const {
    if constexpr (K == End) return std::get<K>(*operators_).adjoint(dy);
    else return backward<K - 1, End>(std::get<K>(*operators_).adjoint(dy));
  }
  template <std::size_t K, class Y>
  auto after(Y&& y) const {
    if constexpr (K == sizeof...(Operators)) return std::move(y);
    else return forward<K>(y);
  }
  template <std::size_t K, class X>
  auto before(X&& x) const {
    if constexpr (K == 0) return std::move(x);
    else return backward<K - 1>(x);
  }

  friend struct detail::hooked;
  void object_(const text& objection) const
    requires requires(const std::tuple_element_t<0, std::tuple<Operators...>>& k) {
      detail::hooked::object(k, objection);
    }
  {
    detail::hooked::object(std::get<0>(*operators_), objection);
  }

  std::shared_ptr<const std::tuple<Operators...>> operators_;  // shared, so that what copies learn is learnt once
};

/// The operator that applies the first, then the next to its result, and so on: compose(a, b)(x) is b(a(x)).
/// Shapes:   x is a block of the first operator, the result one of the last.
/// Requires: each takes what the one before it gives [compile time]; operators, which are copied.
/// Cost:     that of its operators: each agrees on its own call, because what the next one moves depends on what
///           arrived.
/// Adjoint:  the adjoints in the opposite order; there is none if one operator has none.
template <detail::operator_like First, detail::operator_like... Next>
auto compose(First first, Next... next) {
  return composition<First, Next...>(std::move(first), std::move(next)...);
}
/// Of something else: a sentence.
template <class... A>
  requires(sizeof...(A) == 0 || !(detail::operator_like<A> && ...))
auto compose(const A&...) {
  static_assert(
      detail::asked_for_nothing<A...>,
      "partita::compose(a, b, ...): requires one operator or more, as kernels and layers are; give a function "
      "a struct with operator() and adjoint()");
  return detail::no_result{};
}

}  // namespace partita
