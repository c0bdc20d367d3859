// All-gather and reduce-scatter for all workers inside one process.
#pragma once

#include <cstddef>
#include <partita/kernel/detail/sequential_moves.hpp>
#include <partita/plan/block_group.hpp>
#include <vector>

namespace partita::sequentially::detail {

/// The movements between the parts of a tensor and the whole tensor, within each group of a grid.
template <class Extents>
class sequential_parts {
 public:
  static constexpr std::size_t rank = Extents::rank();  ///< the number of dimensions of the grid

  sequential_parts(const grid<Extents>& p, const std::array<bool, rank>& kept, const char* name)
      : grid_(p), kept_dimensions_(kept), name_(name) {}

  /// Gives each worker of a group the tensor that the blocks of the group form.
  template <ranked_array X>
  auto gather(const std::vector<X>& x, bool requires_balanced_cut) {
    require_group_block_count<X>(x.size());
    std::vector<tensor_parts<rank>> cuts(x.size());
    worker_plans<rank> plans;
    plans.reserve(x.size());
    for (std::size_t worker = 0; worker < x.size(); ++worker) {
      const auto group = block_group_of(grid_, kept_dimensions_, worker);
      tensor_parts<rank>& cut = cuts[worker];
      std::vector<std::array<std::size_t, rank>> shapes;
      for (std::size_t member : group.members) shapes.push_back(shape_of(x[member]));
      if (group.active()) cut = tensor_of_blocks(shapes, group.shape);
      if (!cut.error_message.empty())
        throw shape_error(text("partita::sequentially::") << name_ << ": " << cut.error_message);
      if (group.active() && requires_balanced_cut && !cut.balanced(group.shape))
        throw shape_error(text("partita::sequentially::")
                          << name_ << ".adjoint(dy): requires blocks of the balanced cut of " << cut.extents << " over "
                          << group.shape);
      plans.push_back(plan_allgather(group, cut, worker));
    }
    cuts_ = std::move(cuts);
    return carry_out(plans, x, true);
  }

  /// Gives each worker of a group its part of the sum of the group's blocks, in the decomposition of the last gather if
  /// its tensors had the shapes of these blocks, otherwise in the balanced decomposition.
  template <ranked_array X>
  auto scatter(const std::vector<X>& x) const {
    require_group_block_count<X>(x.size());
    bool known = cuts_.size() == x.size();
    for (std::size_t worker = 0; known && worker < x.size(); ++worker)
      known = !grid_.contains(worker) || cuts_[worker].extents == shape_of(x[worker]);
    worker_plans<rank> plans;
    plans.reserve(x.size());
    for (std::size_t worker = 0; worker < x.size(); ++worker) {
      const auto group = block_group_of(grid_, kept_dimensions_, worker);
      for (const std::size_t member : group.members)
        if (shape_of(x[member]) != shape_of(x[worker]))
          throw shape_error(text("partita::sequentially::")
                            << name_ << ": requires the blocks of a sum to have one shape");
      const auto cut =
          known || !group.active() ? tensor_parts<rank>{} : balanced_parts(shape_of(x[worker]), group.shape);
      plans.push_back(partita::reversed(plan_allgather(group, known ? cuts_[worker] : cut, worker)));
    }
    return carry_out(plans, x, true);
  }

 private:
  template <ranked_array X>
  void require_group_block_count(std::size_t count) const {  // throws if too few blocks were passed
    static_assert(rank_of<X> == rank, "partita::sequentially: requires blocks of the rank of the partition");
    require_block_count(grid_, count, name_);
  }

  grid<Extents> grid_;                      ///< the grid of the workers
  std::array<bool, rank> kept_dimensions_;  ///< the dimensions along which groups do not extend
  const char* name_;                        ///< the call in messages
  std::vector<tensor_parts<rank>> cuts_;    ///< the parts of the last gather, by worker
};

}  // namespace partita::sequentially::detail
