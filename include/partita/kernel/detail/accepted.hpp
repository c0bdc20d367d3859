// Compile-time checks of the blocks and views that exchange kernels accept; a wrong argument gives one error message.
#pragma once

#include <cstddef>
#include <partita/array/overlapping.hpp>
#include <partita/array/strided.hpp>
#include <partita/comm/agreement.hpp>
#include <partita/comm/element.hpp>
#include <partita/kernel/detail/target.hpp>
#include <type_traits>

namespace partita::detail {

/// Whether the rank of X is part of its type; a function, because g++ explains a concept in many lines.
template <class X>
constexpr bool has_known_rank() {
  return ranked_array<X>;
}
template <class X, std::size_t Rank>
constexpr bool has_rank() {  // whether X is an array of rank Rank
  if constexpr (ranked_array<X>) return rank_of<X> == Rank;
  else return false;
}
template <class X>
constexpr bool has_addressable_elements() {  // whether MPI can move X's elements in place, without a copy
  if constexpr (ranked_array<X>) return element_in_place<element_of<X>>;
  else return false;
}
template <class X>
constexpr bool has_summable_elements() {  // whether MPI can move X's elements in place, and they can be added
  if constexpr (ranked_array<X>) return summable_element<element_of<X>> && element_in_place<element_of<X>>;
  else return false;
}
/// The type of a data member of a class whose template arguments were rejected: any arguments construct it, so that the
/// compiler prints no second error message.
struct missing_member {
  template <class... Arguments>
  explicit missing_member(const Arguments&...) {}  ///< ignores all arguments
};
template <bool Accepted, class Member>
using member_if_accepted = std::conditional_t<Accepted, Member, missing_member>;  ///< Member, or missing_member if not

/// Whether View is a temporary tensor that owns its memory; a result written to a temporary tensor would be destroyed
/// together with the tensor. The argument View must be the type that a parameter `View&&` deduces.
template <class View>
inline constexpr bool is_temporary_tensor =
    !std::is_reference_v<View> && requires(const std::remove_reference_t<View>* y) {
      []<class S, std::size_t N, xt::layout_type L, class Tag>(const xt::xtensor_container<S, N, L, Tag>*) {}(y);
    };

/// Returns x as the argument of a call after which x is used again: a copy if X is the type of a temporary tensor, from
/// which the call would move, otherwise a reference.
template <class X>
std::conditional_t<is_temporary_tensor<X>, std::remove_cvref_t<X>, const std::remove_cvref_t<X>&> copy_if_temporary(
    const std::remove_cvref_t<X>& x) {
  return x;
}

/// Whether View is an array in writable memory, of rank Rank and with elements T.
template <class View, class T, std::size_t Rank>
constexpr bool is_view_of() {
  static_assert(
      !is_temporary_tensor<View>,
      "partita: kernel.into(x, view): requires a tensor that outlives the call, or a view of one; a temporary "
      "tensor takes the result with it");
  return is_writable_array<View, T, Rank>();
}
/// Whether View is an array in writable memory, of the rank of X and with elements of the type of those of X.
template <class View, class X>
constexpr bool is_matching_view() {
  if constexpr (ranked_array<X>) return is_view_of<View, element_of<X>, rank_of<X>>();
  else return false;
}

/// Returns the error `before`, if there is one; otherwise an error if the block x and the view `output` overlap.
template <class T, std::size_t Rank>
local_error overlap_error(const local_error& before, const strided<const T, Rank>& x, const target<T, Rank>& output,
                          const char* call) {
  if (before.any() || !output.is_given) return before;
  const strided<const T, Rank> to = output.block;
  if (!overlapping(x, to)) return before;
  return local_error(text(call) << ".into(x, view): requires a view that shares no element with x, got a block of "
                                << x.shape << " and a view of " << to.shape
                                << " of the same memory; copy x, or give another view");
}

}  // namespace partita::detail
