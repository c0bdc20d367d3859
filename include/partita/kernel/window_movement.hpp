// Moves blocks into overlapping windows, and back with sums. Halo exchange and every layer that slides a window over a
// tensor are built on it.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <partita/comm/element.hpp>
#include <partita/comm/fingerprint.hpp>
#include <partita/comm/pooled.hpp>
#include <partita/comm/transport.hpp>
#include <partita/kernel/detail/accepted.hpp>
#include <partita/kernel/detail/cut_of_blocks.hpp>
#include <partita/kernel/detail/described.hpp>
#include <partita/kernel/detail/ghosts.hpp>
#include <partita/kernel/detail/pending.hpp>
#include <partita/kernel/detail/plan_cache.hpp>
#include <partita/kernel/detail/target.hpp>
#include <partita/kernel/kernel_counts.hpp>
#include <partita/plan/halo_plan.hpp>
#include <utility>
#include <vector>

namespace partita::detail {

/// The result of an operation that writes into the caller's own block.
struct in_place {};

/// `Planner` defines the window of each worker: name(), p() with the blocks, fingerprint(), beyond() the borders,
/// objection(extents), and plan(cuts, worker).
template <class Planner>
class window_movement {
 public:
  static constexpr std::size_t rank = Planner::rank;
  using shape_type = std::array<std::size_t, rank>;

  explicit window_movement(Planner planner) : planner_(std::move(planner)) {}

  const Planner& planner() const { return planner_; }
  std::size_t structures_made() const { return structures_.made(); }
  kernel_counts counts() const {
    const carried last = last_ ? last_->counts() : carried{};
    return {structures_.made(), last.messages, last.bytes_by_message, last.bytes_shared};
  }
  /// Leaves the exchange that start has begun pending until the next agreement.
  void leave_under_way() const { state().leave_under_way(operation_); }
  /// Runs f() as one call of all workers.
  template <class F>
  decltype(auto) one_call(F f) const {
    const one_thread only(state().caller(), [&] { return text(planner_.name()); });
    return partita::detail::one_call(state(), f);
  }
  arena* memory() const { return ways_ ? &ways_->memory() : nullptr; }
  /// The plan of the previous call; null before the first.
  const halo_plan<rank>* last_plan() const { return last_plan_.get(); }
  /// The decomposition of the last tensor.
  const decomposition<rank>& last_cuts() const { return *last_cuts_; }

  /// Starts the exchange: every worker passes its block and gets its window.
  template <class T>
  pending<pooled_tensor<T, rank>> spread(const strided<const T, rank>& x, const target<T, rank>& wanted,
                                         const char* direction, const complaint& before) {
    return partita::detail::one_call(state(), [&] {
      operation().wait();
      structure& s = agreed_structure(
          state(), structures_, {fingerprint_of<T>(1), unless_apart(before, x, wanted, planner_.name()), true},
          [&](const structure& known) {
            const exchange_plan<rank>& e = known.plan->exchange;
            return (!e.gives || e.source_shape == x.shape) && fits(wanted, e, e.destination_shape, x.shape);
          },
          [&](complaint& trouble) { return learn(x.shape, wanted, direction, trouble); },
          [&] { return describe<T>(direction, x.shape); });
      last_plan_ = s.plan;
      last_cuts_ = s.cuts;
      return go(
          s.plan->exchange, s.spreading, element_kind::moved<T>(), x, wanted, [](const auto&) {},
          [&](const strided<T, rank>& window) { fill_ghosts(*s.plan, window); }, s.rounds);
    });
  }

  /// Starts to fill the ghosts of windows that already contain their own blocks.
  template <class T>
  pending<in_place> refresh(const strided<T, rank>& w, const char* direction) {
    return partita::detail::one_call(state(), [&]() -> pending<in_place> {
      operation().wait();
      const auto kind = element_kind::moved<T>();
      const auto fits = [&](const structure& known) { return fits_window(known, w.shape); };
      speculative_start begun;
      if (structure* const known = structures_.only(structures_.matching(fits));
          known != nullptr && known->plan->exchange.takes)
        if (box_exchange* const made = known->refreshing.made(kind)) {
          const strided<const T, rank> own = own_cells(*known->plan, w);
          begun.begin(*made, own.data, own.strides.data(), w.data, w.strides.data());
        }
      structure& s = agreed_structure(
          state(), structures_, {fingerprint_of<T>(3), complaint(), true}, fits,
          [&](complaint& trouble) { return no_window(w.shape, direction, trouble); },
          [&] { return describe<T>(direction, w.shape); });
      last_plan_ = s.plan;
      last_cuts_ = s.cuts;
      const exchange_plan<rank>& e = s.plan->exchange;
      if (!e.takes) return {{}, nullptr, 0};
      const strided<const T, rank> own = own_cells(*s.plan, w);
      last_ = s.refreshing.find(kind, [&] {
        if (s.rounds.empty()) return exchange_of(s.plan->ghosts_alone(), s.rounds, kind, true);
        exchange_plan<rank> ghosts = s.rounds.front();
        if (!ghosts.kept.empty()) ghosts.kept.erase(ghosts.kept.begin());  // the block itself
        return exchange_of(ghosts, s.rounds, kind);
      });
      const auto number = begun.is_agreed(*last_)
                              ? operation().go_on(last_, own.data, own.strides.data())
                              : operation().begin(last_, own.data, own.strides.data(), w.data, w.strides.data(), [] {});
      fill_ghosts(*s.plan, w);
      return {{}, operation_, number};
    });
  }

  /// Starts the adjoint: every cell of a window is added to the cell of a block that it came from. `fill()` as in
  /// `kernel_access`.
  template <class T, class Fill>
  pending<pooled_tensor<T, rank>> collect(const strided<const T, rank>& dy, const target<T, rank>& wanted,
                                          const char* direction, const complaint& before, Fill fill) {
    return partita::detail::one_call(state(), [&] {
      operation().wait();
      structure& s = agreed_structure(
          state(), structures_, {fingerprint_of<T>(2), unless_apart(before, dy, wanted, planner_.name()), true},
          [&](const structure& known) {
            const exchange_plan<rank>& e = known.plan->exchange;
            return fits_window(known, dy.shape) && (!wanted.given || !e.gives || volume_of(e.source_shape) == 0 ||
                                                    wanted.block.shape == e.source_shape);
          },
          [&](complaint& trouble) { return no_window(dy.shape, direction, trouble); },
          [&] { return describe<T>(direction, dy.shape); });
      last_plan_ = s.plan;
      last_cuts_ = s.cuts;
      return go(
          s.back, s.collecting, element_kind::summed<T>(), dy, wanted, [&](const auto&) { fill(); },
          [](const auto&) {});
    });
  }

  /// Collective: all workers learn the decomposition and the plan for blocks of this shape, without moving data; or all
  /// throw.
  template <class T>
  void prepare(const shape_type& mine, const char* direction, const complaint& before) {
    partita::detail::one_call(state(), [&] {
      operation().wait();
      structure& s = agreed_structure(
          state(), structures_, {fingerprint_of<T>(4), before, true},
          [&](const structure& known) {
            return !known.plan->exchange.gives || known.plan->exchange.source_shape == mine;
          },
          [&](complaint& trouble) { return learn(mine, target<T, rank>{}, direction, trouble); },
          [&] { return describe<T>(direction, mine); });
      last_plan_ = s.plan;
      last_cuts_ = s.cuts;
    });
  }

  /// Collective: all workers agree on the decomposition of a tensor without passing a block; returns this worker's
  /// window, all zeros.
  template <class T>
  pooled_tensor<T, rank> frame(const decomposition<rank>& cuts, const char* direction) {
    operation().wait();
    structure& s = agreed_structure(
        state(), structures_,
        {mixed(fingerprint_of<T>(5), cuts.fingerprint()), complaint(planner_.objection_to(cuts, direction)), true},
        [&](const structure& known) { return *known.cuts == cuts; },
        [&](complaint& trouble) {
          if (!ways_) ways_ = std::make_shared<transport>(state().communicator());
          return structure_of(cuts, text(planner_.name()) << direction, trouble);
        },
        [&] { return describe<T>(direction, cuts.extents()); });
    last_plan_ = s.plan;
    last_cuts_ = s.cuts;
    const exchange_plan<rank>& e = s.plan->exchange;
    auto y = make_pooled<T, rank>(ways_->memory(), e.takes ? e.destination_shape : shape_type{});
    y.fill(T{});
    return y;
  }

 private:
  /// Fills the ghosts beyond the borders while cells of other workers travel. If a boundary function of the user
  /// throws, the exchange is completed first, because other workers depend on it.
  template <class T>
  void fill_ghosts(const halo_plan<rank>& plan, const strided<T, rank>& window) {
    if constexpr (requires { planner_.outside(); })
      operation().also([&] { fill_outside(plan, window, planner_.beyond(), planner_.outside()); });
    else fill_outside(plan, window, planner_.beyond());
  }

  struct structure {
    std::shared_ptr<const halo_plan<rank>> plan;
    std::shared_ptr<const decomposition<rank>> cuts;
    exchange_plan<rank> back{};
    std::vector<exchange_plan<rank>> rounds{};  // empty: one exchange without rounds
    exchanges_by_kind spreading{}, collecting{}, refreshing{};
  };

  template <class T>
  structure learn(const shape_type& mine, const target<T, rank>& wanted, const char* direction, complaint& trouble) {
    if (!ways_) ways_ = std::make_shared<transport>(state().communicator());
    const text call = text(planner_.name()) << direction;
    const auto cuts = cut_of_blocks(planner_.p(), mine, call.c_str(), trouble);
    if (trouble.any()) return {};
    structure s = structure_of(cuts, call, trouble);
    if (trouble.any()) return {};
    const exchange_plan<rank>& e = s.plan->exchange;
    if (e.takes || !e.gives) expect_shape(wanted, e.takes ? e.destination_shape : mine, planner_.name(), trouble);
    return s;
  }
  structure structure_of(const decomposition<rank>& cuts, const text& call, complaint& trouble) {
    const text problem = planner_.objection(cuts.extents());
    if (!problem.empty()) {
      trouble = complaint(text(call) << ": " << problem);
      return {};
    }
    structure s;
    s.cuts = std::make_shared<const decomposition<rank>>(cuts);
    s.plan = std::make_shared<const halo_plan<rank>>(planner_.plan(cuts, state().id()));
    s.back = reversed(s.plan->exchange);
    if constexpr (requires { planner_.rounds(cuts, *s.plan, true); })
      s.rounds = planner_.rounds(cuts, *s.plan, ways_->one_memory());
    return s;
  }
  structure no_window(const shape_type& shape, const char* direction, complaint& trouble) {
    if (!ways_) ways_ = std::make_shared<transport>(state().communicator());
    trouble = complaint(text(planner_.name())
                        << direction
                        << ": requires blocks with ghosts of the shapes that a forward call gave before, or a frame; "
                        << "this worker's has the shape " << shape << "; call the kernel on x first");
    return {};
  }
  /// The cells of a window that are not ghosts.
  template <class T>
  static strided<const T, rank> own_cells(const halo_plan<rank>& plan, const strided<T, rank>& w) {
    const exchange_plan<rank>& e = plan.exchange;
    const bool has = !e.kept.empty() && plan.is_own_block(e.kept.front());
    return strided<const T, rank>(w).part(has ? e.kept.front().at_destination : shape_type{}, e.source_shape);
  }
  static bool fits_window(const structure& known, const shape_type& shape) {
    return !known.plan->exchange.takes || known.plan->exchange.destination_shape == shape;
  }
  template <class T>
  static bool fits(const target<T, rank>& wanted, const exchange_plan<rank>& e, const shape_type& shape,
                   const shape_type& mine) {
    if (!wanted.given || (e.gives && !e.takes)) return true;
    const shape_type& result = e.takes ? shape : mine;
    return volume_of(result) == 0 || wanted.block.shape == result;
  }

  /// A shape of zero volume that keeps the batch extent, if there is one.
  static shape_type nothing(const shape_type& shape) {
    shape_type none{};
    if constexpr (rank >= 2) none[0] = shape[0];
    return none;
  }

  /// Starts an exchange. `first` is called before the input is read, `beside` with the result while data travels.
  template <class T, class First, class Beside>
  pending<pooled_tensor<T, rank>> go(const exchange_plan<rank>& plan, exchanges_by_kind& exchanges,
                                     const element_kind& kind, const strided<const T, rank>& x,
                                     const target<T, rank>& wanted, First first, Beside beside,
                                     const std::vector<exchange_plan<rank>>& rounds = {}) {
    const shape_type shape = plan.takes ? plan.destination_shape : plan.gives ? nothing(x.shape) : x.shape;
    pooled_tensor<T, rank> y;
    strided<T, rank> to = wanted.block;
    if (!wanted.given || volume_of(shape) == 0) {
      y = make_pooled<T, rank>(ways_->memory(), shape);
      to = block_of(y);
    }
    if (!plan.takes && !plan.gives) {
      first(to);
      copy(to, x);
      return {std::move(y), nullptr, 0};
    }
    last_ = exchanges.find(kind, [&] { return exchange_of(rounds.empty() ? plan : rounds.front(), rounds, kind); });
    const std::uint64_t number =
        operation().begin(last_, x.data, x.strides.data(), to.data, to.strides.data(), [&] { first(to); });
    if (plan.takes) beside(to);
    return {std::move(y), operation_, number};
  }

  /// The exchange that carries out a plan, followed by the rounds after the first.
  std::shared_ptr<box_exchange> exchange_of(const exchange_plan<rank>& plan,
                                            const std::vector<exchange_plan<rank>>& rounds, const element_kind& kind,
                                            bool agreed_between = false) {
    std::unique_ptr<box_exchange> later;
    for (std::size_t k = rounds.size(); k-- > 1;) {
      auto round = ways_->exchange(lowered(rounds[k]), kind);
      if (later) round->then(std::move(later));
      later = std::move(round);
    }
    lowered_plan first = lowered(plan);
    first.agreed_between = agreed_between;
    auto all = lasting_exchange(ways_, planner_.p().world().state(), std::move(first), kind);
    if (later) all->then(std::move(later));
    return all;
  }

  /// The fingerprint of a call. Once the transport is open it includes the transport's number, because identically
  /// constructed kernels still send separate messages.
  template <class T>
  std::uint64_t fingerprint_of(std::uint64_t direction) const {
    return mixed(mixed(planner_.fingerprint(), type_number<T>()), direction + 16 * (ways_ ? ways_->number() : 0));
  }
  template <class T>
  text describe(const char* direction, const shape_type& shape) const {
    return text() << planner_.name() << direction << " with p = " << planner_.p().grid().shape() << " on "
                  << named(planner_.p().workers()) << " and a block of shape " << shape << " of " << type_name<T>();
  }
  world_state& state() const { return *planner_.p().world().state(); }
  exchange_operation& operation() const {
    expect_not_moved_from(operation_ != nullptr, planner_.name());
    return *operation_;
  }

  Planner planner_;
  plan_cache<structure> structures_;
  std::shared_ptr<transport> ways_;
  std::shared_ptr<box_exchange> last_;
  std::shared_ptr<const halo_plan<rank>> last_plan_;
  std::shared_ptr<const decomposition<rank>> last_cuts_;
  std::shared_ptr<exchange_operation> operation_ = std::make_shared<exchange_operation>();
};

}  // namespace partita::detail
