// Halo exchange dimension by dimension: corners are passed on with the cells that neighbours received in earlier
// rounds, so that in each round a worker exchanges cells only with workers along one dimension.
#pragma once

#include <array>
#include <cstddef>
#include <partita/core/version.hpp>
#include <partita/plan/halo_plan.hpp>
#include <vector>

namespace partita {

/// How ghosts are exchanged: in one round with every worker that holds some of them, or in one round for each
/// dimension, with the workers along that dimension.
enum class halo_algorithm {
  by_cost,       ///< `one_round` on one node; between nodes the cheaper one by halo_costs
  one_round,     ///< one round, up to 3^d - 1 messages if blocks are wider than the halo
  by_dimension,  ///< up to d rounds; 2 d messages if blocks are wider than the halo
  at_once PARTITA_FORMER_NAME("use one_round") = one_round
};
using halo_way PARTITA_FORMER_NAME("use halo_algorithm") = halo_algorithm;

/// The messages that the busiest worker receives by either algorithm, and the rounds of an exchange by dimension.
struct halo_costs {
  std::size_t messages_at_once = 0, messages_by_dimension = 0, rounds = 0;  ///< at_once: in one round

  /// Whether one round for each dimension costs less than one round for all dimensions. The model: a round costs a
  /// latency of 2 µs, and each message costs its worker 0.5 µs, as between nodes of a cluster. By this model, for a
  /// worker with neighbours on all sides, two rounds cost as much as one round in 2-D, where one round is used, and
  /// three rounds cost less than one round in 3-D.
  bool by_dimension_is_cheaper() const { return messages_by_dimension + 4 * rounds < messages_at_once + 4; }
};

/// The costs of a halo exchange in one round, and in rounds by dimension. Cost: O(parts along each dimension × parts
/// that a window intersects).
template <std::size_t Rank>
halo_costs costs_of_halo(const decomposition<Rank>& blocks, const halo_widths<Rank>& widths,
                         const halo_boundaries<Rank>& edges) {
  const windows_of_parts<Rank> windows = halo_windows(blocks, widths, edges);
  halo_costs costs;
  std::size_t holders = 1;
  for (std::size_t d = 0; d < Rank; ++d) {
    std::size_t most = 0;
    // Find the largest number of other parts along d from which a part receives; `holders` multiplies these numbers
    // plus 1.
    for (std::size_t part = 0; part < windows[d].size(); ++part) {
      std::vector<bool> is_counted(windows[d].size(), false);
      std::size_t others = 0;
      detail::for_each_run(windows[d][part], blocks.cuts[d].extent(), edges.before[d], edges.after[d],
                           [&](std::size_t, interval r) {
                             blocks.cuts[d].for_overlaps(r, [&](std::size_t from, interval, std::size_t, std::size_t) {
                               if (from != part && !is_counted[from]) ++others;
                               is_counted[from] = true;
                             });
                           });
      most = others > most ? others : most;
    }
    holders *= 1 + most;
    costs.messages_by_dimension += most;
    costs.rounds += most > 0 ? 1 : 0;
  }
  costs.messages_at_once = widths.shape == halo_shape::star ? costs.messages_by_dimension : holders - 1;
  return costs;
}

/// The plans of one worker for the rounds, one for each dimension along which blocks grow, and at least one: the first
/// round moves cells from blocks to windows (and the block itself), the other rounds move cells within windows. `whole`
/// is the worker's plan for a single round. The indices of boxes are those of the receiver's window.
/// Cost:     that of plan_halo for one dimension after another.
template <class Extents, std::size_t Rank>
std::vector<exchange_plan<Rank>> plan_halo_rounds(const grid<Extents>& p, const decomposition<Rank>& blocks,
                                                  const halo_widths<Rank>& widths, const halo_boundaries<Rank>& edges,
                                                  const halo_plan<Rank>& whole) {
  const windows_of_parts<Rank> windows = halo_windows(blocks, widths, edges);
  const exchange_plan<Rank>& all = whole.exchange;
  const bool any = all.takes && volume_of(all.source_shape) > 0;
  const index<Rank> own = all.takes ? p.index(p.place(all.worker)) : index<Rank>{};
  index<Rank> origin{};  // the position of the block in the window
  if (any)
    for (std::size_t d = 0; d < Rank; ++d)
      origin[d] = static_cast<std::size_t>(static_cast<std::ptrdiff_t>(blocks.block(own).start[d]) - whole.start[d]);

  std::vector<exchange_plan<Rank>> rounds;
  for (std::size_t d = 0; d < Rank; ++d) {
    if (widths.before[d] == 0 && widths.after[d] == 0 && (d + 1 < Rank || !rounds.empty())) continue;
    exchange_plan<Rank>& e = rounds.emplace_back();
    const bool first = rounds.size() == 1;
    e.worker = all.worker, e.extents = all.extents, e.gives = all.gives, e.takes = all.takes, e.one_to_one = false;
    e.source_shape = first ? all.source_shape : all.destination_shape, e.destination_shape = all.destination_shape;
    if (!any) continue;
    const std::size_t n = blocks.cuts[d].extent();
    const interval block = {blocks.block(own).start[d], blocks.block(own).stop[d]};
    /// A box that is `size` cells wide along d, and as wide as the available cells along the other dimensions.
    const auto box_at = [&](std::size_t window_pos, std::size_t size) {
      box<Rank> b{};
      for (std::size_t f = 0; f < Rank; ++f) {
        b.start[f] = f < d ? whole.tensor_cells.start[f] : f == d ? window_pos : origin[f];
        b.stop[f] = f < d ? whole.tensor_cells.stop[f] : f == d ? window_pos + size : origin[f] + all.source_shape[f];
      }
      return b;
    };
    const auto start_of = [&](const box<Rank>& b, std::size_t block_pos) {
      index<Rank> at = b.start;
      at[d] = origin[d] + block_pos;
      for (std::size_t f = 0; first && f < Rank; ++f) at[f] -= origin[f];
      return at;
    };
    const auto along = [&](std::size_t part) {
      index<Rank> i = own;
      i[d] = part;
      return p.worker(i);
    };
    // List the sends: the cells of this worker's block that are ghosts of the workers along d.
    for (std::size_t part = 0; part < windows[d].size(); ++part)
      detail::for_each_run(windows[d][part], n, edges.before[d], edges.after[d], [&](std::size_t at, interval r) {
        const interval common{r.start < block.start ? block.start : r.start, r.stop < block.stop ? r.stop : block.stop};
        if (common.start >= common.stop) return;
        const std::size_t window_pos = at + common.start - r.start, block_pos = common.start - block.start;
        const box<Rank> where = box_at(window_pos, common.size());
        if (part == own[d]) {
          if (window_pos != origin[d] + block_pos) e.kept.push_back({where, start_of(where, block_pos), where.start});
          else if (first) e.kept.insert(e.kept.begin(), {where, start_of(where, block_pos), where.start});
          return;
        }
        transfer<Rank>& t = e.sends.emplace_back();
        t.worker = along(part), t.where = where, t.at = start_of(where, block_pos);
        auto shape = all.destination_shape;
        shape[d] = windows[d][part].size();
        t.at_peer = place_in_block<Rank>::of(where.start, shape);
      });
    // List the boxes that this worker receives: its ghosts along dimension d.
    detail::for_each_run(windows[d][own[d]], n, edges.before[d], edges.after[d], [&](std::size_t at, interval r) {
      blocks.cuts[d].for_overlaps(r, [&](std::size_t part, interval common, std::size_t, std::size_t) {
        if (part == own[d]) return;
        transfer<Rank>& t = e.receives.emplace_back();
        t.worker = along(part), t.where = box_at(at + common.start - r.start, common.size()), t.at = t.where.start;
      });
    });
    detail::group_by_peer(e.sends);
    detail::group_by_peer(e.receives);
  }
  return rounds;
}

}  // namespace partita
