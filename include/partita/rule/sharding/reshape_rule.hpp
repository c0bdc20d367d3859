// Reshape as a rule: the factors that two shapes with the same number of elements share.
#pragma once

#include <cstddef>
#include <partita/rule/sharding/rule.hpp>

namespace partita {
namespace detail {

constexpr std::size_t greatest_common_divisor(std::size_t a, std::size_t b) {
  while (b != 0) {
    const std::size_t rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

template <class = void>
[[noreturn]] constexpr void refuse_reshape(const char* requirement, const shape_list& from, const shape_list& to) {
  throw shape_error(text("partita::reshape_rule: requires ") << requirement << ", not " << from << " and " << to
                                                             << "; give shapes of the same number of elements");
}

/// Walks over two shapes from their major ends. While both sides have passed the same number of elements, the common
/// divisor of the remaining sizes of the two dimensions is a factor of both shapes; otherwise the side that is behind
/// gets factors of its own until both sides are equal.
struct reshape_walk {
  static constexpr std::size_t most_terms = 64;
  struct term_of {
    std::uint8_t dimension, factor;
  };
  struct side {
    const shape_list& shape;
    std::size_t d = 0, rest = 1, passed = 1;  ///< dimension d - 1 is being split; `rest` is the size of it that is left
    term_of terms[most_terms]{};
    std::size_t count = 0;
    std::uint8_t group[most_dimensions]{};
  };

  rule& all;
  side from, to;
  std::uint8_t groups = 0;
  char letter = 'a';

  constexpr char next_letter() { return letter > 'z' ? '_' : letter++; }
  constexpr std::size_t new_factor(std::size_t size, factor_kind kind) {
    const std::size_t f = all.add_factor(size, next_letter(), kind);
    all.factors[f].group = groups;
    return f;
  }
  static constexpr void take(side& s, std::size_t f, std::size_t size) {
    s.terms[s.count++] = {static_cast<std::uint8_t>(s.d - 1), static_cast<std::uint8_t>(f)};
    s.passed *= size;
    s.rest /= size;
  }
  constexpr void take_alone(side& s, std::size_t size) { take(s, new_factor(size, factor_kind::replicate), size); }
  constexpr void take_both(std::size_t size) {
    const std::size_t f = new_factor(size, factor_kind::pass);
    const bool counts = size != dynamic && size != 0;
    if (!counts) from.rest = to.rest = 1;
    take(from, f, counts ? size : 1);
    take(to, f, counts ? size : 1);
  }
  static constexpr bool at_end(const side& s) { return s.d == s.shape.size(); }
  static constexpr void next_dimension(side& s) { s.rest = s.shape[s.d++]; }

  /// Whether a shape has no elements. Shapes without elements share only equal dimensions at the major end.
  static constexpr bool has_none(const shape_list& s) {
    for (const std::size_t extent : s)
      if (extent == 0) return true;
    return false;
  }
  constexpr bool walk_nothing() {
    if (from.shape == to.shape || !has_none(from.shape) || !has_none(to.shape)) return false;
    for (side* s : {&from, &to})
      while (!at_end(*s)) {
        next_dimension(*s);
        s->rest = 1;
        take(*s, new_factor(s->shape[s->d - 1], factor_kind::replicate), 1);
      }
    return true;
  }
  constexpr void walk() {
    if (walk_nothing()) return;
    while (true) {
      // Both sides are at a dimension boundary after the same number of elements: a new group starts.
      const bool between = from.rest == 1 && to.rest == 1 && from.passed == to.passed;
      if (between && at_end(from) && at_end(to)) return;
      if (between) ++groups;
      if (between && !at_end(from) && !at_end(to) && from.shape[from.d] == to.shape[to.d]) {
        next_dimension(from), next_dimension(to);
        take_both(from.rest);
        continue;
      }
      if (pass_single(from) || pass_single(to)) continue;
      // The side that is ahead waits, so that both sides can reach a dimension boundary together.
      const std::size_t from_passed = from.passed, to_passed = to.passed;
      if (from.rest == 1 && !at_end(from) && from_passed <= to_passed) next_dimension(from);
      if (to.rest == 1 && !at_end(to) && to_passed <= from_passed) next_dimension(to);
      if (from.rest == dynamic || to.rest == dynamic) refuse("dynamic extents to stay dimensions of their own");
      if (from.rest == 1 && to.rest == 1) refuse("as many elements before as after");
      step();
    }
  }

  /// Gives a dimension of one element a factor of its own.
  constexpr bool pass_single(side& s) {
    if (s.rest != 1 || at_end(s) || s.shape[s.d] != 1) return false;
    next_dimension(s);
    take_alone(s, 1);
    return true;
  }
  constexpr void step() {
    if (from.passed == to.passed && from.rest != 1 && to.rest != 1) {
      const std::size_t common = greatest_common_divisor(from.rest, to.rest);
      if (common == 0) refuse("extents that are not 0 in merged dimensions");
      if (common > 1) return take_both(common);
    }
    const bool from_is_behind = from.rest != 1 && (to.rest == 1 || from.passed <= to.passed);
    side& behind = from_is_behind ? from : to;
    const side& ahead = from_is_behind ? to : from;
    if (behind.passed == ahead.passed && behind.rest != 1 && ahead.rest == 1)
      refuse("as many elements before as after");
    // The side that is behind takes a factor of its own, which brings it closer to the other side.
    const std::size_t missing = ahead.passed / greatest_common_divisor(behind.passed, ahead.passed);
    const std::size_t common = greatest_common_divisor(behind.rest, missing);
    take_alone(behind, common > 1 ? common : behind.rest);
  }
  constexpr void refuse(const char* requirement) const { refuse_reshape(requirement, from.shape, to.shape); }
  constexpr void write(const side& s) {
    std::size_t k = 0;
    for (std::size_t d = 0; d < s.shape.size(); ++d) {
      all.add_dimension();
      for (; k < s.count && s.terms[k].dimension == d; ++k) all.add_term(s.terms[k].factor);
    }
  }
};

}  // namespace detail

/// The rule of a row-major reshape from one shape to another: [8, 4] to [2, 16] is "(ab)c->a(bc)" with a = 2, b = 4, c
/// = 4. An extent may be `dynamic` if it stays a separate dimension. A shape_error if the numbers of elements differ.
constexpr rule reshape_rule(const shape_list& from, const shape_list& to) {
  rule all;
  detail::reshape_walk walker{all, {from}, {to}};
  walker.walk();
  // A group with only one shared dimension is not merged.
  std::uint8_t members[2 * most_factors]{};
  for (std::size_t f = 0; f < all.factor_count; ++f) ++members[all.factors[f].group];
  for (std::size_t f = 0; f < all.factor_count; ++f)
    if (members[all.factors[f].group] == 1) all.factors[f].group = 0;
  all.begin_operand();
  walker.write(walker.from);
  all.begin_result();
  walker.write(walker.to);
  all.complete();
  all.how = linearity::movement;
  return all.named("reshape");
}

/// The shape that a reshape target describes: 0 keeps the extent of a dimension, and one -1 is computed from the other
/// extents. A shape_error if no extent for -1 fits.
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
  // Dynamic extents that 0 keeps cancel out. A dynamic extent that is not kept is the value of -1, if all other extents
  // are equal.
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
