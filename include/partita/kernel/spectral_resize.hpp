// Resizes a spectrum and moves it between partitions: truncation and zero padding as a linear operator.
#pragma once

#include <array>
#include <complex>
#include <cstddef>
#include <partita/array/resized_line.hpp>
#include <partita/comm/partition.hpp>
#include <partita/core/extents.hpp>
#include <partita/kernel/detail/accepted.hpp>
#include <partita/kernel/detail/box_kernel.hpp>
#include <partita/kernel/detail/make_collective_movement.hpp>
#include <partita/kernel/detail/spectrum_planner.hpp>
#include <partita/rule/kernel_dimensions.hpp>
#include <type_traits>

namespace partita {

/// Changes the spectrum of `before` points to the spectrum of `after` points, by truncation and by zeros, from p_x to
/// p_y, as in `spectral_resize(p_x, p_y, extents(8, 8), extents(12, 12))`. A last argument `dimensions<1>` says that
/// dimension 1 has half of the spectrum of real numbers, as fourier_transform makes it with real_to_complex. Dimensions
/// whose extents do not change are batch dimensions. The result equals that of resize_spectrum, which also documents
/// the treatment of the Nyquist wave of an even extent.
/// Shapes:   x is this worker's block on p_x in the balanced decomposition of the spectrum of `before` points, as
///           results of fourier_transform are; the result is its block on p_y of the resized spectrum. A worker that is
///           only in p_x receives an empty block, a worker in neither partition a copy of its own input.
/// Requires: partitions and extents of one rank, and complex elements of float or double [compile time]; at least one
///           point where extents change, and along the dimension with half of a spectrum [shape_error]; balanced blocks
///           [shape_error, on all workers].
/// Cost:     a repartition of the kept waves, at most one message per pair of workers; where two waves become one,
///           boxes are added, which costs one more copy.
/// Adjoint:  the exact transpose, from p_y to p_x.
template <std::size_t Rank>
class spectral_resize : public detail::box_kernel<spectral_resize<Rank>, detail::spectrum_movement<Rank>> {
  using base = detail::box_kernel<spectral_resize, detail::spectrum_movement<Rank>>;  ///< executes the calls
  friend base;
  static constexpr const char* name = "partita::spectral_resize(p_x, p_y, before, after)";  ///< for error messages

 public:
  /// From an array of extents `before` to one of extents `after`; dimension D holds half of a spectrum.
  template <class P, class Q, std::size_t... N, std::size_t... M, std::size_t... D>
  spectral_resize(const partition<P>& p_x, const partition<Q>& p_y, const extents<N...>& before,
                  const extents<M...>& after, dimensions_t<D...> = {})
      : base(make_planner<P, Q, sizeof...(N), sizeof...(M), D...>(p_x, p_y, before.array(), after.array())) {}

  /// The plan of this worker: what it sends, keeps and receives. Cost: no communication.
  exchange_plan<Rank> plan() const {
    return this->movement_.planner().plan_of(this->movement_.planner().world()->id());
  }

 private:
  /// Checks the arguments of the constructor, and makes the planner of the movement.
  template <class P, class Q, std::size_t RankN, std::size_t RankM, std::size_t... D>
  static detail::spectrum_planner<Rank> make_planner(const partition<P>& p_x, const partition<Q>& p_y,
                                                     const std::array<std::size_t, RankN>& before,
                                                     const std::array<std::size_t, RankM>& after) {
    constexpr bool of_one_rank = P::rank() == Rank && Q::rank() == Rank && RankN == Rank && RankM == Rank;
    static_assert(of_one_rank,
                  "partita::spectral_resize(p_x, p_y, before, after): requires partitions and extents of one rank; "
                  "reshape() partitions with extents of 1");
    constexpr bool one_half = sizeof...(D) <= 1 && ((D < Rank) && ...);
    static_assert(one_half,
                  "partita::spectral_resize(p_x, p_y, before, after, dimensions<D>): requires the one dimension along "
                  "which half of a spectrum is stored, below the rank; leave it out for whole spectra");
    std::array<detail::resized_line, Rank> lines{};
    if constexpr (of_one_rank && one_half) {
      detail::expect_one_world(p_x, p_y, "partita::spectral_resize");
      for (std::size_t d = 0; d < Rank; ++d) {
        lines[d] = {before[d], after[d], ((D == d) || ...)};
        if ((lines[d].n == 0 || lines[d].m == 0) && (lines[d].n != lines[d].m || lines[d].is_half_spectrum))
          throw shape_error(text(name) << ": requires at least one point along dimension " << d << ", got " << before
                                       << " and " << after << "; give the points of the fields");
      }
    }
    return {name, detail::erase_extents<Rank>(p_x), detail::erase_extents<Rank>(p_y), lines};
  }

  /// Whether the call accepts a block of type X, checked at compile time.
  template <class X>
  static consteval bool takes() {
    constexpr bool suits = [] {
      if constexpr (detail::has_rank<X, Rank>()) {
        using T = element_of<X>;
        return std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>;
      } else {
        return false;
      }
    }();
    static_assert(suits,
                  "partita::spectral_resize(p_x, p_y, before, after)(x): requires an xtensor expression of the rank of "
                  "the partitions, of complex numbers of float or double");
    return suits;
  }
  /// Whether the adjoint accepts a block of type Y, checked at compile time.
  template <class Y>
  static consteval bool takes_back() {
    return takes<Y>();
  }
  template <class View, class X>
  static consteval bool accepts_view() {  ///< whether into(x, view) can fill a View for a block X
    static_assert(detail::is_matching_view<View, X>(),
                  "partita::spectral_resize(p_x, p_y, before, after).into(x, view): requires a view with memory of the "
                  "rank and element type of x, which is not const");
    return detail::is_matching_view<View, X>();
  }
};

template <class P, class Q, class... Rest>
spectral_resize(const partition<P>&, const partition<Q>&, const Rest&...) -> spectral_resize<P::rank()>;

}  // namespace partita
