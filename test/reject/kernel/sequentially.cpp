// The sequential executor also rejects halo widths that do not name their sides.
//
// first TWO_NUMBERS: partita::sequentially::halo_exchange\(p, widths, boundary\): requires widths that name their sides
// lines TWO_NUMBERS: 12
#include <partita/kernel/sequentially.hpp>

using namespace partita;

void calls(const grid<extents<2, 2>>& p) {
  const sequentially::halo_exchange h(p, {.before = {2, 1}, .after = {1, 1}}, boundary::periodic);
  const sequentially::halo_exchange each(p, {{2, 1}, {1, 1}}, boundary::periodic);
  (void)h, (void)each;
#if defined(TWO_NUMBERS)
  const sequentially::halo_exchange refused(p, {2, 1}, boundary::periodic);
#endif
}
