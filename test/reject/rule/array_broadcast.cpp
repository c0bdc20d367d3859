// Extents that cannot be broadcast are a compile-time error with a message for each mistake; g++ also shows the shapes
// and a solution.
//
// expect SAME_RANK_DIMS_NOT_IDENTITY: requires operands of equal rank to have no broadcast_dimensions, or exactly 0, 1,
//   ..., rank - 1; leave them out
// expect RANK_MISMATCH_WITHOUT_DIMS: requires equal ranks, a scalar, or broadcast_dimensions; pass
//   broadcast_dimensions<...>
// expect DIMS_SIZE_MISMATCH: requires one entry of broadcast_dimensions for each dimension of the smaller operand
// expect DIM_NEGATIVE: requires entries of broadcast_dimensions that are not negative
// expect DIM_TOO_LARGE: requires entries of broadcast_dimensions below the rank of the larger operand
// expect INDIM_SIZE_MISMATCH: requires mapped extents that are equal or 1
// expect DIMS_NOT_STRICTLY_INCREASING: requires strictly increasing broadcast_dimensions; for another order transpose
// expect INCOMPATIBLE_SHAPES: requires extents that are equal or 1 in every dimension
// expect KNOWN_EARLY: requires mapped extents that are equal or 1
#include <partita/rule/broadcast_extents.hpp>

using namespace partita;

int main() {
  const auto legal = broadcast_extents<extents<2, 3>, extents<3>, 1>::value;
#if defined(SAME_RANK_DIMS_NOT_IDENTITY)
  const auto refused = broadcast_extents<extents<3, 3>, extents<3, 3>, 1, 0>::value;
#elif defined(RANK_MISMATCH_WITHOUT_DIMS)
  const auto refused = broadcast_extents<extents<2, 3>, extents<3>>::value;
#elif defined(DIMS_SIZE_MISMATCH)
  const auto refused = broadcast_extents<extents<2, 3, 4>, extents<3, 4>, 1>::value;
#elif defined(DIM_NEGATIVE)
  const auto refused = broadcast_extents<extents<2, 3>, extents<3>, -1>::value;
#elif defined(DIM_TOO_LARGE)
  const auto refused = broadcast_extents<extents<2, 3>, extents<3>, 2>::value;
#elif defined(INDIM_SIZE_MISMATCH)
  const auto refused = broadcast_extents<extents<2, 3>, extents<3>, 0>::value;
#elif defined(DIMS_NOT_STRICTLY_INCREASING)
  const auto refused = broadcast_extents<extents<2, 3, 3>, extents<3, 3>, 2, 1>::value;
#elif defined(INCOMPATIBLE_SHAPES)
  const auto refused = broadcast_extents<extents<7, 2, 5>, extents<7, 2, 6>>::value;
#elif defined(KNOWN_EARLY)
  const auto refused = broadcast_extents<extents<dynamic, 3>, extents<4>, 1>::value;
#else
  const auto refused = legal;
#endif
  return refused == legal ? 0 : 1;
}
