// Propagation: infers the shardings of all tensors of an operation from the given shardings of some of them.
#pragma once

#include <cstddef>
#include <partita/rule/sharding/conflict_resolution.hpp>
#include <partita/rule/sharding/cotangent.hpp>
#include <partita/rule/sharding/moved_bytes.hpp>

namespace partita {

/// The result of propagation. `operands` are the shardings that the operation needs, `results` the shardings that it
/// produces; `reshards` lists the tensors whose given shardings differ from these, and `log` the reasons. Tensors are
/// numbered with the operands first.
struct propagation {
  growing_list<sharding, 12> operands{};      ///< the shardings that the operation needs
  growing_list<sharding, 8> results{};        ///< the shardings that the operation produces
  growing_list<reshard_need, 12> reshards{};  ///< the tensors whose given shardings differ from these
  detail::decision_log log{};                 ///< the decisions and their reasons
  char factor_letters[most_factors]{};        ///< the letters of the rule's factors, which explanations print

  /// The estimated bytes that a worker receives on average in all reshards together.
  constexpr std::size_t bytes() const {
    std::size_t all = 0;
    for (const reshard_need& one : reshards) all += one.bytes;
    return all;
  }
  /// The sharding of tensor t, operands first.
  constexpr const sharding& operator[](std::size_t t) const {
    return t < operands.size() ? operands[t] : results[t - operands.size()];
  }
};

namespace detail {

/// Throws the error for a tensor that would have to be resharded, although the policy forbids it.
template <class = void>
[[noreturn]] constexpr void throw_move_forbidden(const rule& r, std::size_t t, const sharding& from, const sharding& to,
                                                 const shape_list& shape) {
  throw partition_error(text("partita::propagate: requires tensors that need not be moved, but ")
                        << "" << tensor_text{r, t, shape} << " has layout " << from << " and must have layout " << to
                        << "; reshard it before, or allow resharding");
}

/// Converts the resolved factors back to shardings, and infers the pending reductions.
template <class Policy>
struct propagation_builder {
  conflict_resolution<Policy>& s;
  propagation& out;  ///< the result so far

  /// The sharding of tensor t by the axes of its factors, without pending reductions.
  constexpr sharding resolved_sharding(std::size_t t) const {
    sharding layout(s.m, s.r.rank(t));
    for (std::size_t d = 0; d < s.r.rank(t); ++d) {
      const rule::dimension& here = s.r.at(t, d);
      for (std::size_t k = 0; k < here.count; ++k) layout.cuts[d].append(s.cut[s.r.term(here, k)]);
    }
    return layout;
  }
  /// Whether `kind` is the pending reduction of operand i over axis a; false if the sharding of the operand is unknown.
  constexpr bool has_pending_reduction(std::size_t i, std::size_t a, pending_reduction kind) const {
    return i < s.operands.size() && s.operands[i].known && s.operands[i].layout.pending[a] == kind;
  }
  /// Whether a pending reduction of operand i over axis a may pass to the results instead of being taken before.
  constexpr bool reduction_can_pass(std::size_t i, std::size_t a, pending_reduction kind) const {
    if ((s.assigned_axes >> a & 1U) != 0 || contains(s.r.constant, i) || !commutes(s.r.how, kind)) return false;
    for (std::size_t f = 0; f < s.r.factor_count; ++f)
      if (s.r.factors[f].kind == factor_kind::reduce && !commutes(s.r.factors[f].how, kind)) return false;
    for (std::size_t k = 0; k < s.r.operand_count; ++k) {
      if (k == i || contains(s.r.shape_only_operands, k)) continue;
      const bool together = s.r.how != linearity::multilinear && !contains(s.r.constant, k);
      if (!has_pending_reduction(k, a, together ? kind : pending_reduction::none) &&
          !(k < s.operands.size() && !s.operands[k].known && !together))
        return false;
    }
    return true;
  }
  /// Sets the sharding of operand i, and notes which pending reductions the results keep.
  constexpr void conclude_operand(std::size_t i, std::array<pending_reduction, most_axes>& kept_reductions) const {
    const bool given = s.is_given(i), unread = given && contains(s.r.shape_only_operands, i);
    sharding required = resolved_sharding(i);
    if (unread) {
      required = s.operands[i].layout;
      required.open = required.must_replicate = required.priority = 0;
    }
    for (std::size_t a = 0; given && !unread && a < s.m.rank(); ++a) {
      const pending_reduction kind = s.operands[i].layout.pending[a];
      if (kind == pending_reduction::none) continue;
      const bool stays = s.flow != direction::backward && reduction_can_pass(i, a, kind);
      if (stays) required.pending[a] = kept_reductions[a] = kind;
      s.log_decision(stays ? decision::what::passes_partial : decision::what::finishes_partial, i, decision::none,
                     decision::none, a, decision::none, kind);
    }
    if (given)  // a value that stays replicated over an axis keeps its pending cotangent reduction
      required.reduced_over = static_cast<std::uint16_t>(s.operands[i].layout.reduced_over & ~required.cut_axes());
    out.operands.push_back(required);
    if (given) add_reshard(i, s.operands[i].layout, required, s.operands[i]);
  }
  /// Sets the sharding of result j.
  constexpr void conclude_result(std::size_t j, const std::array<pending_reduction, most_axes>& kept_reductions) const {
    const std::size_t t = s.r.operand_count + j;
    sharding produced = resolved_sharding(t);
    produced.pending = kept_reductions;
    const std::uint32_t summed = s.r.summed_factors(j);
    for (std::size_t f = 0; f < s.r.factor_count; ++f) {
      const factor& one = s.r.factors[f];
      if ((summed >> f & 1U) == 0 || one.kind != factor_kind::reduce) continue;
      for (std::size_t k = 0; k < s.cut[f].size(); ++k) {
        produced.pending[s.cut[f][k]] = one.how;
        s.log_decision(decision::what::becomes_partial, t, decision::none, f, s.cut[f][k], decision::none, one.how);
      }
    }
    if (s.is_given(t) && s.flow != direction::forward) {
      const spec& given = s.results[j];
      const sharding made = produced;
      const std::uint32_t used = produced.cut_axes();
      for (std::size_t a = 0; s.by.keep_result_partials && a < s.m.rank(); ++a)
        if (const pending_reduction kind = given.layout.pending[a];
            kind != pending_reduction::none && (used >> a & 1U) == 0) {
          produced.pending[a] = kind;
          s.log_decision(decision::what::keeps_partial, t, decision::none, decision::none, a, decision::none, kind);
        }
      add_reshard(t, made, given.layout, given);
    }
    out.results.push_back(produced);
  }
  /// Notes the reshard of tensor t unless both layouts are equal; throws if it moves bytes and the policy forbids it.
  constexpr void add_reshard(std::size_t t, const sharding& from, const sharding& to, const spec& of) const {
    if (from.same_layout(to)) return;
    const std::size_t bytes = moved_bytes(from, to, of.shape, of.element_bytes);
    if (s.by.moves == policy::reshard::forbid && bytes > 0) throw_move_forbidden(s.r, t, from, to, of.shape);
    out.reshards.push_back({static_cast<std::uint8_t>(t), bytes});
  }
};

/// Throws a partition_error unless all known shardings are on meshes with the axis sizes of m; `first` is the number of
/// the first tensor of the list among all tensors of the rule.
constexpr void require_one_mesh(const mesh& m, const rule& r, const spec_list& all, std::size_t first) {
  for (std::size_t k = 0; k < all.size(); ++k) {
    if (!all[k].known) continue;
    const mesh& other = all[k].layout.on;
    bool same = other.count == m.count;
    for (std::size_t a = 0; same && a < m.count; ++a) same = other.axes[a].size == m.axes[a].size;
    if (!same)
      throw partition_error(text("partita::propagate: requires shardings of one mesh, but tensor ")
                            << first + k << " of " << r.name()
                            << " is on another mesh; make its sharding from the mesh that is given");
  }
}

}  // namespace detail

/// Infers the shardings of all operands and results of an operation from the shardings of the operands (forward), of
/// the results (backward), or of both (mixed).
/// Shapes:   operands and results as in the rule; a spec without a sharding gives only the shape.
/// Requires: extents that fit the rule [shape_error]; shardings that the policy accepts [partition_error].
/// Cost:     no allocation up to 12 operands, 8 results and 64 decisions; below a microsecond for a matrix product;
///           constexpr.
/// Adjoint:  propagate with gradient(rule).
template <class Policy = policy>
constexpr propagation propagate(const mesh& m, const rule& r, const spec_list& operands, const spec_list& results,
                                direction flow, const Policy& by = {}) {
  detail::require_one_mesh(m, r, operands, 0);
  detail::require_one_mesh(m, r, results, operands.size());
  // 1. Bind the rule to the shapes.
  const rule all = bind_shapes(r, operands, results);
  propagation out;
  for (std::size_t f = 0; f < all.factor_count; ++f) out.factor_letters[f] = all.factors[f].letter;
  // 2. Translate the shardings of tensors to axes of factors, and resolve conflicts between them.
  detail::conflict_resolution<Policy> resolved{{{m, all, operands, results, flow, by, out.log}}};
  resolved.resolve_conflicts();
  // 3. Convert the factors back to shardings, operands first, because they decide which pending reductions pass.
  const detail::propagation_builder<Policy> conclude{resolved, out};
  std::array<pending_reduction, most_axes> kept_reductions{};
  for (std::size_t i = 0; i < all.operand_count; ++i) conclude.conclude_operand(i, kept_reductions);
  for (std::size_t j = 0; j < all.result_count; ++j) conclude.conclude_result(j, kept_reductions);
  return out;
}
template <class Policy = policy>
  requires(std::is_convertible_v<Policy, policy>)
constexpr propagation propagate(const mesh& m, const rule& r, const spec_list& operands, const Policy& by = {}) {
  return propagate(m, r, operands, spec_list(), direction::forward, by);
}
template <class Policy = policy>
  requires(std::is_convertible_v<Policy, policy>)
constexpr propagation propagate(const mesh& m, const rule& r, std::initializer_list<spec> operands,
                                const Policy& by = {}) {
  return propagate(m, r, spec_list(operands), spec_list(), direction::forward, by);
}

/// Propagates through an operation that makes its rule from the shapes of its operands, such as rules::matmul.
template <class Operation>
  requires requires(const Operation& op, const shape_span& shapes) { rule(op(shapes)); }
constexpr propagation propagate(const mesh& m, const Operation& op, const spec_list& operands, const spec_list& results,
                                direction flow, const policy& by = {}) {
  return propagate(m, rule(op(shape_span(operands))), operands, results, flow, by);
}
template <class Operation>
  requires requires(const Operation& op, const shape_span& shapes) { rule(op(shapes)); }
constexpr propagation propagate(const mesh& m, const Operation& op, const spec_list& operands, const policy& by = {}) {
  return propagate(m, rule(op(shape_span(operands))), operands, spec_list(), direction::forward, by);
}
template <class Operation>
  requires requires(const Operation& op, const shape_span& shapes) { rule(op(shapes)); }
constexpr propagation propagate(const mesh& m, const Operation& op, std::initializer_list<spec> operands,
                                const policy& by = {}) {
  return propagate(m, op, spec_list(operands), by);
}

}  // namespace partita
