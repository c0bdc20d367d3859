// An operation: a function that makes a rule from the shapes of the operands.
#pragma once

#include <array>
#include <cstddef>
#include <partita/rule/sharding/propagate.hpp>

namespace partita {

/// The arguments of an operation other than its operands. Each operation documents what its attributes mean.
struct attributes {
  using list = bounded_list<std::ptrdiff_t, most_dimensions>;       ///< dimensions of an operand or of a result
  using extents_list = bounded_list<std::ptrdiff_t, most_results>;  ///< extents, repeats, sections or ranks
  list axes{};                                                      ///< dimensions; negative ones count from the end
  extents_list sizes{};                                             ///< extents, repeats, sections, ranks of results
  bool keep = false;          ///< a switch: reduced dimensions stay with extent 1, or as the operation says
  bool x = false, y = false;  ///< switches; often one for each of the first two operands
  std::size_t count = 0;      ///< the number of results, groups, classes or sections; 0 for the default
  pending_reduction kind = pending_reduction::sum;  ///< the reduction of reducing operations
};

/// A name, a function from shapes to a rule, and its attributes. `propagate` accepts operations in place of rules.
struct operation {
  using rule_maker = rule (*)(const shape_span&, const attributes&);  ///< makes the rule for operands of these shapes

  const char* name = "";      ///< the name that messages and rules print
  rule_maker make = nullptr;  ///< makes the rule from shapes and `with`
  attributes with{};          ///< the attributes that are passed to `make`

  constexpr rule operator()(const shape_span& operands) const {
    rule r = make(operands, with);
    r.set_name(name);
    return r;
  }

  /// Returns a copy of the operation with another name.
  constexpr operation named(const char* other) const {
    operation o = *this;
    o.name = other;
    return o;
  }
  /// Copies the operation with given attributes: given lists and counts replace the operation's lists and counts, and a
  /// switch is set if it is set in either. The reduction is replaced only if `uses_given_kind` is true.
  constexpr operation with_attributes(const attributes& given, bool uses_given_kind = false) const {
    operation o = *this;
    if (!given.axes.empty()) o.with.axes = given.axes;
    if (!given.sizes.empty()) o.with.sizes = given.sizes;
    if (given.count != 0) o.with.count = given.count;
    if (uses_given_kind) o.with.kind = given.kind;
    o.with.keep = with.keep || given.keep;
    o.with.x = with.x || given.x;
    o.with.y = with.y || given.y;
    return o;
  }
};

namespace detail {

/// The letter of the k-th factor of a rule; '_' after 52 letters.
constexpr char nth_letter(std::size_t k) {
  return static_cast<char>(k < 26 ? 'a' + static_cast<int>(k) : k < 52 ? 'A' + static_cast<int>(k - 26) : '_');
}
/// Adds a dimension of any extent to the last tensor of a rule, with a new factor for the dimension.
constexpr void add_open_dimension(rule& r) { r.add_dimension(r.add_factor(dynamic, nth_letter(r.factor_count))); }

/// Throws a shape_error unless there are from `least` to `most` operands.
constexpr void require_operands(const shape_span& shapes, std::size_t least, std::size_t most, const char* call) {
  if (shapes.size() < least || shapes.size() > most)
    throw shape_error(text("partita::rules::") << call << ": requires from " << least << " to " << most
                                               << " operands, not " << shapes.size() << "; give those");
}
/// The dimension `axis` of `rank` dimensions, counted from the end if negative; a shape_error if out of range.
constexpr std::size_t checked_dimension(std::ptrdiff_t axis, std::size_t rank, const char* call) {
  const std::ptrdiff_t d = axis < 0 ? axis + static_cast<std::ptrdiff_t>(rank) : axis;
  if (d < 0 || d >= static_cast<std::ptrdiff_t>(rank))
    throw shape_error(text("partita::rules::") << call << ": requires a dimension of the " << rank << " there are, not "
                                               << axis << "; count from 0, or from -1 backwards");
  return static_cast<std::size_t>(d);
}
/// Converts a list of dimensions to a bit set.
constexpr std::uint32_t dimension_set(const attributes::list& axes, std::size_t rank, const char* call) {
  std::uint32_t bits = 0;
  for (const std::ptrdiff_t axis : axes) bits |= std::uint32_t{1} << checked_dimension(axis, rank, call);
  return bits;
}
constexpr bool has_bit(std::uint32_t bits, std::size_t d) { return (bits >> d & 1U) != 0; }  ///< whether bit d is set

/// A new factor for each dimension of a shape, with the rule's next letters; dimensions in `whole` must be unsharded.
struct separate_factors {
  std::array<std::size_t, most_dimensions> factor_indices{};  ///< for each dimension, its factor's number
  std::size_t rank;                                           ///< the number of dimensions

  constexpr separate_factors(rule& r, const shape_list& shape, std::uint32_t whole = 0) : rank(shape.size()) {
    for (std::size_t d = 0; d < shape.size(); ++d)
      factor_indices[d] = r.add_factor(shape[d], nth_letter(r.factor_count),
                                       has_bit(whole, d) ? factor_kind::replicate : factor_kind::pass_through);
  }
  constexpr std::size_t operator[](std::size_t d) const { return factor_indices[d]; }
  /// Adds an operand with one dimension for each factor to a rule.
  constexpr void add_operand(rule& r) const { r.begin_operand(), write(r); }
  /// Adds one dimension for each factor to the last tensor of a rule.
  constexpr void write(rule& r) const {
    for (std::size_t d = 0; d < rank; ++d) r.add_dimension(factor_indices[d]);
  }
};

}  // namespace detail
}  // namespace partita
