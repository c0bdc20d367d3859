// Spectra, partitions and extents that do not fit together are refused with one message each.
// first REAL: partita::spectral_resize\(p_x, p_y, before, after\)\(x\): requires an xtensor expression of the rank of
//   the partitions, of complex numbers of float or double
// lines REAL: 12
// first RANK: partita::spectral_resize\(p_x, p_y, before, after\): requires partitions and extents of one rank
// lines RANK: 12
// first TWO_HALVES: partita::spectral_resize\(p_x, p_y, before, after, dimensions<D>\): requires the one dimension
//   along which half of a spectrum is stored
// lines TWO_HALVES: 12
// first NARROW: partita::spectral_resize\(p_x, p_y, before, after\).into\(x, view\): requires a view with memory
// lines NARROW: 12
#include <partita/kernel/spectral_resize.hpp>

using namespace partita;

void calls(const world& everyone, const xt::xtensor<std::complex<double>, 2>& z,
           [[maybe_unused]] const xt::xtensor<double, 2>& x,
           [[maybe_unused]] xt::xtensor<std::complex<float>, 2>& narrow) {
  const auto p = everyone.partition<2, 1>();
  const spectral_resize pad(p, p, extents(8, 8), extents(12, 12));
  pad(z);
#if defined(REAL)
  pad.adjoint(x);
#elif defined(RANK)
  const spectral_resize other(p, p, extents(8, 8), extents(12));
#elif defined(TWO_HALVES)
  const spectral_resize other(p, p, extents(8, 8), extents(12, 12), dimensions<0, 1>);
#elif defined(NARROW)
  pad.into(z, narrow);
#endif
}
