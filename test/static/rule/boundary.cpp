// Boundary conditions, however they are given: the condition and the constant of each side, and which conditions give
// values that no cell of the tensor has.
#include <partita/rule/boundary.hpp>

using namespace partita;

namespace {

using conditions = std::array<boundary, 2>;
using constants = std::array<double, 2>;
constexpr conditions lower{boundary::periodic, boundary::constant}, upper{boundary::zero, boundary::reflect};

constexpr bool holds(const halo_boundaries<2>& b, const conditions& before, const conditions& after,
                     const constants& value_before, const constants& value_after) {
  return b.before == before && b.after == after && b.value_before == value_before && b.value_after == value_after;
}
constexpr conditions all_zero{boundary::zero, boundary::zero};
static_assert(holds(boundary::zero, all_zero, all_zero, {0, 0}, {0, 0}));
static_assert(holds(halo_boundaries<2>(boundary::zero, 3), all_zero, all_zero, {3, 3}, {3, 3}));
static_assert(holds(halo_boundaries<2>(lower), lower, lower, {0, 0}, {0, 0}));
static_assert(holds(halo_boundaries<2>(lower, 4), lower, lower, {4, 4}, {4, 4}));
static_assert(holds(halo_boundaries<2>(lower, upper), lower, upper, {0, 0}, {0, 0}));
static_assert(holds(halo_boundaries<2>(lower, upper, 5), lower, upper, {5, 5}, {5, 5}));
static_assert(holds(halo_boundaries<2>(lower, upper, constants{1, 2}, constants{3, 4}), lower, upper, {1, 2}, {3, 4}));
static_assert(holds(halo_boundaries<2>(boundary::periodic, boundary::constant), lower, lower, {0, 0}, {0, 0}));

// a condition is found on each side of each dimension, and nowhere else
constexpr bool each_side_is_found() {
  for (std::size_t d = 0; d < 2; ++d)
    for (const bool behind : {false, true}) {
      halo_boundaries<2> b(boundary::none);
      if (b.any(boundary::function)) return false;
      (behind ? b.after : b.before)[d] = boundary::function;
      if (!b.any(boundary::function) || !b.any(boundary::none) || b.any(boundary::zero)) return false;
    }
  return true;
}
static_assert(each_side_is_found());

// two are equal if every side is, with its constant
constexpr bool each_member_counts() {
  const halo_boundaries<2> same(boundary::constant, 1);
  for (std::size_t d = 0; d < 2; ++d)
    for (std::size_t member = 0; member < 4; ++member) {
      halo_boundaries<2> other = same;
      if (member < 2) (member == 0 ? other.before : other.after)[d] = boundary::zero;
      else (member == 2 ? other.value_before : other.value_after)[d] = 2;
      if (other == same) return false;
    }
  return same == halo_boundaries<2>(boundary::constant, 1);
}
static_assert(each_member_counts());

static_assert(is_outside(boundary::zero) && is_outside(boundary::constant) && is_outside(boundary::function));
static_assert(!is_outside(boundary::none) && !is_outside(boundary::periodic) && !is_outside(boundary::reflect) &&
              !is_outside(boundary::replicate));

// widths: none, in every direction, and not of empty blocks, unless it is said
constexpr halo_widths<2> no_widths{}, widths{.before = {1, 2}, .after = 3};
static_assert(no_widths.before[0] == 0 && no_widths.before[1] == 0 && no_widths.after[0] == 0 &&
              no_widths.after[1] == 0 && no_widths.shape == halo_shape::box && !no_widths.of_empty_blocks);
static_assert(widths.before[0] == 1 && widths.before[1] == 2 && widths.after[0] == 3 && widths.after[1] == 3);

}  // namespace
