// The graph of all shardings of a tensor: its edges are elementary steps, each with a cost.
#pragma once

#include <cstddef>
#include <cstdint>
#include <partita/plan/reshard_plan.hpp>

namespace partita::detail {

/// The role of each axis, one byte each: a dimension and a position among its axes, or one of three roles that do not
/// shard.
struct axis_roles {
  static constexpr std::uint8_t replicates = 128, owes_before = 129, owes_after = 130;
  std::array<std::uint8_t, most_axes> of{};

  static constexpr bool cuts(std::uint8_t role) { return role < 128; }
  static constexpr std::size_t dimension(std::uint8_t role) { return role / 8U; }
  static constexpr std::size_t place(std::uint8_t role) { return role % 8U; }
  static constexpr std::uint8_t cutting(std::size_t d, std::size_t place) {
    return static_cast<std::uint8_t>(d * 8 + place);
  }

  constexpr std::size_t count(std::size_t d) const {
    std::size_t n = 0;
    for (const std::uint8_t role : of) n += cuts(role) && dimension(role) == d;
    return n;
  }
  constexpr bool is_minor(std::size_t a) const { return place(of[a]) + 1 == count(dimension(of[a])); }
  constexpr axis_roles with(std::size_t a, std::uint8_t role) const {
    axis_roles next = *this;
    next.of[a] = role;
    return next;
  }
  constexpr std::uint64_t key() const {
    std::uint64_t k = 0;
    for (const std::uint8_t role : of) k = k << 8 | role;
    return k;
  }
  friend constexpr bool operator==(const axis_roles&, const axis_roles&) = default;
};

/// The step from one state to the next.
struct reshard_edge {
  reshard_step::what done = reshard_step::what::slice;
  std::uint8_t axis = reshard_step::none;
};

/// The states are the roles of all axes; the graph is not stored.
class reshard_graph {
 public:
  constexpr reshard_graph(const mesh& m, const sharding& from, const sharding& to, const shape_list& shape,
                          const mesh_links& over, std::size_t element_bytes)
      : m_(m), from_(from), to_(to), shape_(shape), over_(over), whole_(static_cast<double>(element_bytes)) {
    for (std::size_t d = 0; d < shape_.size(); ++d)
      if (shape_[d] == dynamic) shape_[d] = 1;
    for (const std::size_t extent : shape_) {
      whole_ *= static_cast<double>(extent);
      even_ = even_ && extent % m.size() == 0;
    }
    for (std::size_t a = 0; a < most_axes; ++a) start_.of[a] = goal_.of[a] = axis_roles::replicates;
    for (std::size_t d = 0; d < shape.size(); ++d) {
      for (std::size_t k = 0; k < from.cuts[d].size(); ++k) start_.of[from.cuts[d][k]] = axis_roles::cutting(d, k);
      for (std::size_t k = 0; k < to.cuts[d].size(); ++k) goal_.of[to.cuts[d][k]] = axis_roles::cutting(d, k);
    }
    for (std::size_t a = 0; a < m.rank(); ++a) {
      if (from.owed[a] != owed_reduction::none) start_.of[a] = axis_roles::owes_before;
      if (to.owed[a] != owed_reduction::none)
        goal_.of[a] = to.owed[a] == from.owed[a] ? axis_roles::owes_before : axis_roles::owes_after;
      if (over.along[a].seconds_per_byte < fastest_ || a == 0) fastest_ = over.along[a].seconds_per_byte;
    }
    choose_movable();
  }

  constexpr const axis_roles& start() const { return start_; }
  constexpr const axis_roles& goal() const { return goal_; }

  /// Calls use(next, edge) for every step from a state.
  template <class Use>
  constexpr void for_each_step(const axis_roles& s, Use use) const {
    using enum reshard_step::what;
    for (std::size_t a = 0; a < m_.rank(); ++a) {
      if (!movable_[a]) continue;
      const std::uint8_t role = s.of[a], axis = static_cast<std::uint8_t>(a);
      if (role == axis_roles::owes_after) continue;
      if (axis_roles::cuts(role) && !s.is_minor(a)) continue;
      if (role == axis_roles::replicates && goal_.of[a] > axis_roles::replicates && is_finished(s))
        use(s.with(a, goal_.of[a]), {owe, axis});
      if (axis_roles::cuts(role)) use(s.with(a, axis_roles::replicates), {all_gather, axis});
      if (role == axis_roles::owes_before) use(s.with(a, axis_roles::replicates), {all_reduce, axis});
      for (std::size_t d = 0; d < shape_.size(); ++d) {
        if (!may_cut(d) || (axis_roles::cuts(role) && axis_roles::dimension(role) == d)) continue;
        const reshard_edge by{role == axis_roles::replicates ? slice
                              : axis_roles::cuts(role)       ? all_to_all
                                                             : reduce_scatter,
                              axis};
        use(s.with(a, axis_roles::cutting(d, s.count(d))), by);
      }
    }
    permutations(s, s, 0, use);
    if (may_exchange(s, goal_)) use(goal_, {permute, reshard_step::none});
  }
  /// The bytes of one block.
  constexpr double block(const axis_roles& s) const {
    double bytes = whole_;
    for (std::size_t a = 0; a < m_.rank(); ++a)
      if (axis_roles::cuts(s.of[a])) bytes /= static_cast<double>(m_.size(a));
    return bytes;
  }
  /// A lower bound for the remaining seconds, from the bytes that a worker on average still lacks of its target.
  constexpr double lacking(const axis_roles& s) const {
    if (!even_) return 0;
    double wanted = whole_, there = whole_;
    for (std::size_t d = 0; d < shape_.size(); ++d) {
      double is = 1, was = 1;
      for (std::size_t a = 0; a < m_.rank(); ++a) {
        if (axis_roles::cuts(s.of[a]) && axis_roles::dimension(s.of[a]) == d) was *= static_cast<double>(m_.size(a));
        if (axis_roles::cuts(goal_.of[a]) && axis_roles::dimension(goal_.of[a]) == d)
          is *= static_cast<double>(m_.size(a));
      }
      wanted /= is;
      there /= is > was ? is : was;
    }
    return (wanted - there) * fastest_;
  }
  struct price {
    double bytes = 0, seconds = 0;
  };
  constexpr price price_of(reshard_edge by, const axis_roles& before, const axis_roles& after) const {
    using enum reshard_step::what;
    if (by.done == slice || by.done == owe) return {0, over_.step};
    if (by.done == permute) {
      mesh_link slowest{0, 0};
      for (std::size_t a = 0; a < m_.rank(); ++a) {
        if (before.of[a] == after.of[a]) continue;
        if (over_.along[a].latency > slowest.latency) slowest.latency = over_.along[a].latency;
        if (over_.along[a].seconds_per_byte > slowest.seconds_per_byte)
          slowest.seconds_per_byte = over_.along[a].seconds_per_byte;
      }
      const double bytes = block(before);
      return {bytes, over_.step + slowest.latency + bytes * slowest.seconds_per_byte};
    }
    const double p = static_cast<double>(m_.size(by.axis));
    double rounds = p - 1, bytes = (p - 1) / p * block(by.done == all_gather ? after : before);
    if (by.done == all_reduce) rounds *= 2, bytes *= 2;
    const mesh_link& along = over_.along[by.axis];
    return {bytes, over_.step + rounds * along.latency + bytes * along.seconds_per_byte};
  }

  constexpr sharding layout_of(const axis_roles& s) const {
    sharding layout(m_, shape_.size());
    for (std::size_t place = 0; place < m_.rank(); ++place)
      for (std::size_t a = 0; a < m_.rank(); ++a)
        if (axis_roles::cuts(s.of[a]) && axis_roles::place(s.of[a]) == place)
          layout.cuts[axis_roles::dimension(s.of[a])].push_back(a);
    for (std::size_t a = 0; a < m_.rank(); ++a) {
      if (s.of[a] == axis_roles::owes_before) layout.owed[a] = from_.owed[a];
      if (s.of[a] == axis_roles::owes_after) layout.owed[a] = to_.owed[a];
    }
    return layout;
  }
  constexpr reshard_step described(reshard_edge by, const axis_roles& before, const axis_roles& after) const {
    const price takes = price_of(by, before, after);
    reshard_step one{by.done,
                     by.axis,
                     reshard_step::none,
                     reshard_step::none,
                     owed_reduction::none,
                     static_cast<std::size_t>(takes.bytes + 0.5),
                     takes.seconds,
                     layout_of(after)};
    if (by.axis == reshard_step::none) return one;
    const std::uint8_t was = before.of[by.axis], is = after.of[by.axis];
    if (axis_roles::cuts(was)) one.from = static_cast<std::uint8_t>(axis_roles::dimension(was));
    if (axis_roles::cuts(is)) one.to = static_cast<std::uint8_t>(axis_roles::dimension(is));
    if (was == axis_roles::owes_before) one.kind = from_.owed[by.axis];
    if (by.done == reshard_step::what::owe) one.kind = to_.owed[by.axis];
    return one;
  }
  /// A plan without a search, for graphs with too many states: reduces and gathers the axes that differ, then slices.
  constexpr reshard_plan direct() const {
    using enum reshard_step::what;
    reshard_plan out;
    axis_roles s = start_;
    const auto go = [&](std::size_t a, std::uint8_t role, reshard_step::what done) {
      const axis_roles next = s.with(a, role);
      out.steps.push_back(described({done, static_cast<std::uint8_t>(a)}, s, next));
      s = next;
    };
    for (std::size_t a = 0; a < m_.rank(); ++a)
      if (s.of[a] == axis_roles::owes_before && goal_.of[a] != s.of[a]) go(a, axis_roles::replicates, all_reduce);
    for (std::size_t d = 0; d < shape_.size(); ++d) {
      std::size_t same = 0;
      while (same < from_.cuts[d].size() && same < to_.cuts[d].size() && from_.cuts[d][same] == to_.cuts[d][same])
        ++same;
      for (std::size_t k = from_.cuts[d].size(); k-- > same;) go(from_.cuts[d][k], axis_roles::replicates, all_gather);
    }
    for (std::size_t d = 0; d < shape_.size(); ++d)
      for (std::size_t k = s.count(d); k < to_.cuts[d].size(); ++k)
        go(to_.cuts[d][k], axis_roles::cutting(d, k), slice);
    for (std::size_t a = 0; a < m_.rank(); ++a)
      if (goal_.of[a] != s.of[a]) go(a, goal_.of[a], owe);
    return out;
  }

 private:
  /// All axes of a mesh of up to four axes; else those whose roles differ, and those that block them.
  constexpr void choose_movable() {
    bool dirty[most_dimensions] = {};
    for (std::size_t a = 0; a < m_.rank(); ++a) {
      if (start_.of[a] == goal_.of[a]) continue;
      movable_[a] = true;
      for (const std::uint8_t role : {start_.of[a], goal_.of[a]})
        if (axis_roles::cuts(role)) dirty[axis_roles::dimension(role)] = true;
    }
    for (std::size_t a = 0; a < m_.rank(); ++a)
      movable_[a] = movable_[a] || m_.rank() <= 4 ||
                    (axis_roles::cuts(start_.of[a]) && dirty[axis_roles::dimension(start_.of[a])]);
  }
  constexpr bool may_cut(std::size_t d) const { return shape_[d] > 1 || !to_.cuts[d].empty(); }

  /// Whether no reduction is left to do: only then may another axis become partial, because the two may not commute.
  constexpr bool is_finished(const axis_roles& s) const {
    for (std::size_t a = 0; a < m_.rank(); ++a)
      if (s.of[a] == axis_roles::owes_before && goal_.of[a] != s.of[a]) return false;
    return true;
  }
  /// Permutations of roles among the movable axes from `first` on: all of them for few axes, else only exchanges of
  /// pairs.
  template <class Use>
  constexpr void permutations(const axis_roles& origin, const axis_roles& s, std::size_t first, Use use) const {
    for (std::size_t a = first; a < m_.rank(); ++a)
      for (std::size_t b = a + 1; b < m_.rank(); ++b) {
        if (!exchangeable(a, s) || !exchangeable(b, s) || s.of[a] == s.of[b]) continue;
        const axis_roles next = s.with(a, s.of[b]).with(b, s.of[a]);
        if (may_exchange(origin, next)) use(next, {reshard_step::what::permute, reshard_step::none});
        if (m_.rank() <= 4) permutations(origin, next, a + 1, use);
      }
  }
  constexpr bool exchangeable(std::size_t a, const axis_roles& s) const {
    return movable_[a] && s.of[a] <= axis_roles::replicates;
  }
  /// Whether the blocks after the exchange are the blocks before it, on other workers: each dimension has equally many
  /// parts, with equal boundaries.
  constexpr bool may_exchange(const axis_roles& s, const axis_roles& t) const {
    if (s == t) return false;
    for (std::size_t a = 0; a < m_.rank(); ++a)
      if ((s.of[a] > axis_roles::replicates || t.of[a] > axis_roles::replicates) && s.of[a] != t.of[a]) return false;
    for (std::size_t d = 0; d < shape_.size(); ++d) {
      std::size_t before[most_axes] = {}, after[most_axes] = {}, parts = 1, parts_after = 1;
      for (std::size_t a = 0; a < m_.rank(); ++a) {
        if (axis_roles::cuts(s.of[a]) && axis_roles::dimension(s.of[a]) == d)
          before[axis_roles::place(s.of[a])] = m_.size(a), parts *= m_.size(a);
        if (axis_roles::cuts(t.of[a]) && axis_roles::dimension(t.of[a]) == d)
          after[axis_roles::place(t.of[a])] = m_.size(a), parts_after *= m_.size(a);
      }
      bool same = parts == parts_after;
      for (std::size_t k = 0; same && k < most_axes && shape_[d] % parts != 0; ++k) same = before[k] == after[k];
      if (!same) return false;
    }
    return true;
  }

  const mesh& m_;
  const sharding& from_;
  const sharding& to_;
  shape_list shape_;
  const mesh_links& over_;
  double whole_;
  double fastest_ = 0;
  bool even_ = true;  ///< all blocks of a dimension are equal, whichever axes shard it
  bool movable_[most_axes] = {};
  axis_roles start_{}, goal_{};
};

}  // namespace partita::detail
