// The exchange from blocks to overlapping windows, which may reach beyond the borders of the tensor: a block with
// ghosts around it, or the input cells of a sliding kernel. Along each dimension, windows are intersected with all
// blocks, not only with those of neighbours, so that halos wider than a block, empty blocks and a worker that is its
// own neighbour need no special cases.
#pragma once

#include <array>
#include <cstddef>
#include <partita/core/box.hpp>
#include <partita/plan/decomposition.hpp>
#include <partita/plan/exchange_plan.hpp>
#include <partita/plan/grid.hpp>
#include <partita/plan/window.hpp>
#include <partita/rule/boundary.hpp>
#include <vector>

namespace partita {

/// The halo plan of one worker: the exchange from blocks to windows, and the cells of its window that it fills itself.
template <std::size_t Rank>
struct halo_plan {
  exchange_plan<Rank> exchange{};            ///< what the worker sends, keeps and receives to fill windows
  std::array<std::ptrdiff_t, Rank> start{};  ///< the global index of the window's first cell; may be negative
  box<Rank> tensor_cells{};                  ///< the cells that come from the tensor, as indices in the window
  box<Rank> own_cells{};  ///< the cells of this worker's own block, as indices in the window; set only by plan_halo
  bool star = false;      ///< whether cells beside the block along more than one dimension are not exchanged

  /// Whether a kept box is the block itself at its place in the window, and not a periodic or reflected image of it.
  bool is_own_block(const kept_box<Rank>& k) const {
    for (std::size_t d = 0; d < Rank; ++d)
      if (start[d] != static_cast<std::ptrdiff_t>(k.where.start[d] - k.destination_start[d])) return false;
    return k.where.shape() == exchange.source_shape;
  }
  /// The exchange without the worker's own block, for a window that already contains this block.
  exchange_plan<Rank> ghost_exchange() const {
    exchange_plan<Rank> rest = exchange;
    if (!rest.kept.empty() && is_own_block(rest.kept.front())) rest.kept.erase(rest.kept.begin());
    return rest;
  }
  /// A box of the window, in indices of the window, whose cells are available before any message arrives: the largest
  /// box of cells that stay on the worker, and the cells beyond the tensor's borders next to this box.
  box<Rank> box_available_at_start() const {
    box<Rank> there{};
    for (const kept_box<Rank>& k : exchange.kept)
      if (k.where.volume() > there.volume())
        for (std::size_t d = 0; d < Rank; ++d)
          there.start[d] = k.destination_start[d], there.stop[d] = there.start[d] + k.where.stop[d] - k.where.start[d];
    for (std::size_t d = 0; d < Rank && !there.empty(); ++d) {
      if (there.start[d] <= tensor_cells.start[d]) there.start[d] = 0;
      if (there.stop[d] >= tensor_cells.stop[d]) there.stop[d] = exchange.destination_shape[d];
    }
    return there;
  }
  friend bool operator==(const halo_plan&, const halo_plan&) = default;
};

namespace detail {

/// One contiguous run of indices along one dimension that a window and a block have in common.
struct window_run {
  std::size_t part;        ///< the part of the other worker
  interval range;          ///< the global indices of the run
  std::size_t window_pos;  ///< the position of the run in the window
  std::size_t block_pos;   ///< the position of the run in the block
  std::size_t size;        ///< the size of the other worker's window or block
  bool is_halo = false;    ///< whether the cells are ghosts; set only if corners are left out
};

/// Calls f(the chosen run of each dimension) for all combinations of runs; the last dimension varies fastest.
template <std::size_t Rank, class F>
void for_each_tuple(const std::array<std::vector<window_run>, Rank>& runs, F f) {
  for (const auto& r : runs)
    if (r.empty()) return;
  std::array<std::size_t, Rank> choice{};
  std::array<const window_run*, Rank> tuple{};
  for (;;) {
    for (std::size_t d = 0; d < Rank; ++d) tuple[d] = &runs[d][choice[d]];
    f(tuple);
    std::size_t d = Rank;
    while (d > 0 && ++choice[d - 1] == runs[d - 1].size()) choice[--d] = 0;
    if (d == 0) return;
  }
}

/// The global indices of a box of runs, one per dimension.
template <std::size_t Rank>
box<Rank> box_of_runs(const std::array<const window_run*, Rank>& tuple) {
  box<Rank> where{};
  for (std::size_t d = 0; d < Rank; ++d) where.start[d] = tuple[d]->range.start, where.stop[d] = tuple[d]->range.stop;
  return where;
}
/// The values of the data member `field` in the runs of a box, one per dimension.
template <std::size_t Rank>
std::array<std::size_t, Rank> values_of(const std::array<const window_run*, Rank>& tuple,
                                        std::size_t window_run::*field) {
  std::array<std::size_t, Rank> all{};
  for (std::size_t d = 0; d < Rank; ++d) all[d] = tuple[d]->*field;
  return all;
}

/// Whether a box of runs, one per dimension, is a corner: beside the block along more than one dimension.
template <std::size_t Rank>
bool is_corner(const std::array<const window_run*, Rank>& tuple) {
  std::size_t ghost_dimensions = 0;
  for (const window_run* run : tuple) ghost_dimensions += run->is_halo ? 1 : 0;
  return ghost_dimensions > 1;
}

/// Whether the window of the worker at position `parts` is empty along a dimension.
template <std::size_t Rank>
bool has_empty_window(const windows_of_parts<Rank>& windows, const index<Rank>& parts) {
  for (std::size_t d = 0; d < Rank; ++d)
    if (windows[d][parts[d]].size() == 0) return true;
  return false;
}

}  // namespace detail

/// The windows that the workers of a grid need: each worker needs the window of its own position.
template <class Extents>
struct windows_of_grid {
  const grid<Extents>* worker_grid;  ///< the workers that need windows

  bool needs_window(std::size_t worker) const { return worker_grid->contains(worker); }  ///< whether it is in the grid
  /// The position of a worker in the grid: for each dimension, the part whose window it needs.
  index<Extents::rank()> parts(std::size_t worker) const { return worker_grid->index(worker_grid->place(worker)); }
  /// Calls f(worker) for the worker at the position `parts` of the grid.
  template <class F>
  void for_each_worker_at(const index<Extents::rank()>& parts, F f) const {
    f(worker_grid->worker(parts));
  }
};

/// The plan of worker `worker`: from the blocks on grid `src` to windows. `readers` describes which workers need which
/// windows, by the functions needs_window(worker), parts(worker) and for_each_worker_at(parts, f), which calls
/// f(worker). A window of extent 0 along one dimension receives no cells. The reversed exchange adds the cells of
/// windows to the blocks, a worker's own cells first. With `star`, for windows around blocks, cells beside a block
/// along more than one dimension are left out.
/// Requires: cuts that are balanced or explicit; reflected ghosts within the tensor.
/// Cost:     time in O(overlaps of this worker + parts along each dimension), without communication.
template <class Src, std::size_t Rank, class Who>
halo_plan<Rank> plan_windows(const grid<Src>& src, const decomposition<Rank>& blocks,
                             const windows_of_parts<Rank>& windows, const halo_boundaries<Rank>& edges,
                             const Who& readers, std::size_t worker, bool star = false) {
  using detail::window_run;
  halo_plan<Rank> plan;
  exchange_plan<Rank>& e = plan.exchange;
  const std::array<std::size_t, Rank> n = blocks.extents();
  e.worker = worker;
  e.extents = n;
  e.one_to_one = false;
  e.gives = src.contains(worker);
  e.takes = readers.needs_window(worker);
  std::array<std::vector<window_run>, Rank> runs;
  /// Whether cells of this worker's block are ghosts in the window of `part`, which may be the worker's own window.
  const auto is_ghost = [&](std::size_t d, std::size_t own, std::size_t part, std::size_t window_pos,
                            std::size_t block_pos) {
    const std::ptrdiff_t first = static_cast<std::ptrdiff_t>(blocks.cuts[d].part(own).start) - windows[d][own].start;
    return part != own || window_pos != block_pos + static_cast<std::size_t>(first);
  };
  // List the sends: the runs of all windows in this worker's block along each dimension, and all combinations of runs.
  if (e.gives) {
    const index<Rank> own = src.index(src.place(worker));
    e.source_shape = blocks.shape(own);
    const box<Rank> block = blocks.block(own);
    for (std::size_t d = 0; d < Rank; ++d)
      for (std::size_t part = 0; part < windows[d].size(); ++part)
        detail::for_each_run(windows[d][part], n[d], edges.before[d], edges.after[d], [&](std::size_t at, interval r) {
          const interval common{r.start < block.start[d] ? block.start[d] : r.start,
                                r.stop < block.stop[d] ? r.stop : block.stop[d]};
          if (common.start >= common.stop) return;
          const std::size_t window_pos = at + common.start - r.start, block_pos = common.start - block.start[d];
          runs[d].push_back({part, common, window_pos, block_pos, windows[d][part].size(),
                             star && is_ghost(d, own[d], part, window_pos, block_pos)});
        });
    detail::for_each_tuple<Rank>(runs, [&](const auto& tuple) {
      const auto parts = detail::values_of<Rank>(tuple, &window_run::part);
      if (detail::has_empty_window<Rank>(windows, parts) || detail::is_corner<Rank>(tuple)) return;
      const auto block_pos = detail::values_of<Rank>(tuple, &window_run::block_pos);
      const auto window_pos = detail::values_of<Rank>(tuple, &window_run::window_pos);
      readers.for_each_worker_at(parts, [&](std::size_t peer) {
        const box<Rank> where = detail::box_of_runs<Rank>(tuple);
        if (peer == worker) return e.kept.push_back({where, block_pos, window_pos});
        transfer<Rank>& t = e.sends.emplace_back();
        t.worker = peer, t.where = where, t.at = block_pos;
        t.at_peer = place_in_block<Rank>::of(window_pos, detail::values_of<Rank>(tuple, &window_run::size));
      });
    });
  }
  // List the receives: the runs of this worker's window in all blocks along each dimension, and all combinations.
  if (e.takes) {
    const index<Rank> own = readers.parts(worker);
    const bool empty = detail::has_empty_window<Rank>(windows, own);
    for (std::size_t d = 0; d < Rank; ++d) {
      const window w = windows[d][own[d]];
      runs[d].clear();
      e.destination_shape[d] = w.size();
      plan.start[d] = w.start;
      const interval inside = detail::cells_from_tensor(w, n[d], edges.before[d], edges.after[d]);
      plan.tensor_cells.start[d] = inside.start, plan.tensor_cells.stop[d] = inside.stop;
      if (empty) continue;
      detail::for_each_run(w, n[d], edges.before[d], edges.after[d], [&](std::size_t at, interval r) {
        blocks.cuts[d].for_overlaps(r, [&](std::size_t part, interval common, std::size_t block_pos, std::size_t size) {
          const std::size_t window_pos = at + common.start - r.start;
          runs[d].push_back(
              {part, common, window_pos, block_pos, size, star && is_ghost(d, own[d], part, window_pos, block_pos)});
        });
      });
    }
    if (!empty)
      detail::for_each_tuple<Rank>(runs, [&](const auto& tuple) {
        const std::size_t peer = src.worker(detail::values_of<Rank>(tuple, &window_run::part));
        if (peer == worker || detail::is_corner<Rank>(tuple)) return;
        transfer<Rank>& t = e.receives.emplace_back();
        t.worker = peer, t.where = detail::box_of_runs<Rank>(tuple);
        t.at = detail::values_of<Rank>(tuple, &window_run::window_pos);
        t.at_peer = place_in_block<Rank>::of(detail::values_of<Rank>(tuple, &window_run::block_pos),
                                             detail::values_of<Rank>(tuple, &window_run::size));
      });
  }
  detail::group_by_peer(e.sends);
  detail::group_by_peer(e.receives);
  // Put the block's own cells first: the reversed exchange copies them, and then adds all other cells.
  for (auto k = e.kept.begin(); k != e.kept.end(); ++k) {
    if (!plan.is_own_block(*k)) continue;
    const kept_box<Rank> own = *k;
    e.kept.erase(k);
    e.kept.insert(e.kept.begin(), own);
    break;
  }
  e.order.push_back(worker);
  for (const transfer<Rank>& t : e.sends)
    if (e.order.back() != t.worker) e.order.push_back(t.worker);
  return plan;
}

/// The plan of worker `worker` for a halo: every block on grid `p` gets ghosts around it. An empty block
/// does not grow, unless widths.of_empty_blocks is set.
/// Requires: no halo_error [shape_error]; widths below 2^62.
/// Cost:     that of plan_windows.
template <class Extents, std::size_t Rank>
halo_plan<Rank> plan_halo(const grid<Extents>& p, const decomposition<Rank>& blocks, const halo_widths<Rank>& widths,
                          const halo_boundaries<Rank>& edges, std::size_t worker) {
  static_assert(Extents::rank() == Rank, "partita::plan_halo: requires a partition of the tensor's rank");
  const text problem = halo_error(blocks.extents(), widths, edges);
  if (!problem.empty()) throw shape_error(text("partita::plan_halo: ") << problem);
  const bool star = widths.shape == halo_shape::star;
  auto plan =
      plan_windows(p, blocks, halo_windows(blocks, widths, edges), edges, windows_of_grid<Extents>{&p}, worker, star);
  exchange_plan<Rank>& e = plan.exchange;
  if (!e.takes) return plan;
  plan.star = star;
  if (volume_of(e.source_shape) == 0 && !widths.of_empty_blocks) {
    e.destination_shape = e.source_shape;
    plan.tensor_cells = plan.own_cells = {{}, e.source_shape};
    return plan;
  }
  const index<Rank> own = p.index(p.place(worker));
  for (std::size_t d = 0; d < Rank; ++d) {
    const auto first = static_cast<std::ptrdiff_t>(blocks.cuts[d].part(own[d]).start) - plan.start[d];
    plan.own_cells.start[d] = first < 0 ? 0 : static_cast<std::size_t>(first);  // an empty window has no start
    plan.own_cells.stop[d] = plan.own_cells.start[d] + e.source_shape[d];
  }
  return plan;
}

}  // namespace partita
