// A layout with an axis that the mesh does not have: the library's message comes first, with few lines after it.
//
// first UNKNOWN_AXIS: throw partition_error\(text\("partita::mesh: requires the name of an axis of the
//   mesh"\)|constexpr variable
// expect UNKNOWN_AXIS: partita::mesh: requires the name of an axis of the mesh
// lines UNKNOWN_AXIS: 12
#include <partita/rule/sharding/sharding.hpp>

using namespace partita;

constexpr mesh m{axis{"data", 2}, axis{"model", 4}};
static_assert(m.layout("data", "").rank() == 2);

#ifdef UNKNOWN_AXIS
constexpr auto refused = m.layout("dta", "");
#endif
