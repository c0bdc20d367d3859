// Extents: static, dynamic and mixed.
#include <partita/core/extents.hpp>

using namespace partita;

namespace {

template <class T, class... Argument>
concept made_from = requires(Argument... argument) { T(argument...); };
template <class From, class To>
concept converts_to = std::is_convertible_v<From, To>;

// static entries cost no memory
static_assert(sizeof(extents<2, 3, 4>) == 1);
static_assert(sizeof(extents<dynamic, 3>) == sizeof(std::size_t));
static_assert(sizeof(extents<dynamic, 3, dynamic>) == 2 * sizeof(std::size_t));

// rank and what is known of it at compile time
static_assert(extents<>::rank() == 0 && extents<>::is_static());
static_assert(extents<2, 3>::rank() == 2 && extents<2, 3>::is_static());
static_assert(extents<2, dynamic>::rank_dynamic() == 1 && !extents<2, dynamic>::is_static());
static_assert(extents<2, dynamic>::static_extent(0) == 2 && extents<2, dynamic>::static_extent(1) == dynamic);

// dynamic entries are filled in order; all entries may be given as well
constexpr extents<dynamic, 3, dynamic> mixed(2, 4);
static_assert(mixed[0] == 2 && mixed[1] == 3 && mixed[2] == 4 && mixed.extent(2) == 4);
static_assert(mixed == extents<dynamic, 3, dynamic>(2, 3, 4));
static_assert(mixed == extents<dynamic, 3, dynamic>(std::array<std::size_t, 2>{2, 4}));
static_assert(mixed == extents<dynamic, 3, dynamic>(std::array<std::size_t, 3>{2, 3, 4}));
static_assert(mixed.array() == std::array<std::size_t, 3>{2, 3, 4});
static_assert(mixed.size() == 24);
static_assert(extents<>{}.size() == 1 && extents<2, 0>{}.size() == 0);

// the number of values must be that of the dynamic entries or that of all
static_assert(made_from<extents<dynamic, 3>, int>);
static_assert(made_from<extents<dynamic, 3>, int, int>);
static_assert(!made_from<extents<dynamic, 3>, int, int, int>);
static_assert(!made_from<extents<2, 3>, int>);

// values alone mean all of them dynamic
static_assert(std::is_same_v<decltype(extents(2, 3)), extents<dynamic, dynamic>>);
static_assert(std::is_same_v<dynamic_extents<3>, extents<dynamic, dynamic, dynamic>>);
static_assert(std::is_same_v<dynamic_extents<0>, extents<>>);

// equality compares values, and does not depend on static or dynamic
static_assert(extents<2, 3>{} == extents(2, 3));
static_assert(extents<2, 3>{} == extents<dynamic, 3>(2));
static_assert(!(extents<2, 3>{} == extents(3, 2)));
static_assert(!(extents<2, 3>{} == extents<2, 3, 1>{}));

// conversion to dynamic extents is implicit, to static ones explicit, and impossible if they contradict
static_assert(converts_to<extents<2, 3>, extents<dynamic, dynamic>>);
static_assert(converts_to<extents<2, dynamic>, extents<dynamic, dynamic>>);
static_assert(!converts_to<extents<dynamic, dynamic>, extents<2, 3>>);
static_assert(made_from<extents<2, 3>, extents<dynamic, dynamic>>);
static_assert(!made_from<extents<2, 3>, extents<2, 4>>);
static_assert(!made_from<extents<2, 3>, extents<2, 3, 1>>);

static_assert(static_extents<extents<2, dynamic, 4>>() == std::array<std::size_t, 3>{2, dynamic, 4});
static_assert(is_extents<extents<2, dynamic>> && !is_extents<int>);

}  // namespace
