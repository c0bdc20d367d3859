// Moves blocks into overlapping windows, and back with sums. Halo exchange and every layer that slides a window over a
// tensor are built on it.
#pragma once

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

/// From blocks to windows, back with sums, and what fills the ghosts of windows that have their own blocks already.
template <std::size_t Rank>
struct window_structure : planned_boxes<Rank> {
  halo_plan<Rank> windows{};
  std::optional<decomposition<Rank>> cuts{};  ///< of the tensor
  std::vector<exchange_plan<Rank>> rounds{};  ///< empty: one exchange without rounds
  exchanges_by_kind refreshing{};
};

/// Plans for windows. `Windows` defines the window of each worker: name(), p() with the blocks, fingerprint(), beyond()
/// the borders, error_message(extents), and plan(cuts, worker); optionally outside(), the function beyond the borders,
/// and rounds(cuts, plan, one_memory).
template <class Windows>
class window_exchange_planner {
 public:
  static constexpr std::size_t rank = Windows::rank;
  static constexpr bool sums_back = true, checks_itself = false;
  using structure = window_structure<rank>;
  using shape_type = std::array<std::size_t, rank>;

  explicit window_exchange_planner(Windows windows) : windows_(std::move(windows)) {}

  const Windows& windows() const { return windows_; }
  std::shared_ptr<world_state> world() const { return windows_.p().world().state(); }
  const char* name() const { return windows_.name(); }
  std::uint64_t fingerprint() const { return windows_.fingerprint(); }
  static constexpr bool keeps_batch() { return true; }
  text describe(const char* direction, const shape_type& shape, const text& type) const {
    return described(name(), direction, windows_.p(), shape, type);
  }

  structure learn(const box_call<rank>& call, std::shared_ptr<transport>& ways, local_error& trouble) const {
    opened(ways, *world());
    if (!call.forward) return no_window(call.shape, call.direction, trouble);
    const text name_of_call = text(name()) << call.direction;
    const auto cuts = cut_of_blocks(windows_.p(), call.shape, name_of_call.c_str(), trouble);
    return trouble.any() ? structure() : structure_of(cuts, name_of_call, *ways, trouble);
  }
  /// The plans for a tensor of this decomposition.
  structure structure_of(const decomposition<rank>& cuts, const text& call, const transport& ways,
                         local_error& trouble) const {
    const text problem = windows_.error_message(cuts.extents());
    if (!problem.empty()) {
      trouble = local_error(text(call) << ": " << problem);
      return {};
    }
    structure s;
    s.cuts = cuts;
    s.windows = windows_.plan(cuts, world()->id());
    s.there = s.windows.exchange;
    s.back = reversed(s.there);
    if constexpr (requires { windows_.rounds(cuts, s.windows, true); })
      s.rounds = windows_.rounds(cuts, s.windows, ways.one_memory());
    return s;
  }
  structure no_window(const shape_type& shape, const char* direction, local_error& trouble) const {
    trouble = local_error(
        text(name()) << direction
                     << ": requires blocks with ghosts of the shapes that a forward call gave before, or a frame; "
                     << "this worker's has the shape " << shape << "; call the kernel on x first");
    return {};
  }

  std::shared_ptr<box_exchange> exchange(const structure& s, bool forward, const element_kind& kind,
                                         const std::shared_ptr<transport>& ways) const {
    if (!forward) return lasting_exchange(ways, world(), lowered(s.back), kind);
    return in_rounds(lowered(s.rounds.empty() ? s.there : s.rounds.front()), s.rounds, kind, ways);
  }
  /// What fills the ghosts alone.
  std::shared_ptr<box_exchange> refreshing(const structure& s, const element_kind& kind,
                                           const std::shared_ptr<transport>& ways) const {
    lowered_plan first;
    if (s.rounds.empty()) {
      first = lowered(s.windows.ghosts_alone());
      first.agreed_between = true;
    } else {
      exchange_plan<rank> ghosts = s.rounds.front();
      if (!ghosts.kept.empty()) ghosts.kept.erase(ghosts.kept.begin());  // the block itself
      first = lowered(ghosts);
    }
    return in_rounds(std::move(first), s.rounds, kind, ways);
  }

  /// Fills the ghosts beyond the borders while cells of other workers travel. If a boundary function of the user
  /// throws, the exchange is completed first, because other workers depend on it.
  template <class T>
  void beside(const structure& s, bool forward, const strided<T, rank>& window, exchange_operation& pending) const {
    if (!forward || !s.there.takes) return;
    if constexpr (requires { windows_.outside(); })
      pending.also([&] { fill_outside(s.windows, window, windows_.beyond(), windows_.outside()); });
    else fill_outside(s.windows, window, windows_.beyond());
  }

 private:
  /// An exchange followed by the rounds after the first.
  std::shared_ptr<box_exchange> in_rounds(lowered_plan first, const std::vector<exchange_plan<rank>>& rounds,
                                          const element_kind& kind, const std::shared_ptr<transport>& ways) const {
    std::unique_ptr<box_exchange> later;
    for (std::size_t k = rounds.size(); k-- > 1;) {
      auto round = ways->exchange(lowered(rounds[k]), kind);
      if (later) round->then(std::move(later));
      later = std::move(round);
    }
    auto all = lasting_exchange(ways, world(), std::move(first), kind);
    if (later) all->then(std::move(later));
    return all;
  }

  Windows windows_;
};

/// The movement of a kernel or a layer with windows.
template <class Windows>
class window_movement : public planned_movement<window_exchange_planner<Windows>> {
  using base = planned_movement<window_exchange_planner<Windows>>;
  using structure = typename base::structure;

 public:
  using base::rank;
  using planner_type = Windows;
  using shape_type = std::array<std::size_t, rank>;

  explicit window_movement(Windows windows) : base(window_exchange_planner<Windows>(std::move(windows))) {}

  const Windows& windows() const { return this->planner_.windows(); }
  /// The windows of the last tensor; null before the first call.
  const halo_plan<rank>* last_windows() const {
    const structure* const s = this->structures_.latest();
    return s == nullptr ? nullptr : &s->windows;
  }
  /// The decomposition of the last tensor. Requires: an earlier call.
  const decomposition<rank>& last_cuts() const { return *this->structures_.latest()->cuts; }

  /// Starts to fill the ghosts of windows that already contain their own blocks.
  template <class T>
  pending<in_place> refresh(const strided<T, rank>& w, const char* direction) {
    this->finish_pending();
    const auto kind = element_kind::moved<T>();
    const auto fits = [&](const structure& known) {
      return !known.there.takes || known.there.destination_shape == w.shape;
    };
    speculative_start begun;
    if (structure* const known = this->structures_.only(this->structures_.matching(fits));
        known != nullptr && known->there.takes)
      if (box_exchange* const made = known->refreshing.made(kind)) {
        const strided<const T, rank> own = own_cells(*known, w);
        begun.begin(*made, own.data, own.strides.data(), w.data, w.strides.data());
      }
    structure& s = agreed_structure(
        this->state(), this->structures_, {this->fingerprint(type_number<T>(), 3), local_error(), true}, fits,
        [&](local_error& trouble) {
          opened(this->ways(), this->state());
          return this->planner_.no_window(w.shape, direction, trouble);
        },
        [&] { return this->planner_.describe(direction, w.shape, type_name<T>()); });
    if (!s.there.takes) return {{}, nullptr, 0};
    const strided<const T, rank> own = own_cells(s, w);
    const auto& exchange = s.refreshing.find(kind, [&] { return this->planner_.refreshing(s, kind, this->ways()); });
    const auto number = begun.is_agreed(*exchange) ? this->go_on(exchange, own.data, own.strides.data())
                                                   : this->begin(exchange, own.data, own.strides.data(), w.data,
                                                                 w.strides.data(), nothing_to_fill{});
    this->planner_.beside(s, true, w, *this->operation());
    return {{}, this->operation(), number};
  }

  /// Collective: all workers learn the decomposition and the plan for blocks of this shape, without moving data; or all
  /// throw.
  template <class T>
  void prepare(const shape_type& mine, const char* direction, const local_error& before) {
    this->one_call([&] {
      this->finish_pending();
      box_call<rank> call;
      call.number = 4, call.direction = direction, call.shape = mine, call.kind = element_kind::moved<T>();
      call.type = type_number<T>(), call.name_of_type = &type_name<T>, call.before = before;
      agree_on_plan(static_cast<base&>(*this), call, false);
    });
  }

  /// Collective: all workers agree on the decomposition of a tensor without passing a block; returns this worker's
  /// window, all zeros.
  template <class T>
  pooled_tensor<T, rank> frame(const decomposition<rank>& cuts, const char* direction) {
    this->finish_pending();
    structure& s = agreed_structure(
        this->state(), this->structures_,
        {mixed(this->fingerprint(type_number<T>(), 5), cuts.fingerprint()),
         local_error(windows().error_in(cuts, direction)), true},
        [&](const structure& known) { return *known.cuts == cuts; },
        [&](local_error& trouble) {
          return this->planner_.structure_of(cuts, text(this->name()) << direction, opened(this->ways(), this->state()),
                                             trouble);
        },
        [&] { return this->planner_.describe(direction, cuts.extents(), type_name<T>()); });
    auto y = make_pooled<T, rank>(*this->memory(), s.there.takes ? s.there.destination_shape : shape_type{});
    y.fill(T{});
    return y;
  }

 private:
  /// The cells of a window that are not ghosts.
  template <class T>
  static strided<const T, rank> own_cells(const structure& s, const strided<T, rank>& w) {
    const exchange_plan<rank>& e = s.there;
    const bool has = !e.kept.empty() && s.windows.is_own_block(e.kept.front());
    return strided<const T, rank>(w).part(has ? e.kept.front().at_destination : shape_type{}, e.source_shape);
  }
};

}  // namespace partita::detail
