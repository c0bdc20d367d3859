// A tensor that cannot be broadcast to a larger one on other workers is a compile-time error with a message.
//
// expect EXTENTS: requires extents of x that are 1 \(not at level hlo\) or the result's
// expect NO_DIMENSIONS: requires one entry of broadcast_dimensions for each dimension of x
// first RANK_OF_PARTITION: partita::on\(p_x, extents\): requires a partition of the tensor's rank; reshape\(\) it
// lines RANK_OF_PARTITION: 12
#include <partita/kernel/partitioned_broadcast.hpp>

using namespace partita;

void calls(const world& everyone) {
  const auto p = everyone.partition<2, 1>();
  const auto to = on(p, extents<6, 4>{});
  const auto line = on(everyone.partition<2>(), extents<6>{});
  partitioned_broadcast legal(line, to, broadcast_dimensions<0>);
#if defined(EXTENTS)
  partitioned_broadcast refused(line, to, broadcast_dimensions<1>);
#elif defined(NO_DIMENSIONS)
  partitioned_broadcast refused(line, to, broadcast_dimensions<0, 1>);
#elif defined(RANK_OF_PARTITION)
  on(p, extents<6>{});
#endif
}
