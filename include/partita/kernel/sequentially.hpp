// The sequential executor: runs broadcasts, reductions, gathers, repartitions and halo exchanges for all workers of a
// world inside one process, with the kernels' plans.
//
// A kernel takes a vector with one block for each worker, indexed by worker id, and returns such a vector. No MPI is
// needed: grids define the index of each worker in a partition. The executor is the reference implementation for the
// tests, and shows a user what a program on many workers would compute.
#pragma once

#include <initializer_list>
#include <partita/core/rejected_call.hpp>
#include <partita/kernel/detail/sequential_groups.hpp>
#include <partita/kernel/detail/sequential_moves.hpp>
#include <partita/kernel/detail/sequential_parts.hpp>
#include <partita/kernel/detail/sequential_windows.hpp>
#include <partita/kernel/sequential_reduce.hpp>
#include <partita/rule/all_to_all_rule.hpp>
#include <partita/rule/kernel_dimensions.hpp>
#include <partita/rule/kernel_policy.hpp>

namespace partita::sequentially {

/// `sequentially::broadcast(p_x, p_y, policies...)(x)`: the result of partita::broadcast for each worker. p_x and p_y
/// are grids, or partitions of a world.
/// Shapes:   x has one block for each worker of the world, also for inactive workers; so does the result.
/// Requires: what partita::broadcast requires [partition_error, shape_error].
/// Cost:     one copy of every block that a worker receives.
/// Adjoint:  adjoint(dy).
template <class Src, class Dst, class... Policies>
class broadcast {
  static_assert(partita::detail::are_broadcast_policies<Policies...>,
                "partita::sequentially::broadcast(p_x, p_y, policies...): requires policies among transpose_src, "
                "transpose_dest, discard_batch");
  static_assert(Src::rank() <= Dst::rank(),
                "partita::sequentially::broadcast(p_x, p_y): requires rank(p_x) <= rank(p_y); use sum_reduce for the "
                "opposite direction");

 public:
  /// p_x and p_y are grids, or partitions of a world.
  template <class P, class Q>
  broadcast(const P& p_x, const Q& p_y, Policies...)
      : groups_(detail::as_grid(p_x), detail::as_grid(p_y), has_policy<transpose_src_t, Policies...>,
                has_policy<transpose_dest_t, Policies...>, false, !has_policy<discard_batch_t, Policies...>) {}

  template <ranked_array X>
  auto operator()(const std::vector<X>& x) const {
    return groups_.broadcast_blocks(x);
  }
  template <ranked_array Y>
  auto adjoint(const std::vector<Y>& dy) const {  ///< dy has a block for each worker
    return groups_.reduce_blocks(dy);
  }
  /// What one worker sends, keeps and receives in the broadcast.
  group_plan plan(std::size_t worker) const { return groups_.plan(worker); }

 private:
  detail::sequential_groups<Src, Dst> groups_;  ///< the workers of p_y that each worker of p_x sends to
};

/// `sequentially::sum_reduce(p_x, p_y, policies...)(x)`: the result of partita::sum_reduce for each worker.
template <class Src, class Dst, class... Policies>
class sum_reduce {
  static_assert(partita::detail::are_broadcast_policies<Policies...>,
                "partita::sequentially::sum_reduce(p_x, p_y, policies...): requires policies among transpose_src, "
                "transpose_dest, discard_batch");
  static_assert(Dst::rank() <= Src::rank(),
                "partita::sequentially::sum_reduce(p_x, p_y): requires rank(p_y) <= rank(p_x); use broadcast for the "
                "opposite direction");

 public:
  /// p_x and p_y are grids, or partitions of a world.
  template <class P, class Q>
  sum_reduce(const P& p_x, const Q& p_y, Policies...)
      : groups_(detail::as_grid(p_y), detail::as_grid(p_x), has_policy<transpose_dest_t, Policies...>,
                has_policy<transpose_src_t, Policies...>, true, !has_policy<discard_batch_t, Policies...>) {}

  template <ranked_array X>
  auto operator()(const std::vector<X>& x) const {
    return groups_.reduce_blocks(x);
  }
  template <ranked_array Y>
  auto adjoint(const std::vector<Y>& dy) const {  ///< dy has a block for each worker
    return groups_.broadcast_blocks(dy);
  }
  group_plan plan(std::size_t worker) const { return groups_.plan(worker); }  ///< the groups of one worker

 private:
  detail::sequential_groups<Dst, Src> groups_;  ///< the workers of p_x whose blocks each worker of p_y sums
};

/// `sequentially::all_sum_reduce(p, dimensions<0>)(x)`: the result of partita::all_sum_reduce for each worker.
template <class Extents>
class all_sum_reduce : public detail::sequential_reduction<Extents, detail::elementwise_sum> {
  using base = detail::sequential_reduction<Extents, detail::elementwise_sum>;  ///< executes the calls

 public:
  template <class P, class Dimensions>
    requires requires(Dimensions named) { kept_dimensions<Extents::rank()>(named); }
  all_sum_reduce(const P& p, Dimensions named) : all_sum_reduce(p, kept_dimensions<Extents::rank()>(named)) {}
  /// Makes the reduction for dimensions known at run time: if kept[d] is true, blocks along dimension d are not summed.
  template <class P>
  all_sum_reduce(const P& p, const std::array<bool, Extents::rank()>& kept)
      : base(detail::as_grid(p), kept, "all_sum_reduce") {}

  template <ranked_array Y>
  auto adjoint(const std::vector<Y>& dy) const {  ///< applies the operator itself to dy
    return (*this)(dy);
  }
};

/// `sequentially::repartition(p_x, p_y, policies...)(x)`: the result of partita::repartition for each worker.
template <class Src, class Dst, class... Policies>
class repartition {
  static constexpr std::size_t rank = Src::rank();  ///< the number of dimensions of the partitions and blocks
  /// Whether the empty result of a worker that only sends has the batch extent of x.
  static constexpr bool keep_batch = !has_policy<discard_batch_t, Policies...>;
  static_assert(Src::rank() == Dst::rank(),
                "partita::sequentially::repartition(p_x, p_y): requires partitions of equal rank; reshape() one of "
                "them with extents of 1");
  static_assert(partita::detail::are_accepted_policies<rank, Policies...>,
                "partita::sequentially::repartition(p_x, p_y, policies...): requires policies among discard_batch, "
                "permute<...> with each of 0, 1, ..., rank - 1 once, source_cuts(...) and result_cuts(...) with one "
                "cut for each dimension, strategy and messages, each at most once");

 public:
  /// p_x and p_y are grids, or partitions of a world.
  template <class P, class Q>
  repartition(const P& p_x, const Q& p_y, Policies... policies)
      : p_x_(detail::as_grid(p_x)), p_y_(detail::as_grid(p_y)), cuts_(p_x_.shape(), p_y_.shape(), policies...) {}

  template <ranked_array X>
  auto operator()(const std::vector<X>& x) {
    static_assert(rank_of<X> == rank,
                  "partita::sequentially::repartition(p_x, p_y)(x): requires blocks of the rank of the partitions");
    last_plans_ = detail::plan_all_workers(p_x_, p_y_, list_block_shapes(p_x_, x), cuts_, x.size());
    return detail::carry_out(last_plans_, x, keep_batch);
  }
  /// Moves dy back to the decomposition of the last x, or to the balanced decomposition if dy does not have the shape
  /// of the result for that x.
  template <ranked_array Y>
  auto adjoint(const std::vector<Y>& dy) const {
    static_assert(
        rank_of<Y> == rank,
        "partita::sequentially::repartition(p_x, p_y).adjoint(dy): requires blocks of the rank of the partitions");
    const auto shapes = list_block_shapes(p_y_, dy);
    const auto result_extents =
        cuts_.given_result_cuts() ? cuts_.given_result_cuts()->extents() : lay_out(shapes, p_y_.shape()).extents;
    const auto global = cuts_.source_extents(result_extents);
    detail::expect_extents(cuts_, global);
    const auto wanted = cuts_.result_cuts(global);
    for (std::size_t place = 0; place < shapes.size(); ++place)
      if (shapes[place] != wanted.shape(p_y_.index(place)))
        throw shape_error(text("partita::sequentially::repartition(p_x, p_y).adjoint(dy): requires dy to be cut over "
                               "p_y as the result of the forward call was (the ")
                          << (cuts_.given_result_cuts() ? "given" : "balanced") << " cut of " << result_extents
                          << " over " << p_y_.shape() << "), got a block of " << shapes[place] << " at "
                          << p_y_.index(place));
    if (last_plans_.size() == dy.size() && !dy.empty() && last_plans_[0].extents == global)
      return detail::carry_out(detail::reversed(last_plans_), dy, keep_batch);
    const auto there =
        detail::make_repartition_plans(p_x_, cuts_.source_cuts(global), p_y_, wanted, cuts_.axes(), dy.size());
    return detail::carry_out(detail::reversed(there), dy, keep_batch);
  }
  /// The plan of one worker for a tensor x of these extents, in the given decomposition or the balanced one.
  exchange_plan<rank> plan(const std::array<std::size_t, rank>& global, std::size_t worker) const {
    detail::expect_extents(cuts_, global);
    return plan_repartition(p_x_, cuts_.source_cuts(global), p_y_, cuts_.result_cuts(global), worker, cuts_.axes());
  }

 private:
  /// The shapes of the blocks of p's workers, in the order of p; x has a block for each worker of the world.
  template <class Extents, class X>
  static std::vector<std::array<std::size_t, rank>> list_block_shapes(const grid<Extents>& p, const std::vector<X>& x) {
    detail::require_block_count(p, x.size(), "repartition");
    std::vector<std::array<std::size_t, rank>> shapes;
    shapes.reserve(p.size());
    for (std::size_t place = 0; place < p.size(); ++place) shapes.push_back(detail::shape_of(x[p.workers()[place]]));
    return shapes;
  }

  grid<Src> p_x_;                          ///< over which x is distributed
  grid<Dst> p_y_;                          ///< over which the result is distributed
  detail::repartition_cuts<rank> cuts_;    ///< the decompositions of x and of the result
  detail::worker_plans<rank> last_plans_;  ///< the plans of all workers in the last forward call
};

template <class P, class Q, class... Policies>
repartition(const P&, const Q&, Policies...)
    -> repartition<typename P::extents_type, typename Q::extents_type, Policies...>;

/// `sequentially::all_to_all(p_from, p_to)(x)`: the result of partita::all_to_all for each worker.
template <class Src, class Dst>
class all_to_all : public repartition<Src, Dst> {
 public:
  template <class P, class Q>
  all_to_all(const P& p_from, const Q& p_to) : repartition<Src, Dst>(p_from, p_to) {  ///< grids or partitions
    const text problem = all_to_all_error(detail::as_grid(p_from).shape(), detail::as_grid(p_to).shape());
    if (!problem.empty()) throw partition_error(text("partita::sequentially::all_to_all(p_from, p_to): ") << problem);
  }
};
template <class P, class Q>
all_to_all(const P&, const Q&) -> all_to_all<typename P::extents_type, typename Q::extents_type>;  ///< deduces extents

/// `sequentially::all_gather(p, dimensions<1>)(x)`: the result of partita::all_gather for each worker.
template <class Extents>
class all_gather {
 public:
  /// Gathers along `named`; p is a grid or a partition.
  template <class P, class Dimensions>
    requires requires(Dimensions named) { kept_dimensions<Extents::rank()>(named); }
  all_gather(const P& p, Dimensions named)
      : parts_(detail::as_grid(p), kept_dimensions<Extents::rank()>(named), "all_gather") {}

  template <ranked_array X>
  auto operator()(const std::vector<X>& x) {
    return parts_.gather(x, false);
  }
  /// Moves dy back to the decomposition of the last x, or to the balanced decomposition if dy does not have the shape
  /// of the result for that x.
  template <ranked_array Y>
  auto adjoint(const std::vector<Y>& dy) const {
    return parts_.scatter(dy);
  }

 private:
  detail::sequential_parts<Extents> parts_;  ///< the groups of workers, and their parts in the last call
};

/// `sequentially::reduce_scatter(p, dimensions<1>)(x)`: the result of partita::reduce_scatter for each worker.
template <class Extents>
class reduce_scatter {
 public:
  /// Sums and scatters along `named`; p is a grid or a partition.
  template <class P, class Dimensions>
    requires requires(Dimensions named) { kept_dimensions<Extents::rank()>(named); }
  reduce_scatter(const P& p, Dimensions named)
      : parts_(detail::as_grid(p), kept_dimensions<Extents::rank()>(named), "reduce_scatter") {}

  template <ranked_array X>
  auto operator()(const std::vector<X>& x) const {
    return parts_.scatter(x);
  }
  template <ranked_array Y>
  auto adjoint(const std::vector<Y>& dy) {  ///< gathers dy; every worker of a group gets the concatenation
    return parts_.gather(dy, true);
  }

 private:
  detail::sequential_parts<Extents> parts_;  ///< the groups of workers, and their parts in the last adjoint
};

/// `sequentially::halo_exchange(p, widths, boundary)(x)`: the result of partita::halo_exchange for each worker.
template <class Extents>
class halo_exchange {
  static constexpr std::size_t rank = Extents::rank();  ///< the number of dimensions of the tensor

 public:
  /// Makes the exchange of a tensor on p, a grid or a partition; `outside` is the function of boundary::function.
  template <class P>
  halo_exchange(const P& p, const halo_widths<P::rank()>& widths, const halo_boundaries<P::rank()>& beyond,
                partita::detail::outside_function<P::rank()> outside = {})
      : grid_(detail::as_grid(p)), widths_(widths), boundaries_(beyond), outside_function_(std::move(outside)) {}
  /// Fallback: numbers without names, `{2, 1}`, may mean two sides or two dimensions, and do not compile.
  template <class P, class W, class... A>
    requires(P::rank() > 1)
  halo_exchange(const P& p, std::initializer_list<W>, const halo_boundaries<P::rank()>& beyond, const A&...)
      : halo_exchange(p, halo_widths<P::rank()>{}, beyond) {
    static_assert(partita::detail::dependent_false<W>,
                  "partita::sequentially::halo_exchange(p, widths, boundary): requires widths that name their sides; "
                  "write {.before = {1, 2}, .after = {1, 2}}");
  }

  template <ranked_array X>
  auto operator()(const std::vector<X>& x) {
    const auto cuts = detail::cut_of_blocks(grid_, x, "halo_exchange");
    plans_.clear();
    for (std::size_t worker = 0; worker < x.size(); ++worker)
      plans_.push_back(plan_halo(grid_, cuts, widths_, boundaries_, worker));
    return detail::fill_windows(plans_, x, boundaries_, outside_function_);
  }
  /// Applies the adjoint of the last forward call to the blocks dy of all workers.
  template <ranked_array Y>
  auto adjoint(const std::vector<Y>& dy) const {
    return detail::sum_windows(plans_, dy, "halo_exchange");
  }

 private:
  grid<Extents> grid_;                                        ///< over which the tensor is distributed
  halo_widths<rank> widths_;                                  ///< in cells, before and after a block
  halo_boundaries<rank> boundaries_;                          ///< what ghosts beyond the borders of the tensor contain
  partita::detail::outside_function<rank> outside_function_;  ///< for boundary::function, else empty
  std::vector<halo_plan<rank>> plans_;                        ///< the plans of all workers in the last forward call
};
template <class P>
halo_exchange(const P&, const halo_widths<P::rank()>&, const halo_boundaries<P::rank()>&)
    -> halo_exchange<typename P::extents_type>;
template <class P, class F>
halo_exchange(const P&, const halo_widths<P::rank()>&, const halo_boundaries<P::rank()>&, F)
    -> halo_exchange<typename P::extents_type>;
template <class P, class W, class... A>
  requires(P::rank() > 1)
halo_exchange(const P&, std::initializer_list<W>, const halo_boundaries<P::rank()>&, const A&...)
    -> halo_exchange<typename P::extents_type>;

template <class P, class Q, class... Policies>
broadcast(const P&, const Q&, Policies...)
    -> broadcast<typename P::extents_type, typename Q::extents_type, Policies...>;
template <class P, class Q, class... Policies>
sum_reduce(const P&, const Q&, Policies...)
    -> sum_reduce<typename P::extents_type, typename Q::extents_type, Policies...>;
template <class P, class Dimensions>
all_sum_reduce(const P&, Dimensions) -> all_sum_reduce<typename P::extents_type>;  ///< deduces the extents of p
template <class P, class Dimensions>
all_gather(const P&, Dimensions) -> all_gather<typename P::extents_type>;  ///< deduces the extents of p
template <class P, class Dimensions>
reduce_scatter(const P&, Dimensions) -> reduce_scatter<typename P::extents_type>;
}  // namespace partita::sequentially
