// Halo exchanges of several fields at once: one message between two workers carries the ghosts of all fields.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <partita/comm/side_by_side.hpp>
#include <partita/kernel/detail/box_movement.hpp>
#include <partita/kernel/halo_exchange.hpp>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace partita {

/// Combines several halo exchanges, one for each field: `halo_exchanges all(h, h, wide); all.refresh(u, v, p);`. They
/// may differ in widths, boundaries, ranks and partitions.
/// Shapes:   those of each halo_exchange: `auto [gu, gv, gp] = all(u, v, p)`.
/// Requires: exchanges on one world [partition_error]; fields of one arithmetic type [compile time]; what halo_exchange
///           requires of each [shape_error]; on all workers. There may be any number of fields.
/// Cost:     one agreement, and one message for each pair of workers on different nodes, with the ghosts of all fields;
///           on one node ghosts pass through buffers (two copies each).
/// Adjoint:  adjoint(du, dv, dp), bitwise equal to that of each halo_exchange.
template <class... Extents>
class halo_exchanges {
  static constexpr std::size_t fields = sizeof...(Extents);
  static constexpr auto each = std::make_index_sequence<fields>();
  template <class T>
  using results = std::tuple<pooled_tensor<T, Extents::rank()>...>;
  template <class T>
  using blocks = std::tuple<strided<T, Extents::rank()>...>;
  using shapes = std::tuple<std::array<std::size_t, Extents::rank()>...>;
  static_assert(fields > 0, "partita::halo_exchanges(h...): requires at least one halo_exchange");

 public:
  explicit halo_exchanges(const halo_exchange<Extents>&... exchanges)
      : planners_(exchanges.planner()...), movement_(world_of_first().state(), name, fingerprint_of(exchanges...)) {
    std::apply(
        [&](const auto&... p) {
          if (!((p.p().world() == world_of_first()) && ...))
            throw partition_error("partita::halo_exchanges(h...): requires halo exchanges on partitions of one world");
        },
        planners_);
  }

  /// This worker's blocks with their ghosts: a tuple, in the order of the fields.
  template <class... X>
  auto operator()(const X&... x) const {
    if constexpr (takes<X...>()) {
      return movement_.one_call([&] {
        const std::tuple<block_argument<X>...> arguments(x...);
        return std::apply([&](const auto&... a) { return spread<element<X...>>({a.block()...}, "(x...)").finish(); },
                          arguments);
      });
    }
  }
  /// Blocks with room for their ghosts, all zeros, for one tensor per field: a tuple. `auto [u, v] =
  /// all.frames<double>(extents(n, m), cuts_of_v);` takes for each field either extents, which are decomposed in
  /// balance, or a decomposition. Everything else is as for halo_exchange::frame.
  template <class T, class... Global>
  auto frames(const Global&... global) const {
    static_assert(
        sizeof...(Global) == fields,
        "partita::halo_exchanges(h...).frames<T>(cuts...): requires extents or a decomposition for each field");
    if constexpr (sizeof...(Global) == fields) {
      return movement_.one_call([&] {
        return std::apply([&](const auto&... p) { return framed<T>({p.cuts_of(global)...}, ".frames(cuts...)"); },
                          planners_);
      });
    }
  }
  /// Fills the ghosts in place in blocks that already have them, as halo_exchange::refresh does.
  template <class... View>
  void refresh(View&&... ghosted) const {
    if constexpr (takes<std::remove_reference_t<View>...>() && fills<View...>()) start_refresh(ghosted...).finish();
  }
  /// Non-blocking refresh: `auto later = all.start_refresh(u, v); …; later.finish();`. Until then the cells that are
  /// not ghosts may be read, and the blocks must not change.
  template <class... View>
  auto start_refresh(View&&... ghosted) const {
    if constexpr (takes<std::remove_reference_t<View>...>() && fills<View...>()) {
      return movement_.one_call([&] {
        auto later = fill<element<std::remove_reference_t<View>...>>({block_of(ghosted)...}, ".refresh(ghosted...)");
        movement_.leave_under_way();
        return later;
      });
    }
  }
  /// Takes blocks of the shapes of the last results; returns the gradients with respect to the fields: a tuple.
  template <class... Y>
  auto adjoint(const Y&... dy) const {
    if constexpr (takes<Y...>()) {
      return movement_.one_call([&] {
        const std::tuple<block_argument<Y>...> arguments(dy...);
        return std::apply(
            [&](const auto&... a) { return collect<element<Y...>>({a.block()...}, ".adjoint(dy...)").finish(); },
            arguments);
      });
    }
  }

  /// The number of plans made so far, and what this worker sends in a call with the plan used last.
  kernel_counts counts() const { return movement_.counts(structures_.made()); }

 private:
  struct structure {
    std::tuple<std::shared_ptr<const halo_plan<Extents::rank()>>...> plans;
    std::uint64_t cuts = 0;  ///< the combined fingerprint of the decompositions of all fields
    detail::exchanges_by_kind spreading{}, collecting{}, refreshing{};
  };
  using all_cuts = std::tuple<decomposition<Extents::rank()>...>;
  template <class... X>
  using element = element_of<std::tuple_element_t<0, std::tuple<X...>>>;
  template <class T>
  using side_by_side = detail::blocks_side_by_side<T, Extents::rank()...>;

  template <class... X>
  static consteval bool takes() {
    constexpr bool one_each = [] {
      if constexpr (sizeof...(X) == fields) return (detail::has_rank<X, Extents::rank()>() && ...);
      else return false;
    }();
    static_assert(one_each,
                  "partita::halo_exchanges(h...)(x...): requires one block for each halo_exchange, an xtensor "
                  "expression of the rank of its partition");
    if constexpr (one_each) {
      constexpr bool alike = (std::is_same_v<element_of<X>, element<X...>> && ...) &&
                             std::is_arithmetic_v<element<X...>> && !std::is_same_v<element<X...>, bool>;
      static_assert(alike,
                    "partita::halo_exchanges(h...)(x...): requires blocks of one arithmetic type; exchange fields of "
                    "other types by themselves");
      return alike;
    } else {
      return false;
    }
  }
  template <class... View>
  static consteval bool fills() {
    static_assert((detail::fits_view<View, std::remove_reference_t<View>>() && ...),
                  "partita::halo_exchanges(h...).refresh(ghosted...): requires views with memory (an xt::xtensor, or "
                  "an xt::view of ranges of one) that are not const");
    return (detail::fits_view<View, std::remove_reference_t<View>>() && ...);
  }

  template <class T>
  detail::pending<results<T>> spread(const blocks<const T>& x, const char* direction) const {
    structure& s = structure_for<T>(x, 1, direction, [](const auto& plan, const auto& shape) {
      return !plan.exchange.gives || plan.exchange.source_shape == shape;
    });
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      results<T> y{room<T>(*std::get<I>(s.plans), std::get<I>(x).shape, &exchange_plan<rank<I>>::destination_shape)...};
      const auto number =
          go<T>(s.spreading, detail::element_kind::moved<T>(), x, blocks<T>{block_of(std::get<I>(y))...},
                [&](std::size_t) { return lowered_all(detail::lowered(std::get<I>(s.plans)->exchange)...); });
      movement_.operation()->also([&] {
        (complete(*std::get<I>(s.plans), std::get<I>(planners_), std::get<I>(x), block_of(std::get<I>(y))), ...);
      });
      return detail::pending<results<T>>(std::move(y), movement_.operation(), number);
    }(each);
  }
  template <class T>
  detail::pending<detail::in_place> fill(const blocks<T>& w, const char* direction) const {
    structure& s = structure_for<T>(w, 3, direction, fits_window);
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      const auto own = [](const auto& plan, const auto& block) {
        const auto& e = plan.exchange;
        std::array<std::size_t, std::tuple_size_v<decltype(block.shape)>> at{};
        if (!e.takes) return block.part(at, at);
        if (!e.kept.empty() && plan.is_own_block(e.kept.front())) at = e.kept.front().at_destination;
        return block.part(at, e.source_shape);
      };
      const blocks<const T> x{own(*std::get<I>(s.plans), strided<const T, rank<I>>(std::get<I>(w)))...};
      const auto number = go<T>(s.refreshing, detail::element_kind::moved<T>(), x, w, [&](std::size_t) {
        return lowered_all(detail::lowered(std::get<I>(s.plans)->ghosts_alone())...);
      });
      const auto outside = [](const auto& plan, const auto& planner, const auto& block) {
        if (plan.exchange.takes) detail::fill_outside(plan, block, planner.beyond(), planner.outside());
      };
      movement_.operation()->also(
          [&] { (outside(*std::get<I>(s.plans), std::get<I>(planners_), std::get<I>(w)), ...); });
      return detail::pending<detail::in_place>({}, movement_.operation(), number);
    }(each);
  }
  template <class T>
  detail::pending<results<T>> collect(const blocks<const T>& dy, const char* direction) const {
    structure& s = structure_for<T>(dy, 2, direction, fits_window);
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      results<T> dx{room<T>(*std::get<I>(s.plans), std::get<I>(dy).shape, &exchange_plan<rank<I>>::source_shape)...};
      const auto number =
          go<T>(s.collecting, detail::element_kind::summed<T>(), dy, blocks<T>{block_of(std::get<I>(dx))...},
                [&](std::size_t) { return lowered_all(detail::lowered(reversed(std::get<I>(s.plans)->exchange))...); });
      const auto idle = [](const auto& plan, const auto& from, const auto& to) {
        if (!plan.exchange.takes) copy(to, from);
      };
      (idle(*std::get<I>(s.plans), std::get<I>(dy), block_of(std::get<I>(dx))), ...);
      return detail::pending<results<T>>(std::move(dx), movement_.operation(), number);
    }(each);
  }

  template <class T>
  results<T> framed(const all_cuts& cuts, const char* direction) const {
    movement_.finish_pending();
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      std::uint64_t number = 0;
      ((number = detail::mixed(number, std::get<I>(cuts).fingerprint())), ...);
      text problem;
      const auto judge = [&](const auto& planner, const auto& of_field) {
        if (problem.empty()) problem = planner.error_in(of_field, direction);
      };
      (judge(std::get<I>(planners_), std::get<I>(cuts)), ...);
      structure& s = detail::agreed_structure(
          movement_.state(), structures_,
          {detail::mixed(movement_.fingerprint(detail::type_number<T>(), 4), number), detail::local_error(problem),
           true},
          [&](const structure& known) { return known.cuts == number; },
          [&](detail::local_error&) {
            detail::opened(movement_.ways(), movement_.state());
            structure made{.plans = {std::make_shared<const halo_plan<rank<I>>>(
                               std::get<I>(planners_).plan(std::get<I>(cuts), movement_.state().id()))...}};
            made.cuts = number;
            return made;
          },
          [&] { return text(name) << direction << " with " << fields << " fields of " << detail::type_name<T>(); });
      results<T> y{room<T>(*std::get<I>(s.plans), {}, &exchange_plan<rank<I>>::destination_shape)...};
      (std::get<I>(y).fill(T{}), ...);
      return y;
    }(each);
  }

  template <std::size_t I>
  static constexpr std::size_t rank = std::tuple_element_t<I, std::tuple<Extents...>>::rank();
  static constexpr auto fits_window = [](const auto& plan, const auto& shape) {
    return !plan.exchange.takes || plan.exchange.destination_shape == shape;
  };
  /// Allocates a result. A worker that does not take part in a field keeps the shape of its own input.
  template <class T, std::size_t Rank>
  pooled_tensor<T, Rank> room(const halo_plan<Rank>& plan, const std::array<std::size_t, Rank>& given,
                              std::array<std::size_t, Rank> exchange_plan<Rank>::*shape) const {
    return make_pooled<T, Rank>(*movement_.memory(), plan.exchange.takes ? plan.exchange.*shape : given);
  }
  template <class T, std::size_t Rank, class Planner>
  static void complete(const halo_plan<Rank>& plan, const Planner& planner, const strided<const T, Rank>& x,
                       const strided<T, Rank>& y) {
    if (plan.exchange.takes) detail::fill_outside(plan, y, planner.beyond(), planner.outside());
    else copy(y, x);
  }
  template <class... Plan>
  static detail::lowered_plan lowered_all(Plan... plans) {
    std::vector<detail::lowered_plan> all;
    (all.push_back(std::move(plans)), ...);
    return detail::side_by_side(all);
  }

  template <class T, class X, class Lowered>
  std::uint64_t go(detail::exchanges_by_kind& exchanges, const detail::element_kind& kind, const X& x,
                   const blocks<T>& y, Lowered plan) const {
    const auto& exchange = exchanges.find(
        kind, [&] { return detail::lasting_exchange(movement_.ways(), movement_.world(), plan(0), kind); });
    const auto from = std::make_from_tuple<side_by_side<const T>>(x);
    const auto to = std::make_from_tuple<side_by_side<T>>(y);
    return movement_.begin(exchange, from.data, from.strides.data(), to.data, to.strides.data(),
                           detail::nothing_to_fill{});
  }

  /// The plan that fits on all workers, or a new one.
  template <class T, class Blocks, class Fits>
  structure& structure_for(const Blocks& x, std::uint64_t direction_number, const char* direction, Fits fits) const {
    movement_.finish_pending();
    const shapes mine = std::apply([](const auto&... b) { return shapes{b.shape...}; }, x);
    const bool learns = direction_number == 1;
    return detail::agreed_structure(
        movement_.state(), structures_,
        {movement_.fingerprint(detail::type_number<T>(), direction_number), detail::local_error(), true},
        [&](const structure& known) {
          return [&]<std::size_t... I>(std::index_sequence<I...>) {
            return (fits(*std::get<I>(known.plans), std::get<I>(mine)) && ...);
          }(each);
        },
        [&](detail::local_error& trouble) {
          detail::opened(movement_.ways(), movement_.state());
          if (!learns) {
            trouble = detail::local_error(text(name) << direction
                                                     << ": requires blocks with ghosts of the shapes that a call or "
                                                        "frames gave before; call all(x...) first");
            return structure();
          }
          structure s;
          [&]<std::size_t... I>(std::index_sequence<I...>) {
            (learn(std::get<I>(planners_), std::get<I>(mine), std::get<I>(s.plans), s.cuts, trouble), ...);
          }(each);
          return s;
        },
        [&] { return text(name) << direction << " with " << fields << " fields of " << detail::type_name<T>(); });
  }
  /// Errors are the same on all workers, so all workers stop at the same field.
  template <class Planner, class Shape, class Plan>
  void learn(const Planner& planner, const Shape& mine, Plan& plan, std::uint64_t& all,
             detail::local_error& trouble) const {
    if (trouble.any()) return;
    const auto cuts = detail::cut_of_blocks(planner.p(), mine, "partita::halo_exchanges(h...)(x...)", trouble);
    if (trouble.any()) return;
    const text problem = planner.error_message(cuts.extents());
    all = detail::mixed(all, cuts.fingerprint());
    if (problem.empty())
      plan = std::make_shared<typename Plan::element_type>(planner.plan(cuts, movement_.state().id()));
    else trouble = detail::local_error(text(name) << "(x...): " << problem);
  }

  static std::uint64_t fingerprint_of(const halo_exchange<Extents>&... exchanges) {
    std::uint64_t all = fields;
    ((all = detail::mixed(all, exchanges.planner().fingerprint())), ...);
    return all;
  }
  const partita::world& world_of_first() const { return std::get<0>(planners_).p().world(); }

  static constexpr const char* name = "partita::halo_exchanges(h...)";

  std::tuple<detail::halo_planner<Extents>...> planners_;
  mutable detail::box_movement movement_;
  mutable detail::plan_cache<structure> structures_;
};

}  // namespace partita
