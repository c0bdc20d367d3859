// Conflict resolution of propagation: chooses one sharding from all proposals. Each mesh axis shards at most one
// factor, and an axis is dropped where its blocks would not be allowed.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <partita/rule/sharding/proposals.hpp>

namespace partita::detail {

/// Chooses the mesh axes of every factor of an operation. Each decision and its reason is recorded in `log`.
template <class Policy>
struct conflict_resolution : factor_proposals<Policy> {
  using base = factor_proposals<Policy>;  ///< the proposals for each factor
  using base::cut, base::origin, base::disputed_factors, base::adopt_proposals, base::join_axis_lists,
      base::reshard_bytes, base::align_operands;
  using base::m, base::r, base::by, base::tensor_spec, base::is_given, base::proposes, base::list_proposals,
      base::can_cut, base::log_decision, base::log_decisions;

  std::uint32_t assigned_axes = 0;  ///< the axes that shard some factor, as a bit set

  /// Drops each axis over which a tensor must stay replicated from factors that would shard it or make it partial.
  constexpr void drop_replicating_axes() {
    for (std::size_t t = 0; t < r.tensor_count(); ++t) {
      if (!is_given(t) || tensor_spec(t).layout.must_replicate == 0) continue;
      const std::uint32_t here = r.factors_of(t) | (t < r.operand_count ? 0 : r.summed_factors(t - r.operand_count));
      for (std::size_t f = 0; f < r.factor_count; ++f)
        for (std::size_t k = cut[f].size(); (here >> f & 1U) != 0 && k-- > 0;)
          if (const std::size_t a = cut[f][k]; (tensor_spec(t).layout.must_replicate >> a & 1U) != 0) {
            log_decision(decision::what::keeps_replicating, t, decision::none, f, a);
            cut[f] = cut[f].without(a);
          }
    }
  }
  /// If blocks must have equal sizes, drops axes from factor f until the number of blocks divides the size of f.
  constexpr void truncate_to_divisible_axes(std::size_t f) {
    const factor& one = r.factors[f];
    const bool has_one_operand = by.uneven_if_only_proposal && r.operand_count == 1;
    const bool equal_blocks = (by.blocks == policy::uneven::forbid && !has_one_operand) || one.merged_group != 0 ||
                              (one.kind == factor_kind::reduce && one.how == pending_reduction::avg);
    if (!equal_blocks || one.size == dynamic || one.extents_may_differ) return;
    while (!cut[f].empty() && one.size % m.size(cut[f]) != 0) {
      log_decision(decision::what::uneven, decision::none, decision::none, f, cut[f].back());
      cut[f].pop_back();
    }
  }
  /// The factors in the set `candidates` that request axis a, in the order of tensors and dimensions.
  constexpr bounded_list<std::uint8_t, most_factors> axis_contenders(std::uint32_t candidates, std::size_t a) const {
    bounded_list<std::uint8_t, most_factors> all;
    std::uint32_t seen = 0;
    const auto add = [&](std::size_t f) {
      if ((seen >> f & 1U) != 0 || (candidates >> f & 1U) == 0 || !cut[f].contains(a)) return;
      seen |= std::uint32_t{1} << f;
      all.push_back(static_cast<std::uint8_t>(f));
    };
    for (std::size_t t = 0; t < r.tensor_count(); ++t)
      if (proposes(t))
        for (const proposal& one : list_proposals(t))
          if (one.is_usable() && one.axes.contains(a)) add(one.factor);
    for (std::size_t f = 0; f < r.factor_count; ++f) add(f);
    return all;
  }
  /// Gives axis a to one of the factors that request it, as the policy says (or throws), and takes it from the others.
  constexpr void assign_axis(std::uint32_t candidates, std::size_t a) {
    using enum policy::conflict;
    const auto all = axis_contenders(candidates, a);
    if (all.size() < 2) return;
    std::size_t winner = 0;
    const auto score = [&](std::size_t k) -> double {  // the highest score wins; among equal ones the first
      const std::size_t f = all[k];
      switch (r.has_equivalent_operands ? by.equivalent_operands : by.axis_conflict) {
        case larger_dim_wins:
        case join:
          return r.factors[f].size == dynamic ? 0 : static_cast<double>(r.factors[f].size);
        case most_shards:
          return static_cast<double>(m.size(cut[f]));
        case align:
        case cost: {
          std::size_t bytes = reshard_bytes(f, cut[f]);
          for (std::size_t i = 0; i < all.size(); ++i)
            if (i != k) bytes += reshard_bytes(all[i], cut[all[i]].without(a));
          return -static_cast<double>(bytes);
        }
        case first_wins:
        case error:
          break;
      }
      return 0;
    };
    if ((r.has_equivalent_operands ? by.equivalent_operands : by.axis_conflict) == error)
      throw_axis_conflict(m, r, a, r.factors[all[0]].letter, r.factors[all[1]].letter);
    for (std::size_t k = 1; k < all.size(); ++k)
      if (score(k) > score(winner)) winner = k;
    for (std::size_t k = 0; k < all.size(); ++k)
      if (k != winner) {
        log_decision(decision::what::loses_axis, origin[all[k]], decision::none, all[k], a, all[winner]);
        cut[all[k]] = cut[all[k]].without(a);
      }
  }
  /// Assigns each axis that several factors of the set `candidates` request to one of them. An axis that an earlier
  /// call assigned is not available.
  constexpr void assign_axes(std::uint32_t candidates) {
    std::uint32_t wanted = 0, contested = 0;
    for (std::size_t f = 0; f < r.factor_count; ++f) {
      if ((candidates >> f & 1U) == 0 || cut[f].empty()) continue;
      if ((cut[f].set() & assigned_axes) != 0)
        for (std::size_t k = cut[f].size(); k-- > 0;)
          if (const std::size_t a = cut[f][k]; (assigned_axes >> a & 1U) != 0) {
            cut[f] = cut[f].without(a);
            log_decision(decision::what::loses_axis, origin[f], decision::none, f, a, find_factor_cut_by_axis(a));
          }
      truncate_to_divisible_axes(f);
      contested |= wanted & cut[f].set();
      wanted |= cut[f].set();
    }
    for (std::size_t a = 0; contested >> a != 0; ++a)
      if ((contested >> a & 1U) != 0) assign_axis(candidates, a);
    assigned_axes |= wanted;
  }
  constexpr std::size_t find_factor_cut_by_axis(std::size_t a) const {  ///< the first such factor, or decision::none
    for (std::size_t f = 0; f < r.factor_count; ++f)
      if (cut[f].contains(a)) return f;
    return decision::none;
  }
  /// In a merged dimension, a factor stays sharded only if all factors before it (major) are sharded into single
  /// elements.
  constexpr void drop_axes_that_do_not_divide() {
    for (bool again = true; again;) {
      again = false;
      for (std::size_t t = 0; t < r.tensor_count(); ++t)
        for (std::size_t d = 0; d < r.rank(t); ++d) {
          const rule::dimension& here = r.at(t, d);
          bool single = true;
          for (std::size_t k = 0; k < here.count; ++k) {
            const std::size_t f = r.term(here, k);
            if (!single && !cut[f].empty()) {
              log_decisions(decision::what::does_not_fit, t, d, f, cut[f]);
              cut[f] = axis_list();
              again = true;
            }
            single = single && r.factors[f].size == m.size(cut[f]);
          }
        }
    }
  }

  // --- the complete resolution ---

  /// Whether the factors get the axes of the most sharded tensor, to which all other tensors add axes: if the policy
  /// joins axes, no operands are equivalent, each factor that may be sharded is in all tensors or is broadcast, and
  /// several tensors propose axes.
  constexpr bool policy_follows_one_tensor() const {
    if (by.disagreement != policy::conflict::join || r.has_equivalent_operands) return false;
    std::size_t proposers = 0;
    for (std::size_t t = 0; t < r.tensor_count(); ++t)
      if (proposes(t)) ++proposers;
    for (std::size_t f = 0; f < r.factor_count; ++f)
      if (r.factors[f].kind != factor_kind::replicate && r.factors[f].precedence != 0) return false;
    return proposers > 1;
  }
  /// The proposing tensor with the most lists of several axes; of equal ones, with the most blocks, then largest rank.
  constexpr std::size_t tensor_with_most_shards() const {
    std::size_t best = 0, most_lists = 0, most_blocks = 0, most_rank = 0;
    bool found = false;
    for (std::size_t t = 0; t < r.tensor_count(); ++t) {
      if (!proposes(t)) continue;
      std::size_t lists = 0, blocks = 1;
      for (const proposal& one : list_proposals(t)) {
        decision::what why{};
        if (!one.is_usable() || !can_cut(one.factor, why)) continue;
        lists += one.axes.size() > 1;
        blocks *= m.size(one.axes);
      }
      const bool more = lists != most_lists     ? lists > most_lists
                        : blocks != most_blocks ? blocks > most_blocks
                                                : r.rank(t) > most_rank;
      if (!found || more) best = t, most_lists = lists, most_blocks = blocks, most_rank = r.rank(t), found = true;
    }
    return best;
  }
  /// Shards the factors as the most sharded tensor does, and adds axes of the other tensors that are not in use.
  constexpr void apply_sharding_of_one_tensor() {
    const std::size_t followed = tensor_with_most_shards();
    adopt_proposals(followed);
    std::uint32_t used = 0;
    for (std::size_t f = 0; f < r.factor_count; ++f) used |= cut[f].set();
    for (std::size_t t = 0; t < r.tensor_count(); ++t) {
      if (t == followed || !proposes(t)) continue;
      for (const proposal& one : list_proposals(t)) {
        decision::what why = one.done;
        if (!one.is_usable() || !can_cut(one.factor, why)) {
          log_decisions(why, t, one.dimension, one.factor, one.axes);
          continue;
        }
        for (std::size_t k = 0; k < one.axes.size(); ++k) {
          const std::size_t a = one.axes[k];
          if ((used >> a & 1U) != 0) continue;
          used |= std::uint32_t{1} << a;
          cut[one.factor].push_back(a);
          log_decision(decision::what::joined, t, one.dimension, one.factor, a);
        }
      }
    }
  }

  /// Chooses the axes of all factors: the results are in `cut`.
  constexpr void resolve_conflicts() {
    // 1. Collect a list of axes for each factor, by the policy for tensors that disagree.
    bool merged = false;
    for (std::size_t f = 0; f < r.factor_count; ++f) merged = merged || r.factors[f].merged_group != 0;
    if (policy_follows_one_tensor()) {
      apply_sharding_of_one_tensor();
    } else if (r.has_equivalent_operands && by.equivalent_operands == policy::conflict::align) {
      align_operands();
    } else {
      for (std::size_t t = 0; t < r.tensor_count(); ++t)
        if (proposes(t)) adopt_proposals(t);
      for (std::size_t f = 0; disputed_factors >> f != 0; ++f)
        if ((disputed_factors >> f & 1U) != 0) join_axis_lists(f);
    }
    // 2. Drop the proposed axes over which a tensor must stay replicated.
    drop_replicating_axes();
    // 3. Give each mesh axis to at most one factor of the rule.
    if (by.by_precedence) {
      for (std::uint8_t p = 0; p < 3; ++p) {
        std::uint32_t candidates = 0;
        for (std::size_t f = 0; f < r.factor_count; ++f)
          if (r.factors[f].precedence == p) candidates |= std::uint32_t{1} << f;
        assign_axes(candidates);
      }
    } else {
      assign_axes(~std::uint32_t{0});
    }
    // 4. Drop the axes of merged dimensions if the blocks would not be contiguous.
    if (merged) drop_axes_that_do_not_divide();
    assigned_axes = 0;
    for (std::size_t f = 0; f < r.factor_count; ++f) assigned_axes |= cut[f].set();
  }
};

}  // namespace partita::detail
