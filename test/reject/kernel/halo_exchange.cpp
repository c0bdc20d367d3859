// Compile-time errors of halo exchanges: blocks of a different rank than the partition, widths for a different number
// of dimensions, negative widths, sums of bool, and functions that do not accept a global index.
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
// first TWO_NUMBERS: partita::halo_exchange\(p, widths, boundary\): requires widths that name their sides
// lines TWO_NUMBERS: 12
// first THREE_NUMBERS: partita::halo_exchange\(p, widths, boundary\): requires widths that name their sides
// lines THREE_NUMBERS: 12
// first THREE_BOUNDARIES: partita::halo_exchange\(p, widths, boundary\): requires one boundary for all dimensions, or
//   one for each
// lines THREE_BOUNDARIES: 12
// first A_STRING: partita::halo_exchange\(p, widths, boundaries\): requires a partition, widths of as many numbers
// lines A_STRING: 12
// first TWO_LISTS: partita::halo_exchange\(p, widths, boundaries\): requires a partition, widths
// lines TWO_LISTS: 12
// first NO_PARTITION: partita::halo_exchange\(p, widths, boundaries\): requires a partition, widths
// lines NO_PARTITION: 12
// first CELLS: partita::for_interior\(cells, f\), for_border: requires an f that is called with the global index
// lines CELLS: 12
// first NO_CELLS: partita::for_interior\(cells, f\): requires the cells of a halo exchange first
// lines NO_CELLS: 12
#include <partita/kernel/halo_exchange.hpp>

using namespace partita;

void calls(const partition<extents<2, 2>>& p, const xt::xtensor<float, 2>& x, const xt::xtensor<bool, 2>& dy,
           const xt::xtensor<float, 3>& cube) {
  const halo_exchange h(p, {.before = {1, 1}, .after = {1, 1}}, boundary::periodic);
  const halo_exchange each(p, {.before = 1, .after = 1}, {boundary::periodic, boundary::zero});
  h(x), each(x);
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
#elif defined(TWO_NUMBERS)
  const halo_exchange refused(p, {2, 1}, boundary::periodic);
#elif defined(THREE_NUMBERS)
  const halo_exchange refused(p, {1, 1, 1}, {boundary::periodic, boundary::zero});
#elif defined(THREE_BOUNDARIES)
  const halo_exchange refused(p, {.before = 1, .after = 1}, {boundary::periodic, boundary::zero, boundary::zero});
#elif defined(A_STRING)
  const halo_exchange refused(p, {.before = 1, .after = 1}, "periodic");
#elif defined(TWO_LISTS)
  halo_exchange refused(p, {1, 1}, {1, 1}, boundary::zero);
#elif defined(NO_PARTITION)
  halo_exchange refused(p.world(), {.before = {1, 1}, .after = {1, 1}}, boundary::zero);
#elif defined(CELLS)
  for_border(halo_cells<2>(), [](std::size_t, std::size_t) {});
#elif defined(NO_CELLS)
  for_interior([](const auto&) {}, h.cells());
#endif
}
