// Compile-time errors of joint halo exchanges: different numbers of blocks and exchanges, fields of two types, and
// ghosts in an expression without memory. Any number of fields is allowed.
//
// expect COUNT: partita::halo_exchanges\(h\.\.\.\)\(x\.\.\.\): requires one block for each halo_exchange
// lines COUNT: 12
// expect TYPES: partita::halo_exchanges\(h\.\.\.\)\(x\.\.\.\): requires blocks of one arithmetic type
// expect LAZY: partita::halo_exchanges\(h\.\.\.\)\.refresh\(ghosted\.\.\.\): requires views with memory
#include <partita/kernel/halo_exchanges.hpp>

using namespace partita;

void calls(const halo_exchange<extents<2, 2>>& h, xt::xtensor<float, 2>& u, xt::xtensor<float, 2>& v,
           const xt::xtensor<double, 2>& other) {
  const halo_exchanges both(h, h);
  both(u, v);
  const halo_exchanges six(h, h, h, h, h, h);
  six(u, v, u, v, u, v);
  (void)other;
#if defined(COUNT)
  both(u);
#elif defined(TYPES)
  both(u, other);
#elif defined(LAZY)
  const xt::xtensor<float, 2>& fixed = v;
  both.refresh(u, fixed);
#endif
}
