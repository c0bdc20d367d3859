// Helpers of overloads that no valid call takes: their only effect is one readable error message.
#pragma once

#include <cstddef>

namespace partita::detail {

/// Dependent false: an assertion of it fails when a template is instantiated.
template <class... A>
inline constexpr bool dependent_false = sizeof...(A) == static_cast<std::size_t>(-1);

/// In the place of a result: no compiler warns that it is not used.
struct rejected_call {
  ~rejected_call() {}
};

/// In the place of what a layer is made of.
struct nothing_given {};
/// In the place of an element type that was not given.
struct element_type_left_out {};
/// In the place of a rank that was not given.
inline constexpr std::size_t rank_left_out = static_cast<std::size_t>(-1);

/// What every argument converts to, and every list in braces: a conversion that those of all other overloads are better
/// than, so that what takes these gets the calls that nothing else takes.
struct any_argument {
  constexpr any_argument() = default;
  template <class A>
  constexpr any_argument(const A&) {}
  template <class A, class B, class... More>
  constexpr any_argument(const A&, const B&, const More&...) {}
};

}  // namespace partita::detail

/// `PARTITA_OTHER_CALLS(f) { static_assert(…) }` is what the calls of f get that no overload takes: any arguments, too
/// few, or up to five. PARTITA_OTHER_CALLS_OF_VALUES(f) gives the same message to calls with values as template
/// arguments. Under another name where an editor reads this, whose list of signatures then shows what may be called.
#if defined(__INTELLISENSE__) || defined(__clangd__) || defined(PARTITA_SIGNATURES_ALONE)
#define PARTITA_NAME_OF_OTHER_CALLS(function) function##_of_other_arguments
#else
#define PARTITA_NAME_OF_OTHER_CALLS(function) function
#endif
#define PARTITA_OTHER_CALLS(function)                                                              \
  template <class... Given>                                                                        \
  auto PARTITA_NAME_OF_OTHER_CALLS(function)(detail::any_argument = {}, detail::any_argument = {}, \
                                             detail::any_argument = {}, detail::any_argument = {}, \
                                             detail::any_argument = {})
#define PARTITA_OTHER_CALLS_OF_VALUES(function)                                                    \
  template <auto First, auto... Given>                                                             \
  auto PARTITA_NAME_OF_OTHER_CALLS(function)(detail::any_argument = {}, detail::any_argument = {}, \
                                             detail::any_argument = {}, detail::any_argument = {}, \
                                             detail::any_argument = {}) {                          \
    return PARTITA_NAME_OF_OTHER_CALLS(function)<decltype(First)>();                               \
  }
