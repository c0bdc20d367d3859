// A three-dimensional Fourier transform with FFTW: repartitions make one dimension whole at a time, on 4 workers.
#include <fftw3.h>

#include <complex>
#include <cstdlib>
#include <iostream>
#include <partita/partita.hpp>

using namespace partita;
using number = std::complex<double>;

constexpr std::size_t n0 = 6, n1 = 8, n2 = 5;
number x_at(std::size_t i, std::size_t j, std::size_t k) {
  return {static_cast<double>((3 * i + 5 * j + 7 * k) % 11), static_cast<double>((i * j + k) % 4)};
}

/// Transforms every line along dimension d in place: a loop runs over the dimensions before d, FFTW's batch over those
/// after d.
void transform(xt::xtensor<number, 3>& x, std::size_t d) {
  if (x.size() == 0) return;
  std::size_t before = 1, behind = 1;
  for (std::size_t e = 0; e < d; ++e) before *= x.shape(e);
  for (std::size_t e = d + 1; e < 3; ++e) behind *= x.shape(e);
  const int length = static_cast<int>(x.shape(d)), lines = static_cast<int>(behind);
  for (std::size_t b = 0; b < before; ++b) {
    auto* const data = reinterpret_cast<fftw_complex*>(x.data() + b * x.shape(d) * behind);
    const auto plan = fftw_plan_many_dft(1, &length, lines, data, nullptr, lines, 1, data, nullptr, lines, 1,
                                         FFTW_FORWARD, FFTW_ESTIMATE);
    fftw_execute(plan);
    fftw_destroy_plan(plan);
  }
}

int main(int argc, char** argv) {
  boost::mpi::environment environment(argc, argv);
  world everyone;
  // [pencils]
  auto along_2 = everyone.partition<2, 2, 1>();  // dimension 2 is whole on every worker
  auto along_1 = everyone.partition<2, 1, 2>();
  auto along_0 = everyone.partition<1, 2, 2>();
  repartition first(along_2, along_1);
  repartition second(along_1, along_0);

  xt::xtensor<number, 3> x = block_from<number>(along_2, extents<n0, n1, n2>{}, x_at);
  transform(x, 2);
  xt::xtensor<number, 3> y = first(x);
  transform(y, 1);
  xt::xtensor<number, 3> z = second(y);
  transform(z, 0);  // z is this worker's block of the transform; second.adjoint and first.adjoint lead back
  // [/pencils]

  // for comparison: one call of FFTW on the whole array
  xt::xtensor<number, 3> whole({n0, n1, n2});
  for (std::size_t i = 0; i < n0; ++i)
    for (std::size_t j = 0; j < n1; ++j)
      for (std::size_t k = 0; k < n2; ++k) whole(i, j, k) = x_at(i, j, k);
  auto* const data = reinterpret_cast<fftw_complex*>(whole.data());
  const auto plan = fftw_plan_dft_3d(n0, n1, n2, data, data, FFTW_FORWARD, FFTW_ESTIMATE);
  fftw_execute(plan);
  fftw_destroy_plan(plan);
  const auto expected =
      block_from<number>(along_0, extents<n0, n1, n2>{}, [&](auto i, auto j, auto k) { return whole(i, j, k); });
  double off = 0;
  for (std::size_t k = 0; k < z.size(); ++k) off = std::max(off, std::abs(z.data()[k] - expected.data()[k]));

  if (everyone.id() == 0)
    std::cout << "A " << n0 << " x " << n1 << " x " << n2
              << " array on 2 x 2 workers, which hold pencils: first along\n"
              << "dimension 2, then 1, then 0. Between two transforms, one repartition:\n"
              << first.plan(extents<n0, n1, n2>{}) << "Look at: worker 0 meets one other worker, not all of them.\n"
              << "Its block differs from a transform of the whole array by " << off << ".\n";
  return off < 1e-10 ? EXIT_SUCCESS : EXIT_FAILURE;
}
