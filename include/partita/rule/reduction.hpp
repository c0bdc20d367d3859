// Reductions: how the blocks of several workers are combined.
//
// A reduction is an empty type with an associative and commutative function of two elements and an identity element.
// The library provides sum, maximum, minimum, any, all, mean, reductions::product and reductions::log_sum_exp. A
// program can define its own type like this, for kernels and for `reduce_along` of sharded tensors:
//
//     struct longest {
//       static constexpr int identity() { return 0; }
//       constexpr int operator()(int a, int b) const { return a > b ? a : b; }
//     };
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <partita/core/version.hpp>
#include <type_traits>
#include <utility>

namespace partita {

namespace detail {

/// The parameter of the functions that stand for reductions, such as `sum`; these functions are never called.
struct reduction_name {};

/// The type of a kernel parameter that selects the reduction R. The argument is an R, or the function that stands for
/// R, as `sum` stands for sum_t; the type picks this function among the overloads of `sum`, which is also a function of
/// tensors.
template <class R>
struct reduction_argument {
  constexpr reduction_argument(R) {}                      ///< the reduction itself, such as sum_t{}
  constexpr reduction_argument(R (*)(reduction_name)) {}  ///< the function that stands for it
};

/// T is a type of complex numbers, which can be made from a real and an imaginary part.
template <class T>
concept complex_like = requires(const T& a) {
  typename T::value_type;
  a.real();
  a.imag();
  T(a.real(), a.imag());
};
/// T is a type of numbers with fractions, which have means.
template <class T>
concept fraction = std::is_floating_point_v<T> || complex_like<T>;

}  // namespace detail

/// The sum of elements.
struct sum_t {
  static constexpr const char* name = "sum";        ///< the name in messages
  static constexpr const char* short_name = "sum";  ///< the name of the pending reduction
  static constexpr bool is_linear = true;           ///< the result is linear in the elements
  /// Whether elements may be of type T.
  template <class T>
  static constexpr bool takes = !std::is_same_v<T, bool> && requires(T& a, const T& b) { a += b; };
  template <class T>
  static constexpr T identity() {  ///< the neutral element
    return T{};
  }
  template <class T>
    requires takes<T>
  constexpr T operator()(T a, const T& b) const {
    a += b;
    return a;
  }
};
/// The product of elements.
struct product_t {
  static constexpr const char* name = "product";     ///< the name in messages
  static constexpr const char* short_name = "prod";  ///< the name of the pending reduction
  /// Whether elements may be of type T.
  template <class T>
  static constexpr bool takes = !std::is_same_v<T, bool> && (std::is_arithmetic_v<T> || detail::complex_like<T>);
  template <class T>
  static constexpr T identity() {  ///< the neutral element
    return T(1);
  }
  template <class T>
    requires takes<T>
  constexpr T operator()(const T& a, const T& b) const {
    return static_cast<T>(a * b);
  }
};
/// The maximum of two elements, which is NaN if either element is NaN. On arrays `maximum` is the element-wise
/// operation: maximum(a, b), also with broadcast_dimensions.
struct maximum_t {
  static constexpr const char* name = "maximum";    ///< the name in messages
  static constexpr const char* short_name = "max";  ///< the name of the pending reduction
  static constexpr bool is_extreme = true;          ///< the result is one of the elements
  template <class T>
  static constexpr bool takes = std::is_arithmetic_v<T>;  ///< whether elements may be of type T
  template <class T>
  static constexpr T identity() {  ///< the neutral element
    if constexpr (std::numeric_limits<T>::has_infinity) return -std::numeric_limits<T>::infinity();
    else return std::numeric_limits<T>::lowest();
  }
  template <class T>
    requires takes<T>
  constexpr T operator()(T a, T b) const {
    return a > b || a != a ? a : b;
  }
  template <class L, class R, class... Dims>
    requires(!(takes<std::remove_cvref_t<L>> && takes<std::remove_cvref_t<R>>))
  constexpr auto operator()(L&& l, R&& r, const Dims&... dims) const
      -> decltype(apply_extremum(*this, std::forward<L>(l), std::forward<R>(r), dims...)) {
    return apply_extremum(*this, std::forward<L>(l), std::forward<R>(r), dims...);
  }
};
/// The minimum of two elements; for NaN and for arrays see maximum_t.
struct minimum_t {
  static constexpr const char* name = "minimum";    ///< the name in messages
  static constexpr const char* short_name = "min";  ///< the name of the pending reduction
  static constexpr bool is_extreme = true;          ///< the result is one of the elements
  template <class T>
  static constexpr bool takes = std::is_arithmetic_v<T>;  ///< whether elements may be of type T
  template <class T>
  static constexpr T identity() {  ///< the neutral element
    if constexpr (std::numeric_limits<T>::has_infinity) return std::numeric_limits<T>::infinity();
    else return std::numeric_limits<T>::max();
  }
  template <class T>
    requires takes<T>
  constexpr T operator()(T a, T b) const {
    return a < b || a != a ? a : b;
  }
  template <class L, class R, class... Dims>
    requires(!(takes<std::remove_cvref_t<L>> && takes<std::remove_cvref_t<R>>))
  constexpr auto operator()(L&& l, R&& r, const Dims&... dims) const
      -> decltype(apply_extremum(*this, std::forward<L>(l), std::forward<R>(r), dims...)) {
    return apply_extremum(*this, std::forward<L>(l), std::forward<R>(r), dims...);
  }
};
// [any]
/// Whether an element is true, or not 0, on any worker: gives true or false, and 1 or 0 for integers.
struct any_t {
  static constexpr const char* name = "any";
  static constexpr const char* short_name = "any";
  static constexpr bool is_idempotent = true;
  template <class T>
  static constexpr bool takes = std::is_integral_v<T>;
  template <class T>
  static constexpr T identity() {
    return T(0);
  }
  template <class T>
    requires takes<T>
  constexpr T operator()(T a, T b) const {
    return static_cast<T>(a != 0 || b != 0);
  }
  /// Converts a reduced element to the result, also for a single worker: 1 or 0.
  template <class T>
  static constexpr T completed(T all, std::size_t) {
    return static_cast<T>(all != 0);
  }
};
// [/any]
/// Whether an element is true, or not 0, on all workers: gives true or false, and 1 or 0 for integers.
struct all_t {
  static constexpr const char* name = "all";        ///< the name in messages
  static constexpr const char* short_name = "all";  ///< the name of the pending reduction
  static constexpr bool is_idempotent = true;       ///< equal elements have the same result as one of them alone
  template <class T>
  static constexpr bool takes = std::is_integral_v<T>;  ///< whether elements may be of type T
  template <class T>
  static constexpr T identity() {  ///< the neutral element
    return T(1);
  }
  template <class T>
    requires takes<T>
  constexpr T operator()(T a, T b) const {
    return static_cast<T>(a != 0 && b != 0);
  }
  /// Converts a reduced element to the result, also for a single worker: 1 or 0.
  template <class T>
  static constexpr T completed(T all, std::size_t) {
    return static_cast<T>(all != 0);
  }
};
/// The sum divided by the number of workers that contributed a block.
struct mean_t {
  static constexpr const char* name = "mean";                    ///< the name in messages
  static constexpr const char* short_name = "avg";               ///< the name of the pending reduction
  static constexpr bool is_linear = true, is_idempotent = true;  ///< linear; the mean of equal elements is that element
  template <class T>
  static constexpr bool takes = detail::fraction<T>;  ///< whether elements may be of type T
  template <class T>
  static constexpr T identity() {  ///< the neutral element
    return T{};
  }
  template <class T>
    requires takes<T>
  constexpr T operator()(const T& a, const T& b) const {
    return static_cast<T>(a + b);
  }
  /// Divides the sum by the number of workers that contributed a block.
  template <class T>
  static constexpr T completed(T all, std::size_t count) {
    if constexpr (detail::complex_like<T>) return all / static_cast<typename T::value_type>(count);
    else return all / static_cast<T>(count);
  }
};

namespace detail {

/// exp(x), by the compiler's built-in functions, because <cmath> has as many lines as the whole of rule/.
template <class T>
T exponential_function(T x) {
  if constexpr (std::is_same_v<T, float>) return __builtin_expf(x);
  else if constexpr (std::is_same_v<T, double>) return __builtin_exp(x);
  else return __builtin_expl(x);
}
template <class T>
T log_one_plus(T x) {  ///< log(1 + x)
  if constexpr (std::is_same_v<T, float>) return __builtin_log1pf(x);
  else if constexpr (std::is_same_v<T, double>) return __builtin_log1p(x);
  else return __builtin_log1pl(x);
}

}  // namespace detail

/// The reduction log(exp(a) + exp(b)), computed without overflow; the derivative of the result y with respect to an
/// element x is exp(x - y).
struct log_sum_exp_t {
  static constexpr const char* name = "log_sum_exp";  ///< the name in messages
  static constexpr const char* short_name = "lse";    ///< the name of the pending reduction
  template <class T>
  static constexpr bool takes = std::is_floating_point_v<T>;  ///< whether elements may be of type T
  template <class T>
  static constexpr T identity() {  ///< the neutral element
    return -std::numeric_limits<T>::infinity();
  }
  template <class T>
    requires takes<T>
  T operator()(T a, T b) const {
    constexpr T infinity = std::numeric_limits<T>::infinity(), log_2 = T(0.693147180559945309417232L);
    const T most = a > b || a != a ? a : b, least = a > b || a != a ? b : a;
    if (most == least && most != infinity && most != -infinity) return most + log_2;
    if (most == least || most == infinity || most != most) return most + (least != least ? least : T(0));
    return most + detail::log_one_plus(detail::exponential_function(least - most));
  }
  /// The derivative of the result y of the reduction with respect to one element x.
  template <class T>
  static T derivative(T x, T y) {
    return detail::exponential_function(x - y);
  }
};

// The reductions maximum and minimum are constants; the names of all other reductions are functions that are never
// called. A variable may therefore be named `sum`, and `sum(x)` still finds, by argument-dependent lookup, the function
// of x's own library.
inline constexpr maximum_t maximum{};                         ///< The reduction to the largest element.
inline constexpr minimum_t minimum{};                         ///< The reduction to the smallest element.
constexpr sum_t sum(detail::reduction_name) { return {}; }    ///< names sum_t; never called
constexpr any_t any(detail::reduction_name) { return {}; }    ///< names any_t; never called
constexpr all_t all(detail::reduction_name) { return {}; }    ///< names all_t; never called
constexpr mean_t mean(detail::reduction_name) { return {}; }  ///< names mean_t; never called

/// All reductions. `product` and `log_sum_exp` are available only in this namespace: sharding programs often define
/// their own `product`.
namespace reductions {
using partita::all;
using partita::any;
using partita::maximum;
using partita::mean;
using partita::minimum;
using partita::sum;
constexpr product_t product(detail::reduction_name) { return {}; }          ///< names product_t; never called
constexpr log_sum_exp_t log_sum_exp(detail::reduction_name) { return {}; }  ///< names log_sum_exp_t; never called
}  // namespace reductions

namespace detail {

/// The reduction that an argument of a kernel names.
template <class Named>
struct named_reduction_tag {
  using type = Named;  ///< the argument has the type of the reduction
};
template <class R>
struct named_reduction_tag<R (*)(reduction_name)> {
  using type = R;  ///< the argument is the function that stands for R
};

template <class R, class T>
concept has_typed_identity = requires {
  { R::template identity<T>() } -> std::convertible_to<T>;
};
template <class R, class T>
concept has_untyped_identity = requires {
  { R::identity() } -> std::convertible_to<T>;
};
/// Whether R accepts elements of type T. If reduction R has no member `takes`, it accepts what its function accepts.
template <class R, class T>
constexpr bool accepts_element_type() {
  if constexpr (requires { R::template takes<T>; }) return R::template takes<T>;
  else return true;
}
/// The identity element of a reduction: the contribution of a worker without a block.
template <class R, class T>
constexpr T reduction_identity() {
  if constexpr (has_typed_identity<R, T>) return static_cast<T>(R::template identity<T>());
  else return static_cast<T>(R::identity());
}
/// Properties that the type of a reduction declares. Linear: the reduction's adjoint copies dy, or a fraction of dy.
/// Extreme: the largest or smallest element. Idempotent: equal elements have the same result as one element.
template <class R>
inline constexpr bool is_linear_reduction = requires { requires R::is_linear; };
template <class R>
inline constexpr bool is_extreme_reduction = requires { requires R::is_extreme; };
template <class R>
inline constexpr bool is_idempotent_reduction = is_extreme_reduction<R> || requires { requires R::is_idempotent; };
/// Whether the reduction R has the same result in every order, or can be computed with one final rounding.
template <class R>
inline constexpr bool has_reproducible_form = is_linear_reduction<R> || is_idempotent_reduction<R>;

}  // namespace detail

/// R is a reduction of elements of type T: an empty type with a function of two elements and an identity.
template <class R, class T>
concept reduction_of =
    std::is_empty_v<R> && std::is_default_constructible_v<R> && detail::accepts_element_type<R, T>() &&
    (detail::has_typed_identity<R, T> || detail::has_untyped_identity<R, T>)&&requires(const R& r, const T& a) {
      { r(a, a) } -> std::convertible_to<T>;
    };

/// The reductions that may be pending in a layout, or `none` if the value is complete.
enum class pending_reduction : std::uint8_t { none, sum, avg, max, min, prod, any, all, log_sum_exp };

/// The name of pending_reduction in version 0.2.
using owed_reduction PARTITA_FORMER_NAME("use pending_reduction") = pending_reduction;

namespace detail {

/// A list of reduction types, numbered from 1 as in pending_reduction.
template <class... R>
struct reduction_list {
  static constexpr std::size_t size = sizeof...(R);  ///< the number of types
  /// Calls f with an object of the reduction type that `kind` stands for; for `none`, f is not called.
  template <class F>
  static constexpr void visit(pending_reduction kind, const F& f) {
    std::size_t k = 0;
    ((static_cast<std::size_t>(kind) == ++k ? void(f(R{})) : void()), ...);
  }
  /// The enumerator that stands for a reduction type; `none` for a type that is not in the list.
  template <class One>
  static constexpr pending_reduction kind_of() {
    std::size_t k = 0, found = 0;
    ((++k, found = std::is_same_v<One, R> ? k : found), ...);
    return static_cast<pending_reduction>(found);
  }
};
/// The reduction types, in the order of the enumeration pending_reduction.
using pending_reductions = reduction_list<sum_t, mean_t, maximum_t, minimum_t, product_t, any_t, all_t, log_sum_exp_t>;

/// The pending_reduction of R, or `none` if R cannot be pending; a dimension that such an R reduces must be unsharded.
template <class R>
inline constexpr pending_reduction pending_kind_of_reduction = pending_reductions::kind_of<R>();

}  // namespace detail
}  // namespace partita
