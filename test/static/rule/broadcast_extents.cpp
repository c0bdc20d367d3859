// Array broadcasting of extents types: the resulting extents, and errors at compile time where extents are static.
#include <partita/rule/broadcast_extents.hpp>

using namespace partita;

namespace {

// the result is a type, with as much known as the operands know
static_assert(std::is_same_v<broadcast_extents<extents<2, 3>, extents<3>, 1>::type, extents<2, 3>>);
static_assert(std::is_same_v<broadcast_extents<extents<>, extents<>>::type, extents<>>);
static_assert(std::is_same_v<broadcast_extents<extents<1, 2>, extents<4, 3, 1>, 1, 2>::type, extents<4, 3, 2>>);

// what is known early is judged early; what is not known yet breaks no rule
static_assert(broadcastable<extents<dynamic, 3>, extents<3>, 1>);
static_assert(!broadcastable<extents<dynamic, 3>, extents<4>, 1>);
static_assert(std::is_same_v<broadcast_extents<extents<dynamic, 3>, extents<2, 1>>::type, extents<2, 3>>);
static_assert(std::is_same_v<broadcast_extents<extents<dynamic>, extents<1>>::type, extents<dynamic>>);
static_assert(std::is_same_v<broadcast_extents<extents<dynamic>, extents<dynamic>>::type, extents<dynamic>>);
static_assert(std::is_same_v<broadcast_extents<extents<dynamic>, extents<2, 3>, 1>::type, extents<2, 3>>);

// the choice of dimensions, as a type and as a list
static_assert(broadcast_dimensions_choice<broadcast_dimensions_t<0, 2>> &&
              broadcast_dimensions_choice<broadcast_dimensions_list>);
static_assert(!broadcast_dimensions_choice<int>);
static_assert(broadcast_dimensions_t<0, 2>::list() == broadcast_dimensions_list{0, 2});
static_assert(broadcast_dimensions_t<>::list().empty());

}  // namespace
