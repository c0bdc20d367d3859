// Extents and indices that are not integers are compile-time errors.
// first FRACTION: partita: requires extents and indices of an integer type; round them first
// lines FRACTION: 12
// first FRACTIONS_OF_AN_ARRAY: partita: requires extents and indices of an integer type; round them first
// lines FRACTIONS_OF_AN_ARRAY: 12
// expect TWO_TYPES: narrowing|cannot be narrowed
#include <array>
#include <partita/core/short_list.hpp>

using namespace partita;

constexpr std::size_t rank(const shape_list& extents) { return extents.size(); }

static_assert(rank({1}) == 1 && rank({1, 2U}) == 2);

#ifdef FRACTION
const std::size_t wrong = rank({1.5});
#endif
#ifdef FRACTIONS_OF_AN_ARRAY
const std::size_t wrong = rank(std::array{1.5, 2.0});
#endif
#ifdef TWO_TYPES
const std::size_t wrong = rank({1.5, 2});
#endif
