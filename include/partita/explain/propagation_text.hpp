// The shardings, reshards and decisions of one operation, as text.
#pragma once

#include <cstddef>
#include <partita/core/config.hpp>
#include <partita/explain/long_text.hpp>
#include <partita/rule/sharding/propagate.hpp>

namespace partita {
namespace detail {

/// Writes the decisions of a propagation one by one.
class decision_writer {
 public:
  explicit decision_writer(const propagation& p) : p_(p) {}

  PARTITA_DECL long_text tensor_text(std::size_t t) const;   ///< "operand 0" or "result 0" for tensor t.
  PARTITA_DECL long_text describe(const decision& d) const;  ///< A decision in words.

 private:
  PARTITA_DECL long_text factor_text(std::size_t f) const;  ///< the letter of factor f in quotes
  long_text axis_text(std::size_t a) const {                ///< the name of mesh axis a
    return a == decision::no_axis ? long_text("what cuts it") : long_text(p_[0].on.axes[a].name());
  }
  PARTITA_DECL long_text describe_dimension(const decision& d) const;  ///< "dimension 1 of operand 0"

  const propagation& p_;  ///< the propagation whose decisions are written
};

}  // namespace detail

/// Writes a line for the layout of each operand and each result that propagation inferred, and one for each reshard.
PARTITA_DECL long_text to_text(const propagation& p);
/// Writes the layouts, the reshards, and all decisions of a propagation in order. Factors appear as letters.
PARTITA_DECL long_text explain(const propagation& p);
/// Writes the mesh and the rule in one line, then the layouts, the reshards and the decisions of a propagation.
PARTITA_DECL long_text explain(const propagation& p, const rule& of);

/// Writes a propagation to a stream (any stream with `write`).
template <class Stream>
  requires requires(Stream& stream, const char* p) { stream.write(p, 1); }
Stream& operator<<(Stream& stream, const propagation& p) {
  return stream << to_text(p);
}

}  // namespace partita

#ifndef PARTITA_CORE
#include <partita/explain/impl/propagation_text.ipp>
#endif
