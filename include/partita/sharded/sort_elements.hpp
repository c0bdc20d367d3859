// Sorts all elements of a sharded tensor of rank 1 without gathering it: sort, argsort, top_k, quantile, unique, and
// permutation of rows.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <partita/comm/agreement.hpp>
#include <partita/comm/facts.hpp>
#include <partita/comm/fingerprint.hpp>
#include <partita/core/rejected_call.hpp>
#include <partita/kernel/sorted_numbers.hpp>
#include <partita/sharded/bind_indices.hpp>
#include <partita/sharded/sort_along.hpp>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace partita {
namespace detail {

/// Returns the mesh of a tensor x that is to be sorted, after all workers have agreed on the call and its parameter
/// (except at checks::local), and the rank of x has been checked.
template <class T>
const std::shared_ptr<bound_mesh>& checked_mesh(const sharded_tensor<T>& x, bool has_rows, const char* call,
                                                std::uint64_t parameter) {
  require_immediate_execution(call);
  const auto& on = x.state()->on;
  if (!on)
    throw partition_error(text("partita::") << call << ": requires a tensor on a mesh; shard it, or use sort(x, "
                                            << "dimensions<0>)");
  hasher number(type_number<T>());
  number.mix(call).mix(fingerprint_of(x.layout())).mix(x.extents()).mix(parameter);
  on->one_call([&] {
    agree_if_checked(*on->everyone().state(), number.value(), {},
                     [&] { return text("partita::") << call << " of extents " << x.extents(); });
  });
  if (x.rank() != 1 && !(has_rows && x.rank() > 1))
    throw shape_error(text("partita::") << call << ": requires a tensor of rank 1" << (has_rows ? " or more" : "")
                                        << ", got extents " << x.extents());
  return on;
}
/// This worker's interval of dimension 0 of a tensor, when the dimension is divided into balanced parts for all workers
/// of the world.
template <class T>
interval part_range(const sharded_tensor<T>& x) {
  const world& everyone = x.state()->on->everyone();
  return balanced_part(x.extents()[0], everyone.size(), everyone.id());
}
/// Moves the elements of x to balanced parts, and returns the elements of this worker's part.
template <class T>
xt::xtensor<T, 1> fetch_balanced_part(const sharded_tensor<T>& x) {
  const bound_mesh& on = *x.state()->on;
  const bool gives = on.active() && replica_number(on, x.layout()) == 0;
  const interval own = gives ? on.box(x.layout(), x.extents())[0] : interval{};
  const index_exchange exchange(on.everyone(), own, part_range(x));
  return exchange(xt::adapt(x.data(), own.size(), xt::no_ownership(), std::array{own.size()}));
}
/// Makes a tensor of this layout and these extents from a list of numbers, of which each worker holds the interval
/// `part` in `local_numbers`. Element k of the tensor is number k of the list, or number places[k] if `places` is not
/// null.
template <class T, class Numbers>
auto tensor_from_numbers(const sharded_tensor<T>& x, const Numbers& local_numbers, const interval& part,
                         const sharding& layout, const shape_list& extents, const std::vector<std::size_t>* places,
                         const char* call) {
  const auto& on = x.state()->on;
  const interval box = on->active() ? on->box(layout, extents)[0] : interval{};
  const index_list all = places == nullptr || !on->active() ? index_list(box) : index_list(*places);
  return tensor_from_exchange(index_exchange(on->everyone(), part, all), local_numbers, on, call, layout, extents);
}
/// The indices of all elements in sorted order, sharded as x is. If `ranks` is not null, only the indices at the
/// positions `ranks` of the sorted order, not sharded.
template <class T>
sharded_tensor<std::size_t> sorted_indices(const sharded_tensor<T>& x, const sort_options& options,
                                           const std::vector<std::size_t>* ranks, const char* call) {
  const auto& on = x.state()->on;
  return on->one_call([&] {
    const auto places = partita::argsort(on->everyone(), fetch_balanced_part(x), options);
    const sharding layout = ranks == nullptr ? layout_of(x.layout()) : sharding(x.layout().on, 1);
    return tensor_from_numbers(x, places, part_range(x), layout, {ranks == nullptr ? x.extents()[0] : ranks->size()},
                               ranks, call);
  });
}
template <class T>
sharded_tensor<T> take_rows_at(const sharded_tensor<T>& x, const sharded_tensor<std::size_t>& indices,
                               const char* call) {  ///< plans and makes one index exchange
  return take_rows(bind_to_rows(x, indices), x, call);
}

/// Applies the function f to x, converted to a tensor with a run-time layout. If the type of x has a layout, the type
/// of the result also has a layout: if Whole is true, a layout of rank Rank that shards no dimension, otherwise a
/// layout that shards only dimension 0, as x does.
template <bool Whole, std::size_t Rank, class X, class F>
auto apply_with_run_time_layout(const X& x, const F& f) {
  if constexpr (tensor_kind<X> == 1) {
    constexpr auto name = std::remove_cvref_t<X>::name;
    auto y = f(x.run_time_tensor());
    using T = element_of_tensor<decltype(y)>;
    if constexpr (Whole) return typed_sharded<T, name_of_layout<sharding(layout_of_name<name>.on, Rank)>>(std::move(y));
    else return typed_sharded<T, row_layout_name<name, name>>(std::move(y));
  } else {
    return f(x);
  }
}
template <class X>
consteval bool is_sortable() {  ///< whether the elements of X can be sorted; else a compile-time error
  static_assert(tensor_kind<X> != 3,
                "partita::sort(x), argsort, top_k, quantile, unique: requires a sharded tensor; in a traced program "
                "use sort(x, dimensions<0>)");
  if constexpr (tensor_kind<X> == 3) {
    return false;
  } else {
    constexpr bool has_order = sortable<element_of_tensor<X>>;
    static_assert(has_order,
                  "partita::sort(x), argsort, top_k, quantile, unique: requires integers, float or double; real(z) and "
                  "abs(z) of complex elements have an order");
    constexpr bool is_line = static_rank<X>() == 1 || static_rank<X>() == dynamic;
    static_assert(is_line,
                  "partita::sort(x), argsort, top_k, quantile, unique: requires a tensor of rank 1; sort(x, "
                  "dimensions<d>) sorts along a dimension");
    return has_order && is_line;
  }
}

}  // namespace detail

/// Sorts the elements of a tensor of rank 1: `auto y = sort(x)`. The elements stay sharded, and are not gathered.
/// Shapes:   those of x. The layout of the result is that of x without pending reductions.
/// Requires: integers, float or double [compile time], rank 1 [shape_error], no call in a dry run or while a program is
///           being bound [error]; a traced program must call `sort(x, dimensions<0>)`.
/// Cost:     a parallel argsort of balanced parts, then exchanges that bring the indices and the elements to the
///           workers that hold them in the result. The order is stable; NaNs are last, or first in descending order.
/// Adjoint:  moves the elements of dy to the places from which the elements of x came.
template <detail::tensor_value X>
auto sort(const X& x, const sort_direction& direction = {}) {
  if constexpr (detail::is_sortable<X>())
    return detail::apply_with_run_time_layout<false, 1>(x, [&](const auto& input) {
      detail::checked_mesh(input, false, "sort(x)", direction.descending ? 1 : 0);
      const auto z = detail::reduce_if_partial(input, "sort(x)");
      return detail::take_rows_at(z, detail::sorted_indices(z, {.descending = direction.descending}, nullptr, "sort"),
                                  "sort(x)");
    });
  else return detail::rejected_call{};
}
/// The indices of the elements of sort(x), of type std::size_t: `bind_indices(z, argsort(x)).take(z)` puts the rows of
/// z in the order of the elements of x.
/// Shapes, Requires, Cost: those of sort(x).
/// Adjoint:  none.
template <detail::tensor_value X>
auto argsort(const X& x, const sort_direction& direction = {}) {
  if constexpr (detail::is_sortable<X>())
    return detail::apply_with_run_time_layout<false, 1>(x, [&](const auto& input) {
      detail::checked_mesh(input, false, "argsort(x)", direction.descending ? 1 : 0);
      return detail::sorted_indices(detail::reduce_if_partial(input, "argsort(x)"),
                                    {.descending = direction.descending}, nullptr, "argsort");
    });
  else return detail::rejected_call{};
}
/// The k greatest elements of a tensor of rank 1, the greatest first, and their indices, as in `auto [values, indices]
/// = top_k(x, 3)`. Of equal elements the ones with the smaller indices are taken; NaNs count as greater than all
/// numbers.
/// Shapes:   values and indices have k elements each, and are not sharded.
/// Requires: what sort(x) requires, and at least k elements [shape_error].
/// Cost:     the move of x to balanced parts, a local selection, and exchanges in which a worker sends at most k
///           elements or indices to each other worker.
/// Adjoint:  moves dy of the values to the places from which they came, and sets 0 elsewhere; indices have no gradient.
template <detail::tensor_value X>
auto top_k(const X& x, std::size_t k) {
  if constexpr (detail::is_sortable<X>()) {
    const auto indices = detail::apply_with_run_time_layout<true, 1>(x, [&](const auto& input) {
      const auto& on = detail::checked_mesh(input, false, "top_k(x, k)", k);
      const auto z = detail::reduce_if_partial(input, "top_k(x, k)");
      return on->one_call([&] {
        const auto best = top_k(on->everyone(), detail::fetch_balanced_part(z), k).indices;
        const bool has_all = on->everyone().id() == 0;
        const xt::xtensor<std::size_t, 1> own = xt::view(best, xt::range(std::size_t{0}, has_all ? k : 0));
        return detail::tensor_from_numbers(z, own, has_all ? interval{0, k} : interval{k, k},
                                           sharding(z.layout().on, 1), {k}, nullptr, "top_k");
      });
    });
    auto values = detail::apply_with_run_time_layout<true, 1>(
        x, [&](const auto& input) { return detail::take_rows_at(input, detail::as_run_time(indices), "top_k(x, k)"); });
    return top_elements<decltype(values), std::remove_const_t<decltype(indices)>>{std::move(values), indices};
  } else {
    return detail::rejected_call{};
  }
}
/// The quantile of the elements of a tensor of rank 1, a tensor of rank 0: `quantile(x, 0.5)` is the median. A quantile
/// between two elements is interpolated linearly; it is NaN if an element is NaN.
/// Requires: what sort(x) requires, float or double, at least one element, a probability from 0 to 1 [shape_error].
/// Cost:     that of argsort(x).
/// Adjoint:  divides dy, by the weights of the interpolation, between the two elements of x from which the quantile was
///           computed. If x has a NaN, its last NaN gets dy.
template <detail::tensor_value X>
auto quantile(const X& x, double probability) {
  constexpr bool has_fractions = !std::is_integral_v<detail::element_of_tensor<X>>;
  static_assert(has_fractions,
                "partita::quantile(x, probability): requires elements that are no integers; cast x to float or double");
  if constexpr (detail::is_sortable<X>() && has_fractions) {
    return detail::apply_with_run_time_layout<true, 0>(x, [&](const auto& input) {
      detail::checked_mesh(input, false, "quantile(x, probability)", std::bit_cast<std::uint64_t>(probability));
      const std::size_t n = input.extents()[0];
      if (!(probability >= 0 && probability <= 1) || n == 0)
        throw shape_error((text("partita::quantile(x, probability): requires a probability from 0 to 1 and an element, "
                                "got ")
                           << std::to_string(probability).c_str() << " and x of extents " << input.extents())
                              .c_str());
      const auto z = detail::reduce_if_partial(input, "quantile(x, probability)");
      const double at = probability * static_cast<double>(n - 1);
      const auto low = static_cast<std::size_t>(at);
      const std::vector<std::size_t> ranks{low, std::min(low + 1, n - 1), n - 1};
      const auto low_high_last =
          detail::take_rows_at(z, detail::sorted_indices(z, {}, &ranks, "quantile"), "quantile(x, q)");
      return detail::interpolate<0>(low_high_last, 0, at - static_cast<double>(low), 2);
    });
  } else {
    return detail::rejected_call{};
  }
}
/// The distinct elements of a tensor of rank 1 in ascending order, as in `auto y = unique(x)`; their number is
/// y.extents()[0]. NaNs are last. All NaNs count as equal, and so do 0.0 and -0.0.
/// Shapes:   rank 1, sharded as x is, in balanced parts.
/// Requires: what sort(x) requires.
/// Cost:     the move of x to balanced parts, a parallel sort of the distinct elements of each part, and an exchange.
/// Adjoint:  none.
template <detail::tensor_value X>
auto unique(const X& x) {
  if constexpr (detail::is_sortable<X>())
    return detail::apply_with_run_time_layout<false, 1>(x, [&](const auto& input) {
      const auto& on = detail::checked_mesh(input, false, "unique(x)", 0);
      const auto z = detail::reduce_if_partial(input, "unique(x)");
      return on->one_call([&] {
        const auto own = unique(on->everyone(), detail::fetch_balanced_part(z));
        std::size_t before = 0, all = 0;
        for (std::size_t k = 0;
             const auto& list_of_worker : detail::gather_numbers<1>(*on->everyone().state(), {own.size()})) {
          before += k++ < on->everyone().id() ? list_of_worker[0] : 0;
          all += list_of_worker[0];
        }
        return detail::tensor_from_numbers(z, own, interval{before, before + own.size()}, detail::layout_of(z.layout()),
                                           {all}, nullptr, "unique");
      });
    });
  else return detail::rejected_call{};
}
/// The rows of x (indices of dimension 0) in a random order, which depends only on the number of rows and the seed, as
/// in `auto y = permutation(x, seed)`.
/// Shapes:   those of x. The result is sharded along dimension 0 as x is, and not along other dimensions.
/// Requires: rank 1 or more [shape_error], no call in a dry run or while a program is being bound [error], the same
///           seed on all workers [disagreement_error].
/// Cost:     a parallel argsort of one random number for each row; each worker receives its rows of the result once.
/// Adjoint:  moves the rows of dy back to their places in x.
template <class X>
  requires(detail::tensor_kind<X> == 1 || detail::tensor_kind<X> == 2)
auto permutation(const X& x, std::uint64_t seed) {
  return detail::apply_with_run_time_layout<false, 1>(x, [&](const auto& input) {
    const auto& on = detail::checked_mesh(input, true, "permutation(x, seed)", seed);
    const auto z = detail::reduce_if_partial(input, "permutation(x, seed)");
    const auto indices = on->one_call([&] {
      const interval part = detail::part_range(z);
      const auto own = permutation(on->everyone(), part.size(), seed);
      return detail::tensor_from_numbers(z, own, part, detail::layout_of_rank(z.layout(), 1), {z.extents()[0]}, nullptr,
                                         "permutation");
    });
    return detail::take_rows_at(z, indices, "permutation(x, seed)");
  });
}

}  // namespace partita
