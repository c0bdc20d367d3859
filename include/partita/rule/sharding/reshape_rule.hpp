// Reshape as a rule: the factors that two shapes with the same number of elements share.
#pragma once

#include <cstddef>
#include <partita/rule/sharding/rule.hpp>

namespace partita {
namespace detail {

constexpr std::size_t greatest_common_divisor(std::size_t a, std::size_t b) {
  while (b != 0) {
    const std::size_t remainder = a % b;
    a = b;
    b = remainder;
  }
  return a;
}

template <class = void>
[[noreturn]] constexpr void throw_reshape_error(const char* requirement, const shape_list& from, const shape_list& to) {
  throw shape_error(text("partita::reshape_rule: requires ") << requirement << ", not " << from << " and " << to
                                                             << "; give shapes of the same number of elements");
}

/// Compares two shapes from their first dimensions on. While the factors found so far have the same product in both
/// shapes, the greatest common divisor of the remaining sizes of the two dimensions is a factor of both shapes.
/// Otherwise the shape with the smaller product gets factors of its own, until the products are equal.
struct reshape_walk {
  static constexpr std::size_t max_terms = 64;  ///< the capacity of `terms`
  struct dimension_term {                       ///< a factor of a dimension
    std::uint8_t dimension, factor;             ///< a dimension, and the number of a factor that it has
  };
  struct side {               ///< one of both shapes, and how far it has been split
    const shape_list& shape;  ///< the shape before or after the reshape
    /// Dimension d - 1 is being split, `size_left` of it remains, and `processed` is the product of all factors so far.
    std::size_t d = 0, size_left = 1, processed = 1;
    dimension_term terms[max_terms]{};  ///< the factors so far, in the order of the dimensions
    std::size_t count = 0;              ///< the number of terms
  };

  rule& made_rule;          ///< the rule to which factors are added
  side from, to;            ///< the two shapes
  std::uint8_t groups = 0;  ///< the number of the group of merged dimensions that is being found
  char letter = 'a';        ///< the letter of the next factor

  constexpr char next_letter() { return letter > 'z' ? '_' : letter++; }  ///< of the next new factor; '_' after 'z'
  constexpr std::size_t new_factor(std::size_t size, factor_kind kind) {  ///< adds it to the current group
    const std::size_t f = made_rule.add_factor(size, next_letter(), kind);
    made_rule.factors[f].merged_group = groups;
    return f;
  }
  /// Gives the dimension that is being split a factor f of `size` iterations.
  static constexpr void append(side& s, std::size_t f, std::size_t size) {
    s.terms[s.count++] = {static_cast<std::uint8_t>(s.d - 1), static_cast<std::uint8_t>(f)};
    s.processed *= size;
    s.size_left /= size;
  }
  /// Gives the dimension that is being split a new factor of n iterations, which must be unsharded.
  constexpr void append_replicated(side& s, std::size_t n) { append(s, new_factor(n, factor_kind::replicate), n); }
  /// Gives the dimensions that are being split in both shapes one new common factor.
  constexpr void append_shared(std::size_t size) {
    const std::size_t f = new_factor(size, factor_kind::pass_through);
    const bool counts = size != dynamic && size != 0;
    if (!counts) from.size_left = to.size_left = 1;
    append(from, f, counts ? size : 1);
    append(to, f, counts ? size : 1);
  }
  static constexpr bool is_at_end(const side& s) { return s.d == s.shape.size(); }  ///< Whether no dimension is left.
  static constexpr void next_dimension(side& s) { s.size_left = s.shape[s.d++]; }   ///< begins to split it

  /// Whether a shape has no elements. Two different shapes without elements share no factors.
  static constexpr bool has_no_elements(const shape_list& s) {
    for (const std::size_t extent : s)
      if (extent == 0) return true;
    return false;
  }
  /// Gives each dimension of two different shapes without elements its own factor; returns false for other shapes.
  constexpr bool walk_empty_shapes() {
    if (from.shape == to.shape || !has_no_elements(from.shape) || !has_no_elements(to.shape)) return false;
    for (side* s : {&from, &to})
      while (!is_at_end(*s)) {
        next_dimension(*s);
        s->size_left = 1;
        append(*s, new_factor(s->shape[s->d - 1], factor_kind::replicate), 1);
      }
    return true;
  }
  constexpr void walk_both_shapes() {  ///< finds the factors of both shapes
    if (walk_empty_shapes()) return;
    while (true) {
      // If both shapes are at the end of a dimension after the same number of elements, a new group starts.
      const bool between = from.size_left == 1 && to.size_left == 1 && from.processed == to.processed;
      if (between && is_at_end(from) && is_at_end(to)) return;
      if (between) ++groups;
      if (between && !is_at_end(from) && !is_at_end(to) && from.shape[from.d] == to.shape[to.d]) {
        next_dimension(from), next_dimension(to);
        append_shared(from.size_left);
        continue;
      }
      if (append_unit_dimension(from) || append_unit_dimension(to)) continue;
      // The shape with the larger product waits, so that both shapes can reach the end of a dimension together.
      const std::size_t from_passed = from.processed, to_passed = to.processed;
      if (from.size_left == 1 && !is_at_end(from) && from_passed <= to_passed) next_dimension(from);
      if (to.size_left == 1 && !is_at_end(to) && to_passed <= from_passed) next_dimension(to);
      if (from.size_left == dynamic || to.size_left == dynamic)
        throw_error("dynamic extents to stay dimensions of their own");
      if (from.size_left == 1 && to.size_left == 1) throw_error("as many elements before as after");
      append_next_factor();
    }
  }

  /// If the next dimension has an extent of 1, gives it a factor of its own; returns whether it has.
  constexpr bool append_unit_dimension(side& s) {
    if (s.size_left != 1 || is_at_end(s) || s.shape[s.d] != 1) return false;
    next_dimension(s);
    append_replicated(s, 1);
    return true;
  }
  constexpr void append_next_factor() {  ///< where dimensions are merged or split
    if (from.processed == to.processed && from.size_left != 1 && to.size_left != 1) {
      const std::size_t common = greatest_common_divisor(from.size_left, to.size_left);
      if (common == 0) throw_error("extents that are not 0 in merged dimensions");
      if (common > 1) return append_shared(common);
    }
    const bool from_is_behind = from.size_left != 1 && (to.size_left == 1 || from.processed <= to.processed);
    side& behind = from_is_behind ? from : to;
    const side& ahead = from_is_behind ? to : from;
    if (behind.processed == ahead.processed && behind.size_left != 1 && ahead.size_left == 1)
      throw_error("as many elements before as after");
    // The shape with the smaller product gets a factor of its own, which brings both products closer together.
    const std::size_t missing = ahead.processed / greatest_common_divisor(behind.processed, ahead.processed);
    const std::size_t common = greatest_common_divisor(behind.size_left, missing);
    append_replicated(behind, common > 1 ? common : behind.size_left);
  }
  constexpr void throw_error(const char* requirement) const { throw_reshape_error(requirement, from.shape, to.shape); }
  constexpr void write(const side& s) {  ///< adds the dimensions of a shape to the last tensor of the rule
    std::size_t k = 0;
    for (std::size_t d = 0; d < s.shape.size(); ++d) {
      made_rule.add_dimension();
      for (; k < s.count && s.terms[k].dimension == d; ++k) made_rule.add_term(s.terms[k].factor);
    }
  }
};

}  // namespace detail

/// The rule of a row-major reshape from one shape to another: [8, 4] to [2, 16] is "(ab)c->a(bc)" with a = 2, b = 4, c
/// = 4. An extent may be `dynamic` if it stays a separate dimension. A shape_error if the numbers of elements differ.
constexpr rule reshape_rule(const shape_list& from, const shape_list& to) {
  rule all;
  detail::reshape_walk walker{all, {from}, {to}};
  walker.walk_both_shapes();
  // A group of one factor merges no dimensions, so the factor is in no group (group 0).
  std::uint8_t members[2 * most_factors]{};
  for (std::size_t f = 0; f < all.factor_count; ++f) ++members[all.factors[f].merged_group];
  for (std::size_t f = 0; f < all.factor_count; ++f)
    if (members[all.factors[f].merged_group] == 1) all.factors[f].merged_group = 0;
  all.begin_operand();
  walker.write(walker.from);
  all.begin_result();
  walker.write(walker.to);
  all.complete();
  all.how = linearity::movement;
  return all.named("reshape");
}

/// The shape that a reshape target describes: a 0 in the target keeps the extent of the same dimension of the source,
/// and one -1 is computed from the other extents. If no extent fits in place of the -1, a shape_error is thrown.
template <class Target>
constexpr shape_list reshaped(const shape_list& from, const Target& target) {
  shape_list to;
  std::size_t open = most_dimensions, d = 0;
  bool kept[most_dimensions]{};
  for (const auto entry : target) {
    if (entry == 0) {
      if (d >= from.size())
        throw shape_error(
            text("partita::reshaped: requires a source dimension for each 0, and there is none for entry ") << d);
      kept[d] = true;
      to.push_back(from[d]);
    } else if (entry < 0) {
      if (open != most_dimensions)
        throw shape_error("partita::reshaped: requires one -1 at most; give the other extents");
      open = d;
      to.push_back(1);
    } else {
      to.push_back(static_cast<std::size_t>(entry));
    }
    ++d;
  }
  if (open == most_dimensions) return to;
  // Dynamic extents that a 0 in the target keeps are on both sides and cancel out. The -1 of the target becomes dynamic
  // if one dynamic extent is not kept and the products of all other extents are equal on both sides.
  std::size_t have = 1, known = 1, unknown = 0;
  for (std::size_t k = 0; k < from.size(); ++k)
    if (from[k] != dynamic) have *= from[k];
    else if (!kept[k]) ++unknown;
  for (std::size_t k = 0; k < to.size(); ++k)
    if (!(to[k] == dynamic && kept[k])) known *= to[k];
  if (unknown == 1 && have == known) {
    to[open] = dynamic;
    return to;
  }
  if (unknown > 0)
    throw shape_error(text("partita::reshaped: requires extents that are known where they are merged or split, not ")
                      << from << " and " << to << "; give them, or keep the dimension by 0");
  if (known == 0 || have % known != 0)
    throw shape_error(text("partita::reshaped: requires extents that divide ")
                      << have << " elements, not " << to << "; change one");
  to[open] = have / known;
  return to;
}

}  // namespace partita
