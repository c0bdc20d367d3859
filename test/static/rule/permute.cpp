// Permutations of dimensions: validity, inverse, and application to values in both directions.
#include <partita/rule/permute.hpp>

using namespace partita;

static_assert(is_permutation_of_axes<0>({}));
static_assert(is_permutation_of_axes<3>({2, 0, 1}));
static_assert(!is_permutation_of_axes<3>({2, 0, 2}));
static_assert(!is_permutation_of_axes<2>({0, 2}));
static_assert(same_axes<3>() == axes_order<3>{0, 1, 2});

static_assert(inverse_axes<3>({2, 0, 1}) == axes_order<3>{1, 2, 0});
static_assert(inverse_axes<2>({1, 0}) == axes_order<2>{1, 0});

// dimension k of the result is dimension axes[k] of the source
constexpr axes_order<3> axes{2, 0, 1};
constexpr std::array<std::size_t, 3> of_source{4, 5, 6};
static_assert(in_result_order(of_source, axes) == std::array<std::size_t, 3>{6, 4, 5});
static_assert(in_source_order(in_result_order(of_source, axes), axes) == of_source);
static_assert(in_result_order(of_source, inverse_axes(axes)) == in_source_order(of_source, axes));
static_assert(in_result_order(box<2>{{0, 1}, {2, 5}}, {1, 0}) == box<2>{{1, 0}, {5, 2}});
