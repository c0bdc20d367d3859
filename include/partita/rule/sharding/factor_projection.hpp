// Factor projection: the axes that the shardings of the tensors propose for the factors of an operation, dimension by
// dimension, and the axes that cannot be used, with the reason.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <partita/rule/sharding/bound.hpp>
#include <partita/rule/sharding/growing_list.hpp>
#include <partita/rule/sharding/log.hpp>
#include <partita/rule/sharding/policy.hpp>

namespace partita::detail {

using decision_log = growing_list<decision, 64>;  ///< The decisions of one call of propagate, in order.

/// The axes that a dimension proposes for a factor, or that cannot be used, and the reason.
struct proposal {
  axis_list axes{};                                      ///< the mesh axes that shard the dimension
  std::uint8_t factor = decision::none, dimension = 0;   ///< the factor, and the dimension that proposes the axes
  decision::what done = decision::what::takes_sharding;  ///< takes_sharding if they can be used, else why not

  constexpr bool is_usable() const { return done == decision::what::takes_sharding; }  ///< Whether they can be used.
};
/// The axes that one tensor proposes for factors. No axis is proposed twice, so there is at most one proposal per axis.
struct proposals : bounded_list<proposal, most_axes> {
  /// Adds a proposal of dimension d for factor f, unless `axes` is empty.
  constexpr void add(decision::what done, std::size_t d, std::size_t f, axis_list axes) {
    if (!axes.empty()) push_back({axes, static_cast<std::uint8_t>(f), static_cast<std::uint8_t>(d), done});
  }
};

/// One call of `propagate`: its arguments, and the proposals of its tensors. factor_projection and its users are
/// templates, so that only callers of `propagate` compile them.
template <class Policy>
struct factor_projection {
  const mesh& m;
  const rule& r;
  spec_list operands, results;  ///< the tensors with their given shardings
  direction flow;               ///< which of these shardings are used
  const Policy& by;             ///< the policy that chooses
  decision_log& log;            ///< where decisions are noted

  // --- the tensors that are used ---

  /// The spec of tensor t, operands first. (These functions use no null pointers: g++ 12 cannot compare a pointer with
  /// a temporary's address in constant expressions.)
  constexpr const spec& tensor_spec(std::size_t t) const {
    return t < r.operand_count ? operands[t] : results[t - r.operand_count];
  }
  /// Whether the sharding of tensor t is given.
  constexpr bool is_given(std::size_t t) const {
    return (t < r.operand_count ? t < operands.size() : t - r.operand_count < results.size()) && tensor_spec(t).known;
  }
  /// Whether the sharding of tensor t is used as a proposal for the factors.
  constexpr bool proposes(std::size_t t) const {
    if (!is_given(t)) return false;
    if (t >= r.operand_count) return flow != direction::forward;
    return flow != direction::backward && !contains(r.shape_only_operands, t) &&
           !(by.ignores_low_priority_operands && contains(r.low_priority_operands, t));
  }

  // --- what a tensor proposes for the factors ---

  /// Notes a decision on tensor t, its dimension d, factor f and axis a; `counterpart` is decision::by.
  constexpr void log_decision(decision::what done, std::size_t t, std::size_t d, std::size_t f,
                              std::size_t a = decision::no_axis, std::size_t counterpart = decision::none,
                              pending_reduction kind = pending_reduction::none) const {
    const auto byte = [](std::size_t n) { return static_cast<std::uint8_t>(n); };
    log.push_back({done, byte(t), byte(d), byte(f), byte(a), byte(counterpart), kind});
  }
  /// Logs axes that tensor t proposes for factor f but that cannot be used.
  constexpr void log_decisions(decision::what done, std::size_t t, std::size_t d, std::size_t f, axis_list axes) const {
    for (std::size_t k = 0; k < axes.size(); ++k) log_decision(done, t, d, f, axes[k]);
  }

  /// The mesh axes that tensor t proposes for the factors of its dimensions.
  constexpr proposals list_proposals(std::size_t t) const {
    using enum decision::what;
    proposals all;
    std::uint8_t open_group = 0;  // the group whose leading dimension may take the axes of the following dimensions
    std::size_t leading = 0, leading_dimension = 0;
    axis_list gathered;
    const auto close_group = [&] {
      if (open_group != 0) all.add(takes_sharding, leading_dimension, leading, gathered);
      open_group = 0, gathered = axis_list();
    };
    std::uint32_t visited_groups = 0;  // the groups whose leading dimension was visited, as bits
    for (std::size_t d = 0; d < r.rank(t); ++d) {
      const axis_list axes = tensor_spec(t).layout.cuts[d];
      const rule::dimension& here = r.at(t, d);
      const std::size_t f = here.count == 0 ? decision::none : r.term(here, 0);
      const std::uint8_t group = here.count == 0 ? 0 : r.factors[f].merged_group;
      if (group == 0 || by.merged_dimensions == policy::merged_axes::same_blocks_only) {
        close_group();
        if (group == 0) all.add(here.count == 0 ? one_element : takes_sharding, d, f, axes);
        else if (!axes.empty()) split(d, here, axes, all);
        continue;
      }
      if (r.factors[f].size == 1) {  // a dimension of one element cannot lead its group
        all.add(one_element, d, f, axes);
        continue;
      }
      const bool is_leading = (visited_groups >> group % 32U & 1U) == 0;
      if (is_leading || open_group != group) close_group();
      visited_groups |= std::uint32_t{1} << group % 32U;
      axis_list more = gathered;
      more.append(axes);
      if (is_leading && !axes.empty() && fits(f, axes)) {
        open_group = group, leading = f, leading_dimension = d, gathered = axes;
      } else if (!is_leading && open_group == group && by.merged_dimensions == policy::merged_axes::move_to_leading &&
                 !axes.empty() && fits(leading, more)) {
        gathered = more;
      } else {
        all.add(does_not_fit, d, f, axes);
        close_group();
      }
    }
    close_group();
    return all;
  }
  /// Whether the axes divide factor f into equal blocks.
  constexpr bool fits(std::size_t f, axis_list axes) const {
    return r.factors[f].size != dynamic && r.factors[f].size % m.size(axes) == 0;
  }
  /// Assigns the axes of a merged dimension to its factors, major to minor, while they divide the remaining size.
  constexpr void split(std::size_t d, const rule::dimension& here, axis_list axes, proposals& all) const {
    std::size_t k = 0;
    for (std::size_t i = 0; i < here.count && k < axes.size(); ++i) {
      const std::size_t f = r.term(here, i);
      std::size_t left = r.factors[f].size;
      axis_list own;
      for (; k < axes.size() && left != dynamic && left % m.size(axes[k]) == 0; ++k) {
        left /= m.size(axes[k]);
        own.push_back(axes[k]);
      }
      all.add(decision::what::takes_sharding, d, f, own);
      if (left != 1) break;
    }
    all.add(decision::what::does_not_fit, d, r.term(here, 0), axes.from(k));
  }

  /// Whether factor f may be sharded at all; if not, `why` is the reason.
  constexpr bool can_cut(std::size_t f, decision::what& why) const {
    const factor& one = r.factors[f];
    if (one.kind == factor_kind::replicate) return why = decision::what::must_be_whole, false;
    if (one.size == 1) return why = decision::what::one_element, false;
    if (!by.new_dimensions && !occurs_in_operands(f)) return why = decision::what::new_dimension, false;
    return true;
  }
  constexpr bool occurs_in_operands(std::size_t f) const {  ///< whether an operand has factor f
    for (std::size_t i = 0; i < r.operand_count; ++i)
      if ((r.factors_of(i) >> f & 1U) != 0) return true;
    return false;
  }
};

}  // namespace partita::detail
