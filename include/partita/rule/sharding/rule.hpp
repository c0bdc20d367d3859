// A rule: which dimensions of an operation's operands and results are sharded together. Rules are pure data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <partita/rule/sharding/factor.hpp>
#include <partita/rule/sharding/pending_reduction.hpp>
#include <partita/rule/sharding/spec.hpp>
#include <partita/rule/sharding/tensor_set.hpp>

namespace partita {

/// The sharding rule of an operation: the factors of each dimension of each operand and result, major to minor, written
/// in einsum notation: letters are factors, a factor missing on the right is summed, `(ab)` is a merged dimension, `1`
/// a dimension of one element, `_` a dimension that stays unsharded, `...` any number of leading dimensions, broadcast
/// as in NumPy.
struct rule {
  static constexpr std::size_t most_terms = 128, most_dimensions_in_all = 96, most_letters = 31;  ///< limits
  /// The maximal number of results for which a rule can specify the operands that each result depends on.
  static constexpr std::size_t most_results_with_unused = 8;
  /// In rules of at most this number of tensors, no tensors share dimensions, because comparing them costs time.
  static constexpr std::size_t tensors_with_own_dimensions = 8;

  struct dimension {                    ///< the factors of one dimension of a tensor
    std::uint8_t first = 0, count = 0;  ///< the range of the dimension's factors in `terms`; empty for an extent of 1
    friend constexpr bool operator==(const dimension&, const dimension&) = default;
  };
  struct tensor {                                     ///< the dimensions of one operand or result
    static constexpr std::uint8_t no_ellipsis = 255;  ///< the tensor has no `...`
    std::uint8_t first = 0, rank = 0;                 ///< the range of the tensor's dimensions in `dimensions`
    std::uint8_t ellipsis = no_ellipsis;              ///< the position of `...` among the dimensions
    friend constexpr bool operator==(const tensor&, const tensor&) = default;
  };

  factor factors[most_factors]{};                  ///< the factors: the loops of the operation
  std::uint8_t terms[most_terms]{};                ///< the factors of all dimensions, one after another
  dimension dimensions[most_dimensions_in_all]{};  ///< the dimensions of all tensors
  /// The operands, then the results; after the first few tensors, tensors with equal dimensions share the dimensions.
  tensor tensors[most_tensors]{};
  std::uint8_t factor_count = 0, term_count = 0, dimension_count = 0;  ///< how much of the arrays is used
  std::uint8_t operand_count = 0, result_count = 0;                    ///< the numbers of tensors
  linearity how = linearity::multilinear;                              ///< in which operands the operation is linear
  bool has_equivalent_operands = false;  ///< the operands are equivalent: none has priority (concatenate, stack)
  tensor_set low_priority_operands = 0;  ///< operands that propose no axes if the policy ignores low priority
  tensor_set shape_only_operands = 0;    ///< operands whose values are not read; they may have any layout
  tensor_set constant = 0;               ///< operands in which the operation is not linear (indices, masks)
  tensor_set unused_operands[most_results_with_unused]{};  ///< for each result, operands on which it does not depend
  char letters_of_name[most_letters + 1]{};                ///< the name of the operation and zeros

  constexpr rule() = default;
  /// Reads einsum notation; a shape_error says which part cannot be read.
  constexpr rule(const char* notation);  // NOLINT: a literal is a rule

  constexpr std::size_t tensor_count() const { return std::size_t{operand_count} + result_count; }  ///< with results
  constexpr std::size_t rank(std::size_t t) const { return tensors[t].rank; }  ///< The rank of tensor t.
  /// Dimension d of tensor t.
  constexpr const dimension& at(std::size_t t, std::size_t d) const { return dimensions[tensors[t].first + d]; }
  /// The number of the k-th factor of a dimension.
  constexpr std::size_t term(const dimension& d, std::size_t k) const { return terms[d.first + k]; }
  constexpr const char* name() const { return letters_of_name[0] == '\0' ? "rule" : letters_of_name; }  ///< of the rule
  constexpr bool has_ellipsis() const {  ///< whether a tensor has `...`
    for (std::size_t t = 0; t < tensor_count(); ++t)
      if (tensors[t].ellipsis != tensor::no_ellipsis) return true;
    return false;
  }
  /// The factors of tensor t as a set, with a bit for each factor.
  constexpr std::uint32_t factors_of(std::size_t t) const {
    std::uint32_t bits = 0;
    for (std::size_t d = 0; d < rank(t); ++d)
      for (std::size_t k = 0; k < at(t, d).count; ++k) bits |= std::uint32_t{1} << term(at(t, d), k);
    return bits;
  }

  // --- building: operands first, then results; dimensions are added to the last tensor ---

  /// Adds a factor with a number of iterations and a letter, and returns its number.
  constexpr std::size_t add_factor(std::size_t size, char letter, factor_kind kind = factor_kind::pass_through) {
    if (factor_count == most_factors)
      throw shape_error(text("partita::rule: requires at most ") << most_factors << " factors; split the operation");
    factors[factor_count].size = size;
    factors[factor_count].kind = kind;
    factors[factor_count].letter = letter;
    return factor_count++;
  }
  constexpr void begin_operand() {  ///< adds an operand, still of rank 0
    share_dimensions_of_last_tensor();
    if (operand_count == most_operands || result_count != 0)
      throw shape_error(text("partita::rule: requires at most ")
                        << most_operands << " operands, before the results; split the operation");
    tensors[operand_count++] = {dimension_count, 0, tensor::no_ellipsis};
  }
  constexpr void begin_result() {  ///< adds a result, still of rank 0
    share_dimensions_of_last_tensor();
    if (result_count == most_results || tensor_count() == most_tensors)
      throw shape_error(text("partita::rule: requires at most ")
                        << most_results << " results, and " << most_tensors << " operands and results together, not "
                        << operand_count << " and more than " << result_count << "; split the operation");
    tensors[operand_count + result_count++] = {dimension_count, 0, tensor::no_ellipsis};
  }
  /// Adds a dimension of one element to the tensor that was added last; terms give it factors.
  constexpr void add_dimension() {
    if (dimension_count == most_dimensions_in_all) throw_too_many_dimensions();
    dimensions[dimension_count++] = {term_count, 0};
    ++tensors[tensor_count() - 1].rank;
  }
  /// Adds a factor, as the innermost one, to the dimension that was added last.
  constexpr void add_term(std::size_t f) {
    if (term_count == most_terms)
      throw shape_error(text("partita::rule: requires at most ")
                        << most_terms << " factors in all; split the operation");
    terms[term_count++] = static_cast<std::uint8_t>(f);
    ++dimensions[dimension_count - std::size_t{1}].count;
  }
  constexpr void add_dimension(std::size_t f) {
    add_dimension();
    add_term(f);
  }
  /// Adds a dimension that must be unsharded to the operand that was added last.
  constexpr void add_whole_dimension(std::size_t size = dynamic) {
    add_dimension(add_factor(size, '_', factor_kind::replicate));
  }
  /// If an earlier tensor has the same dimensions as tensor t, whose dimensions are the last ones in the rule, t shares
  /// these dimensions: operations with many tensors have only a few different dimensions.
  constexpr void share_dimensions(std::size_t t) {
    for (std::size_t u = 0; tensors[t].rank > 0 && u < t; ++u)
      if (has_same_dimensions(tensors[u], tensors[t])) {
        dimension_count = tensors[t].first;
        tensors[t].first = tensors[u].first;
        return;
      }
  }
  /// Shares the dimensions and terms of the last tensor with an equal earlier tensor.
  constexpr void share_dimensions_of_last_tensor() {
    if (tensor_count() <= tensors_with_own_dimensions) return;
    const std::size_t t = tensor_count() - 1, first = tensors[t].first;
    share_dimensions(t);
    if (tensors[t].first != first) term_count = dimensions[first].first;
  }
  /// Makes dimension d of tensor t a dimension of one element, for tensor t only.
  constexpr void drop_factors(std::size_t t, std::size_t d) {
    bool shared = false;
    for (std::size_t u = 0; tensor_count() > tensors_with_own_dimensions && u < tensor_count(); ++u)
      shared = shared || (u != t && tensors[u].rank > 0 && tensors[u].first == tensors[t].first);
    if (!shared) {
      dimensions[tensors[t].first + d].count = 0;
      return;
    }
    const tensor from = tensors[t];
    tensors[t].first = dimension_count;
    for (std::size_t k = 0; k < from.rank; ++k) {
      if (dimension_count == most_dimensions_in_all) throw_too_many_dimensions();
      dimensions[dimension_count++] = dimensions[from.first + k];
    }
    dimensions[tensors[t].first + d].count = 0;
    share_dimensions(t);
  }
  /// Derives the kinds and precedences of factors from their positions. All tensors must have been added to the rule.
  constexpr rule& complete() {
    share_dimensions_of_last_tensor();
    std::uint32_t everywhere = ~std::uint32_t{0}, in_all_results = ~std::uint32_t{0};
    for (std::size_t t = 0; t < tensor_count(); ++t) {
      const std::uint32_t here = factors_of(t);
      everywhere &= here;
      if (t >= operand_count) in_all_results &= here;
    }
    for (std::size_t f = 0; f < factor_count; ++f) {
      factor& one = factors[f];
      const bool reduced = (in_all_results >> f & 1U) == 0;
      if (one.kind == factor_kind::pass_through && reduced) one.kind = factor_kind::reduce;
      one.precedence = (everywhere >> f & 1U) != 0 || one.broadcasts ? 0 : reduced ? 2 : 1;
    }
    return *this;
  }

  // --- refinements: copies of the rule with more properties ---

  /// A copy of the rule with another name.
  constexpr rule named(const char* name) const {
    rule r = *this;
    r.set_name(name);
    return r;
  }
  constexpr void set_name(const char* name) {  ///< names the operation; cut after most_letters characters
    for (char& letter : letters_of_name) letter = '\0';
    for (std::size_t k = 0; name[k] != '\0' && k < most_letters; ++k) letters_of_name[k] = name[k];
  }
  /// Declares that the factors with these letters must be unsharded.
  constexpr rule replicate(const char* letters) const { return change_kind(letters, factor_kind::replicate); }
  /// Declares that the operation itself communicates over the axes that shard the factors with these letters.
  constexpr rule collective(const char* letters) const { return change_kind(letters, factor_kind::collective); }
  /// Sets the pending reduction of results that lack the factors with these letters; reductions that do not commute in
  /// one rule are a shape_error.
  constexpr rule reduces(const char* letters, pending_reduction kind) const {
    rule r = *this;
    for (; *letters != '\0'; ++letters) r.factors[r.number(*letters)].how = kind;
    for (std::size_t f = 0; f < r.factor_count; ++f)
      for (std::size_t g = 0; g < f; ++g)
        if (r.factors[f].kind == factor_kind::reduce && r.factors[g].kind == factor_kind::reduce &&
            !commutes(r.factors[f].how, r.factors[g].how))
          throw shape_error(text("partita::rule: requires reductions that commute, not ")
                            << name_of(r.factors[f].how) << " and " << name_of(r.factors[g].how)
                            << "; write one rule for each");
    if (!is_linear(kind)) r.how = is_extreme(kind) ? linearity::monotone : linearity::none;
    return r;
  }
  /// A copy of the rule with the linearity `l`.
  constexpr rule with(linearity l) const {
    rule r = *this;
    r.how = l;
    return r;
  }
  /// Declares that the operation is linear only in these operands.
  constexpr rule linear_in(std::initializer_list<std::size_t> operands) const {
    rule r = *this;
    r.constant = first_tensors(operand_count);
    for (const std::size_t i : operands) r.constant &= ~one_tensor(i);
    return r;
  }
  /// Declares that these operands propose no axes if the policy has `ignores_low_priority_operands`.
  constexpr rule with_low_priority(std::initializer_list<std::size_t> operands) const {
    rule r = *this;
    for (const std::size_t i : operands) r.low_priority_operands |= one_tensor(i);
    return r;
  }
  /// Declares that the operation uses only the shapes of these operands, not their values.
  constexpr rule with_shape_only_operands(std::initializer_list<std::size_t> operands) const {
    rule r = *this;
    for (const std::size_t i : operands) r.shape_only_operands |= one_tensor(i);
    return r;
  }
  /// Declares that result j depends only on these operands, so that it is not summed over factors that they lack.
  constexpr rule result_depends_on(std::size_t j, std::initializer_list<std::size_t> operands) const {
    if (j >= most_results_with_unused)
      throw shape_error(text("partita::rule::result_depends_on: requires one of the first ")
                        << most_results_with_unused << " results, not result " << j << "; put it before the others");
    rule r = *this;
    r.unused_operands[j] = first_tensors(operand_count);
    for (const std::size_t i : operands) r.unused_operands[j] &= ~one_tensor(i);
    return r;
  }
  /// The factors that result j is summed over, as a bit set: factors that its operands have and result j lacks.
  constexpr std::uint32_t summed_factors(std::size_t j) const {
    std::uint32_t bits = 0;
    for (std::size_t i = 0; i < operand_count; ++i)
      if (j >= most_results_with_unused || !contains(unused_operands[j], i)) bits |= factors_of(i);
    return bits & ~factors_of(operand_count + j);
  }
  /// The number of the factor with a given letter; a shape_error if the rule has no such factor.
  constexpr std::size_t number(char letter) const {
    for (std::size_t f = 0; f < factor_count; ++f)
      if (factors[f].letter == letter && letter != '_') return f;
    throw shape_error(text("partita::rule: requires a letter of the notation, and there is no '")
                      << letter << "' in it");
  }

  friend constexpr bool operator==(const rule&, const rule&) = default;

 private:
  template <class = void>
  [[noreturn]] static constexpr void throw_too_many_dimensions() {  ///< if more than most_dimensions_in_all
    throw shape_error(text("partita::rule: requires at most ")
                      << most_dimensions_in_all << " different dimensions in all; split the operation");
  }
  constexpr bool has_same_dimensions(const tensor& a, const tensor& b) const {  ///< whether all factors are equal
    if (a.rank != b.rank || a.ellipsis != b.ellipsis) return false;
    for (std::size_t d = 0; d < a.rank; ++d) {
      const dimension &one = dimensions[a.first + d], &other = dimensions[b.first + d];
      if (one.count != other.count) return false;
      for (std::size_t k = 0; k < one.count; ++k)
        if (term(one, k) != term(other, k)) return false;
    }
    return true;
  }
  constexpr rule change_kind(const char* letters, factor_kind kind) const {  ///< a copy, for factors with these letters
    rule r = *this;
    for (; *letters != '\0'; ++letters) r.factors[r.number(*letters)].kind = kind;
    return r;
  }
};

}  // namespace partita

#include <partita/rule/sharding/notation.hpp>
