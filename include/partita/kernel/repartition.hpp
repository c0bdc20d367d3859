// Repartition: a tensor on one partition brought to another, driven by the overlaps of their blocks.
#pragma once

#include <memory>
#include <partita/comm/exchange.hpp>
#include <partita/comm/pooled.hpp>
#include <partita/comm/schedule.hpp>
#include <partita/comm/transport.hpp>
#include <partita/kernel/detail/flight.hpp>
#include <partita/kernel/detail/group_movement.hpp>
#include <partita/rule/policy.hpp>
#include <partita/rule/repartition.hpp>

namespace partita {

/// Moves a tensor from p_x to p_y. Scatter and gather are the cases in which one of them has a single worker.
/// Shapes:   x is this worker's block on p_x, cut in any way that tiles the tensor (uneven, empty, staggered along one
///           dimension); the result is its block of the balanced cut on p_y. A worker of p_x only gets zero volume (batch
///           extent kept unless discard_batch), one of neither a copy.
/// Requires: rank(p_x) == rank(p_y) == rank(x) [compile time]; blocks that fit together [shape_error, on all workers].
/// Cost:     on one node a single copy: boxes are written straight into the result, which lives in a pool of shared memory;
///           one message per pair of workers on different nodes. Extents are exchanged once for each new structure, not at
///           calls that repeat one; those allocate nothing.
/// Adjoint:  repartition from p_y back to the cut that x had.
template <class Src, class Dst, class... Policies>
class repartition {
  static constexpr std::size_t rank = Src::rank();
  static_assert(Src::rank() == Dst::rank(),
                "partita::repartition(p_x, p_y): requires partitions of equal rank; reshape() one of them with extents of 1");
  static_assert((std::is_same_v<Policies, discard_batch_t> && ...),
                "partita::repartition(p_x, p_y, policies...): requires no other policy than discard_batch");

 public:
  repartition(const partition<Src>& p_x, const partition<Dst>& p_y, Policies...)
      : p_x_(p_x),
        p_y_(p_y),
        fingerprint_(detail::mixed(detail::mixed(p_x.grid().fingerprint(), p_y.grid().fingerprint()), 64)) {
    detail::expect_one_world(p_x, p_y, "partita::repartition");
  }

  template <ranked_array X>
  auto operator()(const X& x) const {
    return forward(x, detail::target<element_of<X>, rank_of<X>>{});
  }
  /// Begins and returns what will give the result: `auto later = r.start(x); …; auto y = later.finish();`. Until then x must
  /// stay as it is. Another call of this kernel ends it first.
  template <ranked_array X>
  auto start(const X& x) const {
    auto argument = std::make_shared<const block_argument<X>>(x);
    auto later = begin<X>(argument->block(), {});
    later.keep(argument);
    return later;
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

  /// What this worker sends, keeps and receives for a tensor of these extents with a balanced cut. Cost: no communication.
  template <std::size_t... E>
  repartition_plan<rank> plan(const extents<E...>& global) const {
    static_assert(sizeof...(E) == rank, "partita::repartition::plan(extents): requires extents of the rank of the partitions");
    return plan(global.array());
  }
  repartition_plan<rank> plan(const std::array<std::size_t, rank>& global) const {
    return balanced_plan(global);
  }
  /// How often a plan had to be made at a call so far.
  std::size_t plans_made() const { return structures_.made(); }

 private:
  using shape_type = std::array<std::size_t, rank>;
  struct structure {
    repartition_plan<rank> there, back;
    exchange_schedule<rank> go, come;  // the plans with the places on the other side
    detail::exchanges_by_type going{}, coming{};
  };

  template <class X>
  static constexpr void check_argument() {
    static_assert(rank_of<X> == rank,
                  "partita::repartition(p_x, p_y)(x): requires a block of the rank of its partitions; reshape() the partitions with extents of 1");
    static_assert(movable_element<element_of<X>>, "partita::repartition(p_x, p_y)(x): requires elements that MPI can move: arithmetic, std::complex, or a type declared with BOOST_IS_MPI_DATATYPE");
  }

  repartition_plan<rank> balanced_plan(const shape_type& global) const {
    using cuts = decomposition<rank>;
    return plan_repartition(p_x_.grid(), cuts::balanced(global, p_x_.grid().shape()), p_y_.grid(),
                            cuts::balanced(global, p_y_.grid().shape()), p_x_.world().id());
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
        [&](detail::complaint& trouble) { return learn_forward(block, wanted, trouble); },
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
        [&](detail::complaint& trouble) {
          const shape_type global = extents_along_lines(p_y_, block.shape);
          const auto shape = decomposition<rank>::balanced(global, p_y_.grid().shape());
          if (p_y_.active() && block.shape != shape.shape(p_y_.index())) {
            trouble.kind = detail::failure::shape;
            trouble.sentence << "partita::repartition(p_x, p_y).adjoint(dy): requires dy to be cut over p_y as the result of the forward call was (the balanced cut of "
                             << global << " over " << p_y_.grid().shape() << " gives worker " << state().id() << " "
                             << shape.shape(p_y_.index()) << "), got a block of " << block.shape;
          }
          structure learnt{balanced_plan(global), reversed(balanced_plan(global)), {}, {}};
          schedule(learnt, decomposition<rank>::balanced(global, p_x_.grid().shape()), shape);
          return learnt;
        },
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
      result none(zero_volume<T, rank>(has_policy<discard_batch_t, Policies...> || rank == 0 ? 0 : x.shape[0]));
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
      const auto& exchange = exchanges.find<exchange_type>(
          [&] { return std::shared_ptr<exchange_type>(ways_->template exchange<T, rank>(way)); });
      exchange->start(x.data, x.strides, to.data, to.strides);
      return {std::move(y), flight_, flight_->take_off(exchange)};
    } else {
      message_exchange{}(state(), plan, x, to);
      return {std::move(y), nullptr, 0};
    }
  }

  /// Works out what the plans leave open, both ways: where boxes lie on the other side.
  template <class From, class To>
  void schedule(structure& s, const From& from, const To& to) const {
    if (!ways_) ways_ = std::make_shared<transport>(state().communicator());
    s.go = schedule_repartition(p_x_.grid(), from, p_y_.grid(), to, same_axes<rank>(), state().id());
    s.come = schedule_repartition(p_y_.grid(), to, p_x_.grid(), from, same_axes<rank>(), state().id());
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

  /// The extents of the global tensor: those of the blocks along the lines through index 0, added up.
  template <class Extents>
  shape_type extents_along_lines(const partition<Extents>& p, const shape_type& mine) const {
    std::array<std::uint64_t, rank + 1> share{}, sum{};
    if (p.active()) {
      const auto i = p.index();
      for (std::size_t d = 0; d < rank; ++d) {
        bool on_line = true;
        for (std::size_t other = 0; other < rank; ++other) on_line = on_line && (other == d || i[other] == 0);
        if (on_line) share[d] = mine[d];
      }
    }
    detail::check(MPI_Allreduce(share.data(), sum.data(), static_cast<int>(rank), MPI_UINT64_T, MPI_SUM, state().communicator()),
                  "MPI_Allreduce");
    shape_type global{};
    for (std::size_t d = 0; d < rank; ++d) global[d] = sum[d];
    return global;
  }

  template <class T>
  structure learn_forward(const strided<const T, rank>& x, const detail::target<T, rank>& wanted, detail::complaint& trouble) const {
    using cuts = decomposition<rank>;
    const shape_type grid = p_x_.grid().shape();
    const shape_type global = extents_along_lines(p_x_, x.shape);
    const bool as_balanced = !p_x_.active() || x.shape == cuts::balanced(global, grid).shape(p_x_.index());
    std::uint64_t mine[4] = {as_balanced ? 1U : 0U, 0, 0, 0}, all[4] = {};
    state().all_and(mine, all);
    structure s;
    if (all[0] != 0) {
      s.there = balanced_plan(global);
      schedule(s, cuts::balanced(global, grid), cuts::balanced(global, p_y_.grid().shape()));
    } else {
      // irregular: every worker sees the shape of every block
      std::vector<std::uint64_t> shapes(state().size() * (rank + 1));
      std::array<std::uint64_t, rank + 1> own{};
      for (std::size_t d = 0; d < rank; ++d) own[d] = x.shape[d];
      const auto count = static_cast<int>(rank + 1);
      detail::check(MPI_Allgather(own.data(), count, MPI_UINT64_T, shapes.data(), count, MPI_UINT64_T, state().communicator()),
                    "MPI_Allgather");
      std::vector<shape_type> by_place(p_x_.size());
      for (std::size_t k = 0; k < by_place.size(); ++k)
        for (std::size_t d = 0; d < rank; ++d) by_place[k][d] = shapes[p_x_.workers()[k] * (rank + 1) + d];
      const layout_of_blocks<rank> layout = lay_out(by_place, grid);
      if (!layout.problem.empty()) {
        trouble.kind = detail::failure::shape;
        trouble.sentence << "partita::repartition(p_x, p_y)(x) with p_x = " << grid << ": " << layout.problem;
        return s;
      }
      const auto to = cuts::balanced(layout.extents, p_y_.grid().shape());
      if (layout.cartesian) {
        const auto from = cuts::make([&](std::size_t d) { return cut::at(layout.sizes[d]); });
        s.there = plan_repartition(p_x_.grid(), from, p_y_.grid(), to, state().id());
        schedule(s, from, to);
      } else {
        s.there = plan_repartition(p_x_.grid(), layout.boxes, p_y_.grid(), to, state().id());
        schedule(s, layout.boxes, boxes_of(to, p_y_.grid()));
      }
    }
    s.back = reversed(s.there);
    const shape_type shape = s.there.takes ? s.there.destination_shape : s.there.gives ? shape_type{} : x.shape;
    if (s.there.takes || !s.there.gives) detail::expect_shape(wanted, shape, "partita::repartition(p_x, p_y)", trouble);
    return s;
  }

  template <class T>
  std::uint64_t fingerprint_of(std::uint64_t direction) const {
    return detail::mixed(detail::mixed(fingerprint_, detail::type_number<T>()), direction);
  }
  template <class T>
  text describe(const char* direction, const shape_type& shape) const {
    return text("partita::repartition(p_x, p_y)")
           << direction << " with p_x = " << p_x_.grid().shape() << ", p_y = " << p_y_.grid().shape()
           << " and a block of shape " << shape << " and elements of " << sizeof(T) << " bytes";
  }
  detail::world_state& state() const { return *p_x_.world().state(); }

  partition<Src> p_x_;
  partition<Dst> p_y_;
  std::uint64_t fingerprint_;
  mutable detail::structure_cache<structure> structures_;
  mutable std::shared_ptr<transport> ways_;  // made with the first structure, by all workers together
  std::shared_ptr<detail::flight> flight_ = std::make_shared<detail::flight>();
};

template <class Src, class Dst, class... Policies>
repartition(const partition<Src>&, const partition<Dst>&, Policies...) -> repartition<Src, Dst, Policies...>;

}  // namespace partita
