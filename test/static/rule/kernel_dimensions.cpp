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

}  // namespace
