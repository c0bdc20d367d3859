// select and clamp: only scalars broadcast, and nothing is degenerate.
#include <partita/rule/select_and_clamp_rule.hpp>

using namespace partita;

namespace {

constexpr shape_list two_by_three{2U, 3U}, row{1U, 3U}, scalar{}, unknown{dynamic, std::size_t{3}};

// select: the values have one shape, the predicate has it or is a scalar
static_assert(judge_select(two_by_three, two_by_three, two_by_three).result == two_by_three);
static_assert(judge_select(scalar, two_by_three, two_by_three).result == two_by_three);
static_assert(judge_select(scalar, scalar, scalar).result == scalar);
static_assert(judge_select(two_by_three, two_by_three, scalar).verdict.fault == broadcast_fault::incompatible_shapes);
static_assert(judge_select(row, two_by_three, two_by_three).verdict ==
              broadcast_verdict{broadcast_fault::incompatible_shapes, 0});
static_assert(!judge_select(two_by_three, scalar, scalar).verdict);

// clamp: the operand's shape, each bound has it or is a scalar
static_assert(judge_clamp(scalar, two_by_three, scalar).result == two_by_three);
static_assert(judge_clamp(two_by_three, two_by_three, scalar).result == two_by_three);
static_assert(!judge_clamp(row, two_by_three, scalar).verdict && !judge_clamp(scalar, two_by_three, row).verdict);
static_assert(!judge_clamp(two_by_three, scalar, scalar).verdict);

// what is not known yet breaks no rule, and is learnt from the others
static_assert(judge_select(scalar, unknown, two_by_three).result == two_by_three);
static_assert(judge_clamp(two_by_three, unknown, two_by_three).verdict);
static_assert(!judge_clamp(shape_list{4U, 3U}, unknown, two_by_three).verdict);  // the bounds differ from each other

static_assert(judge_select(two_by_three, unknown, unknown).result == two_by_three &&
              judge_select(unknown, two_by_three, two_by_three).result == two_by_three);

// an error names its dimension
static_assert(judge_select(two_by_three, two_by_three, shape_list{2U, 4U}).verdict.at == 1 &&
              judge_select(shape_list{2U, 4U}, two_by_three, two_by_three).verdict.at == 1);
static_assert(judge_clamp(shape_list{2U, 4U}, two_by_three, scalar).verdict.at == 1 &&
              judge_clamp(scalar, two_by_three, shape_list{2U, 4U}).verdict.at == 1);

}  // namespace
