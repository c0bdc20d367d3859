// The sharding factors of broadcasting: dimensions that are sharded together share a factor, an expanded 1 has its own.
#include <partita/rule/broadcast_factors.hpp>

using namespace partita;

namespace {

constexpr shape_list result{4U, 3U, 2U};

constexpr auto in_place = factors_of(dimension_map::identity(3), result, result);
static_assert(in_place.operand == in_place.result && in_place.sizes == result);

constexpr auto last_two = factors_of(dimension_map(shape_list{1U, 2U}, 3), {3U, 2U}, result);
static_assert(last_two.operand == shape_list{1U, 2U} && last_two.result == shape_list{0U, 1U, 2U});

constexpr auto expanded = factors_of(dimension_map(shape_list{1U, 2U}, 3), {1U, 2U}, result);
static_assert(expanded.operand == shape_list{3U, 2U} && expanded.sizes == shape_list{4U, 3U, 2U, 1U});

// a 1 that meets a 1 is not expanded
constexpr auto kept = factors_of(dimension_map::identity(2), {1U, 2U}, {1U, 2U});
static_assert(kept.operand == shape_list{0U, 1U} && kept.sizes == shape_list{1U, 2U});

// a scalar shares nothing
static_assert(factors_of(dimension_map(shape_list{}, 3), {}, result).operand.empty());

}  // namespace
