// The block that a kernel fills: a new tensor, or the view that the caller passes to `into`.
#pragma once

#include <array>
#include <cstddef>
#include <partita/array/strided.hpp>
#include <partita/comm/agreement.hpp>
#include <partita/kernel/detail/requirements.hpp>
#include <type_traits>
#include <utility>

namespace partita::detail {

/// A writable block that a kernel fills: the caller's block, or none (then the kernel allocates a tensor).
template <class T, std::size_t Rank>
struct target {
  bool is_given = false;     ///< whether the caller passed the block
  strided<T, Rank> block{};  ///< the caller's block, if one was passed
};

/// Whether View is an array in memory that is not const, of rank Rank and with elements T.
template <class View, class T, std::size_t Rank>
constexpr bool is_writable_array() {
  if constexpr (strided_array<View>)
    return rank_of<View> == Rank && std::is_same_v<element_of<View>, T> &&
           !std::is_const_v<std::remove_pointer_t<decltype(std::declval<View&>().data())>>;
  else return false;
}

/// Whether a caller's array or view can be filled with elements T of rank Rank; if not, the compiler says so.
template <class T, std::size_t Rank, class View>
consteval bool is_matching_result() {
  constexpr bool fits = is_writable_array<View, T, Rank>();
  static_assert(fits, PARTITA_REQUIRES_VIEW("partita: kernel.into(x, view)"));
  return fits;
}

/// Makes the target of a caller's array or view.
template <class T, std::size_t Rank, class View>
target<T, Rank> make_target(View& view) {
  if constexpr (is_matching_result<T, Rank, View>()) return {true, block_of(view)};
  else return {};
}

/// Sets an error if the view that a caller passes does not have the shape of the result.
template <std::size_t Rank>
void expect_shape(const std::array<std::size_t, Rank>& view, const std::array<std::size_t, Rank>& shape,
                  const char* call, local_error& found_error) {
  if (view == shape || volume_of(shape) == 0) return;
  found_error.kind = failure::shape;
  found_error.sentence << call << ".into(x, view): requires a view of the shape of the result " << shape << ", got "
                       << view << "; take a view of that shape";
}
template <class T, std::size_t Rank>
void expect_shape(const target<T, Rank>& given, const std::array<std::size_t, Rank>& shape, const char* call,
                  local_error& found_error) {
  if (given.is_given) expect_shape(given.block.shape, shape, call, found_error);
}

}  // namespace partita::detail
