// The operations take, one_hot, argmax and argmin, which read or compute indices. The operations are declared in the
// same form as a user-defined operation.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <partita/rule/kernel_dimensions.hpp>
#include <partita/rule/sharding/rules/index.hpp>
#include <partita/rule/sharding/rules/reduction.hpp>
#include <partita/sharded/cumulative.hpp>  // programs that include this header use cumsum
#include <partita/sharded/detail/take_operations.hpp>
#include <partita/sharded/operate.hpp>
#include <type_traits>
#include <vector>

namespace partita {
namespace detail {

/// Whether both types are plain arrays of the same element type that is not an integer type. For example, the indices
/// that argmax returns have the element type of its argument.
template <class X, class Indices>
inline constexpr bool are_arrays_of_one_type = false;
template <ranked_array X, ranked_array Indices>
inline constexpr bool are_arrays_of_one_type<X, Indices> =
    std::is_same_v<element_of<X>, element_of<Indices>> && !std::is_integral_v<element_of<X>>;

/// The index that an element represents, or `extent` if it is not a valid index (for example 1.5).
template <class T>
std::size_t index_of_element(const T& element, std::size_t extent) {
  if constexpr (is_complex<T>) {
    return element.imag() == 0 ? index_of_element(element.real(), extent) : extent;
  } else {
    // T may be too small to represent the extent, so the index is compared as a std::size_t.
    if (!(element >= T(0)) || !(static_cast<double>(element) < 0x1p63)) return extent;
    const auto index = static_cast<std::size_t>(element);
    return index < extent && static_cast<T>(index) == element ? index : extent;
  }
}
/// Throws an error if elements of T cannot represent all indices of a dimension of x.
template <std::size_t D, class T>
void require_representable_indices(const shape_list& extents, const char* call) {
  constexpr int digits = std::numeric_limits<T>::digits;
  if constexpr (constexpr std::size_t most = std::size_t{1} << (digits < 63 ? digits : 63); digits > 0)
    if (D < extents.size() && extents[D] > most)
      throw shape_error(text("partita::")
                        << call << ": requires indices that the elements of x represent, up to " << most - 1
                        << ", got extents " << extents << " and dimension " << D << "; cast x to double");
}

struct one_hot_operation {                                       ///< labels -> rows with 1 at the label; see one_hot()
  static constexpr bool on_integers = true, on_complex = false;  ///< accepts integers, rejects complex elements
  static constexpr std::uint32_t adjoint_reads = 0;              ///< bit mask; 0: the adjoint reads extents only
  static constexpr std::size_t parameters = 1;                   ///< number of data members, each equal on all workers
  std::size_t classes;                                           ///< the number of classes

  static constexpr partita::rule rule(const shape_span& x) { return rules::one_hot(dynamic)(x); }  ///< that of one_hot
  shape_list result_extents(const shape_span& x) const {  ///< those of x, then classes
    shape_list y = x[0];
    y.push_back(classes);
    return y;
  }
  template <class T>
  void local(const tensor_part<const T>& x, const tensor_part<T>& y) const {  ///< computes this worker's block of y
    const interval own = y.box[y.box.size() - 1];
    for (std::size_t k = 0; k < x.size(); ++k) {
      const std::size_t label = index_of_element(x[k], classes);
      for (std::size_t c = 0; c < own.size(); ++c) y[k * own.size() + c] = T(label == own.start + c);
    }
  }
  template <class X>
  X adjoint(std::size_t, const X&, const X&, const X&) const {  ///< none: piecewise constant
    return {};  // the operation is piecewise constant, so its derivative is 0
  }
};

template <std::size_t D, bool Least = false>
struct argmax_operation {                                        ///< argmax or, if Least is true, argmin
  static constexpr bool on_integers = true, on_complex = false;  ///< accepts integers, rejects complex elements
  static constexpr std::uint32_t adjoint_reads = 0;              ///< bit mask; 0: the adjoint reads extents only
  static constexpr partita::rule rule(const shape_span& x) {     ///< the sharding rule for operands of these shapes
    return rules::argmax({static_cast<std::ptrdiff_t>(D)}).named(Least ? "argmin" : "argmax")(x);
  }
  shape_list result_extents(const shape_span& x) const {  ///< those of x without D; throws if D has no element
    shape_list y;
    for (std::size_t d = 0; d < x[0].size(); ++d)
      if (d != D) y.push_back(x[0][d]);
    if (x[0][D] == 0)
      throw shape_error(text("partita::") << (Least ? "argmin" : "argmax") << ": requires an element along dimension "
                                          << D << " of " << x[0]);
    return y;
  }
  template <class T>
  void local(const tensor_part<const T>& x, const tensor_part<T>& y) const {  ///< computes this worker's block of y
    const dimension_loops n(x.shape, D);
    for (std::size_t o = 0; o < n.outer; ++o)
      for (std::size_t i = 0; i < n.inner; ++i) {
        const T* const row = x.memory + o * n.middle * n.inner + i;
        std::size_t best = 0;
        for (std::size_t k = 1; k < n.middle; ++k)
          if (const T now = row[k * n.inner], most = row[best * n.inner];
              (Least ? now < most : now > most) || (now != now && most == most))
            best = k;
        y[o * n.inner + i] = static_cast<T>(best);
      }
  }
  template <class X>
  X adjoint(std::size_t, const X&, const X&, const X&) const {  ///< none: piecewise constant
    return {};
  }
};

}  // namespace detail

/// Takes the elements of x at the given indices along dimension D: `take(x, rows, dimensions<0>)`. If dimension 0 of a
/// matrix is sharded, use `lookup`, which does not gather the matrix.
/// Shapes:   the result has the extents of x, with the extents of the indices in place of the extent of dimension D.
/// Requires: indices below the extent of x along the dimension [shape_error], the same on every worker.
/// Cost:     a reshard of x if dimension D is sharded, and a copy of the result.
/// Adjoint:  adds each element of dy to the element of dx at its index.
template <class X, ranked_array Indices, std::size_t D>
  requires(detail::any_tensor<X> && !detail::are_arrays_of_one_type<X, Indices>)
auto take(const X& x, const Indices& indices, dimensions_t<D>) {
  static_assert(std::is_integral_v<element_of<Indices>>,
                "partita::take(x, indices, dimensions<d>): requires indices of an integer type");
  static_assert(detail::has_dimensions<X, D>, PARTITA_REQUIRES_DIMENSION("partita::take(x, indices, dimensions<d>)"));
  if constexpr (detail::has_dimensions<X, D> && std::is_integral_v<element_of<Indices>>) {
    auto all = std::make_shared<std::vector<std::size_t>>();
    const xt::xtensor<element_of<Indices>, rank_of<Indices>> given = indices;
    for (const auto index : given) all->push_back(static_cast<std::size_t>(index));  // a negative index becomes too big
    return apply_op(detail::take_operation<D, rank_of<Indices>>{{all, detail::shape_of(given)}}, x);
  } else {
    return detail::rejected_call{};
  }
}
/// Makes one row of `classes` elements per label: 1 at the index of the label and 0 elsewhere, or all 0 if the label is
/// not a class. The elements of the tensor `labels` are class numbers.
/// Adjoint:  none; labels have no gradient.
template <detail::any_tensor X>
auto one_hot(const X& labels, std::size_t classes) {
  return apply_op(detail::one_hot_operation{classes}, labels);
}
/// The index of the largest element along a dimension; of several equal elements, the index of the first one; if an
/// element is NaN, the index of the first NaN. The indices are stored as elements of the type of x, which must
/// represent them exactly (float: up to 2^24).
/// Requires: at least one element along the dimension, and indices that the type represents [shape_error].
/// Adjoint:  none; x has no gradient.
template <detail::any_tensor X, std::size_t D>
auto argmax(const X& x, dimensions_t<D>) {
  static_assert(detail::has_dimensions<X, D>, PARTITA_REQUIRES_DIMENSION("partita::argmax(x, dimensions<d>)"));
  if constexpr (detail::has_dimensions<X, D>) {
    detail::require_representable_indices<D, detail::element_of_tensor<X>>(detail::operand_extents(x), "argmax");
    return apply_op(detail::argmax_operation<D>{}, x);
  }
}
/// The index of the smallest element along a dimension. For equal elements, NaN, and the element type of the result,
/// the rules are those of argmax.
template <detail::any_tensor X, std::size_t D>
auto argmin(const X& x, dimensions_t<D>) {
  static_assert(detail::has_dimensions<X, D>, PARTITA_REQUIRES_DIMENSION("partita::argmin(x, dimensions<d>)"));
  if constexpr (detail::has_dimensions<X, D>) {
    detail::require_representable_indices<D, detail::element_of_tensor<X>>(detail::operand_extents(x), "argmin");
    return apply_op(detail::argmax_operation<D, true>{}, x);
  }
}

}  // namespace partita
