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

/// In the place of an element type that was not given.
struct element_type_left_out {};

}  // namespace partita::detail
