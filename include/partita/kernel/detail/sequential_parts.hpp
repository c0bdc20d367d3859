// Parts put together and wholes summed into parts, for all workers at once, inside one process.
#pragma once

#include <cstddef>
#include <partita/kernel/detail/sequential_groups.hpp>
#include <partita/plan/block_group.hpp>
#include <vector>

namespace partita::sequentially::detail {

/// The movements between the parts of a tensor and the whole of it, within each group of a grid.
template <class Extents>
class parts {
 public:
  static constexpr std::size_t rank = Extents::rank();

  parts(const grid<Extents>& p, const std::array<bool, rank>& kept, const char* name) : grid_(p), kept_(kept), name_(name) {}

  /// Each worker of a group gets the tensor that the group's blocks make.
  template <ranked_array X>
  auto gather(const std::vector<X>& x, bool balanced_only) {
    static_assert(rank_of<X> == rank, "partita::sequentially: requires blocks of the rank of the partition");
    using T = element_of<X>;
    expect_blocks(grid_, x.size(), name_);
    std::vector<parted_tensor<rank>> cuts(x.size());
    std::vector<xt::xtensor<T, rank>> y;
    for (std::size_t worker = 0; worker < x.size(); ++worker) {
      const auto group = block_group_of(grid_, kept_, worker);
      if (!group.active()) {
        y.push_back(copied(x[worker]));
        continue;
      }
      cuts[worker] = joined(shapes_of(group, x), group.shape);
      if (!cuts[worker].problem.empty()) throw shape_error(text("partita::sequentially::") << name_ << ": " << cuts[worker].problem);
      if (balanced_only && !cuts[worker].balanced(group.shape))
        throw shape_error(text("partita::sequentially::") << name_ << ".adjoint(dy): requires blocks of the balanced cut of " << cuts[worker].whole
                                                          << " over " << group.shape);
      y.push_back(uninitialised<T, rank>(cuts[worker].whole));
      for (std::size_t k = 0; k < group.members.size(); ++k) {
        const box<rank>& part = cuts[worker].parts[k];
        const block_argument<X> from(x[group.members[k]]);
        copy<T, rank>(block_of(y.back()).part(part.start, part.shape()), from.block());
      }
    }
    cuts_ = std::move(cuts);
    return y;
  }

  /// Each worker of a group gets its part of the sum of the group's blocks, as the last tensor of this shape was cut.
  template <ranked_array X>
  auto scatter(const std::vector<X>& x) const {
    static_assert(rank_of<X> == rank, "partita::sequentially: requires blocks of the rank of the partition");
    using T = element_of<X>;
    expect_blocks(grid_, x.size(), name_);
    bool known = cuts_.size() == x.size();
    for (std::size_t worker = 0; known && worker < x.size(); ++worker)
      known = !grid_.contains(worker) || cuts_[worker].whole == shape_of(x[worker]);
    std::vector<xt::xtensor<T, rank>> y;
    for (std::size_t worker = 0; worker < x.size(); ++worker) {
      const auto group = block_group_of(grid_, kept_, worker);
      if (!group.active()) {
        y.push_back(copied(x[worker]));
        continue;
      }
      const auto sum = sum_of(x, group.members, 0, name_);
      const box<rank> own = (known ? cuts_[worker] : balanced_parts(shape_of(sum), group.shape)).parts[group.position];
      y.push_back(uninitialised<T, rank>(own.shape()));
      copy<T, rank>(block_of(y.back()), block_of(sum).part(own.start, own.shape()));
    }
    return y;
  }

 private:
  template <ranked_array X>
  static std::vector<std::array<std::size_t, rank>> shapes_of(const block_group<rank>& group, const std::vector<X>& x) {
    std::vector<std::array<std::size_t, rank>> shapes;
    shapes.reserve(group.members.size());
    for (std::size_t member : group.members) shapes.push_back(shape_of(x[member]));
    return shapes;
  }

  grid<Extents> grid_;
  std::array<bool, rank> kept_;
  const char* name_;
  std::vector<parted_tensor<rank>> cuts_;  ///< of the last gather, by worker
};

}  // namespace partita::sequentially::detail
