// block_from with a function that does not accept an index of the tensor, or with a partition of a different rank, is a
// compile-time error.
//
// expect FUNCTION: partita::block_from\(p, extents, f\): requires an f that can be called with a global index: f\(i, j,
//   ...\), one std::size_t for each dimension
// expect RANK: partita::block_from\(p, extents, f\): requires a partition of the tensor's rank; reshape\(\) it with
//   extents of 1
// first THREE_EXTENTS: partita: requires one number for each dimension between the braces
// lines THREE_EXTENTS: 12
// first A_NUMBER: partita: requires one number for each dimension between the braces
// lines A_NUMBER: 12
// first ANOTHER_ORDER: partita::block_from\(p, extents, f\): requires the extents of the whole tensor, then f
// lines ANOTHER_ORDER: 12
// first A_STRING: partita::block_from\(p, extents, f\): requires the extents of the whole tensor, then f
// lines A_STRING: 12
#include <partita/kernel/block_from.hpp>

using namespace partita;

void calls(const partition<extents<2, 2>>& p) {
  block_from(p, extents<4, 4>{}, [](std::size_t i, std::size_t j) { return i + j; });
  block_from(p, {4, 4}, [](std::size_t i, std::size_t j) { return i + j; });
#if defined(FUNCTION)
  block_from(p, extents<4, 4>{}, [](std::size_t i) { return i; });
#elif defined(RANK)
  block_from(p, extents<4>{}, [](std::size_t i) { return i; });
#elif defined(THREE_EXTENTS)
  block_from(p, {4, 4, 4}, [](std::size_t i, std::size_t j) { return i + j; });
#elif defined(A_NUMBER)
  block_from(p, 4, [](std::size_t i, std::size_t j) { return i + j; });
#elif defined(ANOTHER_ORDER)
  block_from(
      p, [](std::size_t i, std::size_t j) { return i + j; }, extents<4, 4>{});
#elif defined(A_STRING)
  block_from(p, "a", [](std::size_t i, std::size_t j) { return i + j; });
#endif
}
