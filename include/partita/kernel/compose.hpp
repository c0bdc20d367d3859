// Operators made of operators: one after the other, and side by side.
#pragma once

#include <memory>
#include <partita/array/strided.hpp>
#include <partita/kernel/hooked.hpp>
#include <partita/kernel/linear_operator.hpp>
#include <tuple>
#include <type_traits>
#include <utility>

namespace partita {

namespace detail {

/// A class that has a member `adjoint` makes the name ambiguous where it is inherited beside this one.
struct another_adjoint {
  void adjoint();
};
template <class K>
struct with_another_adjoint : K, another_adjoint {};

/// K is made to be applied to blocks and back: a kernel, or what is made of kernels; no array. Its adjoint is not
/// looked into, because that of an operator that has none does not compile.
template <class K>
concept operator_like = std::is_class_v<K> && !xt::is_xexpression<K>::value && !std::is_final_v<K> &&
                        !requires { &with_another_adjoint<K>::adjoint; };

/// The result of a step that cannot be begun and was carried out at once.
template <class Result>
struct there_already {
  Result result;
  Result finish() { return std::move(result); }
};
template <class K, class X>
auto begun_step(const K& k, const X& x) {
  if constexpr (requires { k.start(x); }) return k.start(x);
  else return there_already<decltype(k(x))>{k(x)};
}
template <class K, class Y>
auto begun_step_back(const K& k, const Y& dy) {
  if constexpr (requires { k.start_adjoint(dy); }) return k.start_adjoint(dy);
  else return there_already<decltype(k.adjoint(dy))>{k.adjoint(dy)};
}

/// All workers throw, if one of them has an objection and the kernel can tell them.
template <class Kernel>
void object(const Kernel& kernel, const text& objection) {
  if constexpr (requires { hooked::object(kernel, objection); }) hooked::object(kernel, objection);
  else if (!objection.empty()) throw shape_error(objection);
}

/// What K plans depends on no block.
template <class K>
concept has_plan = requires(const K& k) { k.plan(); };

/// What was begun in the first of several steps: the others follow at its end.
template <class First, class Rest>
class pending_chain {
 public:
  pending_chain(First first, Rest rest) : first_(std::move(first)), rest_(std::move(rest)) {}
  /// Waits for the first step and carries out the others.
  auto finish() { return rest_(first_.finish()); }

 private:
  First first_;
  Rest rest_;
};

/// to += from, of which the kernel that `to` comes from tells all workers if it cannot be.
template <class Kernel, class A, class B>
void add_to(const Kernel& kernel, A& to, const B& from) {
  using T = element_of<A>;
  const auto y = block_of(to);
  const block_argument<B> argument(from);
  text objection;
  if (y.shape != argument.block().shape)
    objection << "partita::add(a, b)(x): requires operators whose results have one shape on each worker, got "
              << y.shape << " and " << argument.block().shape << "; add operators between the same partitions";
  object(kernel, objection);
  if (y.size() != 0)
    add_block<T>(y.data, y.strides.data(), argument.block().data, argument.block().strides.data(), y.shape.data(),
                 rank_of<A>);
}

/// A result that can be added to: what a kernel gives to read alone is copied.
template <class Result>
decltype(auto) writable(Result&& result) {
  if constexpr (requires { *result.data() = *result.data(); }) return std::forward<Result>(result);
  else return xt::xtensor<element_of<Result>, rank_of<Result>>(result);
}

}  // namespace detail

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

/// Two operators on one block, their results added; made by add(a, b).
template <class A, class B>
class operator_sum {
 public:
  static constexpr bool is_linear = detail::may_be_linear<A> && detail::may_be_linear<B>;

  operator_sum(A a, B b) : a_(std::move(a)), b_(std::move(b)) {}

  template <class X>
  auto operator()(const X& x) const {
    auto y = detail::writable(a_(x));
    detail::add_to(a_, y, b_(x));
    return y;
  }
  template <class X, class View>
  void into(const X& x, View&& view) const {
    a_.into(x, view);
    detail::add_to(a_, view, b_(x));
  }
  /// Begins both.
  template <class X>
  auto start(const X& x) const {
    return both_begun(detail::begun_step(a_, x), detail::begun_step(b_, x));
  }
  template <class Y>
  auto adjoint(const Y& dy) const {
    check_linear();
    if constexpr (is_linear) {
      auto dx = detail::writable(a_.adjoint(dy));
      detail::add_to(a_, dx, b_.adjoint(dy));
      return dx;
    }
  }
  template <class Y, class View>
  void adjoint_into(const Y& dy, View&& view) const {
    check_linear();
    if constexpr (is_linear) {
      a_.adjoint_into(dy, view);
      detail::add_to(a_, view, b_.adjoint(dy));
    }
  }
  template <class Y>
  auto start_adjoint(const Y& dy) const {
    check_linear();
    if constexpr (is_linear) return both_begun(detail::begun_step_back(a_, dy), detail::begun_step_back(b_, dy));
  }
  /// The plans of both. Requires operators whose plans depend on no block.
  auto plan() const
    requires(detail::has_plan<A> && detail::has_plan<B>)
  {
    return std::make_pair(a_.plan(), b_.plan());
  }
  auto* memory() const { return a_.memory(); }
  kernel_counts counts() const {
    const kernel_counts a = a_.counts(), b = b_.counts();
    return {a.structures_made + b.structures_made, a.messages + b.messages, a.bytes_by_message + b.bytes_by_message,
            a.bytes_shared + b.bytes_shared};
  }

 private:
  static constexpr void check_linear() {
    static_assert(is_linear, "partita::add(a, b).adjoint(dy): requires linear operators; one of these has no adjoint");
  }
  friend struct detail::hooked;
  void object_(const text& objection) const
    requires requires(const A& a) { detail::hooked::object(a, objection); }
  {
    detail::hooked::object(a_, objection);
  }
  template <class First, class Second>
  auto both_begun(First first, Second second) const {
    return detail::pending_chain(std::move(first), [a = a_, other = std::move(second)](auto&& y) mutable {
      auto both = detail::writable(std::move(y));
      detail::add_to(a, both, other.finish());
      return both;
    });
  }

  A a_;
  B b_;
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

/// The operator add(a, b)(x) = a(x) + b(x).
/// Shapes:   x is a block of both operators, whose results have one shape on each worker [shape_error there].
/// Requires: operators, which are copied; elements that can be added.
/// Cost:     that of both and one pass over the result.
/// Adjoint:  add of the adjoints; there is none if one operator has none.
template <detail::operator_like A, detail::operator_like B>
auto add(A a, B b) {
  return operator_sum<A, B>(std::move(a), std::move(b));
}

}  // namespace partita
