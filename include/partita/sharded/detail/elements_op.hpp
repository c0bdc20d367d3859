// Makes an operation on tensors from the declaration of an element function: its rule, its loops over blocks, and its
// adjoint.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <partita/rule/sharding/tensors_of_rule.hpp>
#include <partita/sharded/detail/apply.hpp>
#include <partita/sharded/detail/element_loops.hpp>
#include <partita/sharded/element_function.hpp>
#include <type_traits>
#include <vector>

namespace partita::detail {

/// Reduces a cotangent of the result to the extents of operand i, by sums along dimensions in which it is repeated.
template <class T>
sharded_tensor<T> sum_to_shape(const rule& how, std::size_t i, const sharded_tensor<T>& dy) {
  return run_operation<T>(
      {select_tensors(how, {how.operand_count}, i, "sum over what was repeated"), block_work::sum_or_repeat}, {dy});
}

/// Throws an error if an operand of the element function `name` has another rank than the first operand, unless one of
/// these two is a scalar.
constexpr void require_equal_ranks(const char* name, const shape_span& shapes) {
  for (std::size_t i = 1; i < shapes.size(); ++i)
    if (shapes[i].size() != shapes[0].size() && !shapes[i].empty() && !shapes[0].empty())
      throw shape_error(text("partita::")
                        << name << ": requires operands of one rank, or a scalar, got " << shapes[0] << " and "
                        << shapes[i] << "; say by broadcast_dimensions<...> where the smaller one stands");
}

/// The element function F as an operation. Operands that are not scalars have the same rank, unless a smaller operand
/// is aligned with the last dimensions of the larger operand (`Aligned`) or with its dimensions Dims.
template <const auto& F, bool Aligned = false, std::ptrdiff_t... Dims>
struct elements_op {
  using function = std::remove_cvref_t<decltype(F)>;  ///< the type of F
  /// Whether the operation works element by element, and whether it accepts integers and complex numbers.
  static constexpr bool is_elementwise = true, on_integers = F.properties.integer_elements != integer_support::rejected,
                        on_complex = F.properties.complex_elements != complex_support::rejected;
  static constexpr std::size_t operands = function::operands;  ///< the number of operands
  std::array<double, function::parameters> parameters{};       ///< the parameters of this call

  static constexpr const char* name() { return F.name; }  ///< the name of the element function
  /// Dims as a list: the dimensions of the result that a smaller operand has; empty if it has the last dimensions.
  static short_list<std::size_t> broadcast_dims() { return {static_cast<std::size_t>(Dims)...}; }
  static constexpr partita::rule rule(const shape_span& shapes) {  ///< the sharding rule for operands of these shapes
    operation o{F.name, F.properties.rule, {}};
    if constexpr (sizeof...(Dims) > 0) o.with.axes = {Dims...};
    else if constexpr (!Aligned) require_equal_ranks(F.name, shapes);
    return o(shapes);
  }
  std::uint64_t fingerprint() const { return hasher(type_number<elements_op>()).mix(parameters).value(); }  ///< a hash
  /// Whether results of F for integers may be truncated.
  bool truncates() const {
    bool all = F.properties.integer_elements == integer_support::truncated;
    for (const double one : parameters) all = all || one != std::trunc(one);
    return all;
  }
  /// The values that the cotangents of `wanted_operands` read: a bit for each operand, and the next for the result.
  static std::uint32_t adjoint_read_mask(std::uint32_t wanted_operands) {
    std::uint32_t all = (wanted_operands & 1U) != 0 ? derivative_of<F, 0>::read_mask : 0U;
    if constexpr (operands > 1) all |= (wanted_operands & 2U) != 0 ? derivative_of<F, 1>::read_mask : 0U;
    if constexpr (operands > 2) all |= (wanted_operands & 4U) != 0 ? derivative_of<F, 2>::read_mask : 0U;
    return (all & 7U) | ((all & 8U) != 0 ? std::uint32_t{1} << operands : 0U);
  }
  template <class... T>
  std::unique_ptr<const custom_op> make_custom_op() const {  ///< with the loops and cotangents for elements of each T
    return std::unique_ptr<const custom_op>(new element_work_of_types<T...>(
        fingerprint(), {row_call<T>(), cotangent_for_type<T, sizeof...(T)>, broadcast_dims()}...));
  }

  /// The function that computes a row of elements of T by F.
  template <class T>
  static constexpr row_function<T> compute_row =
      &element_row_loop<typename function::value, operands, function::parameters,
                        F.properties.integer_elements == integer_support::parameters_converted, T>::run;
  /// The function that computes a row, with the parameters of this call.
  template <class T>
  row_function_call<T> row_call() const {
    element_parameters all{};
    for (std::size_t p = 0; p < function::parameters; ++p) all[p] = parameters[p];
    return {compute_row<T>, all};
  }
  /// The cotangent of operand i, in its extents, for a call with the parameters `numbers`.
  template <class T>
  static sharded_tensor<T> cotangent(const element_parameters& numbers, std::size_t i, const sharded_tensor<T>& dy,
                                     const std::vector<sharded_tensor<T>>& x, const sharded_tensor<T>& y) {
    elements_op op;
    for (std::size_t p = 0; p < function::parameters; ++p) op.parameters[p] = numbers[p];
    sharded_tensor<T> dx;
    if (i == 0) dx = op.template unsummed_cotangent<0>(dy, x, y);
    if constexpr (operands > 1)
      if (i == 1) dx = op.template unsummed_cotangent<1>(dy, x, y);
    if constexpr (operands > 2)
      if (i == 2) dx = op.template unsummed_cotangent<2>(dy, x, y);
    if (dx.state() == nullptr || dx.extents() == x[i].extents()) return dx;
    const auto shapes = operand_shapes<operands>(x);
    const shape_span span(shapes.data(), operands);
    return sum_to_shape(bind_shapes(rule(span), span), i, dx);
  }

 private:
  /// The cotangent of operand I in the extents of the result.
  template <std::size_t I, class T>
  sharded_tensor<T> unsummed_cotangent(const sharded_tensor<T>& dy, const std::vector<sharded_tensor<T>>& x,
                                       const sharded_tensor<T>& y) const {
    using derivative = derivative_of<F, I>;  ///< with respect to operand I
    if constexpr (std::is_same_v<derivative, no_derivative>) return {};
    else if constexpr (std::is_same_v<derivative, identity_derivative>) return dy;
    else {
      std::vector<sharded_tensor<T>> read{dy};
      for (std::size_t k = 0; k < operands; ++k)
        if ((derivative::read_mask >> k & 1U) != 0) read.push_back(x[k]);
      if constexpr ((derivative::read_mask & 8U) != 0) read.push_back(y);
      if constexpr (is_complex<T> && F.properties.complex_elements == complex_support::holomorphic &&
                    derivative::read_mask != 0)
        return run_elements(elements_op<conjugated_gradient<F, I>, true, Dims...>{gradient_parameters<I>()}, read);
      else return run_elements(elements_op<operand_gradient<F, I>, true, Dims...>{gradient_parameters<I>()}, read);
    }
  }
  /// The parameters that are passed to the derivative: those of the call, or none if the derivative does not take them.
  template <std::size_t I>
  auto gradient_parameters() const {
    if constexpr (std::remove_cvref_t<decltype(operand_gradient<F, I>)>::parameters == 0)
      return std::array<double, 0>{};
    else return parameters;
  }
  /// The function that computes cotangents for elements of T, one of `Types` element types. The pointer is null for
  /// integers in a traced program (which has several element types), because these integers have no gradients.
  template <class T, std::size_t Types>
  static constexpr element_cotangent<T> cotangent_for_type = [] {
    if constexpr (Types > 1 && std::is_integral_v<T>) return nullptr;
    else return &elements_op::template cotangent<T>;
  }();
};

/// Applies an element function to tensors, one for each of its operands.
template <class T, class Op>
sharded_tensor<T> run_elements(const Op& op, const std::vector<sharded_tensor<T>>& x) {
  return run_operation<T>(bind_operation<Op::operands>(op, x), x);
}

#define PARTITA_INSTANTIATE_SUMMED_TO(EXTERN, T) \
  EXTERN template sharded_tensor<T> sum_to_shape<T>(const rule&, std::size_t, const sharded_tensor<T>&);
PARTITA_FOR_EACH_USUAL_ELEMENT(PARTITA_INSTANTIATE_SUMMED_TO, extern)

}  // namespace partita::detail
