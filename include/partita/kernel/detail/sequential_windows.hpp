// Moves blocks into overlapping windows, and sums windows back into blocks, for all workers inside one process.
#pragma once

#include <cstddef>
#include <partita/kernel/detail/ghosts.hpp>
#include <partita/kernel/detail/sequential_moves.hpp>
#include <partita/plan/halo_plan.hpp>
#include <vector>

namespace partita::sequentially::detail {

/// The decomposition of a tensor, determined from the shapes of the blocks of all workers of a grid.
template <class Extents, ranked_array X>
decomposition<Extents::rank()> cut_of_blocks(const grid<Extents>& p, const std::vector<X>& x, const char* name) {
  constexpr std::size_t rank = Extents::rank();
  static_assert(rank_of<X> == rank, "partita::sequentially: requires blocks of the rank of the partition");
  require_block_count(p, x.size(), name);
  std::vector<std::array<std::size_t, rank>> shapes;
  for (std::size_t place = 0; place < p.size(); ++place) shapes.push_back(shape_of(x[p.workers()[place]]));
  const auto layout = lay_out(shapes, p.shape());
  if (!layout.error_message.empty() || !layout.cartesian)
    throw shape_error(text("partita::sequentially::")
                      << name << ": "
                      << (layout.error_message.empty() ? text("requires blocks that are cut alike in every line")
                                                       : layout.error_message));
  return decomposition<rank>::make([&](std::size_t d) { return cut::at(layout.sizes[d]); });
}

/// Returns the exchange plans that the halo plans of all workers contain.
template <std::size_t Rank>
worker_plans<Rank> halo_exchange_plans(const std::vector<halo_plan<Rank>>& plans) {
  worker_plans<Rank> all;
  all.reserve(plans.size());
  for (const auto& plan : plans) all.push_back(plan.exchange);
  return all;
}

/// Copies blocks into windows, and fills the cells of windows that are outside the tensor.
template <ranked_array X>
auto fill_windows(const std::vector<halo_plan<rank_of<X>>>& plans, const std::vector<X>& x,
                  const halo_boundaries<rank_of<X>>& boundaries,
                  const partita::detail::outside_function<rank_of<X>>& outside = {}) {
  auto y = carry_out(halo_exchange_plans(plans), x, true);
  for (std::size_t worker = 0; worker < y.size(); ++worker)
    if (plans[worker].exchange.takes)
      partita::detail::fill_outside(plans[worker], block_of(y[worker]), boundaries, outside);
  return y;
}
/// The adjoint of fill_windows: adds the cells of windows to the blocks' cells of which they are copies.
template <ranked_array Y>
auto sum_windows(const std::vector<halo_plan<rank_of<Y>>>& plans, const std::vector<Y>& dy, const char* name) {
  bool fit = plans.size() == dy.size();
  for (std::size_t worker = 0; fit && worker < dy.size(); ++worker)
    fit = !plans[worker].exchange.takes || plans[worker].exchange.destination_shape == shape_of(dy[worker]);
  if (!fit)
    throw shape_error(text("partita::sequentially::")
                      << name << ".adjoint(dy): requires blocks of the shapes of the last result");
  return carry_out(reversed(halo_exchange_plans(plans)), dy, true);
}

}  // namespace partita::sequentially::detail
