// Products and sums of tensors in einsum notation, which is checked at compile time.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <partita/core/rejected_call.hpp>
#include <partita/rule/sharding/notation.hpp>
#include <partita/sharded/call.hpp>

namespace partita {
namespace detail {

/// Einsum notation as a template argument.
template <std::size_t N>
struct einsum_notation {
  char letters[N]{};                                   ///< the notation and a final 0
  constexpr einsum_notation(const char (&given)[N]) {  // NOLINT: a literal is a notation
    for (std::size_t k = 0; k < N; ++k) letters[k] = given[k];
  }
};
template <auto Notation>
struct einsum_op {                                   ///< the operation that a notation describes
  static constexpr bool uses_matrix_product = true;  ///< so that a bound operation sets the product of BLAS
  static constexpr partita::rule rule(const shape_span&) { return partita::rule(Notation.letters).named("einsum"); }
  applied_operation make_applied_operation(const partita::rule& r) const {  ///< r, and the loops that compute blocks
    return {r, r.operand_count == 1 ? block_work::sum_or_repeat : block_work::product};
  }
};

/// The kinds of errors that einsum finds in its notation and in the types of its operands at compile time.
enum class einsum_fault { none, notation, number_of_tensors, dimensions, unknown_letter, repeated_letter };

template <class X>
consteval bool can_have_rank(std::size_t rank, bool is_minimum) {  ///< whether X may have this rank, or more
  constexpr std::size_t rank_of_x = static_rank<X>();
  return rank_of_x == dynamic || (is_minimum ? rank_of_x >= rank : rank_of_x == rank);
}
/// Whether each tensor of a rule has each letter at most once, and no merged letters. einsum supports neither repeated
/// letters, which mean a diagonal, nor parentheses, which mean a merged dimension.
constexpr bool has_plain_letters(const rule& r) {
  for (std::size_t t = 0; t < r.tensor_count(); ++t) {
    std::size_t letters = 0;
    for (std::size_t d = 0; d < r.rank(t); ++d) {
      if (r.at(t, d).count > 1) return false;
      letters += r.at(t, d).count;
    }
    if (static_cast<std::size_t>(std::popcount(r.factors_of(t))) != letters) return false;
  }
  return true;
}
template <auto Notation, class... X>
consteval einsum_fault fault_of_einsum() {  ///< the first fault that is found, or none
  rule read;
  if (notation_reader{Notation.letters, read}.parse() != nullptr) return einsum_fault::notation;
  if (read.operand_count != sizeof...(X) || read.result_count != 1) return einsum_fault::number_of_tensors;
  std::size_t i = 0;
  std::uint32_t known = 0;
  bool fit = true;
  ((fit = fit && can_have_rank<X>(read.rank(i), read.tensors[i].ellipsis != rule::tensor::no_ellipsis),
    known |= read.factors_of(i++)),
   ...);
  if (!fit) return einsum_fault::dimensions;
  if ((read.factors_of(i) & ~known) != 0) return einsum_fault::unknown_letter;
  return has_plain_letters(read) ? einsum_fault::none : einsum_fault::repeated_letter;
}

}  // namespace detail

/// Multiplies and sums one or two tensors in einsum notation: `einsum<"bmk,kn->bmn">(x, w)`. A dimension whose letter
/// is missing on the right side of "->" is summed; if it is sharded, the result is usually a partial sum.
template <detail::einsum_notation Notation, class... X>
  requires(detail::any_tensor<X> && ...)
auto einsum(const X&... x) {
  using detail::einsum_fault;
  constexpr bool has_one_or_two_operands = sizeof...(X) == 1 || sizeof...(X) == 2;
  static_assert(has_one_or_two_operands, "partita::einsum: requires one operand or two; multiply pairs");
  constexpr einsum_fault fault = detail::fault_of_einsum<Notation, X...>();
  static_assert(
      fault != einsum_fault::notation,
      "partita::einsum<notation>(x...): requires a notation as \"bmk,kn->bmn\": a letter for each dimension, a "
      "comma between operands and one \"->\" before the result");
  static_assert(
      fault != einsum_fault::number_of_tensors || !has_one_or_two_operands,
      "partita::einsum<notation>(x...): requires as many tensors as the notation has operands, and one result");
  static_assert(fault != einsum_fault::dimensions,
                "partita::einsum<notation>(x...): requires a letter for each dimension of each tensor, or \"...\" for "
                "those that are not named");
  static_assert(fault != einsum_fault::unknown_letter,
                "partita::einsum<notation>(x...): requires letters of an operand on the right of \"->\"");
  static_assert(fault != einsum_fault::repeated_letter,
                "partita::einsum<notation>(x...): requires each letter once in a tensor, and none in parentheses; "
                "there are no diagonals, and reshape(x, extents) merges dimensions");
  if constexpr (has_one_or_two_operands && fault == einsum_fault::none)
    return detail::call(detail::einsum_op<Notation>{}, x...);
}
/// Fallback: einsum of any other arguments is a compile-time error.
template <detail::einsum_notation Notation, class... X>
  requires(!(detail::any_tensor<X> && ...))
auto einsum(const X&...) {
  static_assert(detail::dependent_false<X...>,
                "partita::einsum<notation>(x...): requires tensors or arrays of a known rank; multiply(x, number) is "
                "for numbers");
  return detail::rejected_call{};
}
PARTITA_FALLBACK_OVERLOAD(einsum) {
  static_assert(detail::dependent_false<Given...>,
                "partita::einsum<notation>(x...): requires the notation as part of the type; write "
                "einsum<\"bmk,kn->bmn\">(x, w)");
  return detail::rejected_call{};
}

}  // namespace partita
