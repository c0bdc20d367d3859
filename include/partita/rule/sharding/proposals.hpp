// The axes that are proposed for each factor of an operation, and the costs by which propagation chooses among
// proposals.
#pragma once

#include <cstddef>
#include <cstdint>
#include <partita/rule/sharding/factor_projection.hpp>
#include <partita/rule/sharding/moved_bytes.hpp>

namespace partita::detail {

/// Writes mesh axes in the notation of a layout, for example data+model.
struct axes_text {
  const mesh& on;  ///< the mesh of the axes
  axis_list axes;  ///< the axes, major first

  template <std::size_t Capacity>
  friend constexpr basic_text<Capacity>& operator<<(basic_text<Capacity>& out, const axes_text& name) {
    for (std::size_t k = 0; k < name.axes.size(); ++k) out << (k > 0 ? "+" : "") << name.on.axes[name.axes[k]].name();
    return out;
  }
};

/// Throws the error for a mesh axis that two factors request.
template <class = void>
[[noreturn]] constexpr void throw_axis_conflict(const mesh& m, const rule& r, std::size_t a, char one, char other) {
  throw partition_error(text("partita::propagate: requires a mesh axis to cut one factor, but \"")
                        << m.axes[a].name() << "\" cuts '" << one << "' and '" << other << "' of " << r.name() << ' '
                        << r << "; leave one of them whole, or choose a policy that does");
}
/// Throws the error for two tensors that shard a factor by different axes.
template <class = void>
[[noreturn]] constexpr void throw_tensors_disagree(const mesh& m, const rule& r, char letter, axis_list before,
                                                   std::size_t first, axis_list now, std::size_t second) {
  throw partition_error(text("partita::propagate: requires tensors that cut a factor by the same axes, but '")
                        << letter << "' is cut by \"" << axes_text{m, before} << "\" in tensor " << first
                        << " and by \"" << axes_text{m, now} << "\" in tensor " << second << " of " << r.name() << ' '
                        << r << "; cut them alike, or choose a policy that does");
}

/// Throws the error for a sharded dimension that the operation needs unsharded.
template <class = void>
[[noreturn]] constexpr void throw_whole_dimension_error(const rule& r, std::size_t t, std::size_t d, const spec& of) {
  throw partition_error(text("partita::propagate: requires dimensions whole that the operation needs whole, but "
                             "dimension ")
                        << d << " of operand " << t << ' ' << of.shape << " of " << r.name() << ' ' << r
                        << " has layout " << of.layout << "; gather it before, or allow policy::unshard::gather");
}

/// One list of axes for each factor of an operation; where proposals differ, the policy decides which proposal is used.
template <class Policy>
struct factor_proposals : factor_projection<Policy> {
  using base = factor_projection<Policy>;  ///< the call, and the proposals of its tensors
  using base::m, base::r, base::by, base::tensor_spec, base::proposes, base::list_proposals, base::can_cut,
      base::log_decision, base::log_decisions;

  axis_list cut[most_factors]{};                  ///< for each factor, the axes that shard it so far
  std::uint8_t origin[most_factors]{};            ///< the tensor that first proposed the list of the factor
  std::uint8_t origin_dimension[most_factors]{};  ///< the dimension of this tensor that has the factor
  std::uint32_t disputed_factors = 0;             ///< the factors whose lists must be joined, as bits

  /// Uses the proposals of tensor t, as far as the factors have no axes yet; else the policy decides.
  constexpr void adopt_proposals(std::size_t t) {
    for (const proposal& one : list_proposals(t)) {
      decision::what why = one.done;
      if (one.is_usable() && can_cut(one.factor, why)) adopt_proposals(t, one.dimension, one.factor, one.axes);
      else if (why == decision::what::must_be_whole && t < r.operand_count && by.needed == policy::unshard::refuse)
        throw_whole_dimension_error(r, t, one.dimension, tensor_spec(t));
      else log_decisions(why, t, one.dimension, one.factor, one.axes);
    }
  }
  constexpr void adopt_proposals(std::size_t t, std::size_t d, std::size_t f, axis_list axes) {
    axis_list& now = cut[f];
    if (now.empty()) {
      now = axes;
      origin[f] = static_cast<std::uint8_t>(t), origin_dimension[f] = static_cast<std::uint8_t>(d);
      return log_decision(decision::what::takes_sharding, t, d, f);
    }
    if (now.starts_with(axes)) return;
    if (axes.starts_with(now)) return now = axes, log_decision(decision::what::extended, t, d, f);
    resolve_disagreement(t, d, f, axes);
  }
  /// Decides by the policy whether factor f keeps its axes or gets `axes`, which dimension d of tensor t proposes.
  constexpr void resolve_disagreement(std::size_t t, std::size_t d, std::size_t f, axis_list axes) {
    using enum policy::conflict;
    bool follow = false;
    switch (r.has_equivalent_operands ? by.equivalent_operands : by.disagreement) {
      case error:
        throw_tensors_disagree(m, r, r.factors[f].letter, cut[f], origin[f], axes, t);
      case first_wins:
        break;
      case larger_dim_wins:
      case most_shards:
        follow = m.size(axes) > m.size(cut[f]);
        break;
      case align:
      case cost:
        follow = reshard_bytes(f, axes) < reshard_bytes(f, cut[f]);
        break;
      case join:
        disputed_factors |= std::uint32_t{1} << f;
        return;
    }
    log_decision(decision::what::overruled, follow ? origin[f] : t, follow ? origin_dimension[f] : d, f,
                 decision::no_axis, follow ? t : origin[f]);
    if (!follow) return;
    cut[f] = axes, origin[f] = static_cast<std::uint8_t>(t), origin_dimension[f] = static_cast<std::uint8_t>(d);
  }
  /// Shards factor f by the axes of all tensors' lists, one list after another, each axis once. Longer lists come
  /// first; of equally long lists, those with more blocks; then those with lower axis numbers.
  constexpr void join_axis_lists(std::size_t f) {
    axis_list lists[most_tensors]{};
    std::size_t count = 0;
    for (std::size_t t = 0; t < r.tensor_count(); ++t)
      if (proposes(t))
        for (const proposal& one : list_proposals(t))
          if (one.is_usable() && one.factor == f && count < most_tensors) lists[count++] = one.axes;
    const auto before = [&](axis_list a, axis_list b) {
      if (a.size() != b.size()) return a.size() > b.size();
      if (m.size(a) != m.size(b)) return m.size(a) > m.size(b);
      for (std::size_t k = 0; k < a.size(); ++k)
        if (a[k] != b[k]) return a[k] < b[k];
      return false;
    };
    for (std::size_t i = 1; i < count; ++i)
      for (std::size_t k = i; k > 0 && before(lists[k], lists[k - 1]); --k) {
        const axis_list moved = lists[k];
        lists[k] = lists[k - 1];
        lists[k - 1] = moved;
      }
    axis_list all;
    for (std::size_t i = 0; i < count; ++i) all.append(lists[i]);
    for (std::size_t k = 0; k < all.size(); ++k)
      if (!cut[f].contains(all[k])) log_decision(decision::what::joined, decision::none, decision::none, f, all[k]);
    cut[f] = all;
  }

  /// The bytes that a worker would receive if `axes` shard factor f: in reshards of the proposing tensors, and in
  /// reductions of partial results.
  constexpr std::size_t reshard_bytes(std::size_t f, axis_list axes) const {
    std::size_t bytes = 0;
    for (std::size_t t = 0; t < r.tensor_count(); ++t) {
      if (!proposes(t)) continue;
      for (const proposal& one : list_proposals(t)) {
        if (!one.is_usable() || one.factor != f) continue;
        sharding to = tensor_spec(t).layout;
        to.cuts[one.dimension] = axes;
        bytes += moved_bytes(tensor_spec(t).layout, to, tensor_spec(t).shape, tensor_spec(t).element_bytes);
      }
    }
    if (r.factors[f].kind != factor_kind::reduce) return bytes;
    for (std::size_t j = 0; j < r.result_count; ++j)
      if ((r.summed_factors(j) >> f & 1U) != 0) {
        double block = 0;
        for (std::size_t t = 0; t < r.operand_count; ++t)
          if ((r.factors_of(t) >> f & 1U) != 0 && static_cast<double>(tensor_spec(t).element_bytes) > block)
            block = static_cast<double>(tensor_spec(t).element_bytes);
        for (const std::size_t extent : result_shape(r, j))
          block *= extent == dynamic ? 1 : static_cast<double>(extent);
        for (std::size_t g = 0; g < r.factor_count; ++g)
          if ((r.factors_of(r.operand_count + j) >> g & 1U) != 0) block /= static_cast<double>(m.size(cut[g]));
        const double p = static_cast<double>(m.size(axes));
        bytes += static_cast<std::size_t>(2 * (p - 1) / p * block);
      }
    return bytes;
  }

  // --- operations with equivalent operands: each axis goes to the dimension that costs the operands least ---

  /// For each axis: if all proposing tensors agree, takes their dimension; otherwise takes the dimension to which the
  /// other tensors can be resharded at the lowest cost.
  constexpr void align_operands() {
    std::uint32_t assigned_factors = 0;  // the factors that have an axis, as bits
    std::uint32_t disputed_axes = 0;     // the axes for which the proposing tensors differ, as bits
    for (std::size_t a = 0; a < m.rank(); ++a) {
      std::size_t common = most_factors, proposer = 0;
      bool first = true, same = true;
      for (std::size_t t = 0; t < r.tensor_count(); ++t) {
        if (!proposes(t)) continue;
        std::size_t here = most_factors;
        for (const proposal& one : list_proposals(t)) {
          decision::what why{};
          if (one.is_usable() && one.axes.contains(a)) here = can_cut(one.factor, why) ? one.factor : most_factors + 1;
        }
        same = same && here <= most_factors && (first || here == common);
        if (first) common = here, proposer = t;
        first = false;
      }
      if (!same) disputed_axes |= std::uint32_t{1} << a;
      if (same && common < most_factors) add_axis(common, a, proposer), assigned_factors |= std::uint32_t{1} << common;
    }
    for (std::size_t a = 0; disputed_axes >> a != 0; ++a) {
      if ((disputed_axes >> a & 1U) == 0) continue;
      std::size_t best = most_factors;
      double least = 0;
      for (std::size_t f = 0; f < r.factor_count; ++f) {
        decision::what why{};
        const std::size_t size = r.factors[f].size;
        if ((assigned_factors >> f & 1U) != 0 || !can_cut(f, why) || (size != dynamic && size < m.size(a))) continue;
        const double cost = reshard_cost(f, a);
        if (best == most_factors || cost < least) best = f, least = cost;
      }
      if (best != most_factors) add_axis(best, a, decision::none), assigned_factors |= std::uint32_t{1} << best;
    }
  }
  /// Shards factor f also by axis a, because tensor t does (decision::none if no tensor does).
  constexpr void add_axis(std::size_t f, std::size_t a, std::size_t t) {
    origin[f] = static_cast<std::uint8_t>(t);
    cut[f].push_back(a);
    log_decision(decision::what::takes_sharding, t, decision::none, f, a);
  }
  /// The cost of sharding factor f by axis a: the elements in blocks of the proposing tensors that have f but do not
  /// shard it, times a's workers.
  constexpr double reshard_cost(std::size_t f, std::size_t a) const {
    double cost = 0;
    for (std::size_t t = 0; t < r.tensor_count(); ++t) {
      if (!proposes(t) || (r.factors_of(t) >> f & 1U) == 0) continue;
      bool shards = false;
      for (const proposal& one : list_proposals(t)) shards = shards || (one.is_usable() && one.factor == f);
      if (shards) continue;
      double elements = static_cast<double>(m.size(a));
      for (std::size_t d = 0; d < tensor_spec(t).shape.size(); ++d)
        elements *= (tensor_spec(t).shape[d] == dynamic ? 1 : static_cast<double>(tensor_spec(t).shape[d])) /
                    static_cast<double>(m.size(tensor_spec(t).layout.cuts[d]));
      cost += elements;
    }
    return cost;
  }
};

}  // namespace partita::detail
