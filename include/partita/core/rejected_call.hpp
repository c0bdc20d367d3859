// Helpers of overloads that only invalid calls select: their only effect is one readable error message.
#pragma once

#include <cstddef>

namespace partita::detail {

/// Dependent false: an assertion of it fails when a template is instantiated.
template <class... A>
inline constexpr bool dependent_false = sizeof...(A) == static_cast<std::size_t>(-1);

/// The result of a rejected call. Its destructor avoids a compiler warning about an unused variable.
struct rejected_call {
  ~rejected_call() {}
};

/// Placeholder for the template arguments of a layer that were not given.
struct nothing_given {};
/// Placeholder for an element type that was not given.
struct element_type_not_given {};
/// Placeholder for a rank that was not given.
inline constexpr std::size_t rank_not_given = static_cast<std::size_t>(-1);

/// Every argument, and every list in braces, converts to this type. The conversion is worse than those of all other
/// overloads, so an overload with this parameter gets only the calls that no other overload accepts.
struct any_argument {
  constexpr any_argument() = default;
  template <class A>
  constexpr any_argument(const A&) {}
  template <class A, class B, class... More>
  constexpr any_argument(const A&, const B&, const More&...) {}
};

}  // namespace partita::detail

/// `PARTITA_FALLBACK_OVERLOAD(f) { static_assert(…) }` defines the overload for calls of f that no other overload
/// accepts: any arguments, too few, or up to five. PARTITA_FALLBACK_OVERLOAD_OF_VALUES(f) gives the same message to
/// calls with values as template arguments. For an editor the overload has a different name, so that its list of
/// signatures shows only valid calls.
#if defined(__INTELLISENSE__) || defined(__clangd__) || defined(PARTITA_SIGNATURES_ALONE)
#define PARTITA_NAME_OF_FALLBACK(function) function##_of_other_arguments
#else
#define PARTITA_NAME_OF_FALLBACK(function) function
#endif
#define PARTITA_FALLBACK_OVERLOAD(function)                                                     \
  template <class... Given>                                                                     \
  auto PARTITA_NAME_OF_FALLBACK(function)(detail::any_argument = {}, detail::any_argument = {}, \
                                          detail::any_argument = {}, detail::any_argument = {}, \
                                          detail::any_argument = {})
#define PARTITA_FALLBACK_OVERLOAD_OF_VALUES(function)                                           \
  template <auto First, auto... Given>                                                          \
  auto PARTITA_NAME_OF_FALLBACK(function)(detail::any_argument = {}, detail::any_argument = {}, \
                                          detail::any_argument = {}, detail::any_argument = {}, \
                                          detail::any_argument = {}) {                          \
    return PARTITA_NAME_OF_FALLBACK(function)<decltype(First)>();                               \
  }
