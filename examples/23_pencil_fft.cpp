// Three-dimensional Fourier transforms of complex and of real numbers between pencils, on 4 workers.
#include <fftw3.h>

#include <complex>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <partita/kernel/fourier_transform.hpp>
#include <partita/partita.hpp>

#include "pencil_picture.hpp"

using namespace partita;
using number = std::complex<double>;

constexpr extents<6, 8, 5> points;
number x_at(std::size_t i, std::size_t j, std::size_t k) {
  return {static_cast<double>((3 * i + 5 * j + 7 * k) % 11), static_cast<double>((i * j + k) % 4)};
}

/// The transform of the whole array by one call of FFTW.
xt::xtensor<number, 3> whole_transform() {
  xt::xtensor<number, 3> all({6, 8, 5});
  for (std::size_t n = 0; n < all.size(); ++n) {
    const auto i = index_of(n, points.array());
    all.data()[n] = x_at(i[0], i[1], i[2]);
  }
  auto* const data = reinterpret_cast<fftw_complex*>(all.data());
  const auto plan = fftw_plan_dft_3d(6, 8, 5, data, data, FFTW_FORWARD, FFTW_ESTIMATE);
  fftw_execute(plan);
  fftw_destroy_plan(plan);
  return all;
}

template <class A, class B>
double difference(const A& a, const B& b) {
  double largest = 0;
  for (std::size_t k = 0; k < a.size(); ++k) largest = std::max(largest, std::abs(a.data()[k] - b.data()[k]));
  return largest;
}

int main(int argc, char** argv) {
  boost::mpi::environment environment(argc, argv);
  world everyone;
  // [pencils]
  auto p_x = everyone.partition<2, 2, 1>();  // dimension 2 is not divided
  auto p_y = everyone.partition<1, 2, 2>();
  const xt::xtensor<number, 3> x = block_from<number>(p_x, points, x_at);

  auto f = fourier_transform<0, 1, 2>(p_x, p_y);
  const auto y = f(x);                     // this worker's block of the transform, on p_y
  const auto x_restored = f.inverse()(y);  // equals x
  const auto dx = f.adjoint(y);            // the conjugate transpose: the inverse times the number of points
  // [/pencils]

  // [real]
  auto g = fourier_transform<0, 1, 2>(p_x, real_to_complex,
                                      {.real_extent = 5});  // the kernel chooses the layout of the result
  const xt::xtensor<double, 3> r = block_from(p_x, points, [](auto... i) { return x_at(i...).real(); });
  const auto half = g(r);                           // half of the spectrum: 6 x 8 x 3 complex numbers
  const auto r_restored = g.inverse(points)(half);  // equals r
  const auto p_half = g.result_partition(points);   // the partition of `half`: choosing it saves one exchange
  // [/real]

  // with an argument FILE the program draws the layouts into this file
  if (argc > 1 && everyone.id() == 0) std::ofstream(argv[1]) << pencils::to_svg(f.plan(points));

  const auto all = whole_transform();
  const auto expected = block_from<number>(p_y, points, [&](auto... i) { return all(i...); });
  const double error = difference(y, expected);
  const double inverse_error = difference(x_restored, x) + difference(r_restored, r);
  const double adjoint_error = difference(dx, xt::xtensor<number, 3>(240.0 * x));
  if (everyone.id() == 0)
    std::cout << f.plan(points) << "Of real numbers, where the layout of the result is free (" << p_half.extents()
              << " workers):\n"
              << g.plan(points) << "Look at: worker 0 meets one other worker in each move, not all of them.\n"
              << "Its block differs from a transform of the whole array by " << error << ".\n";
  return error + inverse_error + adjoint_error < 1e-10 ? EXIT_SUCCESS : EXIT_FAILURE;
}
