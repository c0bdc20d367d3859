// The dimensions of a kernel, given as a list or by the dimensions that are excluded.
#include <partita/rule/kernel_dimensions.hpp>

using namespace partita;

namespace {

using kept = std::array<bool, 3>;

static_assert(kept_dimensions<3>(dimensions<1>) == kept{true, false, true});
static_assert(kept_dimensions<3>(dimensions<0, 2>) == kept{false, true, false});
static_assert(kept_dimensions<3>(dimensions<>) == kept{true, true, true});
static_assert(kept_dimensions<3>(all_dimensions_but<1>) == kept{false, true, false});
static_assert(kept_dimensions<3>(all_dimensions_but<>) == kept{false, false, false});
static_assert(kept_dimensions<3>(all_dimensions_but<0, 1, 2>) == kept_dimensions<3>(dimensions<>));

// dimensions that do not exist are passed over
static_assert(kept_dimensions<3>(dimensions<1, 7>) == kept_dimensions<3>(dimensions<1>));
static_assert(kept_dimensions<0>(dimensions<0>).size() == 0);

// what is asked before: whether all are below the rank, all different, and whether a type lists dimensions
static_assert(detail::are_dimensions_below_rank<3, 0, 2> && !detail::are_dimensions_below_rank<3, 0, 3> &&
              !detail::are_dimensions_below_rank<3, 3, 0> && detail::are_dimensions_below_rank<0>);
static_assert(detail::are_distinct_dimensions<> && detail::are_distinct_dimensions<0> &&
              detail::are_distinct_dimensions<2, 0, 1> && !detail::are_distinct_dimensions<1, 0, 1> &&
              !detail::are_distinct_dimensions<0, 0> && !detail::are_distinct_dimensions<0, 1, 1>);
static_assert(detail::is_dimension_list<dimension_list> && detail::is_dimension_list<dimensions_t<0>> &&
              detail::is_dimension_list<all_dimensions_but_t<>> && !detail::is_dimension_list<std::size_t>);
static_assert(detail::is_not_a_dimension_list<> && detail::is_not_a_dimension_list<int, dimension_list> &&
              !detail::is_not_a_dimension_list<dimension_list, int>);

}  // namespace
