// The movement of several fields, which may have different windows (blocks with ghosts), ranks and partitions.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <partita/comm/fingerprint.hpp>
#include <partita/comm/side_by_side.hpp>
#include <partita/kernel/detail/fields_movement.hpp>
#include <partita/kernel/window_movement.hpp>
#include <tuple>
#include <utility>
#include <vector>

namespace partita::detail {

/// The plans of all fields that are exchanged together. The plans of the base class have no boxes.
template <std::size_t... Rank>
struct joint_windows_structure : planned_boxes<joint_dimension_count<Rank...>> {
  std::tuple<window_structure<Rank>...> field_plans{};  ///< the plan of each field
  exchanges_by_kind refresh_exchanges{};                ///< the exchanges that fill the ghosts of all fields

  /// Whether the plans of all fields fit a call, which has the shapes of the blocks of all fields one after another, or
  /// the block boundaries of all tensors one after another.
  bool matches_call(const box_call<joint_dimension_count<Rank...>>& call) const {
    std::size_t next = 0;
    const auto field_fits = [&](const auto& s) {
      const auto& [shape, gives] = std::tie(s.plan(call.forward).source_shape, s.plan(call.forward).gives);
      const std::size_t first = std::exchange(next, next + shape.size());
      if (call.cuts != nullptr) return s.has_same_cuts(call.cuts + first);
      return !gives || std::equal(shape.begin(), shape.end(), call.shape.begin() + first);
    };
    return std::apply([&](const auto&... s) { return (field_fits(s) && ...); }, field_plans);
  }
  /// The cells of windows w that are this worker's own blocks, without ghosts; all fields side by side.
  template <class T>
  auto own_cells(const std::tuple<strided<T, Rank>...>& w) const {
    return [&]<std::size_t... F>(std::index_sequence<F...>) {
      return blocks_side_by_side(std::get<F>(field_plans).own_cells(std::get<F>(w))...);
    }(std::index_sequence_for<window_structure<Rank>...>());
  }
};

/// The planner of one exchange for several fields.
template <class... Windows>
class joint_windows_planner {
 public:
  using structure = joint_windows_structure<Windows::rank...>;                  ///< a cached plan
  static constexpr std::size_t field_count = sizeof...(Windows);                ///< the number of fields
  static constexpr std::size_t rank = joint_dimension_count<Windows::rank...>;  ///< the sum of the ranks of all fields
  static constexpr bool sums_back = true, checks_itself = false;  ///< the adjoint adds, and its plan is agreed on

  /// Requires: partitions of one world [partition_error].
  explicit joint_windows_planner(const Windows&... windows) : planners_({windows, name(), "all(x...)"}...) {
    if (!((windows.p().world() == std::get<0>(planners_).windows().p().world()) && ...))
      throw partition_error(text(name()) << ": requires halo exchanges on partitions of one world");
  }

  std::shared_ptr<world_state> world() const { return std::get<0>(planners_).world(); }  ///< the world of all fields
  static const char* name() { return "partita::halo_exchanges(h...)"; }                  ///< the call in messages
  std::uint64_t fingerprint() const {  // combines the fingerprints of all fields; equal on all workers
    std::uint64_t all = field_count;
    for_each_field<field_count>([&](auto f) { all = mixed(all, std::get<f>(planners_).fingerprint()); });
    return all;
  }
  static text describe(const char* direction, const std::array<std::size_t, rank>&, const text& type) {
    return text(name()) << direction << " with " << field_count << " fields of " << type;
  }
  /// The planners of the fields, in their order.
  const std::tuple<window_exchange_planner<Windows>...>& planners() const { return planners_; }

  /// Makes the plan of a call. Collective.
  structure learn(const box_call<rank>& call, std::shared_ptr<transport>& shared_transport,
                  local_error& found_error) const {
    structure s;
    std::size_t first = 0;
    for_each_field<field_count>([&](auto f) {  // all workers find the same errors, so they stop at the same field
      box_call<std::tuple_element_t<f, std::tuple<Windows...>>::rank> one;
      one.forward = call.forward, one.direction = call.direction;
      std::copy_n(call.shape.begin() + first, one.shape.size(), one.shape.begin());
      one.cuts = call.cuts == nullptr ? nullptr : call.cuts + first;
      first += one.shape.size();
      if (!found_error.any())
        std::get<f>(s.field_plans) = std::get<f>(planners_).learn(one, shared_transport, found_error);
      if (std::get<f>(s.field_plans).there.takes) s.there.takes = true;
    });
    return s;
  }
  /// Makes the exchange that carries out the plans of all fields in one direction.
  std::shared_ptr<box_exchange> exchange(const structure& s, bool forward, const element_kind& kind,
                                         const std::shared_ptr<transport>& shared_transport) const {
    const auto plans = [&](const auto&... field) { return std::vector{lowered(field.plan(forward))...}; };
    return lasting_exchange(shared_transport, world(), join_plans(std::apply(plans, s.field_plans)), kind);
  }
  /// Makes the exchange that fills the ghosts of windows.
  std::shared_ptr<box_exchange> refresh_exchange(const structure& s, const element_kind& kind,
                                                 const std::shared_ptr<transport>& shared_transport) const {
    const auto plans = [](const auto&... field) { return std::vector{lowered(field.window_plan.ghost_exchange())...}; };
    return lasting_exchange(shared_transport, world(), join_plans(std::apply(plans, s.field_plans)), kind);
  }
  /// Does what the planners of the fields do on their windows while the exchange is pending.
  template <class Blocks>
  void do_overlapped_work(const structure& s, bool forward, const Blocks& windows, exchange_operation& pending) const {
    for_each_field<field_count>([&](auto f) {
      std::get<f>(planners_).do_overlapped_work(std::get<f>(s.field_plans), forward, std::get<f>(windows), pending);
    });
  }

 private:
  std::tuple<window_exchange_planner<Windows>...> planners_;  ///< the planner of each field
};

/// The movement of several fields with windows.
template <class... Windows>
class joint_window_movement : public refreshing_movement<fields_movement<joint_windows_planner<Windows...>>> {
  using base = refreshing_movement<fields_movement<joint_windows_planner<Windows...>>>;

 public:
  using base::base, base::rank;
  template <class T>
  using results = std::tuple<pooled_tensor<T, Windows::rank>...>;  ///< the results of all fields
  template <class T>
  using blocks = std::tuple<strided<T, Windows::rank>...>;  ///< this worker's blocks of all fields

  /// Starts to move blocks to windows or, if `forward` is false, to add up the cells of windows in blocks.
  template <class T>
  pending<results<T>> start(bool forward, const blocks<const T>& x, const char* direction) {
    this->finish_pending_operation();
    const auto from = std::make_from_tuple<blocks_side_by_side<const T, Windows::rank...>>(x);
    box_call<rank> call = base::template make_call_for_type<T>(forward ? 1 : 2, direction, from.shape);
    call.forward = forward, call.data = from.data, call.strides = from.strides;
    if (!forward) call.kind = element_kind::summed<T>();
    auto& s = agree_on_plan<joint_windows_planner<Windows...>>(*this, call, true);
    return this->template move_all_fields<T, results<T>>(
        x, std::tuple<target<T, Windows::rank>...>(),
        [&](auto f) -> const auto& { return std::get<f>(s.field_plans).plan(forward); },
        [&]() -> const auto& { return find_exchange(*this, s, forward, call.kind); },
        [&](const auto& y) { this->planner_.do_overlapped_work(s, forward, y, *this->operation()); });
  }
  /// Starts to fill the ghosts of windows that already contain their own blocks.
  template <class T>
  pending<written_in_place> refresh(const blocks<T>& w, const char* direction) {
    return this->template start_refresh<T>(w, std::make_from_tuple<blocks_side_by_side<T, Windows::rank...>>(w),
                                           direction);
  }
  /// Agrees on decompositions of tensors without passing blocks; returns this worker's windows, which are zero.
  template <class T>
  results<T> frames(const decomposition<Windows::rank>&... field_cuts, const char* direction) {
    std::vector<cut> cuts;
    (cuts.insert(cuts.end(), field_cuts.cuts.begin(), field_cuts.cuts.end()), ...);
    text found;
    const std::tuple<const decomposition<Windows::rank>&...> all(field_cuts...);
    for_each_field<sizeof...(Windows)>([&](auto f) {
      if (found.empty())
        found = std::get<f>(this->planner_.planners()).windows().find_cut_error(std::get<f>(all), direction);
    });
    const auto& s = this->template agree_on_frame<T>(cuts.data(), cuts.size(), {}, direction, found);
    results<T> y;
    for_each_field<sizeof...(Windows)>(
        [&](auto f) { std::get<f>(y) = this->template make_zero_window<T>(std::get<f>(s.field_plans)); });
    return y;
  }
};

}  // namespace partita::detail
