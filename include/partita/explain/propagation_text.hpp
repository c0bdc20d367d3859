// The shardings, reshards and decisions of one operation, as text.
#pragma once

#include <cstddef>
#include <partita/explain/long_text.hpp>
#include <partita/rule/sharding/propagate.hpp>

namespace partita {
namespace detail {

/// Writes the decisions of a propagation one by one.
class decision_writer {
 public:
  explicit decision_writer(const propagation& p) : p_(p) {}

  long_text tensor(std::size_t t) const {
    const bool is_operand = t < p_.operands.size();
    return long_text(is_operand ? "operand " : "result ") << (is_operand ? t : t - p_.operands.size());
  }
  template <class = void>
  long_text sentence(const decision& d) const {
    using enum decision::what;
    const long_text f = factor(d.factor), a = axis(d.axis), here = place(d);
    switch (d.done) {
      case took:
        if (d.axis == decision::no_axis) return long_text() << f << " is cut as " << here << " is";
        return long_text() << f << " is cut by " << a;
      case extended:
        return long_text() << f << " is cut further, as " << here << " is";
      case joined:
        return long_text() << f << " is cut by " << a << ", too" << (d.tensor == decision::nobody ? "" : ", as ")
                           << (d.tensor == decision::nobody ? long_text() : here)
                           << (d.tensor == decision::nobody ? "" : " is");
      case overruled:
        return long_text() << here << " cuts " << f << " otherwise and follows " << tensor(d.by);
      case lost:
        return long_text() << f << " wants " << a << ", and " << factor(d.by) << " has it";
      case uneven:
        return long_text() << f << " is not cut by " << a << ": blocks would be uneven";
      case must_be_whole:
        return long_text() << f << " is not cut by " << a << " of " << here << ": the operation needs it whole";
      case one_element:
        return long_text() << a << " of " << here << " is not used: it has one element, or is broadcast";
      case does_not_fit:
        return long_text() << a << " of " << here
                           << " is not used: its blocks would not be blocks of what it is merged with";
      case keeps_replicating:
        return long_text() << f << " is not cut by " << a << ": " << tensor(d.tensor) << " demands that it replicates";
      case not_for_new:
        return long_text() << a << " of " << here << " is not used: only results have " << f;
      case owes:
        return long_text() << tensor(d.tensor) << " owes the " << partita::name_of(d.kind) << " over " << a
                           << ", which cuts " << f;
      case passes_partial:
        return long_text() << tensor(d.tensor) << " stays partial (" << partita::name_of(d.kind) << ") over " << a
                           << ", and so are the results";
      case finishes_partial:
        return long_text() << tensor(d.tensor) << " is finished (" << partita::name_of(d.kind) << ") over " << a
                           << " before the operation";
      case keeps_partial:
        return long_text() << tensor(d.tensor) << " is said to be partial (" << partita::name_of(d.kind) << ") over "
                           << a << ", and is made so after the operation";
    }
    return {};
  }

 private:
  long_text factor(std::size_t f) const {
    if (f >= most_factors || p_.letters[f] == '\0') return "a dimension";
    return long_text("'") << p_.letters[f] << "'";
  }
  long_text axis(std::size_t a) const {
    return a == decision::no_axis ? long_text("what cuts it") : long_text(p_[0].on.axes[a].name());
  }
  long_text place(const decision& d) const {
    if (d.tensor == decision::nobody) return "no tensor";
    if (d.dimension == decision::nobody) return tensor(d.tensor);
    return long_text("dimension ") << std::size_t{d.dimension} << " of " << tensor(d.tensor);
  }

  const propagation& p_;
};

template <class Thing>
long_text written(const Thing& thing) {
  text all;
  all << thing;
  return long_text() << all;
}

}  // namespace detail

/// The layout that every operand must have and that every result will have, and the reshards for this: one line for
/// each.
inline long_text to_text(const propagation& p) {
  const detail::decision_writer writer(p);
  long_text all;
  for (std::size_t t = 0; t < p.operands.size() + p.results.size(); ++t)
    all << writer.tensor(t) << " " << detail::written(p[t]) << "\n";
  for (const reshard_need& move : p.reshards)
    all << (move.tensor < p.operands.size() ? "before, " : "after, ") << writer.tensor(move.tensor)
        << " moves: " << move.bytes << " bytes to a worker\n";
  return all;
}
/// The same with the reasons: every decision in order. Factors are named by their letters.
inline long_text explain(const propagation& p) {
  const detail::decision_writer writer(p);
  long_text all = to_text(p);
  for (const decision& one : p.log) all << "  " << writer.sentence(one) << "\n";
  return all;
}
/// The same below a line with the mesh and the rule.
inline long_text explain(const propagation& p, const rule& of) {
  text title;
  title << of.name() << ' ' << of << " on " << p[0].on << '\n';
  return long_text() << title << explain(p);
}

/// Writes a propagation to a stream (any stream with `write`).
template <class Stream>
  requires requires(Stream& stream, const char* p) { stream.write(p, 1); }
Stream& operator<<(Stream& stream, const propagation& p) {
  return stream << to_text(p);
}

}  // namespace partita
