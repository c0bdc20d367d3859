// Balanced extents are constant expressions: literal ones, and all numbers of workers up to 64.
#include <partita/comm/balanced_extents.hpp>

using namespace partita;

static_assert(balanced_extents<2>(12) == extents(4, 3));
static_assert(balanced_extents<3>(12) == extents(3, 2, 2));
static_assert(balanced_extents<2>(7) == extents(7, 1));
static_assert(balanced_extents<2>(1) == extents(1, 1));
static_assert(balanced_extents<1>(30) == extents(30));
static_assert(balanced_extents<0>(1) == extents<>{});
static_assert(balanced_extents<3>(24) == extents(4, 3, 2));
static_assert(balanced_extents<3>(64) == extents(4, 4, 4));
static_assert(balanced_extents<4>(4) == extents(2, 2, 1, 1));
static_assert(balanced_extents<3>(1000) == extents(10, 10, 10));
static_assert(balanced_extents(12, 2) == shape_list{4, 3});
static_assert(balanced_extents(1, 0) == shape_list{});

/// Whether the extents descend and have the product n, and no other three that do have a smaller largest one.
constexpr bool are_balanced_in_three_dimensions(std::size_t n) {
  const auto e = balanced_extents<3>(n);
  if (e[0] * e[1] * e[2] != n || e[0] < e[1] || e[1] < e[2]) return false;
  for (std::size_t a = 1; a <= n; ++a)
    for (std::size_t b = 1; b <= a; ++b)
      if (n % (a * b) == 0 && n / (a * b) <= b && (a < e[0] || (a == e[0] && b < e[1]))) return false;
  return true;
}
constexpr bool are_balanced_up_to(std::size_t most) {
  for (std::size_t n = 1; n <= most; ++n)
    if (!are_balanced_in_three_dimensions(n)) return false;
  return true;
}
static_assert(are_balanced_up_to(64));
