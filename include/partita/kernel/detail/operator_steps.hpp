// What operators that are made of operators share: what counts as one, and steps that are begun and followed by others.
#pragma once

#include <partita/array/strided.hpp>
#include <type_traits>
#include <utility>

namespace partita::detail {

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

}  // namespace partita::detail
