// Parses and writes Shardy's textual sharding rules, such as ([i, k], [k, j])->([i, j]) {i=8, j=8, k=8} reduction={k}.
#pragma once

#include <cstddef>
#include <cstdint>
#include <partita/core/version.hpp>
#include <partita/rule/sharding/rule.hpp>

namespace partita {
namespace detail {

/// The letter of factor k in a rule of this library: i to z, then A, B, …. Shardy names factors i to z, then z_1, z_2,
/// ….
constexpr char shardy_letter(std::size_t k) {
  return static_cast<char>(k < 18 ? 'i' + static_cast<int>(k) : 'A' + static_cast<int>(k - 18));
}

/// Parses a rule in Shardy's notation. The functions read_… parse what comes next in the text, or throw a shape_error.
struct shardy_reader {
  const char* source;        ///< the text, which ends with a zero
  rule parsed{};             ///< the rule as far as it was parsed
  std::size_t position = 0;  ///< the index of the next character of `source`
  std::uint8_t groups = 0;   ///< the number of groups of factors that share a dimension

  template <class = void>
  [[noreturn]] constexpr void throw_syntax_error(const char* requirement) const {  ///< `requirement` is missing
    throw shape_error(text("partita::rule_from_shardy: requires ")
                      << requirement << ", but character " << position << " of \"" << source
                      << "\" is not; write for example \"([i, k], [k, j])->([i, j]) {i=8, j=8, k=8}\"");
  }
  static constexpr bool is_letter(char c) { return c >= 'a' && c <= 'z'; }  ///< whether c can be a factor
  static constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

  /// Skips spaces and returns the next character.
  constexpr char next() {
    while (source[position] == ' ' || source[position] == '\n' || source[position] == '\t') ++position;
    return source[position];
  }
  constexpr bool consume_if_next(char c) {  ///< skips c, and returns true, if c comes next
    if (next() != c) return false;
    ++position;
    return true;
  }
  /// Skips the character c, or throws a shape_error if another one comes next.
  constexpr void expect(char c, const char* requirement) {
    if (!consume_if_next(c)) throw_syntax_error(requirement);
  }
  constexpr bool consume_word(const char* word) {  ///< skips the word, and returns true, if it comes next
    next();
    std::size_t k = 0;
    while (word[k] != '\0' && source[position + k] == word[k]) ++k;
    if (word[k] != '\0') return false;
    position += k;
    return true;
  }
  constexpr std::size_t read_number() {  ///< parses a decimal number that is not negative
    if (!is_digit(next())) throw_syntax_error("a number");
    std::size_t n = 0;
    for (; is_digit(source[position]); ++position) n = 10 * n + static_cast<std::size_t>(source[position] - '0');
    return n;
  }
  /// Parses a factor, adds the factor to the rule if it is new, and returns its number in the rule.
  constexpr std::size_t read_factor() {
    char letter = next();
    if (!is_letter(letter)) throw_syntax_error("a factor, a letter or z_1");
    ++position;
    if (letter == 'z' && source[position] == '_') {
      ++position;
      letter = shardy_letter(17 + read_number());
    }
    for (std::size_t f = 0; f < parsed.factor_count; ++f)
      if (parsed.factors[f].letter == letter) return f;
    return parsed.add_factor(dynamic, letter);
  }
  /// Parses a tensor such as [i, jk], which has one entry per dimension.
  constexpr void read_tensor() {
    expect('[', "\"[\" before the dimensions of a tensor");
    if (consume_if_next(']')) return;
    do {
      parsed.add_dimension();
      const std::size_t begin = parsed.term_count;
      do parsed.add_term(read_factor());
      while (is_letter(next()));
      if (parsed.term_count - begin > 1) merge_factors(begin);
    } while (consume_if_next(','));
    expect(']', "\",\" or \"]\" after a dimension");
  }
  /// Puts the factors of the last dimension, the terms from `begin` on, into one group.
  constexpr void merge_factors(std::size_t begin) {
    ++groups;
    for (std::size_t k = begin; k < parsed.term_count; ++k) {
      const std::uint8_t old = parsed.factors[parsed.terms[k]].merged_group;
      parsed.factors[parsed.terms[k]].merged_group = groups;
      for (std::size_t f = 0; old != 0 && f < parsed.factor_count; ++f)
        if (parsed.factors[f].merged_group == old) parsed.factors[f].merged_group = groups;
    }
  }
  constexpr void read_tensors(bool results) {  ///< parses a list of operands or of results, in parentheses
    expect('(', "\"(\" before the tensors");
    if (consume_if_next(')')) return;
    do {
      results ? parsed.begin_result() : parsed.begin_operand();
      read_tensor();
    } while (consume_if_next(','));
    expect(')', "\",\" or \")\" after a tensor");
  }
  /// Parses a list such as ={i, j}, and sets the kind of these factors.
  constexpr void read_kind(factor_kind kind) {
    expect('=', "\"=\"");
    expect('{', "\"{\" before factors");
    if (consume_if_next('}')) return;
    do {
      factor& named_factor = parsed.factors[read_factor()];
      named_factor.kind = kind;
      named_factor.implicit_replicate = false;
    } while (consume_if_next(','));
    expect('}', "\"}\" after factors");
  }
  /// Sets the kinds of the factors that some result lacks, before the reductions in the text are read. Such a factor is
  /// summed if two or more operands and no result have it; if not, its dimensions must stay unsharded, because every
  /// element of the result may need all elements along them.
  constexpr void keep_unshared_factors_whole() {
    for (std::size_t f = 0; f < parsed.factor_count; ++f) {
      factor& here = parsed.factors[f];
      if (here.kind != factor_kind::reduce || is_summed_between_operands(f)) continue;
      here.kind = factor_kind::replicate;
      here.implicit_replicate = true;
    }
  }
  /// Whether two or more operands and no result have the factor f.
  constexpr bool is_summed_between_operands(std::size_t f) const {
    std::size_t operands = 0, results = 0;
    for (std::size_t t = 0; t < parsed.tensor_count(); ++t)
      if ((parsed.factors_of(t) >> f & 1U) != 0) ++(t < parsed.operand_count ? operands : results);
    return operands > 1 && results == 0;
  }
  constexpr rule read_rule() {  ///< parses the whole text
    const bool whole = consume_word("#sdy.op_sharding_rule<");
    read_tensors(false);
    if (!consume_word("->")) throw_syntax_error("\"->\" between operands and results");
    read_tensors(true);
    expect('{', "\"{\" before the sizes of the factors");
    if (!consume_if_next('}')) {
      do {
        const std::size_t f = read_factor();
        expect('=', "\"=\" after a factor");
        parsed.factors[f].size = read_number();
      } while (consume_if_next(','));
      expect('}', "\"}\" after the sizes");
    }
    parsed.complete();
    keep_unshared_factors_whole();
    for (bool any = true; any;) {
      any = false;
      if (consume_word("reduction")) read_kind(factor_kind::reduce), any = true;
      if (consume_word("need_replication")) read_kind(factor_kind::replicate), any = true;
      if (consume_word("permutation")) read_kind(factor_kind::collective), any = true;
      if (consume_if_next(',')) any = true;
      if (consume_word("custom")) any = true;
    }
    if (whole) expect('>', "\">\" at the end");
    if (next() != '\0') throw_syntax_error("reduction={…}, need_replication={…} or permutation={…} after the sizes");
    return parsed;
  }
};

}  // namespace detail

/// Makes a rule from Shardy's notation, also within `#sdy.op_sharding_rule<…>`. Reductions become sums, and permutation
/// factors become factors over which the operation itself communicates. A factor that a result lacks and no reduction
/// names is summed if operands share it and no result has it; otherwise the factor must stay whole.
/// Shapes:   each factor has the size that the notation states.
/// Requires: a rule in Shardy's notation that does not block the propagation of a factor [shape_error].
/// Cost:     no allocation; the result is a constant expression if the argument is one.
/// Adjoint:  as_shardy(rule), the inverse.
constexpr rule rule_from_shardy(const char* written) { return detail::shardy_reader{written}.read_rule(); }
PARTITA_FORMER_NAME("use rule_from_shardy") constexpr rule of_shardy(const char* w) { return rule_from_shardy(w); }

/// Writes a rule in Shardy's notation: `text << as_shardy{r}`. Factors keep their letters if these are Shardy's
/// letters; otherwise they are renamed in the order in which they appear. Each dimension of extent 1 gets a factor of
/// its own.
struct as_shardy {
  const rule& of;  ///< the rule to write

  template <std::size_t Capacity>
  friend constexpr basic_text<Capacity>& operator<<(basic_text<Capacity>& out, const as_shardy& written) {
    notation_writer all(written.of);
    return all.write(out);
  }

 private:
  struct notation_writer {  ///< numbers the factors of a rule, and writes it
    /// The maximum number of factors: those of a rule, and one for each dimension of extent 1.
    static constexpr std::size_t most_written_factors = rule::most_dimensions_in_all + most_factors;
    const rule& r;                               ///< the rule to write
    std::size_t number[most_written_factors]{};  ///< each factor's name (0: i, 17: z, 18: z_1), then each extent 1's
    std::size_t size[most_written_factors]{};    ///< the size of each factor, in the same order
    std::size_t count = 0;                       ///< how many entries of `number` and `size` are used

    constexpr explicit notation_writer(const rule& of) : r(of), count(of.factor_count) {  ///< numbers the factors
      bool known = true;
      for (std::size_t f = 0; f < r.factor_count; ++f) {
        const char c = r.factors[f].letter;
        number[f] = static_cast<std::size_t>(c >= 'i' && c <= 'z' ? c - 'i' : c >= 'A' && c <= 'Z' ? c - 'A' + 18 : 99);
        for (std::size_t g = 0; g < f; ++g) known = known && number[g] != number[f];
        known = known && number[f] != 99;
        size[f] = r.factors[f].size == dynamic ? 1 : r.factors[f].size;
      }
      if (!known) rename_factors();
    }
    /// Numbers the factors in the order in which they appear.
    constexpr void rename_factors() {
      bool done[most_factors]{};
      std::size_t next = 0;
      for (std::size_t t = 0; t < r.tensor_count(); ++t)
        for (std::size_t d = 0; d < r.rank(t); ++d)
          for (std::size_t k = 0; k < r.at(t, d).count; ++k)
            if (const std::size_t f = r.term(r.at(t, d), k); !done[f]) done[f] = true, number[f] = next++;
      for (std::size_t f = 0; f < r.factor_count; ++f)
        if (!done[f]) number[f] = next++;
    }
    template <class Out>
    static constexpr void write_factor_name(Out& out, std::size_t n) {  ///< i to z, then z_1, z_2, …
      if (n < 18) out << detail::shardy_letter(n);
      else out << "z_" << n - 17;
    }
    /// Adds a factor for a dimension of extent 1, and returns its position in `number`.
    constexpr std::size_t add_unit_factor() {
      std::size_t n = 0;
      for (std::size_t f = 0; f < count; ++f)
        if (number[f] >= n) n = number[f] + 1;
      number[count] = n;
      size[count] = 1;
      return count++;
    }
    /// Writes the factors of the dimensions of each tensor from `first` to before `last`, as in `([i, k], [k, j])`.
    template <class Out>
    constexpr void write_tensor_factors(Out& out, std::size_t first, std::size_t last) {
      out << '(';
      for (std::size_t t = first; t < last; ++t) {
        out << (t > first ? ", [" : "[");
        for (std::size_t d = 0; d < r.rank(t); ++d) {
          if (d > 0) out << ", ";
          const rule::dimension& here = r.at(t, d);
          if (here.count == 0) write_factor_name(out, number[add_unit_factor()]);
          for (std::size_t k = 0; k < here.count; ++k) write_factor_name(out, number[r.term(here, k)]);
        }
        out << ']';
      }
      out << ')';
    }
    /// Writes `word`, such as ` reduction={`, the factors of this kind and a brace; writes nothing if there are none.
    template <class Out>
    constexpr void write_kind(Out& out, const char* word, factor_kind kind) const {
      bool any = false;
      for (std::size_t n = 0; n < most_written_factors; ++n)
        for (std::size_t f = 0; f < r.factor_count; ++f) {
          if (number[f] != n || r.factors[f].kind != kind || r.factors[f].implicit_replicate) continue;
          out << (any ? ", " : word);
          write_factor_name(out, n);
          any = true;
        }
      if (any) out << '}';
    }
    template <class Out>
    constexpr Out& write(Out& out) {  ///< writes the whole rule
      write_tensor_factors(out, 0, r.operand_count);
      out << "->";
      write_tensor_factors(out, r.operand_count, r.tensor_count());
      out << " {";
      bool any = false;
      for (std::size_t n = 0; n < most_written_factors; ++n)
        for (std::size_t f = 0; f < count; ++f) {
          if (number[f] != n) continue;
          if (any) out << ", ";
          any = true;
          write_factor_name(out, n);
          out << '=' << size[f];
        }
      out << '}';
      write_kind(out, " reduction={", factor_kind::reduce);
      write_kind(out, " need_replication={", factor_kind::replicate);
      write_kind(out, " permutation={", factor_kind::collective);
      return out;
    }
  };
};

}  // namespace partita
