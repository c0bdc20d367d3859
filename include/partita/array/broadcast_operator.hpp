// Array broadcasting as a linear operator: an object with the interface of a kernel and with an adjoint.
#pragma once

#include <cstddef>
#include <partita/array/broadcast_in_dim.hpp>
#include <partita/array/elementwise.hpp>
#include <utility>

namespace partita {

/// Broadcasts arrays of the extents `Operand` to the extents `Result`; the adjoint sums over the repetitions.
/// Shapes:   b(x) is a new array of the extents `Result`, b.adjoint(dy) a new array of the extents `Operand`.
/// Requires: what broadcast_in_dim requires [compile time as far as known; shape_error]; x of the extents `Operand` and
///           dy of the extents `Result` [shape_error].
/// Cost:     one pass over the result of b(x), forward and adjoint.
/// Adjoint:  adjoint(dy), which sums dy over the dimensions to which no operand dimension is mapped, and over those to
///           which an extent of 1 is expanded.
template <class Operand, class Result>
class array_broadcast {
 public:
  template <broadcast_dimensions_choice Dims = broadcast_dimensions_t<>, strictness Level = strictness::xla_builder>
  array_broadcast(const Operand& operand, const Result& result, const Dims& dims = {}, strictness_t<Level> = {})
      : operand_extents_(operand), result_extents_(result) {
    detail::require_broadcast_in_dim<Operand, Result, Level>(shape_list(operand), shape_list(result), dims);
    dimension_map_ = dimension_map(short_list<std::size_t>(detail::to_dimension_list(dims)), Result::rank());
  }

  template <array_expression X>
  auto operator()(const X& x) const {
    require_extents(shape_list(operand_extents_), detail::shape_of(x), "(x)");
    return xt::xtensor<detail::operand_element<X>, Result::rank()>(
        detail::expand<Result::rank()>(x, dimension_map_, shape_list(result_extents_)));
  }
  /// Returns a new array of the extents `Operand`: the sums of dy over the repetitions of each element.
  template <array_expression Dy>
  auto adjoint(const Dy& dy) const {
    require_extents(shape_list(result_extents_), detail::shape_of(dy), ".adjoint(dy)");
    return detail::sum_to_operand<Operand::rank()>(dy, shape_list(operand_extents_), dimension_map_);
  }

  const Result& result_extents() const { return result_extents_; }  ///< the extents of b(x)
  /// The dimension of the result that each dimension of the operand becomes.
  const dimension_map& map() const { return dimension_map_; }

 private:
  /// Throws a shape_error if the argument of `call` does not have the extents that this operator was made for.
  static void require_extents(const shape_list& expected_extents, const shape_list& given, const char* call) {
    if (!(expected_extents == given))
      throw shape_error(text("partita::array_broadcast")
                        << call << ": requires an array of the extents the operator was made for, " << expected_extents
                        << ", got " << given << "; make another operator for other extents");
  }

  Operand operand_extents_;      ///< the extents of the argument x
  Result result_extents_;        ///< the extents of the result b(x)
  dimension_map dimension_map_;  ///< from the dimensions of the operand to those of the result
};

/// Deduces the class from the extents of the operand and of the result.
template <std::size_t... A, std::size_t... B>
array_broadcast(const extents<A...>&, const extents<B...>&) -> array_broadcast<extents<A...>, extents<B...>>;
template <std::size_t... A, std::size_t... B, class Dims>
array_broadcast(const extents<A...>&, const extents<B...>&, const Dims&)
    -> array_broadcast<extents<A...>, extents<B...>>;
template <std::size_t... A, std::size_t... B, class Dims, strictness Level>
array_broadcast(const extents<A...>&, const extents<B...>&, const Dims&, strictness_t<Level>)
    -> array_broadcast<extents<A...>, extents<B...>>;

/// Makes the broadcast operators of both operands of a binary operation.
///
/// With `auto [x_to_z, y_to_z]`, the adjoints of `z = multiply(x, y, dims)` are `x_to_z.adjoint(multiply(dz, y, dims))`
/// and `y_to_z.adjoint(multiply(dz, x, dims))`.
template <std::size_t... L, std::size_t... R, std::ptrdiff_t... D>
auto array_broadcasts(const extents<L...>& lhs, const extents<R...>& rhs, broadcast_dimensions_t<D...> dims = {}) {
  using result = typename broadcast_extents<extents<L...>, extents<R...>, D...>::type;  ///< extents of z
  const shape_list a(lhs), b(rhs);
  if (const auto verdict = judge_array_broadcast(a, b, dims.list()); !verdict)
    throw shape_error(explain_verdict(verdict, "array_broadcasts", a, b, dims.list()));
  const auto all = resolve_array_broadcast(a, b, dims.list());
  std::array<std::size_t, result::rank()> shape{};
  for (std::size_t d = 0; d < result::rank(); ++d) shape[d] = all.result[d];
  const result whole(shape);
  return std::pair(array_broadcast(lhs, whole, broadcast_dimensions_list(all.lhs.targets())),
                   array_broadcast(rhs, whole, broadcast_dimensions_list(all.rhs.targets())));
}

}  // namespace partita
