// The map from operand dimensions to result dimensions: lifting, restricting, and the dimensions that the adjoint sums.
#include <partita/rule/dimension_map.hpp>

using namespace partita;

namespace {

// a matrix in dimensions 2 and 0 of three
constexpr dimension_map turned(shape_list{2U, 0U}, 3);
static_assert(turned.operand_rank() == 2 && turned.result_rank() == 3);
static_assert(turned.target(0) == 2 && turned.target(1) == 0);
static_assert(turned.source(0) == 1 && turned.source(1) == dimension_map::unmapped && turned.source(2) == 0);
static_assert(!turned.is_increasing() && !turned.is_trailing());

// lifting puts 1 where nothing stands; restricting is the way back
static_assert(turned.lift(shape_list{5U, 7U}) == shape_list{7U, 1U, 5U});
static_assert(turned.lift(shape_list{5U, 7U}, std::size_t{0}) == shape_list{7U, 0U, 5U});
static_assert(turned.restrict_to_operand(shape_list{7U, 9U, 5U}) == shape_list{5U, 7U});
static_assert(turned.restrict_to_operand(turned.lift(shape_list{5U, 7U})) == shape_list{5U, 7U});

// a dimension is spanned where the operand has its own extent there: not where a 1 is repeated, but where 1 is 1
constexpr shape_list small{5U, 1U}, large{7U, 9U, 5U}, flat{1U, 9U, 5U};
static_assert(turned.equals_result(2, small, large) && !turned.equals_result(0, small, large) &&
              !turned.equals_result(1, small, large));
static_assert(turned.equals_result(0, small, flat));

static_assert(dimension_map::identity(3).lift(large) == large);
static_assert(dimension_map::identity(3).is_increasing() && dimension_map::identity(3).is_trailing());
static_assert(dimension_map(shape_list{1U, 2U}, 3).is_trailing() &&
              !dimension_map(shape_list{0U, 1U}, 3).is_trailing());
static_assert(dimension_map(shape_list{}, 2).lift(shape_list{}) == shape_list{1U, 1U});
static_assert(dimension_map(shape_list{1U}, 2) == dimension_map(shape_list{1U}, 2));
static_assert(!(dimension_map(shape_list{1U}, 2) == dimension_map(shape_list{0U}, 2)));

}  // namespace
