// Defines the completion that plan/complete.hpp declares.
//
// The algorithm is a monotone fixpoint iteration. An operation proposes a sharding for each of its tensors; a value
// takes a proposal only if the proposal adds axes to those that the value has. Axes are never removed, so the iteration
// terminates. Operations wait in a queue that starts in program order, so the result is deterministic. Annotations of
// one priority are propagated through the whole program before those of the next priority. Within a priority,
// operations that only pass axes on come before those that reduce or need whole dimensions.
#pragma once

#include <partita/plan/complete.hpp>

namespace partita {
namespace detail {

/// Completes one program.
template <class Graph>
class layout_completer {
 public:
  layout_completer(const Graph& program, const policy& by) : g_(program) {  ///< starts from the annotations
    result_.program = &program;
    result_.by = by;
    result_.first_cut_origin.assign(g_.values(), Graph::none);
    result_.layouts.reserve(g_.values());
    is_active_.assign(g_.values(), 0);
    for (std::size_t v = 0; v < g_.values(); ++v) {
      const value one{static_cast<std::uint32_t>(v)};
      result_.layouts.emplace_back(g_.on(), g_[one].shape.size());
      if (const sharding* said = g_.annotation(one)) {
        result_.layouts.back() = *said;
        for (std::size_t d = 0; d < said->rank(); ++d)
          for (std::size_t k = 0; k < said->cuts[d].size(); ++k)
            add_origin(one, d, said->cuts[d][k], Graph::none, {one, d, 0});
      } else {
        result_.layouts.back().open = 0xffff;
      }
    }
    find_readers();
  }

  completion_of<Graph> run() {  ///< completes the program; called once
    for (std::size_t priority = 0; priority < 256; ++priority) {
      bool has_annotations = false;
      // Apply the annotations that have this priority.
      for (std::size_t v = 0; v < g_.values(); ++v) {
        const sharding* said = g_.annotation({static_cast<std::uint32_t>(v)});
        if (said == nullptr || said->priority != priority) continue;
        is_active_[v] = 1;
        has_annotations = true;
      }
      if (!has_annotations) continue;
      // Propagate first by the operations that pass axes on, then by all operations; each until no value changes.
      for (const bool all : {false, true}) {
        for (std::size_t o = 0; o < g_.operations(); ++o) enqueue(o, all);
        while (first_queued_ < queue_.size()) propagate_operation(queue_[first_queued_++], all);
        queue_.clear();
        first_queued_ = 0;
      }
    }
    find_reshards();
    return static_cast<completion_of<Graph>&&>(result_);
  }

 private:
  static bool has_only_pass_factors(const rule& r) {  ///< whether r only passes axes on
    for (std::size_t f = 0; f < r.factor_count; ++f)
      if (r.factors[f].kind != factor_kind::pass_through) return false;
    return true;
  }
  /// Makes a list with the readers of each value: the operations that read the value.
  void find_readers() {
    first_reader_.assign(g_.values() + 1, 0);
    for (std::size_t o = 0; o < g_.operations(); ++o)
      for (std::size_t i = 0; i < g_.operation(o).operands; ++i)
        ++first_reader_[g_.operand(g_.operation(o), i).number + 1];
    for (std::size_t v = 0; v < g_.values(); ++v) first_reader_[v + 1] += first_reader_[v];
    readers_.resize(first_reader_[g_.values()]);
    std::vector<std::uint32_t> at = first_reader_;
    for (std::size_t o = 0; o < g_.operations(); ++o)
      for (std::size_t i = 0; i < g_.operation(o).operands; ++i)
        readers_[at[g_.operand(g_.operation(o), i).number]++] = static_cast<std::uint32_t>(o);
    is_queued_.assign(g_.operations(), 0);
  }
  /// The number of operands of the program that are value v.
  std::size_t reader_count(value v) const { return first_reader_[v.number + 1] - first_reader_[v.number]; }

  // --- the fixpoint iteration ---

  /// Adds operation o to the queue, unless it is queued; unless `all`, only if it does nothing but pass axes on.
  void enqueue(std::size_t o, bool all) {
    if (is_queued_[o] != 0 || (!all && !has_only_pass_factors(g_.operation(o).how))) return;
    is_queued_[o] = 1;
    queue_.push_back(static_cast<std::uint32_t>(o));
  }
  void enqueue_neighbours(value v, bool all) {  ///< queues the producer and the readers of v
    if (g_[v].producer != Graph::none) enqueue(g_[v].producer, all);
    for (std::uint32_t k = first_reader_[v.number]; k < first_reader_[v.number + 1]; ++k) enqueue(readers_[k], all);
  }
  spec make_spec(value v, bool is_known) const {  ///< is_known: whether v proposes its axes
    spec s(g_[v].shape);
    s.layout = result_.layouts[v.number];
    s.known = is_known;
    return s;
  }
  /// Whether a value proposes its axes to other values: an annotated value does so from the turn of its priority on,
  /// and a value without an annotation as soon as an axis shards it.
  bool may_propose(value v) const {
    return is_active_[v.number] != 0 || (g_[v].annotation == Graph::none && result_.layouts[v.number].cut_axes() != 0);
  }
  /// Propagates through operation o, extends the shardings of its tensors, and queues the neighbours of changed values.
  void propagate_operation(std::size_t o, bool all) {
    is_queued_[o] = 0;
    const typename Graph::node& n = g_.operation(o);
    bool has_axes = false;
    specs_.clear();
    for (std::size_t t = 0; t < n.how.tensor_count(); ++t) {
      const bool is_known = may_propose(g_.of(n, t));
      has_axes = has_axes || (is_known && result_.layouts[g_.of(n, t).number].cut_axes() != 0);
      specs_.push_back(make_spec(g_.of(n, t), is_known));
    }
    if (!has_axes) return;
    ++result_.visits;
    const propagation p = propagate(g_.on(), n.how, {specs_.data(), n.operands},
                                    {specs_.data() + n.operands, n.results}, direction::mixed, result_.by);
    for (std::size_t t = 0; t < n.how.tensor_count(); ++t)
      if (extend_sharding(o, t, p[t])) enqueue_neighbours(g_.of(n, t), all);
  }
  /// Takes from a proposal only the axes that extend the value's own axes, dimension by dimension.
  bool extend_sharding(std::size_t o, std::size_t t, const sharding& proposal) {
    const typename Graph::node& n = g_.operation(o);
    const value v = g_.of(n, t);
    sharding& now = result_.layouts[v.number];
    bool changed = false;
    for (std::size_t d = 0; d < now.rank(); ++d) {
      const axis_list next = proposal.cuts[d];
      if (!now.is_open(d) || next == now.cuts[d] || !next.starts_with(now.cuts[d])) continue;
      for (std::size_t k = now.cuts[d].size(); k < next.size(); ++k) {
        const std::size_t a = next[k];
        if ((now.cut_axes() >> a & 1U) != 0 || now.pending[a] != pending_reduction::none ||
            (now.must_replicate >> a & 1U) != 0 || now.is_reduced(a))
          break;
        const axis_source source = source_of_axis(n, t, d, a);
        now.cuts[d].push_back(a);
        add_origin(v, d, a, o, source);
        changed = true;
      }
    }
    return changed;
  }
  /// Where an axis comes from: a dimension of a value, by way of a factor of the operation's rule.
  struct axis_source {
    value from;                     ///< the value that has the axis
    std::size_t dimension, factor;  ///< the value's dimension that the axis shards; the rule's factor
  };
  /// The tensor of the operation from which axis a in dimension d of tensor t comes, or tensor t itself if no other
  /// tensor has the axis (because axes were joined).
  axis_source source_of_axis(const typename Graph::node& n, std::size_t t, std::size_t d, std::size_t a) const {
    const rule::dimension& here = n.how.at(t, d);
    for (std::size_t k = 0; k < here.count; ++k)
      for (std::size_t u = 0; u < n.how.tensor_count(); ++u) {
        if (u == t || !may_propose(g_.of(n, u))) continue;
        for (std::size_t e = 0; e < n.how.rank(u); ++e)
          for (std::size_t l = 0; l < n.how.at(u, e).count; ++l)
            if (n.how.term(n.how.at(u, e), l) == n.how.term(here, k) &&
                result_.layouts[g_.of(n, u).number].cuts[e].contains(a))
              return {g_.of(n, u), e, n.how.term(here, k)};
      }
    return {g_.of(n, t), d, here.count == 0 ? std::size_t{0} : n.how.term(here, 0)};
  }
  /// Notes why axis a shards dimension d of value v: operation o propagated it, or it was annotated.
  void add_origin(value v, std::size_t d, std::size_t a, std::size_t o, const axis_source& axis) {
    result_.cut_origins.push_back({v.number, static_cast<std::uint8_t>(d), static_cast<std::uint8_t>(a),
                                   static_cast<std::uint32_t>(o), static_cast<std::uint8_t>(axis.factor),
                                   axis.from.number, static_cast<std::uint8_t>(axis.dimension),
                                   result_.first_cut_origin[v.number]});
    result_.first_cut_origin[v.number] = static_cast<std::uint32_t>(result_.cut_origins.size() - 1);
  }

  // --- the moves ---

  /// Visits the operations in program order, and notes a reshard wherever a tensor's sharding differs from the sharding
  /// that the operation needs.
  void find_reshards() {
    for (sharding& s : result_.layouts) s.open = s.must_replicate = s.priority = 0;
    for (std::size_t o = 0; o < g_.operations(); ++o) {
      const typename Graph::node& n = g_.operation(o);
      specs_.clear();
      for (std::size_t t = 0; t < n.how.tensor_count(); ++t) specs_.push_back(make_spec(g_.of(n, t), true));
      const propagation p = propagate(g_.on(), n.how, {specs_.data(), n.operands},
                                      {specs_.data() + n.operands, n.results}, direction::mixed, result_.by);
      for (std::size_t i = 0; i < n.operands; ++i)
        add_reshard(o, i, result_.layouts[g_.operand(n, i).number], p.operands[i]);
      for (std::size_t j = 0; j < n.results; ++j) {
        const value v = g_.of(n, n.operands + j);
        const sharding& as_made = p.results[j];
        sharding& layout = result_.layouts[v.number];
        // A value without an annotation keeps the sharding in which it was made. The value stays partial only for a
        // single reader, which may reduce it directly into the sharding that the reader needs; with several readers, or
        // none, the value is reduced once.
        if (g_.annotation(v) == nullptr) {
          layout = reader_count(v) == 1 ? as_made : as_made.without_partials();
          add_origins_of_result(o, n.operands + j);
        }
        add_reshard(o, n.operands + j, as_made, layout);
      }
    }
  }
  /// Notes the origins of the axes of a result that were not propagated to the result, but come from its operation.
  void add_origins_of_result(std::size_t o, std::size_t t) {
    const value v = g_.of(g_.operation(o), t);
    const sharding& layout = result_.layouts[v.number];
    for (std::size_t d = 0; d < layout.rank(); ++d)
      for (std::size_t k = 0; k < layout.cuts[d].size(); ++k)
        if (const std::size_t a = layout.cuts[d][k]; result_.origin_of_cut(v, d, a) == nullptr)
          add_origin(v, d, a, o, source_of_axis(g_.operation(o), t, d, a));
  }
  /// Notes the reshard of tensor t of operation o, unless both layouts are equal.
  void add_reshard(std::size_t o, std::size_t t, const sharding& from, const sharding& to) {
    if (from.same_layout(to)) return;
    result_.reshards.push_back(
        {static_cast<std::uint32_t>(o), static_cast<std::uint8_t>(t), g_.of(g_.operation(o), t).number, from, to});
  }

  const Graph& g_;                             ///< the program
  completion_of<Graph> result_{};              ///< the completion so far
  std::vector<std::uint8_t> is_active_{};      ///< for each value, whether the turn of its annotation has come
  std::vector<std::uint8_t> is_queued_{};      ///< for each operation, whether it is in queue_
  std::vector<std::uint32_t> first_reader_{};  ///< for each value, where its readers begin in readers_
  std::vector<std::uint32_t> readers_{};       ///< the operations that read each value, value by value
  std::vector<std::uint32_t> queue_{};         ///< operations to propagate through
  std::size_t first_queued_ = 0;               ///< the index of the next operation in queue_
  std::vector<spec> specs_{};                  ///< the tensors of one operation (kept to save allocations)
};

}  // namespace detail

template <std::size_t Letters>
completion_of<basic_graph<Letters>> complete(const basic_graph<Letters>& program, const policy& by) {
  return detail::layout_completer<basic_graph<Letters>>(program, by).run();
}
#ifdef PARTITA_CORE
template completion complete(const graph&, const policy&);
#endif

}  // namespace partita
