// Copies blocks into overlapping windows; the adjoint adds the windows into blocks. The halo exchange and every layer
// that slides a window over a tensor use this movement.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <partita/comm/element.hpp>
#include <partita/comm/fingerprint.hpp>
#include <partita/comm/pooled.hpp>
#include <partita/comm/transport.hpp>
#include <partita/kernel/detail/box_movement.hpp>
#include <partita/kernel/detail/cut_of_blocks.hpp>
#include <partita/kernel/detail/described.hpp>
#include <partita/kernel/detail/ghosts.hpp>
#include <partita/plan/halo_plan.hpp>
#include <utility>
#include <vector>

namespace partita::detail {

/// The plans of a window movement: from blocks to windows, from windows to sums in blocks, and a plan that fills only
/// the ghosts.
template <std::size_t Rank>
struct window_structure : planned_boxes<Rank> {
  halo_plan<Rank> window_plan{};              ///< the plan of this worker's window
  std::optional<decomposition<Rank>> cuts{};  ///< the decomposition of the tensor
  std::vector<exchange_plan<Rank>> rounds{};  ///< the rounds of the exchange; empty if all ghosts travel in one round
  exchanges_by_kind refresh_exchanges{};      ///< the exchanges that fill only the ghosts, by the kind of elements

  /// Whether this plan is for a tensor with these cuts, one for each dimension.
  bool has_same_cuts(const cut* all) const { return std::equal(cuts->cuts.begin(), cuts->cuts.end(), all); }
  bool matches_call(const box_call<Rank>& call) const {  ///< whether this plan serves a call on this worker
    return call.cuts == nullptr ? planned_boxes<Rank>::matches_call(call) : has_same_cuts(call.cuts);
  }
  /// The cells of a window that are not ghosts.
  template <class T>
  strided<const T, Rank> own_cells(const strided<T, Rank>& w) const {
    const exchange_plan<Rank>& e = this->there;
    const bool has = !e.kept.empty() && window_plan.is_own_block(e.kept.front());
    return strided<const T, Rank>(w).part(has ? e.kept.front().destination_start : std::array<std::size_t, Rank>{},
                                          e.source_shape);
  }
};

/// Plans window movements. The class `Windows` defines the window of each worker by the functions name(), p() (the
/// partition of the blocks), fingerprint(), boundaries() (the boundary conditions), error_message(extents) and
/// plan(cuts, worker). The class may define outside() (the function for cells beyond the borders) and rounds(cuts,
/// plan, shares_one_memory).
template <class Windows>
class window_exchange_planner {
 public:
  static constexpr std::size_t rank = Windows::rank;              ///< the number of dimensions of blocks and windows
  static constexpr bool sums_back = true, checks_itself = false;  ///< the adjoint adds, and its plan is agreed on
  using structure = window_structure<rank>;                       ///< a cached plan
  using shape_type = std::array<std::size_t, rank>;               ///< the extents of a block or a window

  /// Makes the planner for the windows of a kernel or of a layer; windows_.name() begins its calls in error messages.
  explicit window_exchange_planner(Windows windows)
      : windows_(std::move(windows)), name_(windows_.name()), required_call_("the kernel on x") {}
  /// `name` begins the calls of the kernel in error messages, `required_call` is the call that a program has to make
  /// before the adjoint.
  window_exchange_planner(Windows windows, const char* name, const char* required_call)
      : windows_(std::move(windows)), name_(name), required_call_(required_call) {}

  const Windows& windows() const { return windows_; }  ///< define the window of each worker
  std::shared_ptr<world_state> world() const { return windows_.p().world().state(); }  ///< the world of the partition
  const char* name() const { return name_; }  ///< begins the calls of the kernel in error messages
  std::uint64_t fingerprint() const { return windows_.fingerprint(); }  ///< a hash of the windows, equal on all workers
  static constexpr bool keeps_batch() { return true; }                  ///< an empty result has the batch extent of x
  text describe(const char* direction, const shape_type& shape, const text& type) const {  ///< for error messages
    return describe_call(name(), direction, windows_.p(), shape, type);
  }

  /// Makes the plans for a call, whose blocks must have shapes that fit together. Collective.
  structure learn(const box_call<rank>& call, std::shared_ptr<transport>& shared_transport,
                  local_error& found_error) const {
    const transport& open = open_transport(shared_transport, *world());
    const text name_of_call = text(name()) << call.direction;
    if (!call.forward) {
      found_error = local_error(text(name_of_call)
                                << ": requires blocks with ghosts of the shapes that a forward call gave before, or a "
                                << "frame; this worker's has the shape " << call.shape << "; call " << required_call_
                                << " first");
      return {};
    }
    structure s;
    s.cuts = call.cuts != nullptr ? decomposition<rank>::make([&](std::size_t d) { return call.cuts[d]; })
                                  : cut_of_blocks(windows_.p(), call.shape, name_of_call.c_str(), found_error);
    if (found_error.any()) return s;
    if (const text problem = windows_.error_message(s.cuts->extents()); !problem.empty()) {
      found_error = local_error(text(name_of_call) << ": " << problem);
      return s;
    }
    s.window_plan = windows_.plan(*s.cuts, world()->id());
    s.there = s.window_plan.exchange;
    s.back = reversed(s.there);
    if constexpr (requires { windows_.rounds(*s.cuts, s.window_plan, true); })
      s.rounds = windows_.rounds(*s.cuts, s.window_plan, open.shares_one_memory());
    return s;
  }

  /// Makes the exchange of the forward call or of the adjoint that executes the plan.
  std::shared_ptr<box_exchange> exchange(const structure& s, bool forward, const element_kind& kind,
                                         const std::shared_ptr<transport>& shared_transport) const {
    if (!forward) return lasting_exchange(shared_transport, world(), lowered(s.back), kind);
    return make_exchange_in_rounds(lowered(s.rounds.empty() ? s.there : s.rounds.front()), s.rounds, kind,
                                   shared_transport);
  }
  /// The exchange that fills only the ghost cells of the windows.
  std::shared_ptr<box_exchange> refresh_exchange(const structure& s, const element_kind& kind,
                                                 const std::shared_ptr<transport>& shared_transport) const {
    lowered_plan first;
    if (s.rounds.empty()) {
      first = lowered(s.window_plan.ghost_exchange());
      first.is_agreed_between_calls = true;
    } else {
      exchange_plan<rank> ghosts = s.rounds.front();
      if (!ghosts.kept.empty()) ghosts.kept.erase(ghosts.kept.begin());  // the first kept box is the block itself
      first = lowered(ghosts);
    }
    return make_exchange_in_rounds(std::move(first), s.rounds, kind, shared_transport);
  }

  /// Fills the ghosts beyond the borders while cells of other workers travel. If a boundary function of the user
  /// throws, the exchange is completed first, because other workers depend on it.
  template <class T>
  void do_overlapped_work(const structure& s, bool forward, const strided<T, rank>& window,
                          exchange_operation& pending) const {
    if (!forward || !s.there.takes) return;
    if constexpr (requires { windows_.outside(); })
      pending.run_during_exchange(
          [&] { fill_outside(s.window_plan, window, windows_.boundaries(), windows_.outside()); });
    else fill_outside(s.window_plan, window, windows_.boundaries());
  }

 private:
  /// An exchange of several rounds: the round `first`, followed by the list `rounds`.
  std::shared_ptr<box_exchange> make_exchange_in_rounds(lowered_plan first,
                                                        const std::vector<exchange_plan<rank>>& rounds,
                                                        const element_kind& kind,
                                                        const std::shared_ptr<transport>& shared_transport) const {
    std::unique_ptr<box_exchange> later;
    for (std::size_t k = rounds.size(); k-- > 1;) {
      auto round = shared_transport->exchange(lowered(rounds[k]), kind);
      if (later) round->append_exchange(std::move(later));
      later = std::move(round);
    }
    auto all = lasting_exchange(shared_transport, world(), std::move(first), kind);
    if (later) all->append_exchange(std::move(later));
    return all;
  }

  Windows windows_;                    ///< define the window of each worker
  const char *name_, *required_call_;  ///< the kernel, and the call that an adjoint requires, for error messages
};

/// Adds to a window movement of one field or of several fields the operations that fill only ghosts and that make
/// windows of zeros.
template <class Base>
class refreshing_movement : public Base {
 public:
  using Base::Base;

 protected:
  using structure = typename Base::structure;               ///< a cached plan of Base
  using planner_of_movement = typename Base::planner_type;  ///< the planner that Base uses
  using shape_type = std::array<std::size_t, Base::rank>;   ///< the extents of the blocks, one field after the other

  /// Starts to fill the ghosts of the windows w, whose memory is `memory` and which already contain their own blocks.
  template <class T, class Window, class Memory>
  pending<written_in_place> start_refresh(const Window& w, const Memory& memory, const char* direction) {
    this->finish_pending_operation();
    box_call<Base::rank> call = Base::template make_call_for_type<T>(3, direction, memory.shape);
    call.forward = false;
    const structure* agreed = nullptr;
    const auto own = [&](const structure& s) { return s.own_cells(w); };
    const std::uint64_t number = this->start_exchange_in_place(call, &structure::refresh_exchanges, own, memory, [&] {
      structure& s = agree_on_plan<planner_of_movement>(*this, call, false);
      agreed = &s;
      const auto make = [&] { return this->planner_.refresh_exchange(s, call.kind, this->shared_transport()); };
      return std::pair(&s, s.there.takes ? &s.refresh_exchanges.find_or_make(call.kind, make) : nullptr);
    });
    if (!agreed->there.takes) return {{}, nullptr, 0};
    this->planner_.do_overlapped_work(*agreed, true, w, *this->operation());
    return {{}, this->operation(), number};
  }
  /// The plan for a tensor with the given cuts, on which all workers agree without passing a block.
  template <class T>
  const structure& agree_on_frame(const cut* cuts, std::size_t count, const shape_type& extents, const char* direction,
                                  const text& error_message) {
    this->finish_pending_operation();
    box_call<Base::rank> call = Base::template make_call_for_type<T>(5, direction, extents);
    call.cuts = cuts, call.own_error = local_error(error_message);
    for (std::size_t d = 0; d < count; ++d) call.type = mixed(call.type, cuts[d].fingerprint());
    return agree_on_plan<planner_of_movement>(*this, call, false);
  }
  /// Makes a window whose cells are all zero.
  template <class T, std::size_t Rank>
  pooled_tensor<T, Rank> make_zero_window(const window_structure<Rank>& s) {
    auto y = make_pooled<T, Rank>(*this->memory(), s.there.destination_shape);
    y.fill(T{});
    return y;
  }
};

/// The movement of windows for a kernel or a layer.
template <class Windows>
class window_movement : public refreshing_movement<planned_movement<window_exchange_planner<Windows>>> {
  using base = refreshing_movement<planned_movement<window_exchange_planner<Windows>>>;  ///< executes the calls

 public:
  using base::rank;
  using planner_type = Windows;                      ///< the argument of the constructor, for box_kernel
  using shape_type = std::array<std::size_t, rank>;  ///< the extents of a block or a window

  explicit window_movement(Windows windows) : base(window_exchange_planner<Windows>(std::move(windows))) {}

  const Windows& windows() const { return this->planner_.windows(); }  ///< define the window of each worker
  /// This worker's window in the plan of the last call; null before the first call.
  const halo_plan<rank>* last_window_plan() const {
    const auto* const s = this->plans_.last_plan();
    return s == nullptr ? nullptr : &s->window_plan;
  }
  /// The decomposition of the tensor of the last call. Requires: an earlier call.
  const decomposition<rank>& last_call_cuts() const { return *this->plans_.last_plan()->cuts; }

  /// Starts to fill the ghosts of this worker's window w, which already contains the worker's own block.
  template <class T>
  pending<written_in_place> refresh(const strided<T, rank>& w, const char* direction) {
    return this->template start_refresh<T>(w, w, direction);
  }
  /// Collective: all workers learn the decomposition and the plan for blocks of this shape without moving data, or all
  /// workers throw.
  template <class T>
  void prepare(const shape_type& own_shape, const char* direction, const local_error& before) {
    this->one_call([&] {
      this->finish_pending_operation();
      box_call<rank> call = base::template make_call_for_type<T>(4, direction, own_shape);
      call.own_error = before;
      agree_on_plan<window_exchange_planner<Windows>>(*this, call, false);
    });
  }

  /// Collective: all workers agree on the decomposition of a tensor without passing a block. Returns this worker's
  /// window, whose cells are all zero.
  template <class T>
  pooled_tensor<T, rank> frame(const decomposition<rank>& cuts, const char* direction) {
    return this->template make_zero_window<T>(this->template agree_on_frame<T>(
        cuts.cuts.data(), rank, cuts.extents(), direction, windows().find_cut_error(cuts, direction)));
  }
};

}  // namespace partita::detail
