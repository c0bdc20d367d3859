// What tests of complex numbers share: random operations as for integers, and gradients compared with differences.
#pragma once

#include "check_operation.hpp"

#include <complex>
#include <partita/sharded/complex.hpp>

namespace test {

using namespace partita;
using complex = std::complex<double>;

/// Compares the gradient of a real loss by complex numbers with differences: its real part with those of steps along
/// the real axis, its imaginary part along the imaginary one.
template <class F>
void check_differences(const char* name, const xt::xtensor<complex, 1>& at, F loss) {
  const auto [value, gradients] = value_and_gradient(loss, at);
  const auto& gradient = std::get<0>(gradients);
  constexpr double step = 1e-6;
  for (std::size_t k = 0; k < at.size(); ++k)
    for (const complex along : {complex(1, 0), complex(0, 1)}) {
      auto more = at, less = at;
      more(k) += step * along;
      less(k) -= step * along;
      const double slope = (xt::xtensor<double, 0>(loss(more))() - xt::xtensor<double, 0>(loss(less))()) / (2 * step);
      const double known = along.real() != 0 ? gradient(k).real() : gradient(k).imag();
      BOOST_TEST(std::abs(slope - known) < 1e-6 * (1 + std::abs(known)),
                 name << ' ' << k << ": " << slope << ' ' << known);
    }
}

}  // namespace test
