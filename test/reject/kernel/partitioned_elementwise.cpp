// Operands with static extents that cannot be broadcast are a compile-time error with a message.
//
// expect EXTENTS: requires extents that are equal or 1 in every dimension
// expect RANKS: requires equal ranks, a scalar, or broadcast_dimensions
// expect DIMENSIONS: requires entries of broadcast_dimensions below the rank of the larger operand
#include <functional>
#include <partita/kernel/partitioned_elementwise.hpp>

using namespace partita;

void calls(const world& everyone) {
  const auto p = everyone.partition<2, 1>();
  const auto line = everyone.partition<2>();
  const auto x = on(p, extents<6, 4>{});
  const auto wider = on(p, extents<6, 5>{});
  const auto v = on(line, extents<6>{});
  partitioned_elementwise legal(std::plus<>{}, x, v, broadcast_dimensions<0>);
  static_cast<void>(wider);
#if defined(EXTENTS)
  partitioned_elementwise refused(std::plus<>{}, x, wider);
#elif defined(RANKS)
  partitioned_elementwise refused(std::plus<>{}, x, v);
#elif defined(DIMENSIONS)
  partitioned_elementwise refused(std::plus<>{}, x, v, broadcast_dimensions<2>);
#endif
}
