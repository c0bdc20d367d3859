// Einsum notation of rules: reads a rule from a string and writes a rule as a string.
#pragma once

#include <cstddef>
#include <partita/rule/sharding/rule.hpp>

namespace partita {
namespace detail {

/// Reads einsum notation such as "bmk,kn->bmn" from left to right.
struct notation_reader {
  const char* notation;                ///< the text that is read
  rule& parsed;                        ///< the rule so far
  std::size_t position = 0;            ///< the index of the next character
  std::uint8_t groups = 0;             ///< the number of merged dimensions so far
  const char* missing_part = nullptr;  ///< what is missing at the position where reading stopped; null if all was read

  static constexpr bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }  ///< of a factor

  /// The number of the factor with letter c, which is added if it is new.
  constexpr std::size_t find_factor(char c) {
    for (std::size_t f = 0; f < parsed.factor_count; ++f)
      if (parsed.factors[f].letter == c && c != '_') return f;
    return parsed.add_factor(dynamic, c, c == '_' ? factor_kind::replicate : factor_kind::pass_through);
  }
  constexpr void read_merged_dimension() {  ///< reads from '(' to ')'
    parsed.add_dimension();
    const std::size_t begin = parsed.term_count;
    for (++position; notation[position] != ')'; ++position) {
      if (!is_letter(notation[position])) return void(missing_part = "letters between '(' and ')'");
      parsed.add_term(find_factor(notation[position]));
    }
    if (parsed.term_count - begin < 2) return;
    ++groups;
    for (std::size_t k = begin; k < parsed.term_count; ++k) {
      const std::uint8_t old = parsed.factors[parsed.terms[k]].merged_group;
      parsed.factors[parsed.terms[k]].merged_group = groups;
      for (std::size_t f = 0; old != 0 && f < parsed.factor_count; ++f)
        if (parsed.factors[f].merged_group == old) parsed.factors[f].merged_group = groups;
    }
  }
  constexpr void read_ellipsis() {  ///< reads `...`
    rule::tensor& t = parsed.tensors[parsed.tensor_count() - 1];
    if (notation[position + 1] != '.' || notation[position + 2] != '.' || t.ellipsis != rule::tensor::no_ellipsis)
      return void(missing_part = "\"...\" at most once in each tensor");
    t.ellipsis = t.rank;
    position += 2;
  }
  /// Reads the notation up to the first wrong character. Returns what is required there, or null if all was read.
  constexpr const char* parse() {
    bool results = false;
    parsed.begin_operand();
    for (; notation[position] != '\0'; ++position) {
      const char c = notation[position];
      if (c == ' ') continue;
      if (c == ',') {
        results ? parsed.begin_result() : parsed.begin_operand();
      } else if (c == '-' && notation[position + 1] == '>' && !results) {
        ++position;
        results = true;
        parsed.begin_result();
      } else if (c == '(') {
        read_merged_dimension();
      } else if (c == '.') {
        read_ellipsis();
      } else if (c == '1') {
        parsed.add_dimension();
      } else if (c == '_' || is_letter(c)) {
        parsed.add_dimension(find_factor(c));
      } else {
        missing_part = "letters, '1', '_', \"...\", '(', ')', ',' and one \"->\"";
      }
      if (missing_part != nullptr) return missing_part;
    }
    if (!results) return missing_part = "\"->\" between operands and results";
    parsed.complete();
    return missing_part;
  }
};

}  // namespace detail

constexpr rule::rule(const char* notation) {  ///< reads einsum notation; a shape_error if it cannot be read
  detail::notation_reader reader{notation, *this};
  if (const char* const missing_part = reader.parse(); missing_part != nullptr)
    throw shape_error(text("partita::rule: requires ")
                      << missing_part << ", but character " << reader.position << " of \"" << notation
                      << "\" is not; write for example \"bmk,kn->bmn\"");
}

/// Writes a rule as its notation, for example bmk,kn->bmn.
template <std::size_t Capacity>
constexpr basic_text<Capacity>& operator<<(basic_text<Capacity>& out, const rule& r) {
  for (std::size_t t = 0; t < r.tensor_count(); ++t) {
    if (t == r.operand_count) out << "->";
    else if (t > 0) out << ',';
    for (std::size_t d = 0; d <= r.rank(t); ++d) {
      if (d == r.tensors[t].ellipsis) out << "...";
      if (d == r.rank(t)) break;
      const rule::dimension& all = r.at(t, d);
      if (all.count == 0) out << '1';
      if (all.count > 1) out << '(';
      for (std::size_t k = 0; k < all.count; ++k) out << r.factors[r.term(all, k)].letter;
      if (all.count > 1) out << ')';
    }
  }
  return out;
}

}  // namespace partita
