// Extents that contradict their type, in constant expressions.
// expect TOO_MANY: no matching function
// expect CONTRADICTED: not a constant expression|must be initialized by a constant expression
// expect OTHER_RANK: no matching function
// expect IMPLICITLY_LEARNT: could not convert|no viable conversion|conversion from
#include <partita/core/extents.hpp>

using namespace partita;

constexpr extents<dynamic, 3> right(2);

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
