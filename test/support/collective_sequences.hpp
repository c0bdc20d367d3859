// The cheapest sequence of collectives between two shardings, found by a search; plans of reshards are compared with
// it.
//
// The role of an axis says whether the axis shards a dimension (at some position among the axes of this dimension),
// replicates, or is partial. The roles of all axes are a state, and each collective along an axis is an edge between
// states. The search is A* over the graph of these states (Hart, Nilsson, Raphael 1968). Its lower bound is the time to
// receive the bytes that a worker still lacks of its target. So the result is exact on meshes of up to four axes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <partita/plan/reshard_plan.hpp>
#include <vector>

#include "simulated_mesh.hpp"

namespace collectives {

using namespace partita;
using sequence = std::vector<reshard_step>;

/// The role of each axis, one byte each: a dimension and a position among its axes, or one of three roles that do not
/// shard.
struct axis_roles {
  static constexpr std::uint8_t replicates = 128, partial_before = 129, partial_after = 130;
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

/// The reshard step from one state to the next.
struct reshard_edge {
  reshard_step::what done = reshard_step::what::slice;
  std::uint8_t axis = reshard_step::none;
};

/// The graph of states, which is not stored: a state is the roles of all axes.
class reshard_graph {
 public:
  constexpr reshard_graph(const mesh& m, const sharding& from, const sharding& to, const shape_list& shape,
                          const mesh_links& over, std::size_t element_bytes)
      : m_(m),
        from_(from),
        to_(to),
        source_pending_(from.pending),
        target_pending_(to.pending),
        shape_(shape),
        over_(over),
        whole_bytes_(static_cast<double>(element_bytes)) {
    for (std::size_t d = 0; d < shape_.size(); ++d)
      if (shape_[d] == dynamic) shape_[d] = 1;
    for (const std::size_t extent : shape_) {
      whole_bytes_ *= static_cast<double>(extent);
      has_equal_blocks_ = has_equal_blocks_ && extent % m.size() == 0;
    }
    for (std::size_t a = 0; a < most_axes; ++a) start_.of[a] = goal_.of[a] = axis_roles::replicates;
    for (std::size_t d = 0; d < shape.size(); ++d) {
      for (std::size_t k = 0; k < from.cuts[d].size(); ++k) start_.of[from.cuts[d][k]] = axis_roles::cutting(d, k);
      for (std::size_t k = 0; k < to.cuts[d].size(); ++k) goal_.of[to.cuts[d][k]] = axis_roles::cutting(d, k);
    }
    for (std::size_t a = 0; a < m.rank(); ++a) {
      if (source_pending_[a] != pending_reduction::none) start_.of[a] = axis_roles::partial_before;
      if (target_pending_[a] != pending_reduction::none)
        goal_.of[a] = target_pending_[a] == source_pending_[a] ? axis_roles::partial_before : axis_roles::partial_after;
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
      if (role == axis_roles::partial_after) continue;
      if (axis_roles::cuts(role) && !s.is_minor(a)) continue;
      if (role == axis_roles::replicates && goal_.of[a] > axis_roles::replicates && is_finished(s))
        use(s.with(a, goal_.of[a]), {make_partial, axis});
      if (axis_roles::cuts(role)) use(s.with(a, axis_roles::replicates), {all_gather, axis});
      if (role == axis_roles::partial_before) use(s.with(a, axis_roles::replicates), {all_reduce, axis});
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
    double bytes = whole_bytes_;
    for (std::size_t a = 0; a < m_.rank(); ++a)
      if (axis_roles::cuts(s.of[a])) bytes /= static_cast<double>(m_.size(a));
    return bytes;
  }
  /// A lower bound for the remaining seconds, from the bytes that a worker on average still lacks of its target.
  constexpr double least_seconds_left(const axis_roles& s) const {
    if (!has_equal_blocks_) return 0;
    double wanted = whole_bytes_, there = whole_bytes_;
    for (std::size_t d = 0; d < shape_.size(); ++d) {
      double role_after = 1, role_before = 1;
      for (std::size_t a = 0; a < m_.rank(); ++a) {
        if (axis_roles::cuts(s.of[a]) && axis_roles::dimension(s.of[a]) == d)
          role_before *= static_cast<double>(m_.size(a));
        if (axis_roles::cuts(goal_.of[a]) && axis_roles::dimension(goal_.of[a]) == d)
          role_after *= static_cast<double>(m_.size(a));
      }
      wanted /= role_after;
      there /= role_after > role_before ? role_after : role_before;
    }
    return (wanted - there) * fastest_;
  }
  struct step_cost {
    double bytes = 0, seconds = 0;
  };
  constexpr step_cost cost_of_step(reshard_edge by, const axis_roles& before, const axis_roles& after) const {
    using enum reshard_step::what;
    if (by.done == slice || by.done == make_partial) return {0, over_.step};
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
      if (s.of[a] == axis_roles::partial_before) layout = layout.partial(a, source_pending_[a]);
      if (s.of[a] == axis_roles::partial_after) layout = layout.partial(a, target_pending_[a]);
    }
    return layout;
  }
  constexpr reshard_step described(reshard_edge by, const axis_roles& before, const axis_roles& after) const {
    const step_cost takes = cost_of_step(by, before, after);
    reshard_step one;
    one.done = by.done, one.axis = by.axis, one.after = layout_of(after);
    one.bytes = static_cast<std::size_t>(takes.bytes + 0.5), one.seconds = takes.seconds;
    if (by.axis == reshard_step::none) return one;
    const std::uint8_t role_before = before.of[by.axis], role_after = after.of[by.axis];
    if (axis_roles::cuts(role_before)) one.from = static_cast<std::uint8_t>(axis_roles::dimension(role_before));
    if (axis_roles::cuts(role_after)) one.to = static_cast<std::uint8_t>(axis_roles::dimension(role_after));
    if (role_before == axis_roles::partial_before) one.kind = source_pending_[by.axis];
    if (by.done == reshard_step::what::make_partial) one.kind = target_pending_[by.axis];
    return one;
  }
  /// A plan without a search, for graphs with too many states: reduces and gathers the axes that differ, then slices.
  constexpr sequence direct() const {
    using enum reshard_step::what;
    sequence out;
    axis_roles s = start_;
    const auto go = [&](std::size_t a, std::uint8_t role, reshard_step::what done) {
      const axis_roles next = s.with(a, role);
      out.push_back(described({done, static_cast<std::uint8_t>(a)}, s, next));
      s = next;
    };
    for (std::size_t a = 0; a < m_.rank(); ++a)
      if (s.of[a] == axis_roles::partial_before && goal_.of[a] != s.of[a]) go(a, axis_roles::replicates, all_reduce);
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
      if (goal_.of[a] != s.of[a]) go(a, goal_.of[a], make_partial);
    return out;
  }

 private:
  /// The axes that may move: all axes of a mesh of up to four axes; otherwise the axes whose roles differ, and the axes
  /// that block these.
  constexpr void choose_movable() {
    bool has_changes[most_dimensions] = {};
    for (std::size_t a = 0; a < m_.rank(); ++a) {
      if (start_.of[a] == goal_.of[a]) continue;
      movable_[a] = true;
      for (const std::uint8_t role : {start_.of[a], goal_.of[a]})
        if (axis_roles::cuts(role)) has_changes[axis_roles::dimension(role)] = true;
    }
    for (std::size_t a = 0; a < m_.rank(); ++a)
      movable_[a] = movable_[a] || m_.rank() <= 4 ||
                    (axis_roles::cuts(start_.of[a]) && has_changes[axis_roles::dimension(start_.of[a])]);
  }
  constexpr bool may_cut(std::size_t d) const { return shape_[d] > 1 || !to_.cuts[d].empty(); }

  /// Whether no reduction is left to do: only then may another axis become partial, because the two may not commute.
  constexpr bool is_finished(const axis_roles& s) const {
    for (std::size_t a = 0; a < m_.rank(); ++a)
      if (s.of[a] == axis_roles::partial_before && goal_.of[a] != s.of[a]) return false;
    return true;
  }
  /// Permutations of roles among the movable axes from `first` on: all permutations for few axes, otherwise only
  /// exchanges of pairs.
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
  const std::array<pending_reduction, most_axes>&source_pending_,
      &target_pending_;  // the pending reductions before and after
  shape_list shape_;
  const mesh_links& over_;
  double whole_bytes_;
  double fastest_ = 0;
  bool has_equal_blocks_ = true;  ///< all blocks of a dimension are equal, whichever axes shard it
  bool movable_[most_axes] = {};
  axis_roles start_{}, goal_{};
};

/// The A* search for the cheapest sequence. States are numbered in the order of their discovery.
template <class Graph>
class reshard_search {
 public:
  static constexpr std::size_t most_states = 20000;

  constexpr explicit reshard_search(const Graph& graph) : g_(graph) {}

  constexpr sequence plan() {
    sequence out;
    if (g_.start() == g_.goal()) return out;
    table_.assign(64, 0);
    reach(g_.start(), 0, 0, {});
    while (!open_.empty() && states_.size() < most_states) {
      const std::uint32_t now = take_cheapest();
      if (states_[now].closed) continue;
      states_[now].closed = true;
      if (states_[now].roles == g_.goal()) return read_back(now);
      const axis_roles here = states_[now].roles;
      const double cost = states_[now].cost;
      // Expands the cheapest open state.
      g_.for_each_step(here, [&](const axis_roles& next, reshard_edge by) {
        reach(next, cost + g_.cost_of_step(by, here, next).seconds, now, by);
      });
    }
    return g_.direct();
  }

 private:
  struct state {
    axis_roles roles{};
    double cost = 0;
    double lower_bound = 0;  ///< a lower bound for the remaining cost
    std::uint32_t before = 0;
    reshard_edge by{};
    bool closed = false;
  };

  constexpr void reach(const axis_roles& roles, double cost, std::uint32_t before, reshard_edge by) {
    std::uint32_t& slot = slot_of(roles);
    if (slot == 0) {
      states_.push_back({roles, cost, g_.least_seconds_left(roles), before, by, false});
      slot = static_cast<std::uint32_t>(states_.size());
      put(slot - 1);
      if (2 * states_.size() > table_.size()) rehash();
      return;
    }
    state& known = states_[slot - 1];
    if (cost >= known.cost) return;
    known.cost = cost, known.before = before, known.by = by, known.closed = false;
    put(slot - 1);
  }
  constexpr std::uint32_t& slot_of(const axis_roles& roles) {
    const std::uint64_t key = roles.key();
    std::size_t at = static_cast<std::size_t>((key ^ key >> 29) * 0x9e3779b97f4a7c15U >> 20) % table_.size();
    while (table_[at] != 0 && !(states_[table_[at] - 1].roles == roles)) at = (at + 1) % table_.size();
    return table_[at];
  }
  constexpr void rehash() {
    table_.assign(4 * table_.size(), 0);
    for (std::size_t k = 0; k < states_.size(); ++k) slot_of(states_[k].roles) = static_cast<std::uint32_t>(k + 1);
  }

  // --- the open states are a heap: the cheapest state is first, and of equal states the one that was found first ---

  struct entry {
    double bound;
    std::uint32_t of;
    constexpr bool before(const entry& other) const {
      return bound != other.bound ? bound < other.bound : of < other.of;
    }
  };
  constexpr void put(std::uint32_t of) {
    std::size_t k = open_.size();
    open_.push_back({states_[of].cost + states_[of].lower_bound, of});
    for (; k > 0 && open_[k].before(open_[(k - 1) / 2]); k = (k - 1) / 2) exchange(k, (k - 1) / 2);
  }
  constexpr std::uint32_t take_cheapest() {
    const std::uint32_t of = open_[0].of;
    open_[0] = open_.back();
    open_.pop_back();
    for (std::size_t k = 0, child = 1; child < open_.size(); k = child, child = 2 * k + 1) {
      if (child + 1 < open_.size() && open_[child + 1].before(open_[child])) ++child;
      if (!open_[child].before(open_[k])) break;
      exchange(k, child);
    }
    return of;
  }
  constexpr void exchange(std::size_t k, std::size_t l) {
    const entry kept = open_[k];
    open_[k] = open_[l];
    open_[l] = kept;
  }

  // --- the plan is read back from the states ---

  constexpr sequence read_back(std::uint32_t last) const {
    std::vector<std::uint32_t> path;
    for (std::uint32_t k = last; k != 0; k = states_[k].before) path.push_back(k);
    sequence out;
    for (std::size_t k = path.size(); k-- > 0;) {
      const state& now = states_[path[k]];
      out.push_back(g_.described(now.by, states_[now.before].roles, now.roles));
    }
    return out;
  }
  const Graph& g_;
  std::vector<state> states_{};
  std::vector<std::uint32_t> table_{};  ///< a state's number plus one, hashed by its roles
  std::vector<entry> open_{};
};

/// The cheapest sequence for a tensor of this shape.
inline sequence sequence_of(const mesh& m, const sharding& from, const sharding& to, const shape_list& shape,
                            const mesh_links& over = {}, std::size_t element_bytes = 4) {
  return reshard_search(reshard_graph(m, from, to, shape, over, element_bytes)).plan();
}
inline double seconds(const sequence& all) {
  double sum = 0;
  for (const reshard_step& one : all) sum += one.seconds;
  return sum;
}

using namespace simulated;

/// Executes one step of a reshard, using only blocks of the workers that take part. `received` counts the elements that
/// all workers receive from other workers.
inline devices executed(const reshard_step& step, const sharding& before, const devices& all, const shape_list& shape,
                        std::size_t& received) {
  using enum reshard_step::what;
  const mesh& m = before.on;
  const sharding& after = step.after;
  devices source = all;
  if (step.done == all_reduce || step.done == reduce_scatter) source = reduced(all, m, step.axis, step.kind);
  if (step.done == make_partial) return made_partial(step, m, source);
  devices out;
  std::vector<std::size_t> given(all.size(), 0);
  for (std::size_t k = 0; k < all.size(); ++k) {
    const block wanted = mesh_block(after, shape, k);
    tensor t(shape_of(wanted));
    std::vector<std::size_t> peers{k};
    if (step.done == all_gather || step.done == all_to_all) peers = group_along(m, k, step.axis);
    if (step.done == permute) {
      peers.clear();
      for (std::size_t p = 0; p < all.size() && peers.empty(); ++p) {
        bool same_pending = given[p] == 0 && mesh_block(before, shape, p) == wanted;
        for (std::size_t a = 0; a < m.rank(); ++a)
          same_pending = same_pending && (before.pending[a] == pending_reduction::none ||
                                          coordinate_of(m, p, a) == coordinate_of(m, k, a));
        if (same_pending) peers = {p};
      }
      if (peers.empty()) throw std::runtime_error("no worker is left that has the block");
      ++given[peers[0]];
    }
    std::size_t at = 0;
    for_each_index(t.shape, [&](const shape_list& i) {
      const shape_list there = shifted(i, wanted, 1);
      const auto has = std::find_if(peers.begin(), peers.end(),
                                    [&](std::size_t p) { return holds(mesh_block(before, shape, p), there); });
      if (has == peers.end()) throw std::runtime_error("no device of the group holds an element");
      t.values[at++] = source[*has](shifted(there, mesh_block(before, shape, *has), -1));
      received += *has != k && !holds(mesh_block(before, shape, k), there);
    });
    out.push_back(t);
  }
  return out;
}

}  // namespace collectives
