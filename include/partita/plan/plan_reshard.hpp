// Planning a reshard: finds the cheapest path from one sharding to another through all shardings between them.
//
// The role of an axis is what it does: shard a dimension at some position among its axes, replicate, or be partial. The
// roles of all axes are a state, and each elementary step is an edge between states. The search is A* over that graph
// (Hart, Nilsson, Raphael 1968). Its lower bound is the time to receive the bytes that a worker still lacks of its
// target. So the result is exact, and it passes through a replicated state only if that is cheapest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <partita/plan/reshard_graph.hpp>
#include <vector>

namespace partita {
namespace detail {

/// The search. States are numbered in the order of their discovery.
template <class Graph>
class reshard_search {
 public:
  static constexpr std::size_t most_states = 20000;

  constexpr explicit reshard_search(const Graph& graph) : g_(graph) {}

  constexpr reshard_plan plan() {
    reshard_plan out;
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
        reach(next, cost + g_.price_of(by, here, next).seconds, now, by);
      });
    }
    return g_.direct();
  }

 private:
  struct state {
    axis_roles roles{};
    double cost = 0;
    double ahead = 0;  ///< a lower bound for the remaining cost
    std::uint32_t before = 0;
    reshard_edge by{};
    bool closed = false;
  };

  constexpr void reach(const axis_roles& roles, double cost, std::uint32_t before, reshard_edge by) {
    std::uint32_t& slot = slot_of(roles);
    if (slot == 0) {
      states_.push_back({roles, cost, g_.lacking(roles), before, by, false});
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

  // --- the open states, a heap: cheapest first; among equals, the one found first ---

  struct entry {
    double bound;
    std::uint32_t of;
    constexpr bool before(const entry& other) const {
      return bound != other.bound ? bound < other.bound : of < other.of;
    }
  };
  constexpr void put(std::uint32_t of) {
    std::size_t k = open_.size();
    open_.push_back({states_[of].cost + states_[of].ahead, of});
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

  // --- reading the plan back ---

  constexpr reshard_plan read_back(std::uint32_t last) const {
    std::vector<std::uint32_t> way;
    for (std::uint32_t k = last; k != 0; k = states_[k].before) way.push_back(k);
    reshard_plan out;
    for (std::size_t k = way.size(); k-- > 0;) {
      const state& now = states_[way[k]];
      out.steps.push_back(g_.described(now.by, states_[now.before].roles, now.roles));
    }
    return out;
  }
  const Graph& g_;
  std::vector<state> states_{};
  std::vector<std::uint32_t> table_{};  ///< a state's number plus one, hashed by its roles
  std::vector<entry> open_{};
};

constexpr void require_commuting(const sharding& s, const char* which) {
  owed_reduction first = owed_reduction::none;
  for (const owed_reduction kind : s.owed) {
    if (kind == owed_reduction::none) continue;
    if (first == owed_reduction::none) first = kind;
    if (!commutes(first, kind))
      throw partition_error(text("partita::plan_reshard: requires owed reductions that commute, but ")
                            << which << " owes " << name_of(first) << " and " << name_of(kind)
                            << "; finish one of them before the other is owed");
  }
}

}  // namespace detail

/// The cheapest sequence of elementary steps that moves a tensor from one sharding to another.
/// Shapes:   both shardings have the rank of `shape`, any list of extents; a `dynamic` extent counts as 1.
/// Requires: shardings of the mesh [partition_error] and of the tensor's rank [shape_error]; pending reductions that
///           commute [partition_error].
/// Cost:     the plan's `seconds()` is the minimum for a mesh of up to four axes. For more axes it is the minimum over
///           plans that move only the axes that differ and those that block them. Planning takes 2 µs to some ms, and
///           can be a constant expression.
/// Adjoint:  plan_reshard(m, to, from, shape) with partial and replicated exchanged in both shardings.
template <class Shape = shape_list>
constexpr reshard_plan plan_reshard(const mesh& m, const sharding& from, const sharding& to, const Shape& shape,
                                    const mesh_links& over = {}, std::size_t element_bytes = 4) {
  const shape_list whole(shape);
  for (const sharding* s : {&from, &to}) {
    if (s->rank() != whole.size())
      throw shape_error(text("partita::plan_reshard: requires shardings of the tensor's rank, but ")
                        << "" << *s << " has " << s->rank() << " dimensions and the shape is " << whole
                        << "; write \"\" for a dimension that is not cut");
    if (!(s->on == m))
      throw partition_error(text("partita::plan_reshard: requires shardings of one mesh, but ")
                            << "" << *s << " lies on another; make it from the mesh that is given");
  }
  detail::require_commuting(from, "the source");
  detail::require_commuting(to, "the target");
  return detail::reshard_search(detail::reshard_graph(m, from, to, whole, over, element_bytes)).plan();
}

}  // namespace partita
