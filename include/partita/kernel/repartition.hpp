// Repartition: a tensor on one partition brought to another, driven by the overlaps of their blocks.
#pragma once

#include <memory>
#include <partita/comm/exchange.hpp>
#include <partita/comm/pooled.hpp>
#include <partita/comm/transport.hpp>
#include <partita/kernel/detail/flight.hpp>
#include <partita/kernel/detail/make_group_movement.hpp>
#include <partita/kernel/detail/repartition_planner.hpp>
#include <partita/rule/policy.hpp>
#include <partita/rule/repartition.hpp>

namespace partita {

/// Moves a tensor from p_x to p_y. Scatter and gather are the cases in which one of them has a single worker. Policies:
/// `to_cuts(...)` cuts the result otherwise than in balance, `from_cuts(...)` says how x is cut where the shapes of its blocks
/// do not (block-cyclic), `permute<1, 0>` hands on the dimensions in another order, `discard_batch`; `strategy::message` and
/// `messages::chunked` and their like choose the way that boxes take and the form of messages, if the choice made is not wanted.
/// Shapes:   x is this worker's block on p_x, cut in any way that tiles the tensor (uneven, empty, staggered along one
///           dimension) or as `from_cuts` says; the result is its block on p_y, of the balanced cut or as `to_cuts` says. A worker of
///           p_x only gets zero volume (the extent of what becomes dimension 0 kept unless discard_batch), one of neither a copy.
/// Requires: rank(p_x) == rank(p_y) == rank(x) [compile time]; blocks that fit together, and extents that the given cuts add
///           up to [shape_error, on all workers].
/// Cost:     on one node a single copy: boxes are written straight into the result, which lives in a pool of shared memory;
///           one message per pair of workers on different nodes. Extents are exchanged once for each new structure, not at
///           calls that repeat one; those allocate nothing.
/// Adjoint:  repartition from p_y back to the cut that x had.
template <class Src, class Dst, class... Policies>
class repartition {
  static constexpr std::size_t rank = Src::rank();
  static_assert(Src::rank() == Dst::rank(),
                "partita::repartition(p_x, p_y): requires partitions of equal rank; reshape() one of them with extents of 1");

 public:
  /// Requires: cuts of as many parts as the partition has workers along each dimension [partition_error], and of one tensor
  ///           where both sides have them [shape_error].
  repartition(const partition<Src>& p_x, const partition<Dst>& p_y, Policies... policies) : planner_(p_x, p_y, policies...) {
    detail::expect_one_world(p_x, p_y, "partita::repartition");
  }

  template <ranked_array X>
  auto operator()(const X& x) const {
    return forward(x, detail::target<element_of<X>, rank_of<X>>{});
  }
  /// Begins and returns what will give the result: `auto later = r.start(x); …; auto y = later.finish();`. Until then x must
  /// stay as it is. The next call of a kernel on this world ends it first.
  template <ranked_array X>
  auto start(const X& x) const {
    return detail::begun(x, [&](const auto& block) {
      auto later = begin<X>(block, {});
      state().leave_under_way(flight_);
      return later;
    });
  }
  /// The same into a caller's array or view, which must have the shape of the result [shape_error, on all workers].
  template <ranked_array X, class View>
  void into(const X& x, View&& view) const {
    forward(x, detail::target_of<element_of<X>, rank_of<X>>(view));
  }
  /// Brings dy, cut over p_y as the result was, back to the cut of the x that made it (the last such x; balanced if there was none).
  template <ranked_array Y>
  auto adjoint(const Y& dy) const {
    return backward(dy, detail::target<element_of<Y>, rank_of<Y>>{});
  }

  /// What this worker sends, keeps and receives for a tensor x of these extents, cut as given or in balance.
  /// Requires: the extents that from_cuts(...) and to_cuts(...) add up to [shape_error]. Cost: no communication.
  template <std::size_t... E>
  repartition_plan<rank> plan(const extents<E...>& global) const {
    static_assert(sizeof...(E) == rank, "partita::repartition::plan(extents): requires extents of the rank of the partitions");
    return plan(global.array());
  }
  repartition_plan<rank> plan(const std::array<std::size_t, rank>& global) const {
    return planner_.checked_plan(global);
  }
  /// How often a plan had to be made at a call so far.
  std::size_t plans_made() const { return structures_.made(); }

 private:
  using shape_type = std::array<std::size_t, rank>;
  using structure = detail::repartition_structure<rank>;

  template <class X>
  static constexpr void check_argument() {
    static_assert(rank_of<X> == rank,
                  "partita::repartition(p_x, p_y)(x): requires a block of the rank of its partitions; reshape() the partitions with extents of 1");
    static_assert(movable_element<element_of<X>>, "partita::repartition(p_x, p_y)(x): requires elements that MPI can move: arithmetic, std::complex, or a type declared with BOOST_IS_MPI_DATATYPE");
  }

  template <class X>
  auto forward(const X& x, const detail::target<element_of<X>, rank_of<X>>& wanted) const {
    const block_argument<X> argument(x);
    return begin<X>(argument.block(), wanted).finish();
  }

  template <class X, class T = element_of<X>>
  auto begin(const strided<const T, rank_of<X>>& block, const detail::target<T, rank_of<X>>& wanted) const {
    check_argument<X>();
    flight_->land();
    structure& s = detail::settle(
        state(), structures_, fingerprint_of<T>(1),
        [&](const structure& known) { return fits(known.there, block.shape) && fits_target(known.there, block, wanted); },
        [&](detail::complaint& trouble) {
          structure learnt = planner_.learn_forward(block.shape, ways_, trouble);
          const repartition_plan<rank>& plan = learnt.there;
          const shape_type shape = plan.takes ? plan.destination_shape : block.shape;
          if (trouble.kind == detail::failure::none && (plan.takes || !plan.gives))
            detail::expect_shape(wanted, shape, "partita::repartition(p_x, p_y)", trouble);
          return learnt;
        },
        [&] { return describe<T>("", block.shape); });
    return move(s.there, s.go, s.going, block, wanted);
  }

  template <class Y>
  auto backward(const Y& dy, const detail::target<element_of<Y>, rank_of<Y>>& wanted) const {
    check_argument<Y>();
    using T = element_of<Y>;
    const block_argument<Y> argument(dy);
    const strided<const T, rank>& block = argument.block();
    flight_->land();
    structure& s = detail::settle(
        state(), structures_, fingerprint_of<T>(2), [&](const structure& known) { return fits(known.back, block.shape); },
        [&](detail::complaint& trouble) { return planner_.learn_backward(block.shape, ways_, trouble); },
        [&] { return describe<T>(".adjoint", block.shape); });
    return move(s.back, s.come, s.coming, block, wanted).finish();
  }

  /// Begins to move the boxes; the result where the worker takes none is zero volume, or a copy in neither partition.
  template <class T>
  detail::pending<pooled_tensor<T, rank>> move(const repartition_plan<rank>& plan, const exchange_schedule<rank>& way,
                                               detail::exchanges_by_type& exchanges, const strided<const T, rank>& x,
                                               const detail::target<T, rank>& wanted) const {
    using result = pooled_tensor<T, rank>;
    strided<T, rank> to = wanted.block;
    if (!plan.takes && plan.gives) {
      result none(zero_volume<T, rank>(has_policy<discard_batch_t, Policies...> || rank == 0 ? 0 : x.shape[plan.axes[0]]));
      return carry(plan, way, exchanges, x, strided<T, rank>{}, std::move(none));
    }
    const shape_type shape = plan.takes ? plan.destination_shape : x.shape;
    result y;
    if (!wanted.given || volume_of(shape) == 0) {
      y = make_pooled<T, rank>(ways_->memory(), shape);
      to = block_of(y);
    }
    if (plan.takes) return carry(plan, way, exchanges, x, to, std::move(y));
    copy(to, x);
    return {std::move(y), nullptr, 0};
  }

  template <class T>
  detail::pending<pooled_tensor<T, rank>> carry(const repartition_plan<rank>& plan, const exchange_schedule<rank>& way,
                                                detail::exchanges_by_type& exchanges, const strided<const T, rank>& x,
                                                const strided<T, rank>& to, pooled_tensor<T, rank>&& y) const {
    if constexpr (std::is_trivially_copyable_v<T> && sizeof(T) <= detail::page) {
      using exchange_type = box_exchange<T, rank>;
      const auto& exchange = exchanges.find<exchange_type>([&] {  // it may outlive this kernel, and then needs its ways and its world
        return std::shared_ptr<exchange_type>(ways_->template exchange<T, rank>(way).release(),
                                              [ways = ways_, world = planner_.p_x().world().state()](exchange_type* it) { delete it; });
      });
      exchange->start(x.data, x.strides, to.data, in_source_order(to.strides, plan.axes));
      return {std::move(y), flight_, flight_->take_off(exchange)};
    } else {
      message_exchange{}(state(), plan, x, to);
      return {std::move(y), nullptr, 0};
    }
  }

  static bool fits(const repartition_plan<rank>& plan, const shape_type& shape) {
    return !plan.gives || plan.source_shape == shape;
  }
  template <class T>
  static bool fits_target(const repartition_plan<rank>& plan, const strided<const T, rank>& x,
                          const detail::target<T, rank>& wanted) {
    if (!wanted.given || (plan.gives && !plan.takes)) return true;
    const shape_type& shape = plan.takes ? plan.destination_shape : x.shape;
    return volume_of(shape) == 0 || wanted.block.shape == shape;
  }

  template <class T>
  std::uint64_t fingerprint_of(std::uint64_t direction) const {
    return detail::mixed(detail::mixed(planner_.fingerprint(), detail::type_number<T>()), direction);
  }
  template <class T>
  text describe(const char* direction, const shape_type& shape) const {
    return text("partita::repartition(p_x, p_y)")
           << direction << " with p_x = " << planner_.p_x().grid().shape() << ", p_y = " << planner_.p_y().grid().shape()
           << " and a block of shape " << shape << " and elements of " << sizeof(T) << " bytes";
  }
  detail::world_state& state() const { return *planner_.p_x().world().state(); }

  detail::repartition_planner<Src, Dst, Policies...> planner_;
  mutable detail::structure_cache<structure> structures_;
  mutable std::shared_ptr<transport> ways_;  // made with the first structure, by all workers together
  std::shared_ptr<detail::flight> flight_ = std::make_shared<detail::flight>();
};

template <class Src, class Dst, class... Policies>
repartition(const partition<Src>&, const partition<Dst>&, Policies...) -> repartition<Src, Dst, Policies...>;

}  // namespace partita
