// Sorts along a dimension of a tensor: sort, argsort, top_k and quantile. The operations are declared in the same form
// as a user-defined operation.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <partita/array/sort_key.hpp>
#include <partita/core/rejected_call.hpp>
#include <partita/rule/kernel_dimensions.hpp>
#include <partita/rule/sharding/rules/shape.hpp>
#include <partita/sharded/detail/convert_elements.hpp>
#include <partita/sharded/detail/whole_dimension.hpp>
#include <partita/sharded/indexed.hpp>
#include <partita/sharded/operate.hpp>
#include <partita/sharded/parts.hpp>
#include <partita/sharded/rearrange.hpp>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace partita {

/// The direction of sort and argsort of tensors.
struct sort_direction {
  bool descending = false;  ///< true: the greatest element first
};
/// The k greatest elements along a dimension, the greatest first, and their indices along the dimension.
template <class Values, class Indices>
struct top_elements {
  Values values;    ///< the k greatest elements, the greatest first
  Indices indices;  ///< their indices along the dimension
};

namespace detail {

/// The common part of operations that sort the elements along dimension D in a stable order and read the first ones:
/// how many they read, and the direction of the order. NaNs are last, or first in descending order; 0.0 and -0.0 are
/// equal.
template <std::size_t D>
struct line_sort {
  static constexpr bool on_integers = true, on_complex = false;  ///< accepts integers, rejects complex elements
  static constexpr std::size_t parameters = 2;                   ///< number of data members, each equal on all workers
  std::size_t max_count = dynamic;  ///< the number of sorted elements of each line to read; dynamic: all
  bool descending = false;          ///< true: the greatest element first

  /// The extents of the sorted elements that are read. Throws an error if a line has too few elements.
  shape_list sorted_extents(shape_list extents) const {
    if (max_count != dynamic && max_count > extents[D])
      throw shape_error(text("partita::top_k(x, k, dimensions<d>): requires at least k = ")
                        << max_count << " elements along dimension " << D << " of " << extents << "; take a smaller k");
    if (max_count != dynamic) extents[D] = max_count;
    return extents;
  }
  /// Calls f(offset in a block with whole lines, offset in a block with the first elements of the lines, index in the
  /// line) for each of the first elements of each line of keys, in order.
  template <class T, class F>
  void for_each_in_order(const tensor_part<const T>& keys, F f) const {
    const dimension_loops n(keys.shape, D);
    const std::size_t first = std::min(max_count, n.middle);
    std::vector<key_and_position> line(n.middle);
    const auto end = line.begin() + static_cast<std::ptrdiff_t>(first);
    for (std::size_t o = 0; o < n.outer; ++o)
      for (std::size_t i = 0; i < n.inner; ++i) {
        for (std::size_t k = 0; k < n.middle; ++k) {
          const std::uint64_t key = sort_key(keys[(o * n.middle + k) * n.inner + i]);
          line[k] = {descending ? ~key : key, k};
        }
        if (first < n.middle) std::nth_element(line.begin(), end, line.end());
        std::sort(line.begin(), end);
        for (std::size_t k = 0; k < first; ++k)
          f((o * n.middle + line[k].position) * n.inner + i, (o * first + k) * n.inner + i, line[k].position);
      }
  }
};

/// The rule of an operation on values and keys. Dimension D of the values and of the keys must be whole (not sharded).
template <std::size_t D>
constexpr rule rule_of_values_and_keys(const shape_span& x, const char* name) {
  rule r;
  const separate_factors f(r, x[0], std::uint32_t{1} << D);
  const auto add_dimensions = [&] {
    for (std::size_t d = 0; d < x[0].size(); ++d) d == D ? r.add_whole_dimension() : r.add_dimension(f[d]);
  };
  r.begin_operand();
  f.write(r);
  r.begin_operand();
  add_dimensions();
  r.begin_result();
  add_dimensions();
  return r.complete().linear_in({0}).named(name);
}

/// The operation (values, keys) -> the values of each line along dimension D in the order of the keys, the first
/// `max_count` of them.
template <std::size_t D>
struct sort_by_keys_operation;

/// The adjoint of sort_by_keys_operation: (dy, keys) -> the elements of dy at the places from which sorting by the keys
/// took them, and 0 elsewhere.
template <std::size_t D>
struct sort_adjoint_operation : line_sort<D> {
  static constexpr std::uint32_t adjoint_reads = 2;  ///< bit mask: the adjoint reads operand 1, the keys

  static constexpr partita::rule rule(const shape_span& x) { return rule_of_values_and_keys<D>(x, "gradient of sort"); }
  shape_list result_extents(const shape_span& x) const { return x[1]; }  ///< those of the keys
  template <class T>
  void local(const tensor_part<const T>& dy, const tensor_part<const T>& keys, const tensor_part<T>& x) const {
    for (T& element : x) element = T(0);
    this->for_each_in_order(keys, [&](std::size_t there, std::size_t here, std::size_t) { x[there] = dy[here]; });
  }
  template <class X>
  X adjoint(std::size_t i, const X& dx, const X&, const X& keys, const X&) const {  ///< sorts dx by the keys
    if (i == 1) return {};
    return apply_op(sort_by_keys_operation<D>{*this}, dx, keys);
  }
};
template <std::size_t D>
struct sort_by_keys_operation : line_sort<D> {       ///< values in the order of keys; see its declaration
  static constexpr std::uint32_t adjoint_reads = 2;  ///< bit mask: the adjoint reads operand 1, the keys

  static constexpr partita::rule rule(const shape_span& x) { return rule_of_values_and_keys<D>(x, "sort by keys"); }
  shape_list result_extents(const shape_span& x) const { return this->sorted_extents(x[0]); }  ///< of the whole result
  template <class T>
  void local(const tensor_part<const T>& values, const tensor_part<const T>& keys, const tensor_part<T>& y) const {
    this->for_each_in_order(keys, [&](std::size_t there, std::size_t here, std::size_t) { y[here] = values[there]; });
  }
  template <class X>
  X adjoint(std::size_t i, const X& dy, const X&, const X& keys, const X&) const {  ///< none for the keys
    if (i == 1) return {};
    return apply_op(sort_adjoint_operation<D>{*this}, dy, keys);
  }
};

/// The operation x -> the sorted elements along dimension D or, if `Indices` is true, their indices along D.
template <std::size_t D, bool Indices = false>
struct sort_operation : line_sort<D> {
  static constexpr std::uint32_t adjoint_reads = Indices ? 0 : 1;  ///< bit mask: nothing, or operand 0

  static constexpr partita::rule rule(const shape_span& x) {  ///< the sharding rule for operands of these shapes
    return rules::pad({static_cast<std::ptrdiff_t>(D)}).named(Indices ? "argsort" : "sort")(x);
  }
  shape_list result_extents(const shape_span& x) const { return this->sorted_extents(x[0]); }  ///< of the whole result
  template <class T>
  void local(const tensor_part<const T>& x, const tensor_part<T>& y) const {  ///< computes this worker's block of y
    this->for_each_in_order(x, [&](std::size_t there, std::size_t here, std::size_t index) {
      y[here] = Indices ? static_cast<T>(index) : x[there];
    });
  }
  template <class X>
  X adjoint(std::size_t, const X& dy, const X& x, const X&) const {  ///< none for indices
    if constexpr (Indices) return {};
    else return apply_op(sort_adjoint_operation<D>{*this}, dy, x);
  }
};

/// The layout in which dimension D is whole and the axes that sharded it shard another dimension, if there is one.
template <std::size_t D>
constexpr sharding sortable_layout(const sharding& s) {
  return make_dimension_whole(layout_of_function(false, s), std::uint32_t{1} << D, std::uint32_t{1} << D);
}
template <auto Layout, std::size_t D>
inline constexpr sharding sorted_layout = sortable_layout<D>(layout_of_name<Layout>);  ///< whose dimension D is whole
template <auto Layout, std::size_t D>
inline constexpr layout_name<layout_text(sorted_layout<Layout, D>).size()> sorted_layout_name =
    make_layout_name<layout_text(sorted_layout<Layout, D>).size()>(sorted_layout<Layout, D>);  ///< its name

/// Returns f(x). If dimension D of x is sharded and implicit reshards are not forbidden, x is first resharded to a
/// layout in which D is whole.
template <std::size_t D, class X, class F>
auto apply_with_whole_dimension(const X& x, const F& f) {
  if (const shape_list extents = operand_extents(x); D >= extents.size())
    throw shape_error(text("partita::sort(x, dimensions<d>), argsort, top_k, quantile: requires a dimension that x "
                           "has, got dimension ")
                      << D << " and x of extents " << extents << "; count from 0");
  if constexpr (tensor_kind<X> == 1) {
    constexpr auto name = std::remove_cvref_t<X>::name;
    if constexpr (layout_of_name<name>.cuts[D].empty() || layout_of_name<name>.on.requires_explicit_reshards) {
      return f(x);
    } else {
      if (is_move_forbidden(x.layout())) f(x.run_time_tensor());
      using moved = typed_sharded<element_of_tensor<X>, sorted_layout_name<name, D>>;
      return f(moved(to_layout(x.run_time_tensor(), sorted_layout<name, D>)));
    }
  } else if constexpr (tensor_kind<X> == 2) {
    const sharding& s = x.layout();
    return s[D].empty() || is_move_forbidden(s) ? f(as_run_time(x))
                                                : f(to_layout(as_run_time(x), sortable_layout<D>(s)));
  } else {
    return f(x);
  }
}

/// The quantile of each line of the sorted tensor y: element `low` plus `share` times the distance to the next element.
/// The quantile is NaN if element `last`, the last element of the line, is NaN.
template <std::size_t D, class Y>
auto interpolate(const Y& y, std::size_t low, double share, std::size_t last) {
  namespace f = element_functions;
  const auto element = [&](std::size_t k) { return apply_op(slice_operation<D>{{interval{k, k + 1}}}, y); };
  auto found = element(low);
  if (share > 0) {
    const auto step = call(elements_op<f::subtract>{}, element(low + 1), found);
    found = call(elements_op<f::add>{}, found, call(elements_op<f::scale>{{share}}, step));
  }
  const auto greatest = element(last);
  const auto is_number = call(elements_op<f::equal_to>{}, greatest, greatest);
  return call(squeeze_operation<D>{}, call(elements_op<f::where>{}, is_number, found, greatest));
}

template <class X, std::size_t D>
consteval bool is_line_sortable() {  ///< whether X can be sorted along D; else a compile-time error
  static_assert(has_dimensions<X, D>,
                PARTITA_REQUIRES_DIMENSION("partita::sort(x, dimensions<d>), argsort, top_k, quantile"));
  constexpr bool has_order = sortable<element_of_tensor<X>>;
  static_assert(
      has_order,
      "partita::sort(x, dimensions<d>), argsort, top_k, quantile: requires integers, float or double; real(z) "
      "and abs(z) of complex elements have an order");
  return has_dimensions<X, D> && has_order;
}

}  // namespace detail

/// Sorts the elements along a dimension in ascending or descending order, as in `sort(x, dimensions<1>, {.descending =
/// true})`. The order is stable; NaNs are last, or first in descending order, and 0.0 and -0.0 are equal.
/// Shapes: those of x, a plain array, a sharded tensor of any kind or a traced value.
/// Requires: integers, float or double, and a dimension that x has [compile time; shape_error if the rank is known at
/// run time].
/// Cost: a local sort of each line. If the dimension is sharded, one reshard makes it whole: its axes shard another
/// dimension of the result, so that each worker sorts a part of the lines; a tensor of rank 1 is gathered (sort(x) of
/// sort_elements.hpp does not gather). In a traced program completion chooses the layouts.
/// Adjoint: moves the elements of dy to the places from which the elements of x came. The adjoint sorts x again.
template <detail::any_tensor X, std::size_t D>
auto sort(const X& x, dimensions_t<D>, const sort_direction& direction = {}) {
  if constexpr (detail::is_line_sortable<X, D>())
    return detail::apply_with_whole_dimension<D>(x, [&](const auto& z) {
      return apply_op(detail::sort_operation<D>{{dynamic, direction.descending}}, z);
    });
  else return detail::rejected_call{};
}
/// The indices along a dimension that sort x: `take_along_axis(x, argsort(x, dimensions<1>), dimensions<1>)` is sorted.
/// The sort is stable. The indices are stored as elements of the type of x, which must represent them exactly (float:
/// up to 2^24).
/// Shapes, Requires, Cost: those of sort.
/// Adjoint: none; x gets no gradient.
template <detail::any_tensor X, std::size_t D>
auto argsort(const X& x, dimensions_t<D>, const sort_direction& direction = {}) {
  if constexpr (detail::is_line_sortable<X, D>())
    return detail::apply_with_whole_dimension<D>(x, [&](const auto& z) {
      detail::require_representable_indices<D, detail::element_of_tensor<X>>(detail::operand_extents(z), "argsort");
      return apply_op(detail::sort_operation<D, true>{{dynamic, direction.descending}}, z);
    });
  else return detail::rejected_call{};
}
/// The k greatest elements along a dimension, the greatest first, and their indices, as in `auto [values, indices] =
/// top_k(x, 3, dimensions<1>)`. Of equal elements the ones with the smaller indices are taken; NaNs count as greater
/// than all numbers.
/// Shapes: those of x, except that the extent of the dimension becomes k.
/// Requires: what sort requires, and at least k elements along the dimension [shape_error].
/// Cost: that of sort, but only k elements of each line are sorted, once for the values and once for the indices.
/// Adjoint: moves dy of the values to the places from which they came, and sets 0 elsewhere; indices have no gradient.
template <detail::any_tensor X, std::size_t D>
auto top_k(const X& x, std::size_t k, dimensions_t<D>) {
  if constexpr (detail::is_line_sortable<X, D>())
    return detail::apply_with_whole_dimension<D>(x, [&](const auto& z) {
      detail::require_representable_indices<D, detail::element_of_tensor<X>>(detail::operand_extents(z), "top_k");
      auto values = apply_op(detail::sort_operation<D>{{k, true}}, z);
      auto indices = apply_op(detail::sort_operation<D, true>{{k, true}}, z);
      return top_elements<decltype(values), decltype(indices)>{std::move(values), std::move(indices)};
    });
  else return detail::rejected_call{};
}

/// The quantile of the elements along a dimension: `quantile(x, 0.5, dimensions<1>)` is the median. A quantile between
/// two elements is interpolated linearly, as in NumPy; a line with a NaN has the quantile NaN.
/// Shapes: those of x without the dimension.
/// Requires: float or double [compile time], at least one element along the dimension, a probability from 0 to 1
/// [shape_error].
/// Cost: that of sort.
/// Adjoint: divides dy, by the weights of the interpolation, between the two elements of x from which the quantile was
/// computed. If a line has a NaN, its last NaN gets dy.
template <detail::any_tensor X, std::size_t D>
auto quantile(const X& x, double probability, dimensions_t<D> along) {
  constexpr bool has_fractions = !std::is_integral_v<detail::element_of_tensor<X>>;
  static_assert(has_fractions,
                "partita::quantile(x, probability, dimensions<d>): requires elements that are no integers; cast x to "
                "float or double");
  if constexpr (detail::is_line_sortable<X, D>() && has_fractions) {
    const auto y = sort(x, along);
    const shape_list extents = detail::operand_extents(y);
    if (!(probability >= 0 && probability <= 1) || extents[D] == 0)
      throw shape_error(
          (text("partita::quantile(x, probability, dimensions<d>): requires a probability from 0 to 1 and "
                "an element along dimension ")
           << D << ", got " << std::to_string(probability).c_str() << " and x of extents " << extents)
              .c_str());
    const std::size_t last = extents[D] - 1;
    const double at = probability * static_cast<double>(last);
    const auto low = static_cast<std::size_t>(at);
    return detail::interpolate<D>(y, low, at - static_cast<double>(low), last);
  } else {
    return detail::rejected_call{};
  }
}

}  // namespace partita
