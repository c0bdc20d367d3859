// An invalid order of workers or an invalid cost for a repartition is a compile-time error with one message.
//
// expect RANKS: partita::relabelled\(p_x, p_y, extents\), partita::cost_of\(p_x, p_y, extents\): requires partitions
//   and extents of one rank; reshape\(\) one of the partitions with extents of 1
// lines RANKS: 12
// expect TENSOR: partita::relabelled\(p_x, p_y, extents\), partita::cost_of\(p_x, p_y, extents\): requires partitions
// lines TENSOR: 12
// expect COST: partita::relabelled\(p_x, p_y, extents\), partita::cost_of\(p_x, p_y, extents\): requires partitions
//   and extents of one rank
// lines COST: 12
// expect POLICY: requires policies that partita::repartition\(p_x, p_y, policies...\) takes
#include <partita/kernel/relabelled.hpp>

using namespace partita;

void calls(const world& everyone) {
  const auto p_x = everyone.partition<2, 1>(), p_y = everyone.partition<2, 1>();
  const auto line = everyone.partition<2>();
  static_cast<void>(line);
  relabelled(p_x, p_y, extents<8, 8>{});
#if defined(RANKS)
  relabelled(p_x, line, extents<8, 8>{});
#elif defined(TENSOR)
  relabelled(p_x, p_y, extents<8>{});
#elif defined(COST)
  static_cast<void>(cost_of(p_x, line, extents<8, 8>{}));
#elif defined(POLICY)
  relabelled(p_x, p_y, extents<8, 8>{}, dimensions<0>);
#endif
}
