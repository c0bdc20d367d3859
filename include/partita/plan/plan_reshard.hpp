// Planning a reshard: the steps that will be executed, and what each worker receives in them.
//
// Without a pending reduction a reshard is at most one exchange of boxes: every worker receives exactly what it lacks.
// A reduction is planned as the cheapest of a few sequences: for example, the summands of each new block are gathered
// at once, or each worker reduces a part of its block first, and the parts are then exchanged. If the tensor is
// replicated, the replicas divide the work of sending.
#pragma once

#include <cstddef>
#include <cstdint>
#include <partita/plan/reshard_exchange.hpp>
#include <partita/plan/reshard_plan.hpp>

namespace partita {
namespace detail {

/// Throws a partition_error unless all pending reductions of a sharding commute.
constexpr void require_commuting_reductions(const sharding& s, const char* argument_name) {
  auto first = pending_reduction::none;
  for (const auto kind : s.pending) {
    if (kind == pending_reduction::none) continue;
    if (first == pending_reduction::none) first = kind;
    if (!commutes(first, kind))
      throw partition_error(text("partita::plan_reshard: requires pending reductions that commute, but ")
                            << argument_name << " has " << name_of(first) << " and " << name_of(kind)
                            << "; finish one of them before the other becomes pending");
  }
}

/// A sharding reduced to the placement of its elements and its pending reductions.
constexpr sharding layout_of(const sharding& s) {
  sharding result = s;
  result.open = result.must_replicate = result.reduced_over = result.priority = 0;
  return result;
}

/// Calls callback(exchange, shape) for each exchange of a step. An all_reduce in two rounds treats the block as a row:
/// the row is divided among the workers that hold its summands, reduced, and gathered. `block` is the number of
/// elements of a worker's block before the step.
template <class Use>
constexpr void for_each_exchange(const reshard_step& step, const sharding& before, const shape_list& shape,
                                 std::size_t block, Use callback) {
  if (step.rounds == 1) callback(reshard_exchange{before, step.after, step.reduced}, shape);
  if (step.rounds != 2) return;
  sharding gathered(before.on, 1), partial = gathered, scattered = gathered;
  for (std::size_t a = 0; a < before.on.rank(); ++a)
    if ((step.reduced >> a & 1U) != 0) partial.pending[a] = before.pending[a], scattered.cuts[0].push_back(a);
    else if (((before.cut_axes() | partial_axes(before)) >> a & 1U) != 0)  // axes along which other blocks lie
      gathered.pending[a] = partial.pending[a] = scattered.pending[a] = pending_reduction::sum;
  callback(reshard_exchange{partial, scattered, step.reduced}, shape_list{block});
  callback(reshard_exchange{scattered, gathered, 0}, shape_list{block});
}

/// Plans one reshard: chooses its steps by the bytes and seconds over links of equal speed.
class reshard_planner {
 public:
  constexpr reshard_planner(const sharding& from, const sharding& to, const shape_list& shape, const mesh_links& links,
                            std::size_t element_bytes)
      : m_(from.on), src_(layout_of(from)), dst_(layout_of(to)), shape_(shape), links_(links), bytes_(element_bytes) {
    for (std::size_t d = 0; d < shape_.size(); ++d)
      if (shape_[d] == dynamic) shape_[d] = 1;
  }

  constexpr reshard_plan plan() const {  ///< the steps in order, each with its cost
    // 1. Find the target without the reductions that the reshard makes pending, and the axes that the reshard reduces.
    const auto &pending_before = src_.pending, &wanted = dst_.pending;
    sharding goal = dst_;
    for (std::size_t a = 0; a < m_.rank(); ++a)
      if (wanted[a] != pending_before[a]) goal.pending[a] = {};
    const std::uint32_t reduced_axes = partial_axes(src_) & ~partial_axes(goal);
    // 2. Choose the cheapest sequence of steps from the source to that target.
    reshard_plan out;
    if (reduced_axes == 0) append_step(out, goal);
    else plan_reduction(out, goal, reduced_axes);
    for (reshard_step* one = out.steps.begin(); one != out.steps.end() && !(links_ == default_links); ++one)
      set_cost(*one, one == out.steps.begin() ? src_ : (one - 1)->after, links_);
    // 3. Append the steps after which a reduction is pending: they turn a replicated value into summands.
    sharding now = goal;
    for (std::size_t a = 0; a < m_.rank(); ++a) {
      if (goal.pending[a] == wanted[a]) continue;
      now.pending[a] = wanted[a];
      reshard_step one;
      one.done = reshard_step::what::make_partial, one.axis = static_cast<std::uint8_t>(a), one.kind = wanted[a];
      one.seconds = links_.step, one.after = now;
      out.steps.push_back(one);
    }
    return out;
  }

 private:
  /// Sets `out` to the cheapest sequence of steps that reduces over `reduced_axes` and ends in `goal`.
  constexpr void plan_reduction(reshard_plan& out, const sharding& goal, std::uint32_t reduced_axes) const {
    sharding finished = src_;
    for (std::size_t a = 0; a < m_.rank(); ++a)
      if ((reduced_axes >> a & 1U) != 0) finished.pending[a] = {};
    const std::uint32_t free = ~(partial_axes(src_) | src_.cut_axes());  // the axes that replicate the source
    // Choose the fewest bytes; among sequences with at most a twentieth more bytes, choose the fastest.
    std::size_t least = ~std::size_t{0};
    const auto most = [&] { return least == ~std::size_t{0} ? least : least + least / 20; };
    const auto consider = [&](reshard_plan next) {  // `next`: the first steps of a sequence
      append_step(next, goal);
      if (next.bytes() < least) least = next.bytes();
      if (out.empty() || out.bytes() > most() || (next.bytes() <= most() && next.seconds() < out.seconds())) out = next;
    };
    reshard_plan at_once;
    append_step(at_once, goal, reduced_axes);
    consider(at_once);
    sharding joint = finished;  // `finished`, sharded also by the axes of the target that it lacks
    for (std::size_t d = 0; d < joint.rank(); ++d)
      for (std::size_t k = 0; k < goal.cuts[d].size(); ++k)
        if (const std::size_t a = goal.cuts[d][k]; (joint.cut_axes() >> a & 1U) == 0) joint.cuts[d].push_back(a);
    for (const sharding* base : {static_cast<const sharding*>(&joint), static_cast<const sharding*>(&finished), &goal})
      for (const std::uint32_t axes : {reduced_axes, reduced_axes | free}) {
        const sharding middle = add_axes(*base, axes, base == &goal ? finished : goal);
        if (middle.same_layout(goal) || (base == &finished && joint.same_layout(finished))) continue;
        reshard_plan next;
        append_step(next, middle, reduced_axes);
        if (next.bytes() > most()) continue;
        consider(next);
        sharding last = goal;  // the target, with the axes that were added for the reduction
        for (std::size_t d = 0; d < last.rank(); ++d)
          for (std::size_t k = base->cuts[d].size(); k < middle.cuts[d].size(); ++k)
            if (const std::size_t a = middle.cuts[d][k]; (goal.cut_axes() >> a & 1U) == 0) last.cuts[d].push_back(a);
        append_step(next, last);
        if (base != &goal && next.bytes() <= most()) consider(next);
      }
    for (const std::uint32_t axes : {std::uint32_t{0}, free}) {
      const sharding start = add_axes(src_, axes, goal);
      if (axes != 0 && start.same_layout(src_)) continue;
      reshard_plan next;
      append_step(next, start);
      append_step(next, add_axes(finished, axes, goal), reduced_axes, 2);
      if (next.bytes() <= most()) consider(next);
    }
  }
  /// The sharding `base` with those of `axes` added that it lacks. An axis is added to a dimension whose blocks it
  /// divides evenly, if there are any; among these, to a dimension that `other` shards by the same axes, if there are
  /// any; and among these, to the dimension with the longest blocks.
  constexpr sharding add_axes(const sharding& base, std::uint32_t axes, const sharding& other) const {
    sharding s = base;
    axes &= ~(partial_axes(base) | base.cut_axes());
    for (std::size_t a = 0; a < m_.rank(); ++a) {
      if ((axes >> a & 1U) == 0 || m_.size(a) == 1) continue;
      std::size_t best = s.rank(), longest = 1;
      int rank_of_best = -1;
      for (std::size_t d = 0; d < s.rank(); ++d) {
        const std::size_t parts = m_.size(s.cuts[d]), length = (shape_[d] + parts - 1) / parts;
        const int rank = (length % m_.size(a) == 0 ? 2 : 0) + (base.cuts[d] == other.cuts[d] ? 1 : 0);
        if (length > 1 && (rank != rank_of_best ? rank > rank_of_best : length > longest))
          best = d, longest = length, rank_of_best = rank;
      }
      if (best < s.rank()) s.cuts[best].push_back(a);
    }
    return s;
  }

  /// Appends a step to a sequence of steps, unless the step changes nothing.
  constexpr void append_step(reshard_plan& out, const sharding& after, std::uint32_t reduced_axes = 0,
                             std::uint8_t rounds = 1) const {
    const sharding& before = out.empty() ? src_ : out[out.size() - 1].after;
    if (before.same_layout(after)) return;
    reshard_step one;
    one.after = after, one.rounds = rounds;
    for (std::size_t a = 0; a < m_.rank(); ++a) {
      if ((reduced_axes >> a & 1U) == 0 || m_.size(a) == 1) continue;
      one.reduced |= std::uint32_t{1} << a;
      if (one.kind == pending_reduction::none || one.kind == pending_reduction::avg) one.kind = before.pending[a];
    }
    set_cost(one, before, default_links);
    out.steps.push_back(one);
  }
  /// Sets the costs of a step, and the collective that names the step.
  constexpr void set_cost(reshard_step& one, const sharding& before, const mesh_links& links) const {
    std::size_t block = 1;
    double mean_block = 1;
    for (std::size_t d = 0; d < shape_.size(); ++d) {
      block *= mesh_part(m_, before.cuts[d], shape_[d], 0).size();  // the first part of a dimension is the longest
      mean_block *= static_cast<double>(shape_[d]) / static_cast<double>(m_.size(before.cuts[d]));
    }
    double mean = 0;
    one.bytes = one.messages = 0;
    one.seconds = links.step, one.latency_seconds = 0;
    for_each_exchange(one, before, shape_, block, [&](const reshard_exchange& e, const shape_list& shape) {
      const exchange_counter counter(e, shape, links, bytes_);
      exchange_cost most;
      if (one.rounds == 1) {
        most = counter.cost();
      } else {  // in both rounds the worker with the first part of the row receives most
        const received_share first = counter.at(0);
        const double summands = static_cast<double>(reshard_exchange{before, one.after, one.reduced}.summands());
        most = {first.elements, first.messages, mean_block * (1 - 1 / summands), first.seconds, first.latency_seconds};
      }
      one.bytes += most.elements * bytes_, one.messages += most.messages;
      one.seconds += most.seconds, one.latency_seconds += most.latency_seconds;
      mean += most.mean * static_cast<double>(bytes_);
    });
    one.mean_bytes = static_cast<std::size_t>(mean);
    if (static_cast<double>(one.mean_bytes) < mean) ++one.mean_bytes;
    if (one.bytes == 0 && one.reduced == 0) one.rounds = 0;
    classify_step(one, before);
  }
  /// Names the collective that a step replaces, and the axis and dimensions that it changes.
  constexpr void classify_step(reshard_step& one, const sharding& before) const {
    using enum reshard_step::what;
    const auto dimension_of = [&](const sharding& s, std::size_t a) {
      for (std::size_t d = 0; d < s.rank(); ++d)
        if (s.cuts[d].contains(a)) return static_cast<std::uint8_t>(d);
      return reshard_step::none;
    };
    std::size_t changed = 0, axis = 0;
    for (std::size_t a = 0; a < m_.rank(); ++a)
      if (dimension_of(before, a) != dimension_of(one.after, a) || (one.reduced >> a & 1U) != 0) ++changed, axis = a;
    for (std::size_t d = 0; d < before.rank(); ++d)  // other axes may have changed their order only
      if (changed == 1 && !(before.cuts[d].without(axis) == one.after.cuts[d].without(axis))) changed = 2;
    if (changed == 1) {
      one.axis = static_cast<std::uint8_t>(axis);
      one.from = dimension_of(before, axis), one.to = dimension_of(one.after, axis);
    }
    const bool is_cut = one.from != reshard_step::none, is_minor = is_cut && is_last(before.cuts[one.from], axis);
    if (one.reduced != 0) one.done = before.cuts == one.after.cuts ? all_reduce : reduce_scatter;
    else if (one.bytes == 0) one.done = slice;
    else if (is_minor && one.to == reshard_step::none) one.done = all_gather;
    else if (is_minor && is_last(one.after.cuts[one.to], axis)) one.done = all_to_all;
    else one.done = has_same_blocks(before, one.after) ? permute : exchange;
  }
  /// Whether axis a is the minor one of the axes that shard a dimension.
  constexpr static bool is_last(axis_list cuts, std::size_t a) { return cuts.size() > 0 && cuts[cuts.size() - 1] == a; }
  /// Whether two shardings have equal blocks, which may be on different workers.
  constexpr bool has_same_blocks(const sharding& s, const sharding& t) const {
    for (std::size_t d = 0; d < shape_.size(); ++d) {
      const std::size_t parts = m_.size(s.cuts[d]);
      bool same = s.cuts[d].size() == t.cuts[d].size();
      for (std::size_t k = 0; same && k < s.cuts[d].size(); ++k) same = m_.size(s.cuts[d][k]) == m_.size(t.cuts[d][k]);
      if (!same && (parts != m_.size(t.cuts[d]) || shape_[d] % parts != 0)) return false;
    }
    return true;
  }

  static constexpr mesh_links default_links{};  // the links by which sequences are compared

  const mesh& m_;            ///< the mesh of both shardings
  sharding src_, dst_;       ///< the shardings before and after the reshard
  shape_list shape_;         ///< the global extents, with 1 for `dynamic`
  const mesh_links& links_;  ///< the links for which costs are returned
  std::size_t bytes_;        ///< the bytes of an element
};

}  // namespace detail

/// Returns the steps that a reshard executes to move a tensor from one sharding to another, each with its cost.
/// Shapes:   both shardings have the rank of `shape`, any list of extents; a `dynamic` extent counts as 1.
/// Requires: shardings of the mesh [partition_error] and of the tensor's rank [shape_error]; pending reductions that
///           commute [partition_error].
/// Cost:     microseconds, in O(workers along the used axes): no boxes are listed. The call can be a constant
///           expression. The links determine the seconds, but not the steps.
/// Adjoint:  plan_reshard(m, to, from, shape) with partial and replicated exchanged in both shardings.
template <class Shape = shape_list>
constexpr reshard_plan plan_reshard(const mesh& m, const sharding& from, const sharding& to, const Shape& shape,
                                    const mesh_links& links = {}, std::size_t element_bytes = 4) {
  const shape_list whole(shape);
  for (const sharding* s : {&from, &to}) {
    if (s->rank() != whole.size())
      throw shape_error(text("partita::plan_reshard: requires shardings of the tensor's rank, but ")
                        << "" << *s << " has " << s->rank() << " dimensions and the shape is " << whole
                        << "; write \"\" for a dimension that is not cut");
    if (!(s->on == m))
      throw partition_error(text("partita::plan_reshard: requires shardings of one mesh, but ")
                            << "" << *s << " is on another mesh; make it from the mesh that is given");
  }
  detail::require_commuting_reductions(from, "the source");
  detail::require_commuting_reductions(to, "the target");
  return detail::reshard_planner(from, to, whole, links, element_bytes).plan();
}

/// What the worker at a place of the mesh receives in the steps of a plan that starts from the sharding `from`.
constexpr received_share receive_cost(const reshard_plan& plan, const sharding& from, const shape_list& shape,
                                      std::size_t place, const mesh_links& links = {}, std::size_t element_bytes = 4) {
  received_share all;
  const sharding* before = &from;
  for (const reshard_step& step : plan) {
    std::size_t block = 1;
    for (const interval& part : mesh_block(*before, shape, place)) block *= part.size();
    detail::for_each_exchange(step, *before, shape, block, [&](const reshard_exchange& e, const shape_list& whole) {
      const received_share one = detail::exchange_counter(e, whole, links, element_bytes).at(place);
      all.elements += one.elements, all.messages += one.messages;
      all.seconds += one.seconds, all.latency_seconds += one.latency_seconds;
    });
    before = &step.after;
  }
  return all;
}

}  // namespace partita
