// A block from a function that takes no index of the tensor, or on a partition of another rank, is refused.
//
// expect FUNCTION: partita::block_from\(p, extents, f\): requires an f that can be called with a global index: f\(i, j,
//   ...\), one std::size_t for each dimension
// expect RANK: partita::block_from\(p, extents, f\): requires a partition of the tensor's rank; reshape\(\) it with
//   extents of 1
#include <partita/kernel/block_from.hpp>

using namespace partita;

void calls(const partition<extents<2, 2>>& p) {
  block_from(p, extents<4, 4>{}, [](std::size_t i, std::size_t j) { return i + j; });
#if defined(FUNCTION)
  block_from(p, extents<4, 4>{}, [](std::size_t i) { return i; });
#elif defined(RANK)
  block_from(p, extents<4>{}, [](std::size_t i) { return i; });
#endif
}
