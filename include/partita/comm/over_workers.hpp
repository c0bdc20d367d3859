// Reductions and scans of one number, or a small array, per worker over the workers of a world.
#pragma once

#include <array>
#include <cstddef>
#include <partita/array/strided.hpp>
#include <partita/comm/agreement.hpp>
#include <partita/comm/element.hpp>
#include <partita/comm/fingerprint.hpp>
#include <partita/comm/one_call.hpp>
#include <partita/comm/world.hpp>
#include <partita/core/rejected_call.hpp>
#include <partita/core/short_list.hpp>
#include <partita/rule/reduction.hpp>

namespace partita {
namespace detail {

/// X stores its elements contiguously and knows their number: a std::array, a std::vector.
template <class X>
concept contiguous_values = !xt::is_xexpression<X>::value && requires(const X& x) {
  typename X::value_type;
  x.data();
  x.size();
};

/// How to read and describe a value that is combined over workers: a number, a std container or a tensor.
template <class X>
struct combinable_value {
  using element = X;                                    ///< the type of the numbers
  using result = X;                                     ///< the type of the combined value
  static shape_list extents(const X&) { return {}; }    ///< the extents of a value
  static element* data(result& y) { return &y; }        ///< the address of the first number
  static std::size_t size(const result&) { return 1; }  ///< how many numbers a value has
};
template <class X>
  requires contiguous_values<X>
struct combinable_value<X> {
  using element = typename X::value_type;
  using result = X;
  static shape_list extents(const X& x) { return {x.size()}; }
  static element* data(result& y) { return y.data(); }
  static std::size_t size(const result& y) { return y.size(); }
};
template <class X>
  requires xt::is_xexpression<X>::value
struct combinable_value<X> {
  using element = element_of<X>;
  /// The tensor type that holds the values of an expression: xt::xtensor if the rank is known at compile time.
  template <bool HasRank, class Y>
  struct evaluated_value {
    using type = xt::xarray<element>;  ///< for an expression whose rank is known at run time only
  };
  template <class Y>
  struct evaluated_value<true, Y> {
    using type = xt::xtensor<element, rank_of<Y>>;
  };
  using result = typename evaluated_value<ranked_array<X>, X>::type;
  static shape_list extents(const X& x) { return x.shape(); }    ///< the extents of the value
  static element* data(result& y) { return y.data(); }           ///< the address of the first number
  static std::size_t size(const result& y) { return y.size(); }  ///< how many numbers the value has
};

/// The workers whose values are combined for a worker: all workers, the workers up to and including it, or the workers
/// before it.
enum class scan_range { all, up_to_this_worker, before_this_worker };

/// Combines the values of the workers in `worker_range`, element by element, in the order of the workers' ids. Workers
/// that combine the same values do the same operations, so they get the same bits. At most 64 KiB per worker are
/// gathered at a time: chosen to keep the buffer small.
template <class R, class X>
typename combinable_value<X>::result combine_over_workers(const world& everyone, const X& x, scan_range worker_range,
                                                          const char* call) {
  using traits = combinable_value<X>;
  using T = typename traits::element;
  constexpr std::size_t slot = 3;  // the index of the buffer; kernels use 0 to 2
  constexpr std::size_t most = sizeof(T) < 65536 ? 65536 / sizeof(T) : 1;
  world_state& state = *everyone.state();
  return one_call(state, [&] {
    const shape_list extents = traits::extents(x);
    typename traits::result y(x);
    T* const values = traits::data(y);
    const std::size_t size = traits::size(y);
    T* const all = size == 0 ? nullptr : state.buffer_in_slot<T>(slot, (size < most ? size : most) * state.size());
    const auto describe = [&] {
      text made(call);
      made << " with " << type_name<R>() << " of ";
      return extents.empty() ? made << "a " << type_name<T>() << " of each worker"
                             : made << type_name<T>() << " elements, extents " << extents;
    };
    agree_if_checked(state,
                     hasher(0x6f766572U)
                         .mix(worker_range)
                         .mix(type_number<R>())
                         .mix(type_number<typename traits::result>())
                         .mix(extents)
                         .value(),
                     {}, describe);

    const std::size_t stop = worker_range == scan_range::all                  ? state.size()
                             : worker_range == scan_range::before_this_worker ? state.id()
                                                                              : state.id() + 1;
    for (std::size_t first = 0; first < size; first += most) {
      const std::size_t n = size - first < most ? size - first : most;
      const auto count = static_cast<int>(n);
      check(MPI_Allgather(values + first, count, datatype<T>(), all, count, datatype<T>(), state.communicator()),
            "MPI_Allgather");
      for (std::size_t i = 0; i < n; ++i) {
        T& value = values[first + i];
        value = stop == 0 ? reduction_identity<R, T>() : all[i];
        for (std::size_t k = 1; k < stop; ++k) value = static_cast<T>(R{}(value, all[k * n + i]));
        if constexpr (requires { R::template completed<T>(value, stop); })
          if (stop != 0) value = R::template completed<T>(value, stop);
      }
    }
    return y;
  });
}

/// Combines one value of each worker, with compile-time errors for values that cannot be combined.
template <class R, class X>
auto combine_over_workers_checked(const world& everyone, const X& x, scan_range worker_range, const char* call) {
  using T = typename combinable_value<X>::element;
  constexpr bool are_numbers = element_in_place<T>;
  static_assert(are_numbers,
                "partita::sum_over(everyone, x) and its kind: requires a number, or a std::array, std::vector or "
                "xtensor expression of numbers, the same type on all workers");
  if constexpr (are_numbers) {
    constexpr bool are_taken = reduction_of<R, T>;
    static_assert(are_taken,
                  "partita::sum_over(everyone, x) and its kind: requires elements that the reduction takes: no bool in "
                  "a sum (cast to an integer, or ask any_of), no complex number in an extreme, bools or integers in "
                  "all_of and any_of");
    if constexpr (are_taken) return combine_over_workers<R>(everyone, x, worker_range, call);
    else return rejected_call();
  } else {
    return rejected_call();
  }
}

}  // namespace detail

/// Combines one value of each worker by a reduction and returns the result on all workers, for example
/// `reduce_over(everyone, x, maximum)`. The reductions are those of rule/reduction.hpp, or a type of your own.
/// Shapes:   x is a number, or a std::array, std::vector or xtensor expression of numbers, which are combined element
///           by element. The result has the type of x; for an expression it is an xt::xtensor or xt::xarray.
/// Requires: a call by every worker of the world with the same reduction, type and extents [disagreement_error, on all
///           workers]; elements that the reduction accepts [compile time].
/// Cost:     one agreement and one MPI_Allgather of x (for each 64 KiB of it). The reduction follows the order of the
///           workers' ids, so all workers get the same bits at every call. For blocks of tensors use `all_reduce`.
/// Adjoint:  none: these numbers are not differentiated; `all_sum_reduce` has an adjoint.
template <class X, class Named>
auto reduce_over(const world& everyone, const X& x, Named) {
  return detail::combine_over_workers_checked<typename detail::named_reduction_tag<Named>::type>(
      everyone, x, detail::scan_range::all, "partita::reduce_over(everyone, x)");
}
template <class X>  // `sum` and `mean` are overloaded functions; this parameter type selects one overload
auto reduce_over(const world& everyone, const X& x, sum_t (*)(detail::reduction_name)) {
  return reduce_over(everyone, x, sum_t{});
}
template <class X>
auto reduce_over(const world& everyone, const X& x, mean_t (*)(detail::reduction_name)) {
  return reduce_over(everyone, x, mean_t{});
}

/// The sum of one number per worker, on all workers: `sum_over(everyone, x)`.
/// Shapes, Requires, Cost, Adjoint: as for reduce_over.
template <class X>
auto sum_over(const world& everyone, const X& x) {
  return detail::combine_over_workers_checked<sum_t>(everyone, x, detail::scan_range::all,
                                                     "partita::sum_over(everyone, x)");
}
/// The largest of one number per worker, on all workers. A NaN propagates.
/// Shapes, Requires, Cost, Adjoint: as for reduce_over.
template <class X>
auto maximum_over(const world& everyone, const X& x) {
  return detail::combine_over_workers_checked<maximum_t>(everyone, x, detail::scan_range::all,
                                                         "partita::maximum_over(everyone, x)");
}
/// The smallest of one number per worker, on all workers. A NaN propagates.
/// Shapes, Requires, Cost, Adjoint: as for reduce_over.
template <class X>
auto minimum_over(const world& everyone, const X& x) {
  return detail::combine_over_workers_checked<minimum_t>(everyone, x, detail::scan_range::all,
                                                         "partita::minimum_over(everyone, x)");
}
#define PARTITA_REQUIRES_WORLD(name) \
  "partita::" name "(everyone, x): requires the world first, then a number of each worker"
PARTITA_FALLBACK_OVERLOAD(sum_over) {
  static_assert(detail::dependent_false<Given...>, PARTITA_REQUIRES_WORLD("sum_over"));
  return detail::rejected_call{};
}
PARTITA_FALLBACK_OVERLOAD(maximum_over) {
  static_assert(detail::dependent_false<Given...>, PARTITA_REQUIRES_WORLD("maximum_over"));
  return detail::rejected_call{};
}
PARTITA_FALLBACK_OVERLOAD(minimum_over) {
  static_assert(detail::dependent_false<Given...>, PARTITA_REQUIRES_WORLD("minimum_over"));
  return detail::rejected_call{};
}
#undef PARTITA_REQUIRES_WORLD
/// Whether a condition holds on every worker, as in `while (!all_of(everyone, error < 1e-9))`.
/// Shapes, Requires, Cost, Adjoint: as for reduce_over.
template <class X>
auto all_of(const world& everyone, const X& condition) {
  return detail::combine_over_workers_checked<all_t>(everyone, condition, detail::scan_range::all,
                                                     "partita::all_of(everyone, x)");
}
/// Whether a condition holds on at least one worker. Shapes, Requires, Cost, Adjoint: as for reduce_over.
template <class X>
auto any_of(const world& everyone, const X& condition) {
  return detail::combine_over_workers_checked<any_t>(everyone, condition, detail::scan_range::all,
                                                     "partita::any_of(everyone, x)");
}

/// Combines the values of the workers before this worker, by default to their sum. If x is a number of items, the sum
/// is the first index of this worker's items in a global numbering. Worker 0 gets the identity of the reduction (0 for
/// a sum). Example: `exclusive_scan(everyone, n, maximum)`.
/// Shapes, Requires, Cost, Adjoint: as for reduce_over. Worker k gets the same bits as a reduction of the values of
/// workers 0 … k - 1 alone.
template <class X, class Named = sum_t>
auto exclusive_scan(const world& everyone, const X& x, Named = {}) {
  return detail::combine_over_workers_checked<typename detail::named_reduction_tag<Named>::type>(
      everyone, x, detail::scan_range::before_this_worker, "partita::exclusive_scan(everyone, x)");
}
template <class X>  // `sum` and `mean` are overloaded functions; this parameter type selects one overload
auto exclusive_scan(const world& everyone, const X& x, sum_t (*)(detail::reduction_name)) {
  return exclusive_scan(everyone, x, sum_t{});
}
template <class X>
auto exclusive_scan(const world& everyone, const X& x, mean_t (*)(detail::reduction_name)) {
  return exclusive_scan(everyone, x, mean_t{});
}
/// Combines the values of the workers up to and including this worker, by default to their sum.
/// Shapes, Requires, Cost, Adjoint: as for reduce_over. Worker k gets the same bits as a reduction of the values of
/// workers 0 … k alone.
template <class X, class Named = sum_t>
auto inclusive_scan(const world& everyone, const X& x, Named = {}) {
  return detail::combine_over_workers_checked<typename detail::named_reduction_tag<Named>::type>(
      everyone, x, detail::scan_range::up_to_this_worker, "partita::inclusive_scan(everyone, x)");
}
template <class X>  // `sum` and `mean` are overloaded functions; this parameter type selects one overload
auto inclusive_scan(const world& everyone, const X& x, sum_t (*)(detail::reduction_name)) {
  return inclusive_scan(everyone, x, sum_t{});
}
template <class X>
auto inclusive_scan(const world& everyone, const X& x, mean_t (*)(detail::reduction_name)) {
  return inclusive_scan(everyone, x, mean_t{});
}

}  // namespace partita
