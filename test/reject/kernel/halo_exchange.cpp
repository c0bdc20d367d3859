// Blocks of another rank than the partition, widths for another number of dimensions, negative widths, sums of bool,
// and functions of something else than a global index are refused.
//
// expect RANK: partita::halo_exchange\(p, widths, boundary\)\(x\): requires a block of the rank of its partition;
//   reshape\(\) the partition with extents of 1
// lines RANK: 12
// expect BOOLS: partita::halo_exchange\(p, widths, boundary\).adjoint\(dy\): requires elements that can be summed; bool
//   cannot, cast to an integer type
// expect WIDTHS: partita::per_dimension<N>: requires N numbers, or one for all of them
// expect FUNCTION: partita::halo_exchange\(p, widths, boundary, f\): requires f\(i\) to be a number, for the global
//   index i of a cell beyond a border
// lines FUNCTION: 12
// expect NEGATIVE: narrowing|cannot be narrowed
#include <partita/kernel/halo_exchange.hpp>

using namespace partita;

void calls(const partition<extents<2, 2>>& p, const xt::xtensor<float, 2>& x, const xt::xtensor<bool, 2>& dy,
           const xt::xtensor<float, 3>& cube) {
  const halo_exchange h(p, {.before = {1, 1}, .after = {1, 1}}, boundary::periodic);
  h(x);
  (void)dy, (void)cube;
#if defined(RANK)
  h(cube);
#elif defined(BOOLS)
  h.adjoint(dy);
#elif defined(WIDTHS)
  halo_exchange(p, halo_widths<2>{.before = {1, 1, 1}, .after = {1, 1}}, boundary::periodic);
#elif defined(NEGATIVE)
  halo_exchange(p, halo_widths<2>{.before = {-1, 1}, .after = {1, 1}}, boundary::periodic);
#elif defined(FUNCTION)
  halo_exchange(p, halo_widths<2>{.before = {1, 1}, .after = {1, 1}}, boundary::function,
                [](const char*) { return 1; });
#endif
}
