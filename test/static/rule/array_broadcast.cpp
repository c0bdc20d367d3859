// The examples of XLA's "Broadcasting semantics", and the corners its text leaves open, proved by compiling.
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

// what is known early is judged early; what is not known yet breaks no rule
static_assert(broadcastable<extents<dynamic, 3>, extents<3>, 1>);
static_assert(!broadcastable<extents<dynamic, 3>, extents<4>, 1>);
static_assert(std::is_same_v<broadcast_extents<extents<dynamic, 3>, extents<2, 1>>::type, extents<2, 3>>);
static_assert(std::is_same_v<broadcast_extents<extents<dynamic>, extents<1>>::type, extents<dynamic>>);
static_assert(std::is_same_v<broadcast_extents<extents<dynamic>, extents<dynamic>>::type, extents<dynamic>>);

// one map lifts shapes and says what the adjoint sums over
constexpr auto composed = resolve_array_broadcast(shape_list{1U, 2U}, shape_list{4U, 3U, 1U}, {1, 2});
static_assert(composed.result == shape_list{4U, 3U, 2U});
static_assert(composed.lhs.lift(shape_list{1U, 2U}) == shape_list{1U, 1U, 2U});
static_assert(composed.lhs.source(0) == dimension_map::unmapped && composed.lhs.target(1) == 2);
static_assert(!composed.lhs.spans(1, shape_list{1U, 2U}, composed.result));
static_assert(composed.lhs.spans(2, shape_list{1U, 2U}, composed.result));
static_assert(composed.lhs.is_increasing() && composed.lhs.is_trailing());

// sentences show both shapes and the way out, at compile time and at run time alike
constexpr text told(const shape_list& l, const shape_list& r, const broadcast_dimensions_list& dims) {
  return explain_verdict(judge_array_broadcast(l, r, dims), "add", l, r, dims);
}
static_assert(told({2U, 3U}, {3U}, {}) ==
              "partita::add(lhs, rhs): requires equal ranks, a scalar, or broadcast_dimensions; lhs is [2, 3], rhs is "
              "[3]; broadcast_dimensions<1> would be valid");
static_assert(told({3U}, {3U, 3U}, {}).contains("broadcast_dimensions<0> or <1> would be valid"));
static_assert(told({3U, 4U}, {4U, 3U, 2U}, {1, 0}).contains("no broadcast_dimensions fit these shapes"));
static_assert(told({3U, 4U}, {4U, 3U, 2U}, {1, 0}).contains("entry 0 is 1 and entry 1 is 0"));
static_assert(told({3U, 4U}, {4U, 3U, 2U}, {1, 0}).contains("transpose lhs first"));
static_assert(told({2U, 2U}, {2U, 2U}, {1, 0}).contains("leave them out, or transpose first"));
static_assert(told({7U, 2U, 5U}, {7U, 2U, 6U}, {}).contains("dimension 2 has 5 against 6"));
static_assert(told({2U, 3U}, {}, {0}).contains("leave broadcast_dimensions out for a scalar"));
static_assert(told({2U, 3U}, {3U}, {0}).contains("dimension 0 of rhs (extent 3) is mapped to dimension 0 of lhs (extent 2)"));

// broadcast_in_dim: three levels of strictness
constexpr broadcast_fault in_dim(const shape_list& x, const shape_list& y, const broadcast_dimensions_list& dims,
                                 strictness level) {
  return judge_broadcast_in_dim(x, y, dims, level).fault;
}
static_assert(in_dim({3U}, {2U, 3U, 4U}, {1}, strictness::client) == broadcast_fault::none);
static_assert(in_dim({1U, 3U}, {2U, 3U}, {0, 1}, strictness::stablehlo) == broadcast_fault::none);
static_assert(in_dim({1U, 3U}, {2U, 3U}, {0, 1}, strictness::hlo) == broadcast_fault::operand_size_mismatch);
static_assert(in_dim({2U, 3U}, {3U, 2U}, {1, 0}, strictness::client) == broadcast_fault::dims_not_strictly_increasing);
static_assert(in_dim({2U, 3U}, {3U, 2U}, {1, 0}, strictness::hlo) == broadcast_fault::none);
static_assert(in_dim({1U, 1U}, {2U, 2U}, {0, 0}, strictness::stablehlo) == broadcast_fault::dims_not_unique);
static_assert(in_dim({1U, 2U, 3U}, {3U}, {0, 1, 2}, strictness::client) ==
              broadcast_fault::operand_rank_exceeds_output_rank);

}  // namespace
