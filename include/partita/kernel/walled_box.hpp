// Solutions of Poisson's and Helmholtz's equations in a box with walls, by cosine, sine and Hartley transforms.
// partita.hpp does not include this header: include it where FFTW is installed.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <partita/kernel/spectral_operator.hpp>
#include <utility>

namespace partita {

/// The condition on a field at both walls of a dimension: dirichlet says that the field is 0 at the walls, neumann that
/// its derivative is 0. A periodic dimension has no wall, and the length of the box is the period.
enum class wall { dirichlet, neumann, periodic };

/// A box with walls: its numbers of points along each dimension, its lengths (pi by default), and its walls (dirichlet
/// by default). Point i of n is in the middle of cell i of n cells.
template <std::size_t Rank>
struct walled_box {
  std::array<std::size_t, Rank> points{};  ///< the number of points along each dimension
  std::array<double, Rank> lengths = [] {  ///< from wall to wall, or the periods
    std::array<double, Rank> all{};
    all.fill(std::numbers::pi);
    return all;
  }();
  std::array<wall, Rank> walls{};  ///< the condition at both walls of each dimension

  /// The coordinate of point i along dimension d.
  double position(std::size_t d, std::size_t i) const {
    return lengths[d] * (static_cast<double>(i) + 0.5) / static_cast<double>(points[d]);
  }
  /// The wave number at index i along dimension d, in radians per unit of length. For dirichlet, index i is the sine of
  /// i + 1 half waves; for neumann, the cosine of i half waves. Waves i and n - i of a periodic dimension have the same
  /// wave length.
  double angular_wave_number(std::size_t d, std::size_t i) const {
    if (walls[d] == wall::periodic)
      return 2 * std::numbers::pi / lengths[d] * static_cast<double>(std::min(i, points[d] - i));
    return std::numbers::pi / lengths[d] * static_cast<double>(i + (walls[d] == wall::dirichlet ? 1 : 0));
  }
  /// The factor by which minus the Laplacian multiplies the wave at an index.
  double square(const index<Rank>& i) const {
    double sum = 0;
    for (std::size_t d = 0; d < Rank; ++d) sum += angular_wave_number(d, i[d]) * angular_wave_number(d, i[d]);
    return sum;
  }
};

/// Multiplies each sine, cosine or Hartley wave of a field in a walled box by a real factor; made by poisson_solver and
/// helmholtz_solver. fourier_transform chooses the layout of the spectrum.
/// Shapes:   x is this worker's block on p, in the balanced decomposition of box.points; so is the result.
/// Requires: balanced blocks [shape_error, on all workers]; elements float or double [compile time].
/// Cost:     two transforms of real numbers: one forward, one inverse.
/// Adjoint:  the operator itself, because the transforms are orthogonal (fourier_norm::ortho).
template <std::size_t Rank>
class walled_operator {
 public:
  /// Multiplies the coefficient of the wave with index i by factor(i).
  template <class P, class Factor>
  walled_operator(const partition<P>& p, const walled_box<Rank>& box, Factor factor)
      : p_(detail::partition_of_box<Rank>(p)),
        points_(box.points),
        transform_(p_, std::nullopt, transforms_of_walls(box, std::make_index_sequence<Rank>()),
                   {.norm = fourier_norm::ortho}),
        inverse_transform_(transform_.inverse(dynamic_extents<Rank>(points_))),
        factors_(block_from<double>(transform_.result_partition(dynamic_extents<Rank>(points_)),
                                    dynamic_extents<Rank>(points_),
                                    [&](auto... i) { return double(factor(index<Rank>{i...})); })),
        fingerprint_(detail::factors_fingerprint<Rank>(box, points_, factor)) {}

  template <class X>
  auto operator()(const X& x) const {
    if constexpr (accepts_block<X>()) {
      p_.world().state()->log_local_operation(fingerprint_, "partita::walled_operator", points_);
      auto waves = detail::kernel_access::call(transform_, x,
                                               detail::describe_unbalanced_field("walled_operator", p_, points_, x));
      using real = typename decltype(waves)::value_type;
      for (std::size_t k = 0; k < waves.size(); ++k) waves.data()[k] *= static_cast<real>(factors_.data()[k]);
      return inverse_transform_(waves);
    } else {
      return detail::rejected_call{};
    }
  }
  template <class Y>
  auto adjoint(const Y& dy) const {  ///< applies the operator itself to dy
    return (*this)(dy);
  }

 private:
  friend struct detail::kernel_access;
  void throw_together_(const text& error_message) const {  ///< throws a worker's error on all; at checks::local its own
    detail::kernel_access::throw_together(transform_, error_message);
  }

  template <std::size_t... D>
  static fourier_operator<real_to_real_t<Rank>, Rank, D...> operator_along(std::index_sequence<D...>);
  using transform = decltype(operator_along(std::make_index_sequence<Rank>()));  ///< along all dimensions, by walls

  /// Sines for dirichlet, cosines for neumann, the Hartley transform for periodic dimensions.
  template <std::size_t... D>
  static real_to_real_t<Rank> transforms_of_walls(const walled_box<Rank>& box, std::index_sequence<D...>) {
    constexpr std::array kinds{real_transform::dst_2, real_transform::dct_2, real_transform::hartley};
    return real_to_real(kinds[static_cast<std::size_t>(box.walls[D])]...);
  }
  template <class X>
  static consteval bool accepts_block() {  ///< whether X is a field of float or double of the box's rank
    constexpr bool real = detail::is_real_field<real_to_real_t<Rank>, Rank, X>();
    static_assert(real,
                  "partita::walled_operator(p, box)(x): requires an xtensor expression of the rank of the box, of "
                  "float or double; take the real and the imaginary parts of complex numbers");
    return real;
  }

  dynamic_partition<Rank> p_;                ///< the partition of fields and results
  std::array<std::size_t, Rank> points_;     ///< the extents of the fields
  transform transform_, inverse_transform_;  ///< from fields to their waves, and back
  xt::xtensor<double, Rank> factors_;        ///< the factors of this worker's waves
  std::uint64_t fingerprint_;                ///< a hash of the box and of some factors, equal on all workers
};

/// The solution u of Poisson's equation -Laplacian(u) = f in a box with walls. If no wall is dirichlet, u has mean 0,
/// and the mean of f has no influence.
template <class P, std::size_t Rank>
walled_operator<Rank> poisson_solver(const partition<P>& p, const walled_box<Rank>& box) {
  return {p, box, detail::poisson_factors<Rank>(box)};
}
/// The solution u of Helmholtz's equation shift u - Laplacian(u) = f in a box with walls.
/// Requires: a positive shift [shape_error].
template <class P, std::size_t Rank>
walled_operator<Rank> helmholtz_solver(const partition<P>& p, const walled_box<Rank>& box, double shift) {
  return {p, box, detail::helmholtz_factors<Rank>(box, shift)};
}

}  // namespace partita
