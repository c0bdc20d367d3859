// The only public name that a program with <strings.h> cannot write without partita::.
//
// first INDEX: reference to .index. is ambiguous
#include <strings.h>

#include <partita/core/index.hpp>

using namespace partita;

constexpr partita::index<2> right{1, 2};
static_assert(flat_index(right, {2, 3}) == 5);

#ifdef INDEX
constexpr index<2> wrong{1, 2};
#endif
