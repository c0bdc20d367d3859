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

  PARTITA_DECL long_text tensor(std::size_t t) const;
  PARTITA_DECL long_text sentence(const decision& d) const;

 private:
  PARTITA_DECL long_text factor(std::size_t f) const;
  long_text axis(std::size_t a) const {
    return a == decision::no_axis ? long_text("what cuts it") : long_text(p_[0].on.axes[a].name());
  }
  PARTITA_DECL long_text place(const decision& d) const;

  const propagation& p_;
};

}  // namespace detail

/// The layout that every operand must have and that every result will have, and the reshards for this: one line for
/// each.
PARTITA_DECL long_text to_text(const propagation& p);
/// The same with the reasons: every decision in order. Factors are named by their letters.
PARTITA_DECL long_text explain(const propagation& p);
/// The same below a line with the mesh and the rule.
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
