// The error messages of array broadcasting: the call, its requirement, both shapes, and a valid alternative.
#include <partita/rule/broadcast_sentence.hpp>

using namespace partita;

namespace {

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
static_assert(
    told({2U, 3U}, {3U}, {0}).contains("dimension 0 of rhs (extent 3) is mapped to dimension 0 of lhs (extent 2)"));

static_assert(
    told({2U, 3U}, {3U}, {0, 1}).contains("each dimension of the smaller operand rhs (1), got 2; lhs is [2, 3],"));
static_assert(
    told({3U}, {2U, 3U}, {0, 1}).contains("each dimension of the smaller operand lhs (1), got 2; lhs is [3],"));
static_assert(told({2U, 3U}, {2U, 3U, 4U}, {0, -1}).contains("that are not negative; entry 1 is -1; lhs is [2, 3],"));
static_assert(told({2U, 3U}, {3U}, {2}).contains("below the rank of the larger operand lhs (2); entry 0 is 2;"));

// whole sentences: the call, what it requires, the numbers and names of the operands, and what would be valid
static_assert(told({2U, 3U}, {3U}, {0, 1}) ==
              "partita::add(lhs, rhs, broadcast_dimensions<0, 1>): requires one entry of broadcast_dimensions for each "
              "dimension of the smaller operand rhs (1), got 2; lhs is [2, 3], rhs is [3]; broadcast_dimensions<1> "
              "would be valid");
static_assert(told({3U}, {2U, 3U}, {-1}) ==
              "partita::add(lhs, rhs, broadcast_dimensions<-1>): requires entries of broadcast_dimensions that are not "
              "negative; entry 0 is -1; lhs is [3], rhs is [2, 3]; broadcast_dimensions<1> would be valid");
static_assert(told({3U}, {2U, 3U}, {2}) ==
              "partita::add(lhs, rhs, broadcast_dimensions<2>): requires entries of broadcast_dimensions below the "
              "rank of the larger operand rhs (2); entry 0 is 2; lhs is [3], rhs is [2, 3]; broadcast_dimensions<1> "
              "would be valid");
static_assert(told({3U}, {2U, 3U}, {0}) ==
              "partita::add(lhs, rhs, broadcast_dimensions<0>): requires mapped extents that are equal or 1; dimension "
              "0 of lhs (extent 3) is mapped to dimension 0 of rhs (extent 2); lhs is [3], rhs is [2, 3]; "
              "broadcast_dimensions<1> would be valid");
static_assert(told({6U, 6U}, {5U, 6U, 6U}, {1, 1}) ==
              "partita::add(lhs, rhs, broadcast_dimensions<1, 1>): requires strictly increasing "
              "broadcast_dimensions; entry 0 is 1 and entry 1 is 1; lhs is [6, 6], rhs is [5, 6, 6]; "
              "broadcast_dimensions<1, 2> would be valid");
static_assert(told({7U, 2U, 5U}, {7U, 2U, 6U}, {}) ==
              "partita::add(lhs, rhs): requires extents that are equal or 1 in every dimension; dimension 2 has 5 "
              "against 6; lhs is [7, 2, 5], rhs is [7, 2, 6]; reshape or slice one of them first");
static_assert(told({dynamic, std::size_t{3}}, {4U, 5U}, {}).contains("; lhs is [dynamic, 3], rhs is [4, 5];"));

// a transposition helps where each dimension is named once
static_assert(told({2U, 2U}, {2U, 2U}, {0}) ==
              "partita::add(lhs, rhs, broadcast_dimensions<0>): requires operands of equal rank 2 to have no "
              "broadcast_dimensions, or exactly 0, 1, ..., rank - 1; lhs is [2, 2], rhs is [2, 2]; leave them out");
static_assert(!told({2U, 2U}, {2U, 2U}, {0, 0}).contains("transpose"));

// alternatives of matrices: every pair in order
static_assert(told({3U, 4U}, {2U, 3U, 4U}, {}).contains("; broadcast_dimensions<1, 2> would be valid"));
static_assert(told({3U, 3U, 3U}, {3U, 3U}, {}).contains("; broadcast_dimensions<0, 1> or <0, 2> or <1, 2> would be"));
static_assert(told({1U, 1U}, {4U, 5U, 6U, 7U}, {})
                  .contains("; broadcast_dimensions<0, 1> or <0, 2> or <0, 3> or <1, 2> or <1, 3> or <2, 3> would be"));

// at most six alternatives are listed
static_assert(told({1U}, {1U, 1U, 1U, 1U, 1U, 1U, 1U}, {})
                  .contains("broadcast_dimensions<0> or <1> or <2> or <3> or <4> or <5> or ... would be valid"));

// broadcast_in_dim names the result and the level's way out
constexpr text told_in_dim(const shape_list& x, const shape_list& y, const broadcast_dimensions_list& dims,
                           strictness level = strictness::xla_builder) {
  return explain_verdict(judge_broadcast_in_dim(x, y, dims, level), level, x, y, dims);
}
static_assert(
    told_in_dim({2U, 3U}, {3U, 2U}, {1, 0}) ==
    "partita::broadcast_in_dim(x, result, broadcast_dimensions<1, 0>): requires strictly increasing "
    "broadcast_dimensions; entry 0 is 1 and entry 1 is 0; x is [2, 3], the result [3, 2]; transpose x first, or "
    "pass the policy stablehlo");
static_assert(told_in_dim({1U, 3U}, {2U, 3U}, {0, 1}, strictness::hlo).contains("extents equal to the result's"));
static_assert(
    told_in_dim({4U}, {2U, 3U}, {1}).contains("extents that are 1 or the result's; dimension 0 of x (extent 4)"));
static_assert(
    told_in_dim({3U}, {2U, 3U}, {2}).contains("entries of broadcast_dimensions from 0 to 2 - 1; entry 0 is 2"));
static_assert(told_in_dim({2U, 3U}, {2U, 3U, 4U}, {0}).contains("each dimension of x (2), got 1; x is [2, 3],"));
static_assert(told_in_dim({2U, 2U}, {2U, 3U}, {0, 0}, strictness::stablehlo)
                  .contains("distinct broadcast_dimensions; entry 1 repeats 0;"));
static_assert(told_in_dim({1U, 2U, 3U}, {3U}, {0, 1, 2}).contains("sum over dimensions instead"));
static_assert(
    told_in_dim({4U}, {2U, 3U}, {1}) ==
    "partita::broadcast_in_dim(x, result, broadcast_dimensions<1>): requires extents that are 1 or the "
    "result's; dimension 0 of x (extent 4) is mapped to dimension 1 of the result (extent 3); x is [4], the "
    "result [2, 3]; no broadcast_dimensions fit these shapes: transpose or reshape the smaller operand first");
static_assert(told_in_dim({2U, 2U}, {2U, 2U}, {0, 0}) ==
              "partita::broadcast_in_dim(x, result, broadcast_dimensions<0, 0>): requires strictly increasing "
              "broadcast_dimensions; entry 0 is 0 and entry 1 is 0; x is [2, 2], the result [2, 2]; "
              "broadcast_dimensions<0, 1> would be valid");
static_assert(told_in_dim({2U, 2U}, {2U, 3U}, {0, 0}, strictness::stablehlo) ==
              "partita::broadcast_in_dim(x, result, broadcast_dimensions<0, 0>): requires distinct "
              "broadcast_dimensions; entry 1 repeats 0; x is [2, 2], the result [2, 3]; no broadcast_dimensions fit "
              "these shapes: transpose or reshape the smaller operand first");
static_assert(told_in_dim({1U, 2U, 3U}, {3U}, {0, 1, 2}) ==
              "partita::broadcast_in_dim(x, result, broadcast_dimensions<0, 1, 2>): requires a result of at least the "
              "operand's rank; x is [1, 2, 3], the result [3]; sum over dimensions instead");
static_assert(told_in_dim({2U, 3U}, {2U, 3U, 4U}, {0}) ==
              "partita::broadcast_in_dim(x, result, broadcast_dimensions<0>): requires one entry of "
              "broadcast_dimensions for each dimension of x (2), got 1; x is [2, 3], the result [2, 3, 4]; "
              "broadcast_dimensions<0, 1> would be valid");
static_assert(told_in_dim({3U}, {2U, 3U}, {-1}) ==
              "partita::broadcast_in_dim(x, result, broadcast_dimensions<-1>): requires entries of "
              "broadcast_dimensions from 0 to 2 - 1; entry 0 is -1; x is [3], the result [2, 3]; "
              "broadcast_dimensions<1> would be valid");
constexpr short_list<std::ptrdiff_t> negative{2, -1};
static_assert(explain_verdict(judge_result_extents(negative), negative).contains("dimension 1 of [2, -1] is -1"));

// select and clamp
static_assert(
    explain_ternary("select(p, a, b)", "values of one shape", shape_list{}, shape_list{2U}, shape_list{3U}) ==
    "partita::select(p, a, b): requires values of one shape; the shapes are [], [2], [3]; use broadcast_in_dim "
    "on the smaller ones first");

}  // namespace
