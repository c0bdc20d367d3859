// Fingerprints of shardings and rules, which workers compare instead of the values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <partita/core/hash.hpp>
#include <partita/rule/sharding/pending_reduction.hpp>
#include <partita/rule/sharding/rule.hpp>
#include <partita/rule/sharding/sharding.hpp>

namespace partita::detail {

/// A fingerprint of a rule. Equal rules of the same name have the same fingerprint.
constexpr std::uint64_t fingerprint_of(const rule& r) {
  hasher all;
  all.mix(r.letters_of_name).mix(r.operand_count).mix(r.result_count).mix(r.how);
  for (std::size_t f = 0; f < r.factor_count; ++f)
    all.mix(r.factors[f].size).mix(r.factors[f].kind).mix(r.factors[f].how);
  for (std::size_t t = 0; t < r.tensor_count(); ++t) {
    all.mix(r.rank(t));
    for (std::size_t d = 0; d < r.rank(t); ++d) {
      std::uint64_t terms = r.at(t, d).count;
      for (std::size_t k = 0; k < r.at(t, d).count; ++k) terms = terms << 5U ^ terms >> 59U ^ r.term(r.at(t, d), k);
      all.mix(terms);
    }
  }
  return all.value();
}

/// A fingerprint of a sharding without its mesh. Equal shardings have the same fingerprint.
constexpr std::uint64_t fingerprint_of(const sharding& s) {
  hasher all;
  for (std::size_t d = 0; d < s.rank(); ++d) all.mix(s.cuts[d].packed);
  for (const pending_reduction kind : s.pending) all.mix(kind);
  return all.mix(s.dimensions).mix(s.open).mix(s.must_replicate).mix(s.reduced_over).value();
}

}  // namespace partita::detail
