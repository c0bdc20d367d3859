// The examples of XLA's "Broadcasting semantics", and cases that its text does not define, checked at compile time.
#include <partita/rule/broadcast_extents.hpp>

using namespace partita;

namespace {

template <class Lhs, class Rhs, std::ptrdiff_t... D>
constexpr broadcast_fault fault_of = broadcast_verdict_of<Lhs, Rhs, D...>.fault;

// a scalar over an array needs no broadcast_dimensions, wherever it stands
static_assert(broadcast_extents<extents<2, 3>, extents<>>::value == extents<2, 3>{});
static_assert(broadcast_extents<extents<>, extents<2, 3>>::value == extents<2, 3>{});
static_assert(broadcast_extents<extents<>, extents<>>::value == extents<>{});

// a vector onto a matrix: dimension 1, never by itself, never onto the wrong extent
static_assert(broadcast_extents<extents<2, 3>, extents<3>, 1>::value == extents<2, 3>{});
static_assert(broadcast_extents<extents<3>, extents<2, 3>, 1>::value == extents<2, 3>{});
static_assert(fault_of<extents<2, 3>, extents<3>> == broadcast_fault::rank_mismatch_without_dims);
static_assert(fault_of<extents<2, 3>, extents<3>, 0> == broadcast_fault::indim_size_mismatch);

// a vector of 3 onto a 3x3 matrix: both ways
static_assert(broadcast_extents<extents<3, 3>, extents<3>, 0>::value == extents<3, 3>{});
static_assert(broadcast_extents<extents<3, 3>, extents<3>, 1>::value == extents<3, 3>{});

// a 3x4 matrix onto a 2x3x4 cuboid
static_assert(broadcast_extents<extents<2, 3, 4>, extents<3, 4>, 1, 2>::value == extents<2, 3, 4>{});

// the formal definition: T onto MxNxPxQ in each of four places, TxV in each of six
using cuboid = extents<5, 6, 7, 8>;
static_assert(broadcast_extents<cuboid, extents<8>, 3>::value == cuboid{});
static_assert(broadcast_extents<cuboid, extents<7>, 2>::value == cuboid{});
static_assert(broadcast_extents<cuboid, extents<6>, 1>::value == cuboid{});
static_assert(broadcast_extents<cuboid, extents<5>, 0>::value == cuboid{});
static_assert(broadcast_extents<cuboid, extents<7, 8>, 2, 3>::value == cuboid{});
static_assert(broadcast_extents<cuboid, extents<6, 7>, 1, 2>::value == cuboid{});
static_assert(broadcast_extents<cuboid, extents<5, 8>, 0, 3>::value == cuboid{});
static_assert(broadcast_extents<cuboid, extents<5, 6>, 0, 1>::value == cuboid{});
static_assert(broadcast_extents<cuboid, extents<5, 7>, 0, 2>::value == cuboid{});
static_assert(broadcast_extents<cuboid, extents<6, 8>, 1, 3>::value == cuboid{});
// "illegal to match V to N and T to P; also illegal to match V to both P and N"
static_assert(fault_of<cuboid, extents<7, 6>, 2, 1> == broadcast_fault::dims_not_strictly_increasing);
static_assert(fault_of<cuboid, extents<6, 6>, 1, 1> == broadcast_fault::dims_not_strictly_increasing);

// similar ranks with degenerate dimensions
static_assert(broadcast_extents<extents<2, 1>, extents<2, 3>>::value == extents<2, 3>{});
static_assert(broadcast_extents<extents<1, 2, 5>, extents<7, 2, 5>>::value == extents<7, 2, 5>{});
static_assert(broadcast_extents<extents<7, 2, 5>, extents<7, 1, 5>>::value == extents<7, 2, 5>{});
static_assert(fault_of<extents<7, 2, 5>, extents<7, 2, 6>> == broadcast_fault::incompatible_shapes);
static_assert(broadcast_extents<extents<2, 1>, extents<1, 3>>::value == extents<2, 3>{});  // the outer operation

// composition: both rules in one operation
static_assert(broadcast_extents<extents<4>, extents<1, 2>, 0>::value == extents<4, 2>{});
static_assert(broadcast_extents<extents<1, 2>, extents<4, 3, 1>, 1, 2>::value == extents<4, 3, 2>{});

// sizes 0 and 1: the result is not the maximum
static_assert(broadcast_extents<extents<1>, extents<0>>::value == extents<0>{});
static_assert(broadcast_extents<extents<2, 1>, extents<0>, 1>::value == extents<2, 0>{});
static_assert(fault_of<extents<0>, extents<3>> == broadcast_fault::incompatible_shapes);
// an extent of 1 is not a scalar
static_assert(fault_of<extents<1>, extents<2, 3>> == broadcast_fault::rank_mismatch_without_dims);

// equal ranks: no dimensions, or the identity, even where the shapes are equal
static_assert(broadcast_extents<extents<2, 3>, extents<2, 3>, 0, 1>::value == extents<2, 3>{});
static_assert(fault_of<extents<2, 2>, extents<2, 2>, 1, 0> == broadcast_fault::same_rank_dims_not_identity);
static_assert(fault_of<extents<2, 2>, extents<2, 2>, 0> == broadcast_fault::same_rank_dims_not_identity);
static_assert(fault_of<extents<>, extents<>, 0> == broadcast_fault::same_rank_dims_not_identity);

// XLA's order of precedence: the number of entries, then each entry in turn: sign, range, size, order
static_assert(fault_of<extents<2, 3>, extents<>, 0> == broadcast_fault::dims_size_mismatch);
static_assert(fault_of<extents<2, 3, 4>, extents<3, 4>, -1> == broadcast_fault::dims_size_mismatch);
static_assert(fault_of<extents<2, 3, 4>, extents<3, 4>, -1, 7> == broadcast_fault::dim_negative);
static_assert(fault_of<extents<2, 3, 4>, extents<3, 4>, 1, 3> == broadcast_fault::dim_too_large);
static_assert(fault_of<extents<16, 8, 4>, extents<8, 4>, 2, 1> == broadcast_fault::indim_size_mismatch);
static_assert(fault_of<extents<4, 4, 4>, extents<4, 4>, 2, 1> == broadcast_fault::dims_not_strictly_increasing);

// every error has a name
constexpr bool is_called(broadcast_fault fault, const char* name) { return text(name_of(fault)) == name; }
static_assert(is_called(broadcast_fault::none, "none") &&
              is_called(broadcast_fault::same_rank_dims_not_identity, "same_rank_dims_not_identity") &&
              is_called(broadcast_fault::rank_mismatch_without_dims, "rank_mismatch_without_dims") &&
              is_called(broadcast_fault::dims_size_mismatch, "dims_size_mismatch") &&
              is_called(broadcast_fault::dim_negative, "dim_negative") &&
              is_called(broadcast_fault::dim_too_large, "dim_too_large") &&
              is_called(broadcast_fault::indim_size_mismatch, "indim_size_mismatch") &&
              is_called(broadcast_fault::dims_not_strictly_increasing, "dims_not_strictly_increasing") &&
              is_called(broadcast_fault::incompatible_shapes, "incompatible_shapes") &&
              is_called(broadcast_fault::operand_rank_exceeds_output_rank, "operand_rank_exceeds_output_rank") &&
              is_called(broadcast_fault::dim_out_of_range, "dim_out_of_range") &&
              is_called(broadcast_fault::operand_size_mismatch, "operand_size_mismatch") &&
              is_called(broadcast_fault::dims_not_unique, "dims_not_unique") &&
              is_called(broadcast_fault::negative_output_size, "negative_output_size") &&
              is_called(broadcast_fault::no_operands, "no_operands") &&
              is_called(broadcast_fault::mixed_bounded_and_static, "mixed_bounded_and_static"));

// one map lifts shapes and says what the adjoint sums over
constexpr auto composed = resolve_array_broadcast(shape_list{1U, 2U}, shape_list{4U, 3U, 1U}, {1, 2});
static_assert(composed.result == shape_list{4U, 3U, 2U});
static_assert(composed.lhs.lift(shape_list{1U, 2U}) == shape_list{1U, 1U, 2U});
static_assert(composed.lhs.source(0) == dimension_map::unmapped && composed.lhs.target(1) == 2);
static_assert(!composed.lhs.equals_result(1, shape_list{1U, 2U}, composed.result));
static_assert(composed.lhs.equals_result(2, shape_list{1U, 2U}, composed.result));
static_assert(composed.lhs.is_increasing() && composed.lhs.is_trailing());

}  // namespace
