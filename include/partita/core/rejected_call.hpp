// Helpers of overloads that only invalid calls select: their only effect is one readable error message.
#pragma once

#include <cstddef>
#include <initializer_list>

namespace partita::detail {

/// The value false, dependent on template parameters: a static_assert of it fails only if a template is instantiated.
template <class... A>
inline constexpr bool dependent_false = sizeof...(A) == static_cast<std::size_t>(-1);

/// The result type of a call that a static_assert rejects. Its destructor avoids a warning about an unused variable.
struct rejected_call {
  ~rejected_call() {}
};

/// Placeholder for the template arguments of a layer that the caller has not given.
struct arguments_not_given {};
/// Placeholder for an element type that the caller has not given.
struct element_type_not_given {};
/// Placeholder for a rank that the caller has not given.
inline constexpr std::size_t rank_not_given = static_cast<std::size_t>(-1);

/// Every argument, and every list in braces, converts to this type. The conversion is worse than those of all other
/// overloads, so an overload with this parameter gets only the calls that no other overload accepts.
struct any_argument {
  constexpr any_argument() = default;  ///< for an argument that is not passed
  template <class A>
  constexpr any_argument(const A&) {}
  constexpr any_argument(std::initializer_list<any_argument>) {}
};
/// An object of type T for a call that a static_assert rejects, so that the static_assert stays the only error: the
/// call's result, or the argument of a delegated constructor. The function is never defined.
template <class T>
T&& undefined_object();

}  // namespace partita::detail

/// `PARTITA_FALLBACK_OVERLOAD(f) { static_assert(…) }` defines an overload of f that takes up to five arguments of any
/// types, and gets the calls that no other overload accepts. PARTITA_FALLBACK_OVERLOAD_OF_VALUES(f) gives the same
/// message for calls of f whose template arguments are values. In an editor (clangd, IntelliSense) these overloads have
/// a different name, so that the editor lists only the signatures of valid calls.
#if defined(__INTELLISENSE__) || defined(__clangd__) || defined(PARTITA_SIGNATURES_ALONE)
#define PARTITA_FALLBACK_NAME(function) function##_of_other_arguments
#else
#define PARTITA_FALLBACK_NAME(function) function
#endif
#define PARTITA_FALLBACK_OVERLOAD(function)                                                  \
  template <class... Given>                                                                  \
  auto PARTITA_FALLBACK_NAME(function)(detail::any_argument = {}, detail::any_argument = {}, \
                                       detail::any_argument = {}, detail::any_argument = {}, \
                                       detail::any_argument = {})
#define PARTITA_FALLBACK_OVERLOAD_OF_VALUES(function)                                        \
  template <auto First, auto... Given>                                                       \
  auto PARTITA_FALLBACK_NAME(function)(detail::any_argument = {}, detail::any_argument = {}, \
                                       detail::any_argument = {}, detail::any_argument = {}, \
                                       detail::any_argument = {}) {                          \
    return PARTITA_FALLBACK_NAME(function)<decltype(First)>();                               \
  }

/// `PARTITA_FALLBACK_CLASS(name, arguments...) { static_assert(…) }` specialises a class template for placeholder
/// types, `arguments`, which no valid object has. Constructor calls that no other deduction guide accepts select this
/// specialisation, whose constructors reject them. PARTITA_FALLBACK_CLASS_IF rejects only calls with arguments of types
/// `Given` that fulfil a condition.
#define PARTITA_FALLBACK_CLASS(class_name, ...) PARTITA_FALLBACK_CLASS_WITH(, class_name, __VA_ARGS__)
#define PARTITA_FALLBACK_CLASS_IF(condition, class_name, ...) \
  PARTITA_FALLBACK_CLASS_WITH(requires(condition), class_name, __VA_ARGS__)
#define PARTITA_FALLBACK_CLASS_WITH(constraint, class_name, ...)                                                \
  template <>                                                                                                   \
  class class_name<__VA_ARGS__> : public detail::rejected_call {                                                \
   public:                                                                                                      \
    template <class... Given>                                                                                   \
    explicit class_name(const Given&...);                                                                       \
    template <class... Given>                                                                                   \
    class_name(detail::any_argument, detail::any_argument, detail::any_argument = {})                           \
        : class_name(static_cast<Given*>(nullptr)...) {}                                                        \
  };                                                                                                            \
  template <class... Given>                                                                                     \
  constraint class_name(const Given&...) -> class_name<__VA_ARGS__>;                                            \
  class_name(detail::any_argument, detail::any_argument, detail::any_argument = {}) -> class_name<__VA_ARGS__>; \
  template <class... Given>                                                                                     \
  class_name<__VA_ARGS__>::class_name(const Given&...)
/// Defines a constructor that rejects calls with one to five arguments that no other constructor accepts, in a class
/// whose template arguments are known.
#define PARTITA_FALLBACK_CONSTRUCTOR(class_name)                                                            \
  template <class... Given>                                                                                 \
  constexpr explicit class_name(detail::any_argument, detail::any_argument = {}, detail::any_argument = {}, \
                                detail::any_argument = {}, detail::any_argument = {})                       \
      : class_name(detail::undefined_object<class_name>())
/// Defines a specialisation of a layer `class_name<T, Rank>` that rejects constructor calls which determine no rank.
/// `options` is the type of the constructor's last argument.
#define PARTITA_FALLBACK_LAYER(class_name, options)                                                  \
  template <class T>                                                                                 \
  class class_name<T, detail::rank_not_given> : public detail::rejected_call {                       \
   public:                                                                                           \
    template <class... Given>                                                                        \
    explicit class_name(const Given&...);                                                            \
    template <class P>                                                                               \
    class_name(const P&, const options&) : class_name(nullptr) {}                                    \
  };                                                                                                 \
  template <class... Given>                                                                          \
  class_name(const Given&...) -> class_name<detail::element_type_not_given, detail::rank_not_given>; \
  template <class T>                                                                                 \
  template <class... Given>                                                                          \
  class_name<T, detail::rank_not_given>::class_name(const Given&...)
