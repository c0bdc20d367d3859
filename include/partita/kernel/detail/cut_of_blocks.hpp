// The workers of a partition determine the decomposition of a tensor from the shapes of their blocks.
#pragma once

#include <array>
#include <cstddef>
#include <partita/comm/agreement.hpp>
#include <partita/comm/facts.hpp>
#include <partita/comm/partition.hpp>
#include <partita/plan/decomposition.hpp>
#include <vector>

namespace partita::detail {

/// The extents of the global tensor. The extent of a dimension is the sum of the extents of the blocks whose workers
/// have index 0 in every other dimension of the grid. Collective.
template <class Extents>
std::array<std::size_t, Extents::rank()> global_extents_of_blocks(
    const partition<Extents>& p, const std::array<std::size_t, Extents::rank()>& own_shape) {
  constexpr std::size_t rank = Extents::rank();
  // A worker contributes its extent of dimension d if its grid index is 0 in every other dimension.
  number_array<rank + 1> share{};
  if (p.active()) {
    const auto i = p.index();
    for (std::size_t d = 0; d < rank; ++d) {
      bool is_on_line = true;
      for (std::size_t other = 0; other < rank; ++other) is_on_line = is_on_line && (other == d || i[other] == 0);
      if (is_on_line) share[d] = own_shape[d];
    }
  }
  const auto sum = sum_of_all(*p.world().state(), share);
  std::array<std::size_t, rank> global{};
  for (std::size_t d = 0; d < rank; ++d) global[d] = sum[d];
  return global;
}

/// Gathers the shapes of the blocks of the given workers, in their order. Collective over the world.
template <class Workers, std::size_t Rank>
std::vector<std::array<std::size_t, Rank>> gather_block_shapes(world_state& world, const Workers& ids,
                                                               const std::array<std::size_t, Rank>& own_shape) {
  const auto numbers = gather_numbers(world, extents_and_zero(own_shape));
  std::vector<std::array<std::size_t, Rank>> shapes(ids.size());
  for (std::size_t k = 0; k < shapes.size(); ++k)
    for (std::size_t d = 0; d < Rank; ++d) shapes[k][d] = numbers[ids[k]][d];
  return shapes;
}

/// The decomposition of a tensor of which every worker of p holds a block. Collective. If the blocks do not fit
/// together along each dimension, the same error is set on all workers.
template <class Extents>
decomposition<Extents::rank()> cut_of_blocks(const partition<Extents>& p,
                                             const std::array<std::size_t, Extents::rank()>& own_shape,
                                             const char* call, local_error& found_error) {
  constexpr std::size_t rank = Extents::rank();
  world_state& state = *p.world().state();
  const auto balanced = decomposition<rank>::balanced(global_extents_of_blocks(p, own_shape), p.grid().shape());
  // If the blocks of all workers are balanced, the shapes need not be gathered.
  if (state.is_true_on_all(!p.active() || own_shape == balanced.shape(p.index()))) return balanced;
  const auto layout = lay_out(gather_block_shapes(state, p.workers(), own_shape), p.grid().shape());
  if (!layout.error_message.empty() || !layout.cartesian) {
    found_error.kind = failure::shape;
    found_error.sentence << call << " with p = " << p.grid().shape() << ": ";
    if (!layout.error_message.empty()) found_error.sentence << layout.error_message;
    else
      found_error.sentence << "requires blocks that are cut alike in every line of the partition; repartition x first";
    return balanced;
  }
  return decomposition<rank>::make([&](std::size_t d) { return cut::at(layout.sizes[d]); });
}

}  // namespace partita::detail
