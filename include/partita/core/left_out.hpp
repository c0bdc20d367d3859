// What stands in the place of arguments that were left out or are of another kind: a sentence is all that it gives.
#pragma once

#include <cstddef>

namespace partita::detail {

/// False, but only once it is asked for.
template <class... A>
inline constexpr bool asked_for_nothing = sizeof...(A) == static_cast<std::size_t>(-1);

/// In the place of a result: no compiler warns that it is not used.
struct no_result {
  ~no_result() {}
};

/// In the place of what a layer is made of.
struct nothing_given {};
/// In the place of an element type that was not given.
struct element_type_left_out {};
/// In the place of a rank that was not given.
inline constexpr std::size_t rank_left_out = static_cast<std::size_t>(-1);

}  // namespace partita::detail
