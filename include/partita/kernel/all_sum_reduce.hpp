// All-sum-reduce: the blocks along some dimensions of a partition summed, and every worker gets the sum.
#pragma once

#include <partita/kernel/detail/group_movement.hpp>
#include <partita/rule/policy.hpp>

namespace partita {

/// Sums the blocks of the workers of p that differ only in the given dimensions of their index; each of them gets the sum.
/// Shapes:   x is this worker's block, the blocks of one sum have one shape [shape_error, on all workers]; the result has that
///           shape. An inactive worker gets a copy of what it gave.
/// Requires: dimensions below rank(p), each once [compile time]; policies: `reproducible`, for numbers.
/// Cost:     per group of g workers on one node each sums one slice and writes it to all through shared memory; between
///           nodes up and down one binomial tree of messages. `reproducible` between nodes sends every block to the first
///           worker of the group, and adds up with about 12 operations an element.
/// Adjoint:  itself.
template <class Extents, class... Policies>
class all_sum_reduce {
  static_assert((std::is_same_v<Policies, reproducible_t> && ...),
                "partita::all_sum_reduce(p, dimensions, policies...): requires policies among reproducible");
  using summation = detail::summation_of<Policies...>;

 public:
  /// `all_sum_reduce(p, dimensions<0>)`: sums along dimension 0.
  template <std::size_t... D>
  all_sum_reduce(const partition<Extents>& p, dimensions_t<D...> named, Policies...)
      : all_sum_reduce(p, kept_dimensions<Extents::rank()>(named)) {
    check_dimensions<D...>();
  }
  /// `all_sum_reduce(p, all_dimensions_but<1>)`: sums along every dimension but 1.
  template <std::size_t... D>
  all_sum_reduce(const partition<Extents>& p, all_dimensions_but_t<D...> named, Policies...)
      : all_sum_reduce(p, kept_dimensions<Extents::rank()>(named)) {
    check_dimensions<D...>();
  }

  template <ranked_array X>
  auto operator()(const X& x) const {
    using T = element_of<X>;
    static_assert(summable_element<T>, "partita::all_sum_reduce(p)(x): requires elements that can be summed; bool cannot, cast to an integer type");
    const block_argument<X> argument(x);
    return movement_.template collect_to_all<T, rank_of<X>, summation>(argument.block(), {});
  }
  /// Begins and returns what will give the result: `auto later = a.start(x); …; auto y = later.finish();`. Until then x must stay
  /// as it is. The next call of a kernel on this world ends it first.
  template <ranked_array X>
  auto start(const X& x) const {
    using T = element_of<X>;
    static_assert(summable_element<T>, "partita::all_sum_reduce(p).start(x): requires elements that can be summed; bool cannot, cast to an integer type");
    return detail::begun(x, [&](const auto& block) {
      return movement_.template start_collect<T, rank_of<X>, summation>(block, {}, detail::sum_goes::to_all, {}, [] {});
    });
  }
  /// The same into a caller's array or view, which must have the shape of the result [shape_error, on all workers].
  template <ranked_array X, class View>
  void into(const X& x, View&& view) const {
    using T = element_of<X>;
    const block_argument<X> argument(x);
    movement_.template collect_to_all<T, rank_of<X>, summation>(argument.block(), detail::target_of<T, rank_of<X>>(view));
  }
  template <ranked_array Y>
  auto adjoint(const Y& dy) const {
    return (*this)(dy);
  }

  /// Whose blocks are summed with this worker's.
  const group_plan& plan() const { return movement_.plan(); }

 private:
  template <std::size_t... D>
  static constexpr void check_dimensions() {
    constexpr std::size_t rank = Extents::rank();
    static_assert(((D < rank) && ...), "partita::all_sum_reduce(p, dimensions<...>): requires dimensions below rank(p)");
    constexpr std::size_t times[] = {D..., 0};
    static_assert([&] {
      for (std::size_t a = 0; a < sizeof...(D); ++a)
        for (std::size_t b = 0; b < a; ++b)
          if (times[a] == times[b]) return false;
      return true;
    }(), "partita::all_sum_reduce(p, dimensions<...>): requires each dimension once");
  }

  all_sum_reduce(const partition<Extents>& p, const std::array<bool, Extents::rank()>& kept)
      : movement_(movement(p, kept)) {}

  static detail::group_movement movement(const partition<Extents>& p, const std::array<bool, Extents::rank()>& kept) {
    std::uint64_t fingerprint = detail::mixed(p.grid().fingerprint(), 17 + sizeof...(Policies));
    for (bool k : kept) fingerprint = detail::mixed(fingerprint, k ? 1 : 0);
    const char* const name = "partita::all_sum_reduce";
    text call(name);
    call << "(p, dimensions) with p = " << p.grid().shape();
    return {p.world().state(), plan_sum_groups(p.grid(), kept, p.world().id()), name, call, fingerprint, true};
  }

  mutable detail::group_movement movement_;
};

template <class Extents, class Dimensions, class... Policies>
all_sum_reduce(const partition<Extents>&, Dimensions, Policies...) -> all_sum_reduce<Extents, Policies...>;

}  // namespace partita
