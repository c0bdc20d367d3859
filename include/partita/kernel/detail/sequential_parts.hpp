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
    using T = element_of<X>;
    std::vector<parted_tensor<rank>> cuts(x.size());
    auto y = results(x, [&](std::size_t worker, const block_group<rank>& group) {
      parted_tensor<rank>& cut = cuts[worker];
      cut = joined(shapes_of(group, x), group.shape);
      if (!cut.problem.empty()) throw shape_error(text("partita::sequentially::") << name_ << ": " << cut.problem);
      if (balanced_only && !cut.balanced(group.shape))
        throw shape_error(text("partita::sequentially::") << name_ << ".adjoint(dy): requires blocks of the balanced cut of " << cut.whole
                                                          << " over " << group.shape);
      auto whole = uninitialised<T, rank>(cut.whole);
      for (std::size_t k = 0; k < group.members.size(); ++k) {
        const box<rank>& part = cut.parts[k];
        const block_argument<X> from(x[group.members[k]]);
        copy<T, rank>(block_of(whole).part(part.start, part.shape()), from.block());
      }
      return whole;
    });
    cuts_ = std::move(cuts);
    return y;
  }

  /// Each worker of a group gets its part of the sum of the group's blocks, as the last tensor of this shape was cut.
  template <ranked_array X>
  auto scatter(const std::vector<X>& x) const {
    using T = element_of<X>;
    bool known = cuts_.size() == x.size();
    for (std::size_t worker = 0; known && worker < x.size(); ++worker)
      known = !grid_.contains(worker) || cuts_[worker].whole == shape_of(x[worker]);
    return results(x, [&](std::size_t worker, const block_group<rank>& group) {
      const auto sum = sum_of(x, group.members, 0, name_);
      const box<rank> own = (known ? cuts_[worker] : balanced_parts(shape_of(sum), group.shape)).parts[group.position];
      auto part = uninitialised<T, rank>(own.shape());
      copy<T, rank>(block_of(part), block_of(sum).part(own.start, own.shape()));
      return part;
    });
  }

 private:
  /// A result for each worker: made for those of a group, and for others a copy of what they gave.
  template <ranked_array X, class Make>
  auto results(const std::vector<X>& x, Make made_for) const {
    static_assert(rank_of<X> == rank, "partita::sequentially: requires blocks of the rank of the partition");
    expect_blocks(grid_, x.size(), name_);
    std::vector<xt::xtensor<element_of<X>, rank>> y;
    y.reserve(x.size());
    for (std::size_t worker = 0; worker < x.size(); ++worker) {
      const auto group = block_group_of(grid_, kept_, worker);
      y.push_back(group.active() ? made_for(worker, group) : copied(x[worker]));
    }
    return y;
  }
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
