// Short lists: values in order, without allocation, in constant expressions.
#include <partita/core/short_list.hpp>

using namespace partita;

namespace {

constexpr shape_list three{2U, 3U, 4U};
static_assert(three.size() == 3 && !three.empty() && three[0] == 2 && three[2] == 4 && three.data()[1] == 3);
static_assert(three.end() - three.begin() == 3);
static_assert(shape_list{}.empty());

// from a range, from extents, and from other integers
static_assert(shape_list(std::array<int, 3>{2, 3, 4}) == three);
static_assert(shape_list(extents<2, 3, 4>{}) == three);
static_assert(shape_list{2, 3, 4} == three);
constexpr std::size_t middle = 3;
static_assert(shape_list{2, middle, 4} == three);
static_assert(shape_list::filled(2, 7) == shape_list{7U, 7U} && shape_list::filled(0, 7).empty());

// equal if all values are, whatever was there before
static_assert(!(three == shape_list{2U, 3U}) && !(three == shape_list{2U, 3U, 5U}));

constexpr bool forgets_what_was_there() {
  shape_list all{1U, 2U};
  all = shape_list{3U};
  return all == shape_list{3U} && all.size() == 1 && all.end() - all.begin() == 1;
}
static_assert(forgets_what_was_there());

// as many as there are dimensions, and none more
constexpr bool holds(std::size_t count) {
  shape_list all;
  for (std::size_t k = 0; k < count; ++k) all.push_back(k);
  return all.size() == count;
}
template <std::size_t Count>
concept can_hold = requires { typename std::bool_constant<holds(Count)>; };
static_assert(most_dimensions == 16);
static_assert(can_hold<most_dimensions> && !can_hold<most_dimensions + 1>);

}  // namespace
