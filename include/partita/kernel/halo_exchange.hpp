// Halo exchange: every worker gets its block surrounded by ghost cells, which are copies of its neighbours' cells.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <partita/kernel/detail/box_kernel.hpp>
#include <partita/kernel/detail/partition_arguments.hpp>
#include <partita/kernel/detail/requirements.hpp>
#include <partita/kernel/halo_cells.hpp>
#include <partita/kernel/window_movement.hpp>
#include <partita/plan/halo_rounds.hpp>
#include <type_traits>
#include <utility>
#include <vector>

namespace partita {
namespace detail {

/// The boundary function that the caller passed; an argument of any other kind is a compile-time error.
template <std::size_t Rank, class F>
outside_function<Rank> make_outside_function(F f) {
  constexpr bool fits = std::is_invocable_r_v<double, F&, const std::array<std::ptrdiff_t, Rank>&>;
  static_assert(
      fits,
      "partita::halo_exchange(p, widths, boundary, f): requires f(i) to be a number, for the global index i of "
      "a cell beyond a border, a std::array<std::ptrdiff_t, rank>");
  if constexpr (fits) return f;
  else return {};
}

/// Makes halo widths from two numbers without names: the widths before and after the block along one dimension.
template <std::size_t Rank, class W>
halo_widths<Rank> make_halo_widths(std::initializer_list<W> widths) {
  static_assert(Rank == 1,
                "partita::halo_exchange(p, widths, boundary): requires widths that name their sides; write {.before = "
                "1, .after = 1}, or a number for each dimension, {.before = {1, 2}, .after = {1, 2}}");
  if constexpr (Rank == 1) {
    if (widths.size() != 2)
      throw shape_error(text("partita::halo_exchange(p, widths, boundary): requires two widths along one dimension, ")
                        << "before and after the block, got " << widths.size() << "; write {.before = 1, .after = 1}");
    return {static_cast<std::size_t>(widths.begin()[0]), static_cast<std::size_t>(widths.begin()[1])};
  } else {
    return {};
  }
}

/// The planner of a halo exchange: blocks grow by the widths of a halo.
template <class Extents>
class halo_planner {
 public:
  static constexpr std::size_t rank = partition<Extents>::rank();  ///< the number of dimensions of the tensor

  /// Requires: widths that are not negative, and a function with boundary::function [shape_error].
  halo_planner(const partition<Extents>& p, const halo_widths<rank>& widths, const halo_boundaries<rank>& beyond,
               halo_algorithm algorithm = halo_algorithm::by_cost, outside_function<rank> outside = {})
      : p_(p),
        widths_(widths),
        boundaries_(beyond),
        algorithm_(algorithm),
        outside_function_(std::move(outside)),
        fingerprint_(mixed(p.grid().fingerprint(), 130)) {
    for (std::size_t d = 0; d < rank; ++d) {
      for (const std::size_t n : {widths.before[d], widths.after[d], static_cast<std::size_t>(beyond.before[d]),
                                  static_cast<std::size_t>(beyond.after[d])})
        fingerprint_ = mixed(fingerprint_, n);
      for (const std::size_t n : {widths.before[d], widths.after[d]})
        if (n > max_width)
          throw shape_error(text("partita::halo_exchange(p, widths, boundary): requires widths of at most ")
                            << max_width << ", got " << n << " along dimension " << d << "; a negative width is none");
    }
    if (beyond.any(boundary::function) && !outside_function_)
      throw shape_error(
          "partita::halo_exchange(p, widths, boundary::function): requires a function of the global index; give it as "
          "the fourth argument: halo_exchange(p, widths, boundary, f)");
    fingerprint_ = mixed(fingerprint_, static_cast<std::uint64_t>(algorithm));
    fingerprint_ = hasher(fingerprint_)
                       .mix(beyond.value_before)
                       .mix(beyond.value_after)
                       .mix(widths.shape)
                       .mix(widths.of_empty_blocks)
                       .value();
  }

  const char* name() const { return "partita::halo_exchange(p, widths, boundary)"; }  ///< the kernel in messages
  const partition<Extents>& p() const { return p_; }
  const halo_widths<rank>& widths() const { return widths_; }                  ///< in cells, before and after a block
  const halo_boundaries<rank>& boundaries() const { return boundaries_; }      ///< what ghosts beyond borders contain
  const outside_function<rank>& outside() const { return outside_function_; }  ///< for boundary::function, else empty
  std::uint64_t fingerprint() const { return fingerprint_; }                   ///< a hash of the grid and options
  text error_message(const std::array<std::size_t, rank>& extents) const {     ///< empty if it accepts these extents
    return halo_error(extents, widths_, boundaries_);
  }
  /// The decomposition for a frame: the decomposition that the caller passed, or the balanced one for given extents.
  const decomposition<rank>& to_decomposition(const decomposition<rank>& cuts) const { return cuts; }
  template <std::size_t... E>
  decomposition<rank> to_decomposition(const extents<E...>& global) const {
    static_assert(sizeof...(E) == rank,
                  "partita::halo_exchange::frame<T>(extents): requires extents of the rank of the partition");
    return decomposition<rank>::balanced(global.array(), p_.grid().shape());
  }
  /// Returns an error message if a halo exchange does not accept a tensor of this decomposition; otherwise an empty
  /// text.
  text find_cut_error(const decomposition<rank>& cuts, const char* call) const {
    const auto shape = p_.grid().shape();
    for (std::size_t d = 0; d < rank; ++d) {
      if (cuts.cuts[d].parts() != shape[d])
        return text(name()) << call << ": requires a cut with one part for each worker along every dimension, got "
                            << cuts.cuts[d].parts() << " parts along dimension " << d << " of p = " << shape;
      if (cuts.cuts[d].how() == cut::kind::block_cyclic)
        return text(name()) << call << ": requires cuts that are balanced or explicit, got a block-cyclic one along "
                            << "dimension " << d << "; a block-cyclic block has no frame";
    }
    const text problem = error_message(cuts.extents());
    return problem.empty() ? text() : text(name()) << call << ": " << problem;
  }
  /// The plan of a worker for a tensor of this decomposition.
  halo_plan<rank> plan(const decomposition<rank>& cuts, std::size_t worker) const {
    return plan_halo(p_.grid(), cuts, widths_, boundaries_, worker);
  }
  /// The rounds, one per dimension, in which a worker with this plan exchanges its ghosts. The result is empty if all
  /// ghosts travel at once, as for stars (rounds would not save messages) and for halos of empty blocks (an empty block
  /// has no cells to pass on in a later round).
  std::vector<exchange_plan<rank>> rounds(const decomposition<rank>& cuts, const halo_plan<rank>& whole,
                                          bool shares_one_memory) const {
    const bool by_dimension = algorithm_ == halo_algorithm::by_dimension ||
                              (algorithm_ == halo_algorithm::by_cost && !shares_one_memory &&
                               costs_of_halo(cuts, widths_, boundaries_).by_dimension_is_cheaper());
    if (!by_dimension || widths_.shape == halo_shape::star || widths_.of_empty_blocks) return {};
    return plan_halo_rounds(p_.grid(), cuts, widths_, boundaries_, whole);
  }

 private:
  static constexpr std::size_t max_width = static_cast<std::size_t>(-1) / 8;  ///< the most cells: sums do not overflow

  partition<Extents> p_;                     ///< whose workers have the blocks
  halo_widths<rank> widths_;                 ///< in cells, before and after a block
  halo_boundaries<rank> boundaries_;         ///< what ghosts beyond the borders of the tensor contain
  halo_algorithm algorithm_;                 ///< one round, or one round for each dimension
  outside_function<rank> outside_function_;  ///< the caller's function for boundary::function, else empty
  std::uint64_t fingerprint_;                ///< a hash of the grid and of all options
};

}  // namespace detail

template <class... Extents>
class halo_exchanges;

/// Surrounds every block with ghost cells: copies of the neighbouring cells, whichever workers have them. Ghost cells
/// beyond the borders of the tensor follow the boundary conditions, as in `halo_exchange h(p, {.before = {1, 1}, .after
/// = {1, 1}}, boundary::periodic)`.
/// Shapes:   x is this worker's block, in any decomposition along each dimension (uneven, empty, narrower than the
///           halo). The result is larger by the widths, but has no ghosts beyond a border with boundary::none. A block
///           without elements gets no ghosts, unless `.of_empty_blocks` is set. In a `halo_shape::star` the corners are
///           0, or the boundary's value beyond a border. An inactive worker gets a copy of its own input.
/// Requires: rank(x) == rank(p) [compile time]; the same cuts in all lines of workers, reflected ghosts narrower than
///           the tensor [shape_error, on all workers].
/// Cost:     on one node one copy of the block and one of each ghost, directly into the results; between nodes one
///           message per pair of workers, or rounds along one dimension after another (`halo_algorithm`).
///           `refresh(ghosted)` copies only the ghosts. Blocking calls that repeat a plan allocate only results.
/// Adjoint:  every cell of dy is added to the cell of which it is a copy; ghost cells that are no copies are dropped.
///           The exchange is linear, unless the boundary is a constant other than 0 or a function.
template <class Extents>
class halo_exchange
    : public detail::box_kernel<halo_exchange<Extents>, detail::window_movement<detail::halo_planner<Extents>>> {
  using base = detail::box_kernel<halo_exchange, detail::window_movement<detail::halo_planner<Extents>>>;
  friend base;
  template <class...>
  friend class halo_exchanges;
  static constexpr std::size_t rank = partition<Extents>::rank();  ///< the number of dimensions of the tensor

 public:
  halo_exchange(const partition<Extents>& p, const halo_widths<Extents::rank()>& widths,
                const halo_boundaries<Extents::rank()>& beyond, halo_algorithm algorithm = halo_algorithm::by_cost)
      : base({p, widths, beyond, algorithm}) {}
  /// Makes a halo exchange with the function for boundary::function: f(i) returns the value of the ghost cell at the
  /// global index i beyond a border; i is a std::array<std::ptrdiff_t, rank>. The kernel calls f while other ghosts
  /// travel; an exception that f throws is thrown on this worker alone.
  template <class F>
  halo_exchange(const partition<Extents>& p, const halo_widths<Extents::rank()>& widths,
                const halo_boundaries<Extents::rank()>& beyond, F f, halo_algorithm algorithm = halo_algorithm::by_cost)
      : base({p, widths, beyond, algorithm, detail::make_outside_function<Extents::rank()>(std::move(f))}) {}
  /// Fallback for widths as numbers without names: for one dimension the two numbers are the widths before and after
  /// the block; for more dimensions this is a compile-time error, since `{2, 1}` may mean two sides or two dimensions.
  template <class W, class... A>
  halo_exchange(const partition<Extents>& p, std::initializer_list<W> widths,
                const halo_boundaries<Extents::rank()>& beyond, const A&... more)
      : halo_exchange(p, detail::make_halo_widths<Extents::rank()>(widths), beyond, more...) {}

  /// This worker's block with its ghosts, all zeros, for a tensor of the given decomposition. The caller fills the
  /// block and calls refresh; no first call on the whole block is needed. `auto u = h.frame<double>(extents(n, m));`
  /// uses the balanced decomposition. After the call the function cells() returns the block's position.
  /// Shapes:   the result has the shape that a call of the kernel returns for a block of this decomposition; an
  ///           inactive worker gets zero volume.
  /// Requires: the same decomposition on all workers [disagreement_error], with one block for each worker along each
  ///           dimension and no block-cyclic cut; extents that a halo exchange accepts [shape_error, on all workers].
  /// Cost:     one agreement, and one more at the first frame of a decomposition; no data moves.
  /// Adjoint:  none, since the function reads no input.
  template <class T>
  pooled_tensor<T, rank> frame(const decomposition<rank>& cuts) const {
    static_assert(element_in_place<T>,
                  "partita::halo_exchange::frame<T>(cuts): requires elements that MPI can move and that are trivially "
                  "copyable");
    return this->movement_.one_call([&] { return this->movement_.template frame<T>(cuts, ".frame(cuts)"); });
  }
  template <class T, std::size_t... E>
  pooled_tensor<T, rank> frame(const extents<E...>& global) const {
    return frame<T>(planner().to_decomposition(global));
  }

  /// Fills the ghosts in place in an earlier result or frame of this kernel, whose own cells have changed since.
  /// Requires: the shape of an earlier result or frame [shape_error, on all workers].
  /// Cost:     one copy of each ghost cell; the other cells are not copied.
  template <class View>
  void refresh(View&& ghosted) const {
    start_refresh(ghosted).finish();
  }
  /// Non-blocking refresh, as in `auto later = h.start_refresh(u); …; later.finish();`. Until `finish` the cells of u
  /// that are not ghosts may be read, and u must not change.
  template <class View>
  auto start_refresh(View&& ghosted) const {
    if constexpr (accepts_view<View, View>()) {
      return this->movement_.one_call([&] {
        auto later = this->movement_.template refresh<element_of<View>>(block_of(ghosted), ".refresh(ghosted)");
        this->movement_.keep_call_pending();
        return later;
      });
    }
  }

  /// What this worker sends, keeps and receives for a tensor of these extents in the balanced decomposition. Cost: no
  /// communication.
  template <std::size_t... E>
  exchange_plan<rank> plan(const extents<E...>& global) const {
    static_assert(sizeof...(E) == rank,
                  "partita::halo_exchange::plan(extents): requires extents of the rank of the partition");
    return plan(global.array());
  }
  exchange_plan<rank> plan(const std::array<std::size_t, rank>& global) const {
    const auto& p = planner().p();
    return planner().plan(decomposition<rank>::balanced(global, p.grid().shape()), p.world().id()).exchange;
  }
  /// The positions, in the tensor of the last call, of this worker's cells and ghosts; empty on an inactive worker.
  /// Requires: an earlier call of h(x) or frame [error, on all workers that made no call].
  halo_cells<rank> cells() const {
    const auto* plan = this->movement_.last_window_plan();
    if (plan == nullptr)
      throw error(
          "partita::halo_exchange::cells(): requires a call before, which says how the tensor is cut; call h(x) first, "
          "or make a frame");
    if (!plan->exchange.takes) return {};
    return {this->movement_.last_call_cuts().block(planner().p().index()), widths(), plan->start};
  }
  const halo_widths<rank>& widths() const { return planner().widths(); }  ///< The widths of ghosts, in cells.

 private:
  const detail::halo_planner<Extents>& planner() const { return this->movement_.windows(); }  ///< the kernel's options
  /// Whether the call accepts a block of type X, checked at compile time.
  template <class X>
  static consteval bool takes() {
    static_assert(detail::has_known_rank<X>(),
                  PARTITA_REQUIRES_KNOWN_RANK("partita::halo_exchange(p, widths, boundary)(x)"));
    static_assert(!ranked_array<X> || detail::has_rank<X, rank>(),
                  PARTITA_REQUIRES_RANK_OF_PARTITION("partita::halo_exchange(p, widths, boundary)(x)"));
    static_assert(!ranked_array<X> || detail::has_addressable_elements<X>(),
                  PARTITA_REQUIRES_MOVABLE_IN_PLACE("partita::halo_exchange(p, widths, boundary)(x)"));
    return detail::has_rank<X, rank>() && detail::has_addressable_elements<X>();
  }
  /// Whether the adjoint accepts a block of type Y, checked at compile time.
  template <class Y>
  static consteval bool takes_back() {
    static_assert(detail::has_known_rank<Y>(),
                  PARTITA_REQUIRES_KNOWN_RANK("partita::halo_exchange(p, widths, boundary).adjoint(dy)"));
    static_assert(!ranked_array<Y> || detail::has_rank<Y, rank>(),
                  PARTITA_REQUIRES_RANK_OF_PARTITION("partita::halo_exchange(p, widths, boundary).adjoint(dy)"));
    static_assert(!ranked_array<Y> || detail::has_summable_elements<Y>(),
                  PARTITA_REQUIRES_SUMMABLE("partita::halo_exchange(p, widths, boundary).adjoint(dy)"));
    return detail::has_rank<Y, rank>() && detail::has_summable_elements<Y>();
  }
  template <class View, class X>
  static consteval bool accepts_view() {  ///< whether into and refresh can fill a View
    static_assert(detail::is_matching_view<View, std::remove_reference_t<X>>(),
                  PARTITA_REQUIRES_VIEW("partita::halo_exchange(p, widths, boundary).into(x, view), .refresh(view)"));
    return detail::is_matching_view<View, std::remove_reference_t<X>>();
  }
};

template <class Extents>
halo_exchange(const partition<Extents>&, const halo_widths<Extents::rank()>&, const halo_boundaries<Extents::rank()>&,
              halo_algorithm = halo_algorithm::by_cost) -> halo_exchange<Extents>;
template <class Extents, class F>
halo_exchange(const partition<Extents>&, const halo_widths<Extents::rank()>&, const halo_boundaries<Extents::rank()>&,
              F, halo_algorithm = halo_algorithm::by_cost) -> halo_exchange<Extents>;

namespace detail {

/// Halo widths of any rank, written in braces with their names. Numbers without names do not convert to this type.
struct named_halo_widths {
  std::byte unnamed_guard{};       ///< does not accept a number
  any_argument before{}, after{};  ///< stand for the widths before and after a block
  halo_shape shape{};              ///< with a star, ghosts at the corners are not exchanged
  bool of_empty_blocks{};          ///< whether blocks without elements get ghosts
};

}  // namespace detail

/// Fallback for a call without a partition, widths and boundaries: a compile-time error with one readable message.
template <>
class halo_exchange<detail::no_partitions> {
 public:
  /// Does not compile: prints how to call halo_exchange.
  template <class... Given>
  explicit halo_exchange(detail::any_argument = {}, detail::any_argument = {}, detail::any_argument = {},
                         detail::any_argument = {}, detail::any_argument = {}) {
    static_assert(
        detail::dependent_false<Given...>,
        "partita::halo_exchange(p, widths, boundaries): requires a partition, widths of as many numbers as it "
        "has dimensions, and what lies beyond the borders; write halo_exchange(p, {.before = {1, 1}, .after = "
        "{1, 1}}, boundary::periodic)");
  }
  template <class... Given>
  halo_exchange(detail::any_argument, const detail::named_halo_widths&, detail::any_argument = {},
                detail::any_argument = {})
      : halo_exchange(Given()...) {}
};
halo_exchange(detail::any_argument = {}, detail::any_argument = {}, detail::any_argument = {},
              detail::any_argument = {}, detail::any_argument = {}) -> halo_exchange<detail::no_partitions>;
halo_exchange(detail::any_argument, const detail::named_halo_widths&, detail::any_argument = {},
              detail::any_argument = {}) -> halo_exchange<detail::no_partitions>;

}  // namespace partita
