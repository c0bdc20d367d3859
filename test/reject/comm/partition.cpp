// A partition whose extents are not known is refused until it is given them.
//
// expect DYNAMIC_WITHOUT_VALUE: partita::world::partition<E...>\(\): requires extents that are all known; pass extents<dynamic, ...>\(n\) as an argument
// expect NOT_EXTENTS: is_extents
#include <partita/comm/partition.hpp>

using namespace partita;

void calls(const world& everyone) {
  static_cast<void>(everyone.partition<2, 3>(workers(0, 6)));
  static_cast<void>(everyone.partition(extents<dynamic, 3>(2)));
#if defined(DYNAMIC_WITHOUT_VALUE)
  static_cast<void>(everyone.partition<dynamic, 3>(workers(0, 6)));
#elif defined(NOT_EXTENTS)
  partition<int> refused = everyone.partition<2>();
#endif
}
