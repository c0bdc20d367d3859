// Broadcasts and sums of blocks for all workers inside one process, with the plans that the workers would follow.
#pragma once

#include <cstddef>
#include <partita/array/strided.hpp>
#include <partita/plan/group_plan.hpp>
#include <partita/rule/reduction.hpp>
#include <vector>

namespace partita::sequentially::detail {

/// Returns the grid of a partition; a grid is returned as it is.
template <class Extents>
const grid<Extents>& as_grid(const grid<Extents>& g) {
  return g;
}
template <class P>
  requires requires(const P& p) { p.grid(); }
const auto& as_grid(const P& p) {  // the grid of a partition
  return p.grid();
}

/// Throws an error if there are fewer blocks than the grid's highest worker id requires.
template <class Extents>
void require_block_count(const grid<Extents>& p, std::size_t blocks, const char* call) {
  if (p.workers().id_end() <= blocks) return;
  throw partition_error(text("partita::sequentially::")
                        << call << ": requires one block for each worker of the world, got " << blocks
                        << " blocks and a partition with worker " << p.workers().id_end() - 1
                        << "; give zero_volume() for workers that hold nothing");
}

template <ranked_array X>
std::array<std::size_t, rank_of<X>> shape_of(const X& x) {  // the extents of an expression, as an array
  std::array<std::size_t, rank_of<X>> shape{};
  for (std::size_t d = 0; d < shape.size(); ++d) shape[d] = static_cast<std::size_t>(x.shape()[d]);
  return shape;
}

template <ranked_array X>
xt::xtensor<element_of<X>, rank_of<X>> copy_to_tensor(const X& x) {  // evaluates a lazy x
  const block_argument<X> from(x);
  auto y = uninitialised<element_of<X>, rank_of<X>>(from.block().shape);
  copy<element_of<X>, rank_of<X>>(block_of(y), from.block());
  return y;
}

/// Makes a block of zero volume. Its batch extent is x's extent along dimension `batch` if `keep_batch`, otherwise 0.
template <ranked_array X>
xt::xtensor<element_of<X>, rank_of<X>> make_zero_volume(const X& x, bool keep_batch, std::size_t batch = 0) {
  const auto shape = shape_of(x);
  return zero_volume<element_of<X>, rank_of<X>>(keep_batch && shape.size() > 0 ? shape[batch] : 0);
}

/// The sum of elements of any type, as a reduction.
struct elementwise_sum {
  template <class T>
  constexpr T operator()(const T& a, const T& b) const {
    return static_cast<T>(a + b);
  }
};

/// Reduces the blocks of the workers members[first], members[first + 1], ..., in this order. Requires equal shapes.
template <class Reduction, ranked_array X>
xt::xtensor<element_of<X>, rank_of<X>> reduce_members(const std::vector<X>& x, const std::vector<std::size_t>& members,
                                                      std::size_t first, const char* call) {
  using T = element_of<X>;
  auto all = copy_to_tensor(x[members[first]]);
  for (std::size_t k = first + 1; k < members.size(); ++k) {
    const auto other = copy_to_tensor(x[members[k]]);
    if (shape_of(other) != shape_of(all))
      throw shape_error(text("partita::sequentially::")
                        << call << ": requires the blocks that are summed to have one shape, got " << shape_of(all)
                        << " on worker " << members[first] << " and " << shape_of(other) << " on worker " << members[k]
                        << "; give every worker of a sum a block of the same shape");
    for (std::size_t i = 0; i < all.size(); ++i)
      all.data()[i] = static_cast<T>(Reduction{}(all.data()[i], other.data()[i]));
  }
  if constexpr (requires(T a) { Reduction::template completed<T>(a, 1); })
    for (std::size_t i = 0; i < all.size(); ++i)
      all.data()[i] = Reduction::template completed<T>(all.data()[i], members.size() - first);
  return all;
}

/// The reduction of the blocks along some dimensions of a grid, for every worker of the grid.
template <class Extents, class Reduction>
class sequential_reduction {
 public:
  sequential_reduction(const grid<Extents>& p, const std::array<bool, Extents::rank()>& kept, const char* name)
      : grid_(p), kept_dimensions_(kept), name_(name) {}

  template <ranked_array X>
  auto operator()(const std::vector<X>& x) const {
    require_block_count(grid_, x.size(), name_);
    std::vector<xt::xtensor<element_of<X>, rank_of<X>>> y;
    y.reserve(x.size());
    for (std::size_t worker = 0; worker < x.size(); ++worker) {
      const group_plan p = plan(worker);
      y.push_back(p.large ? reduce_members<Reduction>(x, p.groups[0].members, 0, name_) : copy_to_tensor(x[worker]));
    }
    return y;
  }
  /// The plan of one worker: the workers whose blocks are reduced to its result.
  group_plan plan(std::size_t worker) const { return plan_sum_groups(grid_, kept_dimensions_, worker); }

 private:
  grid<Extents> grid_;                                 ///< the grid of the workers
  std::array<bool, Extents::rank()> kept_dimensions_;  ///< true for a dimension along which nothing is reduced
  const char* name_;                                   ///< the call in messages
};

/// The broadcast from a small to a large grid and the reduction from the large to the small grid, for all workers.
template <class Small, class Large>
class sequential_groups {
 public:
  sequential_groups(const grid<Small>& small, const grid<Large>& large, bool transpose_small, bool transpose_large,
                    bool reduction, bool keep_batch, const char* name = nullptr)
      : small_grid_(small),
        large_grid_(large),
        kind_(reduction ? group_plan::kind::sum_reduce : group_plan::kind::broadcast),
        name_(name != nullptr ? name
              : reduction     ? "sum_reduce"
                              : "broadcast"),
        keep_batch_(keep_batch) {
    const auto verdict =
        judge_worker_broadcast(small.shape(), large.shape(), transpose_small, transpose_large, reduction);
    if (!verdict)
      throw partition_error(explain_verdict(verdict, small.shape(), large.shape(), transpose_small, transpose_large));
    pairing_ = worker_pairing<Large::rank()>(small.shape(), large.shape(), transpose_small, transpose_large);
  }

  /// The plan of one worker: its groups in the broadcast or the reduction.
  group_plan plan(std::size_t worker) const { return plan_groups(small_grid_, large_grid_, pairing_, worker, kind_); }

  /// Gives each worker of the large grid the block of the worker of the small grid with which it is paired.
  template <ranked_array X>
  auto broadcast_blocks(const std::vector<X>& x) const {
    return results(x, &group_plan::large, &group_plan::small,
                   [&](const group_plan& p) { return copy_to_tensor(x[p.member_group()->members[0]]); });
  }

  /// Gives each worker of the small grid the reduction of the blocks of the workers of the large grid paired with it.
  template <class Reduction = elementwise_sum, ranked_array X>
  auto reduce_blocks(const std::vector<X>& x) const {
    return results(x, &group_plan::small, &group_plan::large, [&](const group_plan& p) {
      return reduce_members<Reduction>(x, p.root_group()->members, p.root_group()->root_is_large ? 0 : 1, name_);
    });
  }
  /// The number of blocks in the reduction to which a worker of the large grid contributes.
  std::size_t block_count_of_worker(std::size_t worker) const {
    const group_plan p = plan(worker);
    return p.large ? p.member_group()->contributors() : 1;
  }

 private:
  /// Makes a result for each worker: the result of `make_result` if the worker receives a block, zero volume if it only
  /// contributes one, otherwise a copy of its own input.
  template <class X, class Make>
  auto results(const std::vector<X>& x, bool group_plan::*takes, bool group_plan::*gives, Make make_result) const {
    require_block_count(small_grid_, x.size(), name_);
    require_block_count(large_grid_, x.size(), name_);
    std::vector<xt::xtensor<element_of<X>, rank_of<X>>> y;
    y.reserve(x.size());
    for (std::size_t worker = 0; worker < x.size(); ++worker) {
      const group_plan p = plan(worker);
      if (p.*takes) y.push_back(make_result(p));
      else y.push_back(p.*gives ? make_zero_volume(x[worker], keep_batch_) : copy_to_tensor(x[worker]));
    }
    return y;
  }

  grid<Small> small_grid_;                 ///< the grid from which blocks are broadcast, or which gets their reductions
  grid<Large> large_grid_;                 ///< the grid that gets the broadcast blocks, or whose blocks are reduced
  worker_pairing<Large::rank()> pairing_;  ///< which worker of the small grid belongs to which of the large one
  group_plan::kind kind_;                  ///< broadcast or reduction
  const char* name_;                       ///< the call in messages
  bool keep_batch_;                        ///< whether zero-volume results keep the batch extent
};

/// The adjoint of a linear reduction: each worker of the large grid gets the dy of its group; for a mean, dy is divided
/// by the number of blocks in the reduction.
template <class Reduction, class Groups, ranked_array Y>
auto apply_adjoint_of_reduction(const Groups& groups, const std::vector<Y>& dy) {
  static_assert(partita::detail::is_linear_reduction<Reduction>,
                "partita::sequentially::reduce(p_x, p_y, reduction).adjoint(dy): requires a linear reduction, sum or "
                "mean");
  auto dx = groups.broadcast_blocks(dy);
  if constexpr (requires(element_of<Y> a) { Reduction::template completed<element_of<Y>>(a, 1); })
    for (std::size_t worker = 0; worker < dx.size(); ++worker)
      for (std::size_t i = 0; i < dx[worker].size(); ++i)
        dx[worker].data()[i] =
            Reduction::template completed<element_of<Y>>(dx[worker].data()[i], groups.block_count_of_worker(worker));
  return dx;
}

}  // namespace partita::sequentially::detail
