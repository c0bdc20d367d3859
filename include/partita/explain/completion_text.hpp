// Why a value of a completed program lies as it does, in words.
#pragma once

#include <cstddef>
#include <partita/plan/complete.hpp>
#include <string>

namespace partita {
namespace detail {

template <class Thing>
std::string words(const Thing& thing) {
  const text all = text() << "" << thing;
  return {all.begin(), all.end()};
}
inline std::string name_of(const graph& g, value v) {
  const auto& name = g[v].name;
  if (name.empty()) return "value " + std::to_string(v.number);
  const std::uint32_t o = g[v].producer;
  if (o == graph::nobody || g.operation(o).results == 1) return name.c_str();
  return std::string(name.c_str()) + "[" + std::to_string(v.number - g.operation(o).first_result) + "]";
}
inline std::string name_of(const graph::node& n) { return std::string(n.name.c_str()) + " " + words(n.how); }

/// What operation o decided against what its tensor t wanted.
inline std::string losses(const completion& done, std::size_t o, std::size_t t) {
  const graph& g = *done.program;
  const graph::node& n = g.operation(o);
  std::vector<spec> specs;
  for (std::size_t k = 0; k < n.how.tensor_count(); ++k) specs.emplace_back(done[g.of(n, k)], g[g.of(n, k)].shape);
  const propagation p =
      propagate(g.on(), n.how, {specs.data(), n.operands}, {specs.data() + n.operands, n.results}, direction::mixed, done.by);
  std::string all;
  for (const decision& one : p.log) {
    using enum decision::what;
    const bool is_loss = one.done == overruled || one.done == lost || one.done == uneven || one.done == must_be_whole ||
                         one.done == does_not_fit || one.done == keeps_replicating;
    const bool is_here = one.tensor == t || (one.tensor == decision::nobody && one.factor != decision::nobody && (n.how.factors_of(t) >> one.factor & 1U) != 0);
    if (!is_loss || !is_here) continue;
    all += "  lost in " + name_of(n) + ":";
    if (one.axis != decision::no_axis) all += std::string(" ") + g.on().axes[one.axis].name();
    if (one.factor != decision::nobody) all += std::string(" for '") + n.how.factors[one.factor].letter + "'";
    all += std::string(", ") + partita::name_of(one.done);
    if (one.done == lost && one.by != decision::nobody) all += std::string(": '") + n.how.factors[one.by].letter + "' has it";
    if (one.done == overruled && one.by != decision::nobody) all += " by " + name_of(g, g.of(n, one.by));
    all += "\n";
  }
  return all;
}

}  // namespace detail

/// Says of each axis that cuts the value where it comes from, back to an annotation; what is owed; what was wanted and lost; and
/// what moves where the value is made or read. Costs the asking of the operations around the value, not of the program.
inline std::string explain(const completion& done, value v) {
  const graph& g = *done.program;
  const sharding& layout = done[v];
  std::string all = detail::name_of(g, v) + " " + detail::words(g[v].shape) + " lies " + detail::words(layout) + "\n";
  for (std::size_t d = 0; d < layout.rank(); ++d)
    for (std::size_t k = 0; k < layout.cuts[d].size(); ++k) {
      const std::size_t a = layout.cuts[d][k];
      all += "  dimension " + std::to_string(d) + " is cut by " + g.on().axes[a].name();
      const cut_origin* why = done.origin(v, d, a);
      for (std::size_t steps = 0; why != nullptr && steps <= g.values(); ++steps) {
        const value here{why->of};
        if (why->operation == graph::nobody) {
          all += "\n    because " + detail::name_of(g, here) + " is annotated " + detail::words(*g.annotation(here)) + ", priority " +
                 std::to_string(g.annotation(here)->priority);
          break;
        }
        const graph::node& n = g.operation(why->operation);
        all += "\n    because " + detail::name_of(g, value{why->from}) + " is, by '" + n.how.factors[why->factor].letter + "' of " + detail::name_of(n);
        if (why->from == why->of) break;
        why = done.origin(value{why->from}, why->from_dimension, a);
      }
      all += "\n";
    }
  for (std::size_t a = 0; a < g.on().rank(); ++a)
    if (layout.owed[a] != reduce::none)
      all += std::string("  still owes the ") + name_of(layout.owed[a]) + " over " + g.on().axes[a].name() + ": its one reader passes it on, or has it finished\n";
  for (std::size_t o = 0; o < g.operations(); ++o)
    for (std::size_t t = 0; t < g.operation(o).how.tensor_count(); ++t)
      if (g.of(g.operation(o), t) == v) all += detail::losses(done, o, t);
  for (const graph_reshard& move : done.reshards) {
    if (move.of != v.number) continue;
    const graph::node& n = g.operation(move.operation);
    all += std::string(move.tensor < n.operands ? "  moved before " : "  moved after ") + detail::name_of(n) + ":\n";
    for (const reshard_step& one : done.plan(move)) all += "    " + detail::words(one) + "\n";
  }
  return all;
}

}  // namespace partita
