// Half-open boxes: shape, membership and intersection.
#include <partita/core/box.hpp>
#include <partita/core/text.hpp>

using namespace partita;

namespace {

constexpr box<2> b{{1, 2}, {4, 6}};
static_assert(b.shape() == std::array<std::size_t, 2>{3, 4});
static_assert(b.volume() == 12 && !b.empty());

// the start belongs to it, the stop does not
static_assert(b.contains({1, 2}) && b.contains({3, 5}));
static_assert(!b.contains({0, 2}) && !b.contains({4, 2}) && !b.contains({1, 6}));

// a box that stops where it starts, or before, is empty and has no negative shape
static_assert(box<2>{{3, 3}, {3, 5}}.empty());
static_assert(box<1>{{4}, {2}}.empty() && box<1>{{4}, {2}}.shape()[0] == 0);
static_assert(!box<1>{{4}, {2}}.contains({3}));

// the box of rank 0 holds one index
static_assert(box<0>{}.volume() == 1 && box<0>{}.contains({}));

// an index is in the intersection if and only if it is in both
constexpr bool intersection_is_and(const box<2>& a, const box<2>& c) {
  for (std::size_t i = 0; i < 8; ++i)
    for (std::size_t j = 0; j < 8; ++j)
      if (intersection(a, c).contains({i, j}) != (a.contains({i, j}) && c.contains({i, j}))) return false;
  return intersection(a, c) == intersection(c, a);
}
static_assert(intersection_is_and(b, {{0, 0}, {8, 8}}));
static_assert(intersection_is_and(b, {{2, 3}, {3, 4}}));
static_assert(intersection_is_and(b, {{3, 5}, {8, 8}}));
static_assert(intersection_is_and(b, {{4, 6}, {8, 8}}));  // they touch
static_assert(intersection_is_and(b, {{6, 0}, {8, 8}}));  // they are apart
static_assert(intersection_is_and(b, {{2, 2}, {2, 2}}));  // one is empty
static_assert(intersection(b, {{6, 0}, {8, 8}}).empty());
static_assert(intersection(b, {{6, 0}, {8, 8}}) == box<2>{{6, 2}, {6, 6}});  // and does not end before it begins
static_assert(intersection(box<1>{{5}, {7}}, box<1>{{1}, {3}}) == box<1>{{5}, {5}});

// written as its ranges
static_assert((text() << b) == "[1, 4) x [2, 6)");
static_assert((text() << box<1>{{0}, {5}}) == "[0, 5)");
static_assert((text() << box<0>{}) == "scalar");

// a box of a rank that is known at run time has the same shape, volume and text
constexpr box<dynamic> run_time{{1U, 2U}, {4U, 6U}};
static_assert(run_time.shape() == shape_list{3U, 4U} && run_time.volume() == 12);
static_assert(box<dynamic>{{4U, 0U}, {2U, 3U}}.shape() == shape_list{0U, 3U});
static_assert(box<dynamic>{{4U, 0U}, {2U, 3U}}.volume() == 0 && box<dynamic>{}.volume() == 1);
static_assert((text() << run_time) == "[1, 4) x [2, 6)" && (text() << box<dynamic>{{0U}, {5U}}) == "[0, 5)");
static_assert(run_time == box<dynamic>{{1U, 2U}, {4U, 6U}} && !(run_time == box<dynamic>{{1U, 2U}, {4U, 7U}}) &&
              !(run_time == box<dynamic>{{0U, 2U}, {4U, 6U}}));

}  // namespace
