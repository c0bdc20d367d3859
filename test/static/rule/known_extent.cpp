// Extents that are known, bounded (as in XLA) or unknown, and the result of broadcasting two of them.
#include <partita/core/text.hpp>
#include <partita/rule/known_extent.hpp>

using namespace partita;

namespace {

constexpr known_extent any = known_extent::any_size(), most_3 = known_extent::with_upper_bound(3), three = 3, one = 1;

static_assert(any.is_dynamic() && most_3.is_dynamic() && !three.is_dynamic());
static_assert((text() << "" << any) == "?" && (text() << "" << most_3) == "<=3" && (text() << "" << three) == "3");

// numbers: equal or 1; `dynamic` is a number that is not known yet and breaks no rule
constexpr bool meets(std::size_t a, std::size_t b, std::size_t comes_out) {
  return combine_extents(a, b).legal && combine_extents(b, a).legal && combine_extents(a, b).extent == comes_out &&
         combine_extents(b, a).extent == comes_out;
}
static_assert(meets(3, 3, 3) && meets(1, 3, 3) && meets(1, 0, 0) && meets(1, 1, 1));
static_assert(meets(dynamic, 3, 3) && meets(dynamic, 1, dynamic) && meets(dynamic, dynamic, dynamic));
static_assert(!combine_extents(2, 3).legal && !combine_extents(0, 3).legal);

// XLA's sizes: a bound wins over the number, a number over "?"
constexpr bool meets(known_extent a, known_extent b, known_extent comes_out) {
  return combine_extents(a, b).legal && combine_extents(b, a).legal && combine_extents(a, b).extent == comes_out &&
         combine_extents(b, a).extent == comes_out;
}
static_assert(meets(three, most_3, most_3) && meets(any, three, three) && meets(any, most_3, most_3));
static_assert(meets(one, most_3, most_3) && meets(one, any, any) && meets(any, any, any));
static_assert(!combine_extents(most_3, known_extent(4)).legal && !combine_extents(known_extent(2), three).legal);

// without broadcasting a 1 is an ordinary number
static_assert(combine_equal_extents(3, 3).legal && !combine_equal_extents(1, 3).legal &&
              !combine_equal_extents(3, 1).legal);
static_assert(combine_equal_extents(dynamic, 3).extent == 3 && combine_equal_extents(3, dynamic).extent == 3);
static_assert(combine_equal_extents(any, three).extent == three &&
              combine_equal_extents(three, most_3).extent == most_3 && !combine_equal_extents(one, three).legal);

// a bound wins over the number that it meets, and both over "?", on whichever side it stands
constexpr bool equals(known_extent a, known_extent b, known_extent comes_out) {
  return combine_equal_extents(a, b).legal && combine_equal_extents(b, a).legal &&
         combine_equal_extents(a, b).extent == comes_out && combine_equal_extents(b, a).extent == comes_out;
}
static_assert(equals(three, most_3, most_3) && equals(any, three, three) && equals(any, most_3, most_3));
static_assert(equals(any, any, any) && equals(one, one, one) && equals(most_3, most_3, most_3));
static_assert(!combine_equal_extents(most_3, known_extent(4)).legal &&
              !combine_equal_extents(known_extent(4), most_3).legal && !combine_equal_extents(one, most_3).legal);
static_assert(combine_equal_extents(dynamic, dynamic).legal &&
              combine_equal_extents(dynamic, dynamic).extent == dynamic && combine_equal_extents(2, 2).extent == 2);

// mapping: a number onto "?" only if it is 1
static_assert(may_be_mapped(one, any) && !may_be_mapped(known_extent(2), any) && may_be_mapped(any, any));
static_assert(may_be_mapped(three, most_3) && may_be_mapped(one, most_3) && !may_be_mapped(known_extent(2), most_3));
static_assert(may_be_mapped(any, one) && may_be_mapped(most_3, one) && may_be_mapped(most_3, three) &&
              !may_be_mapped(any, three) && !may_be_mapped(any, known_extent(2)) && !may_be_mapped(most_3, any));
// a bound of 1 is no 1: it is mapped to a bound, not to a number
constexpr known_extent most_1 = known_extent::with_upper_bound(1);
static_assert(may_be_mapped(most_1, most_3) && may_be_mapped(most_3, most_1) && may_be_mapped(most_1, one) &&
              !may_be_mapped(most_1, three) && !may_be_mapped(three, most_1));
static_assert(may_be_mapped(2, 2) && may_be_mapped(1, 2) && !may_be_mapped(3, 2));

}  // namespace
