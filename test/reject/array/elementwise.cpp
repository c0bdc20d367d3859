// Element-wise calls that are invalid by their types are compile-time errors, for each mistake in array broadcasting
// and some others.
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
// expect RANKS_OF_DYNAMIC_ARRAYS: requires equal ranks, a scalar, or broadcast_dimensions
// expect ELEMENT_TYPES: require equal element types, float precisions aside
// expect NUMBER_WITH_A_FRACTION: requires a number that the element type of the array can hold
// expect TARGET_OF_LOWER_RANK: requires a target of at least the rank of x
// expect IN_DIM_EXTENT: requires extents of x that are 1 .not at level hlo. or the result's
// expect IN_DIM_ORDER: transpose x first, or pass the policy stablehlo
// expect IN_DIM_HLO: requires extents of x that are 1 .not at level hlo. or the result's
// expect PREDICATE: requires a predicate of bool
// expect SELECT_SHAPES: requires values of one shape, and a predicate that is a scalar or has it too
// expect CLAMP_SHAPES: requires bounds that are scalars or have the shape of x
#include <partita/array/broadcast_in_dim.hpp>
#include <partita/array/elementwise.hpp>
#include <partita/array/in_place.hpp>
#include <partita/array/select_and_clamp.hpp>

using namespace partita;

int main() {
  xt::xtensor_fixed<double, xt::xshape<2, 3>> m = xt::ones<double>({2, 3});
  xt::xtensor_fixed<double, xt::xshape<3>> v = xt::ones<double>({3});
  xt::xtensor_fixed<double, xt::xshape<3, 3>> square = xt::ones<double>({3, 3});
  xt::xtensor_fixed<double, xt::xshape<2, 3, 3>> cuboid = xt::ones<double>({2, 3, 3});
  xt::xtensor_fixed<double, xt::xshape<2, 4>> wide = xt::ones<double>({2, 4});
  xt::xtensor<double, 2> dynamic_matrix = xt::ones<double>({2, 3});
  xt::xtensor<double, 1> dynamic_vector = xt::ones<double>({3});
  xt::xtensor<int, 2> integers = xt::ones<int>({2, 3});

  dynamic_matrix = add(m, v, broadcast_dimensions<1>);
#if defined(SAME_RANK_DIMS_NOT_IDENTITY)
  dynamic_matrix = add(square, square, broadcast_dimensions<1, 0>);
#elif defined(RANK_MISMATCH_WITHOUT_DIMS)
  dynamic_matrix = add(m, v);
#elif defined(DIMS_SIZE_MISMATCH)
  xt::xtensor<double, 3> z = add(cuboid, square, broadcast_dimensions<1>);
#elif defined(DIM_NEGATIVE)
  dynamic_matrix = add(m, v, broadcast_dimensions<-1>);
#elif defined(DIM_TOO_LARGE)
  dynamic_matrix = add(m, v, broadcast_dimensions<2>);
#elif defined(INDIM_SIZE_MISMATCH)
  dynamic_matrix = add(m, v, broadcast_dimensions<0>);
#elif defined(DIMS_NOT_STRICTLY_INCREASING)
  xt::xtensor<double, 3> z = add(cuboid, square, broadcast_dimensions<2, 1>);
#elif defined(INCOMPATIBLE_SHAPES)
  dynamic_matrix = add(m, wide);
#elif defined(RANKS_OF_DYNAMIC_ARRAYS)
  dynamic_matrix = add(dynamic_matrix, dynamic_vector);
#elif defined(ELEMENT_TYPES)
  dynamic_matrix = add(dynamic_matrix, integers);
#elif defined(NUMBER_WITH_A_FRACTION)
  integers = multiply(integers, 0.5);
#elif defined(TARGET_OF_LOWER_RANK)
  add_in_place(dynamic_vector, dynamic_matrix, broadcast_dimensions<1>);
#elif defined(IN_DIM_EXTENT)
  dynamic_matrix = broadcast_in_dim(v, extents<3, 2>{}, broadcast_dimensions<1>);
#elif defined(IN_DIM_ORDER)
  dynamic_matrix = broadcast_in_dim(m, extents<3, 2>{}, broadcast_dimensions<1, 0>);
#elif defined(IN_DIM_HLO)
  dynamic_matrix =
      broadcast_in_dim(xt::xtensor_fixed<double, xt::xshape<1>>{1.}, extents<2, 3>{}, broadcast_dimensions<1>, hlo);
#elif defined(PREDICATE)
  dynamic_matrix = select(m, m, m);
#elif defined(SELECT_SHAPES)
  dynamic_matrix = select(greater(v, 0), m, m);
#elif defined(CLAMP_SHAPES)
  dynamic_matrix = clamp(v, m, 1);
#endif
  return static_cast<int>(dynamic_matrix(0, 0) + integers(0, 0) + dynamic_vector(0) + wide(0, 0) + square(0, 0) +
                          cuboid(0, 0, 0)) > 9;
}
