// With PARTITA_WARN_OF_FORMER_NAMES a use of a former name is a warning that says which name replaces it.
//
// expect A_TYPE: is deprecated: use unshard
// expect A_FUNCTION: is deprecated: use without_partials
#define PARTITA_WARN_OF_FORMER_NAMES
#pragma GCC diagnostic error "-Wdeprecated-declarations"
#include <partita/rule/sharding/propagate.hpp>

using namespace partita;

#if defined(A_TYPE)
constexpr policy::whole refused = policy::whole::refuse;
#elif defined(A_FUNCTION)
constexpr sharding whole(const sharding& s) { return s.finished(); }
#endif
