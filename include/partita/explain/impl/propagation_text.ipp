// Defines the functions that explain/propagation_text.hpp declares.
#pragma once

#include <partita/explain/propagation_text.hpp>

namespace partita::detail {

PARTITA_DEF long_text decision_writer::tensor_text(std::size_t t) const {
  const bool is_operand = t < p_.operands.size();
  return long_text(is_operand ? "operand " : "result ") << (is_operand ? t : t - p_.operands.size());
}

PARTITA_DEF long_text decision_writer::describe(const decision& d) const {
  using enum decision::what;
  const long_text f = factor_text(d.factor), a = axis_text(d.axis), here = describe_dimension(d);
  switch (d.outcome) {
    case takes_sharding:
      if (d.axis == decision::no_axis) return long_text() << f << " is sharded like " << here;
      return long_text() << f << " is sharded over " << a;
    case extended:
      return long_text() << f << " is sharded further, like " << here;
    case joined:
      return long_text() << f << " is also sharded over " << a << (d.tensor == decision::none ? "" : ", like ")
                         << (d.tensor == decision::none ? long_text() : here);
    case overruled:
      return long_text() << here << " shards " << f << " differently and follows " << tensor_text(d.by);
    case loses_axis:
      return long_text() << f << " is not sharded over " << a << ", because " << factor_text(d.by) << " is";
    case uneven:
      return long_text() << f << " is not sharded over " << a << ": blocks would be uneven";
    case must_be_whole:
      return long_text() << f << " is not sharded over " << a << " of " << here << ": the operation needs it unsharded";
    case one_element:
      return long_text() << a << " of " << here << " is not used: it has one element, or is broadcast";
    case does_not_fit:
      return long_text() << a << " of " << here
                         << " is not used: its blocks would not be blocks of what it is merged with";
    case keeps_replicating:
      return long_text() << f << " is not sharded over " << a << ": " << tensor_text(d.tensor)
                         << " must be replicated over it";
    case new_dimension:
      return long_text() << a << " of " << here << " is not used: only results have " << f;
    case becomes_partial:
      return long_text() << tensor_text(d.tensor) << " is partial (" << partita::name_of(d.kind) << ") over " << a
                         << ", because " << f << " is sharded over it";
    case passes_partial:
      return long_text() << tensor_text(d.tensor) << " stays partial (" << partita::name_of(d.kind) << ") over " << a
                         << ", and so are the results";
    case finishes_partial:
      return long_text() << tensor_text(d.tensor) << " is reduced (" << partita::name_of(d.kind) << ") over " << a
                         << " before the operation";
    case keeps_partial:
      return long_text() << tensor_text(d.tensor) << " is declared partial (" << partita::name_of(d.kind) << ") over "
                         << a << ", and is made so after the operation";
  }
  return {};
}

PARTITA_DEF long_text decision_writer::factor_text(std::size_t f) const {
  if (f >= most_factors || p_.factor_letters[f] == '\0') return "a dimension";
  return long_text("'") << p_.factor_letters[f] << "'";
}

PARTITA_DEF long_text decision_writer::describe_dimension(const decision& d) const {
  if (d.tensor == decision::none) return "no tensor";
  if (d.dimension == decision::none) return tensor_text(d.tensor);
  return long_text("dimension ") << std::size_t{d.dimension} << " of " << tensor_text(d.tensor);
}

}  // namespace partita::detail

namespace partita {

PARTITA_DEF long_text to_text(const propagation& p) {
  const detail::decision_writer writer(p);
  long_text all;
  for (std::size_t t = 0; t < p.operands.size() + p.results.size(); ++t)
    all << writer.tensor_text(t) << " " << detail::text_of(p[t]) << "\n";
  for (const reshard_need& move : p.reshards)
    all << (move.tensor < p.operands.size() ? "before, " : "after, ") << writer.tensor_text(move.tensor)
        << " moves: " << move.bytes << " bytes to a worker\n";
  return all;
}

PARTITA_DEF long_text explain(const propagation& p) {
  const detail::decision_writer writer(p);
  long_text all = to_text(p);
  for (const decision& one : p.log) all << "  " << writer.describe(one) << "\n";
  return all;
}

PARTITA_DEF long_text explain(const propagation& p, const rule& of) {
  text title;
  title << of.name() << ' ' << of << " on " << p[0].on << '\n';
  return long_text() << title << explain(p);
}

}  // namespace partita
