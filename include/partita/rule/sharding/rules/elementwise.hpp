// Rules of element-wise operations, with broadcasting.
#pragma once

#include <cstddef>
#include <partita/rule/sharding/operation.hpp>

namespace partita {
namespace detail {

/// The rule of element-wise operations has one batch factor for each dimension of the operand of largest rank. Operands
/// of smaller rank are aligned at the last dimension, or mapped to the dimensions `with.axes`. The rule has
/// `with.count` results; 0 means one.
constexpr rule elementwise_rule(const shape_span& shapes, const attributes& with) {
  require_operands(shapes, 1, most_operands, "elementwise");
  rule r;
  std::size_t rank = 0;
  for (std::size_t t = 0; t < shapes.size(); ++t) rank = shapes[t].size() > rank ? shapes[t].size() : rank;
  std::size_t f[most_dimensions]{};
  for (std::size_t d = 0; d < rank; ++d) {
    f[d] = r.add_factor(dynamic, nth_letter(d));
    r.factors[f[d]].broadcasts = true;
  }
  for (std::size_t t = 0; t < shapes.size(); ++t) {
    r.begin_operand();
    const std::size_t own = shapes[t].size();
    const bool placed = !with.axes.empty() && own < rank;
    if (placed && with.axes.size() != own)
      throw shape_error(
          text("partita::rules::elementwise: requires one entry of broadcast_dimensions for each dimension of the "
               "smaller operand, not ")
          << with.axes.size() << " for " << own << "; give those");
    for (std::size_t d = 0; d < own; ++d)
      r.add_dimension(f[placed ? checked_dimension(with.axes[d], rank, "elementwise") : rank - own + d]);
  }
  for (std::size_t j = 0; j < (with.count == 0 ? 1 : with.count); ++j) {
    r.begin_result();
    for (std::size_t d = 0; d < rank; ++d) r.add_dimension(f[d]);
  }
  r.how = linearity::none;
  r.complete();
  return r;
}
/// The rule of element-wise operations that are linear in all operands together.
constexpr rule additive_rule(const shape_span& shapes, const attributes& with) {
  return elementwise_rule(shapes, with).with(linearity::additive);
}
constexpr rule multilinear_rule(const shape_span& shapes, const attributes& with) {  ///< linear in each operand
  return elementwise_rule(shapes, with).with(linearity::multilinear);
}
constexpr rule movement_rule(const shape_span& shapes, const attributes& with) {  ///< only moves or copies values
  return elementwise_rule(shapes, with).with(linearity::movement);
}
constexpr rule monotone_rule(const shape_span& shapes, const attributes& with) {  ///< non-decreasing, of one operand
  return elementwise_rule(shapes, with).with(linearity::monotone);
}
constexpr rule divide_rule(const shape_span& shapes, const attributes& with) {  ///< linear in operand 0 only
  return elementwise_rule(shapes, with).with(linearity::multilinear).linear_in({0});
}
constexpr rule where_rule(const shape_span& shapes, const attributes& with) {  ///< linear in operands 1 and 2
  require_operands(shapes, 3, 3, "where");
  return elementwise_rule(shapes, with).with(linearity::additive).linear_in({1, 2});
}

}  // namespace detail

namespace rules {

/// Any element-wise function, aligned at the last dimension as in NumPy. The function is not known to be linear, so
/// partial operands are reduced first.
inline constexpr operation elementwise{"elementwise", &detail::elementwise_rule, {}};
/// Element-wise functions with several results.
constexpr operation elementwise_outputs(std::size_t results) {
  return {"elementwise_outputs", &detail::elementwise_rule, {.count = results}};
}
/// Element-wise functions whose smaller operand is aligned by XLA's broadcast_dimensions.
constexpr operation elementwise_in_dimensions(const attributes::list& broadcast_dimensions) {
  return {"elementwise_in_dimensions", &detail::elementwise_rule, {.axes = broadcast_dimensions}};
}
inline constexpr operation add{"add", &detail::additive_rule, {}};               ///< x + y
inline constexpr operation subtract{"subtract", &detail::additive_rule, {}};     ///< x - y
inline constexpr operation add_n{"add_n", &detail::additive_rule, {}};           ///< the sum of any number of operands
inline constexpr operation multiply{"multiply", &detail::multilinear_rule, {}};  ///< x y, element by element
inline constexpr operation divide{"divide", &detail::divide_rule, {}};           ///< x / y, linear in x only
/// Multiplication by a number.
inline constexpr operation scale{"scale", &detail::additive_rule, {}};
/// Conversions to an element type that represents the same numbers; pending reductions stay pending.
inline constexpr operation cast{"cast", &detail::movement_rule, {}};
inline constexpr operation assign{"assign", &detail::movement_rule, {}};  ///< a copy of x
/// Element-wise non-decreasing functions of one operand, such as relu; max and min stay pending.
inline constexpr operation relu{"relu", &detail::monotone_rule, {}};
inline constexpr operation maximum{"maximum", &detail::elementwise_rule, {}};  ///< the larger of x and y
inline constexpr operation where{"where", &detail::where_rule, {}};            ///< condition, x, y -> x or y

}  // namespace rules
}  // namespace partita
