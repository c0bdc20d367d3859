// Halo exchanges of several fields at once: one message between two workers carries the ghosts of all fields.
#pragma once

#include <cstddef>
#include <partita/kernel/detail/joint_windows.hpp>
#include <partita/kernel/halo_exchange.hpp>
#include <tuple>
#include <type_traits>

namespace partita {

/// Combines several halo exchanges, one for each field, as in `halo_exchanges all(h, h, wide); all.refresh(u, v, p);`.
/// The exchanges may differ in widths, boundaries, ranks and partitions.
/// Shapes:   the shapes of each halo_exchange, as in `auto [gu, gv, gp] = all(u, v, p)`.
/// Requires: exchanges on one world [partition_error]; fields of one arithmetic type [compile time]; for each field
///           what its halo_exchange requires [shape_error, on all workers]. There may be any number of fields.
/// Cost:     one agreement, and one message for each pair of workers on different nodes, with the ghosts of all fields;
///           on one node ghosts pass through buffers, so each ghost is copied twice.
/// Adjoint:  adjoint(du, dv, dp), bitwise equal to the adjoint of each halo_exchange.
template <class... Extents>
class halo_exchanges {
  static constexpr std::size_t field_count = sizeof...(Extents);                     ///< the number of fields
  using movement = detail::joint_window_movement<detail::halo_planner<Extents>...>;  ///< moves all fields together
  template <class T>
  using blocks = typename movement::template blocks<T>;  ///< a block of elements T for each field
  static_assert(field_count > 0, "partita::halo_exchanges(h...): requires at least one halo_exchange");

 public:
  /// Joins one halo exchange for each field, in the order of the fields of a call.
  explicit halo_exchanges(const halo_exchange<Extents>&... exchanges)
      : movement_(typename movement::planner_type(exchanges.planner()...)) {}

  /// Returns this worker's blocks with their ghosts as a tuple, in the order of the fields.
  template <class... X>
  auto operator()(const X&... x) const {
    if constexpr (accepts_blocks<X...>()) return run_call(true, "(x...)", x...);
  }
  /// Returns blocks with their ghosts, all zeros, for one tensor per field, as a tuple. `auto [u, v] =
  /// all.frames<double>(extents(n, m), cuts_of_v);` takes for each field either extents, for the balanced
  /// decomposition, or a decomposition. Requirements and cost are those of halo_exchange::frame.
  template <class T, class... Global>
  auto frames(const Global&... global) const {
    static_assert(
        sizeof...(Global) == field_count,
        "partita::halo_exchanges(h...).frames<T>(cuts...): requires extents or a decomposition for each field");
    if constexpr (sizeof...(Global) == field_count) {
      return movement_.one_call([&] {
        return std::apply(
            [&](const auto&... p) {
              return movement_.template frames<T>(p.windows().to_decomposition(global)..., ".frames(cuts...)");
            },
            movement_.planner().planners());
      });
    }
  }
  /// Fills the ghosts in place in earlier results or frames, as halo_exchange::refresh does.
  template <class... View>
  void refresh(View&&... ghosted) const {
    if constexpr (accepts_blocks<std::remove_reference_t<View>...>() && accepts_views<View...>())
      start_refresh(ghosted...).finish();
  }
  /// Non-blocking refresh, as in `auto later = all.start_refresh(u, v); …; later.finish();`. Until `finish` the cells
  /// that are not ghosts may be read, and the blocks must not change.
  template <class... View>
  auto start_refresh(View&&... ghosted) const {
    if constexpr (accepts_blocks<std::remove_reference_t<View>...>() && accepts_views<View...>()) {
      return movement_.one_call([&] {
        using T = element_type<std::remove_reference_t<View>...>;
        auto later = movement_.template refresh<T>(blocks<T>(block_of(ghosted)...), ".refresh(ghosted...)");
        movement_.keep_call_pending();
        return later;
      });
    }
  }
  /// From blocks of the shapes of the last results, returns the gradients with respect to the fields, as a tuple.
  template <class... Y>
  auto adjoint(const Y&... dy) const {
    if constexpr (accepts_blocks<Y...>()) return run_call(false, ".adjoint(dy...)", dy...);
  }

  /// The number of plans made so far, and what this worker sends in a call with the plan used last.
  kernel_counts counts() const { return movement_.counts(); }

 private:
  template <class... X>
  using element_type = element_of<std::tuple_element_t<0, std::tuple<X...>>>;  ///< the elements of all fields

  template <class... X>
  static consteval bool accepts_blocks() {  ///< whether there is a block for each field, all of one element type
    constexpr bool has_exchange_per_field = [] {
      if constexpr (sizeof...(X) == field_count) return (detail::has_rank<X, Extents::rank()>() && ...);
      else return false;
    }();
    static_assert(has_exchange_per_field,
                  "partita::halo_exchanges(h...)(x...): requires one block for each halo_exchange, an xtensor "
                  "expression of the rank of its partition");
    if constexpr (has_exchange_per_field) {
      constexpr bool alike = (std::is_same_v<element_of<X>, element_type<X...>> && ...) &&
                             std::is_arithmetic_v<element_type<X...>> && !std::is_same_v<element_type<X...>, bool>;
      static_assert(alike,
                    "partita::halo_exchanges(h...)(x...): requires blocks of one arithmetic type; exchange fields of "
                    "other types by themselves");
      return alike;
    } else {
      return false;
    }
  }
  template <class... View>
  static consteval bool accepts_views() {  ///< whether refresh can write into these blocks
    constexpr bool fit = (detail::is_matching_view<View, std::remove_reference_t<View>>() && ...);
    static_assert(fit,
                  "partita::halo_exchanges(h...).refresh(ghosted...): requires views with memory (an xt::xtensor, or "
                  "an xt::view of ranges of one) that are not const");
    return fit;
  }
  template <class... X>
  auto run_call(bool forward, const char* direction, const X&... x) const {  ///< a blocking call; direction: for errors
    return movement_.one_call([&] {
      using T = element_type<X...>;
      const std::tuple<block_argument<X>...> arguments(x...);
      return std::apply(
          [&](const auto&... a) {
            return movement_.template start<T>(forward, blocks<const T>(a.block()...), direction).finish();
          },
          arguments);
    });
  }

  mutable movement movement_;  ///< moves all fields; mutable, because a call caches plans
};

}  // namespace partita
