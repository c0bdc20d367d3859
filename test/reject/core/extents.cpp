// Extents that contradict their type are errors in constant expressions.
// expect TOO_MANY: no matching (function|constructor)
// expect CONTRADICTED: partita::extents: dimension
// expect OTHER_RANK: no matching (function|constructor)
// expect IMPLICITLY_LEARNT: could not convert|no viable conversion|conversion from
#include <partita/core/extents.hpp>

using namespace partita;

constexpr extents<dynamic, 3> right(2);
static_assert(right == extents<2, 3>{});

#ifdef TOO_MANY
constexpr extents<dynamic, 3> wrong(2, 3, 4);
#endif
#ifdef CONTRADICTED
constexpr extents<dynamic, 3> wrong(2, 4);
#endif
#ifdef OTHER_RANK
constexpr extents<2> wrong(right);
#endif
#ifdef IMPLICITLY_LEARNT
constexpr extents<2, 3> wrong = right;
#endif
