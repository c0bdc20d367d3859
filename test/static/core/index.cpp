// Positions and their numbers in C order.
#include <partita/core/index.hpp>

using namespace partita;

namespace {

using shape3 = std::array<std::size_t, 3>;

// the last dimension runs fastest
static_assert(flat_index(index<3>{0, 0, 0}, shape3{2, 3, 4}) == 0);
static_assert(flat_index(index<3>{0, 0, 1}, shape3{2, 3, 4}) == 1);
static_assert(flat_index(index<3>{0, 1, 0}, shape3{2, 3, 4}) == 4);
static_assert(flat_index(index<3>{1, 0, 0}, shape3{2, 3, 4}) == 12);
static_assert(flat_index(index<3>{1, 2, 3}, shape3{2, 3, 4}) == 23);

// each is the inverse of the other
template <std::size_t Rank>
constexpr bool each_inverts_the_other(const std::array<std::size_t, Rank>& shape) {
  for (std::size_t k = 0; k < volume_of(shape); ++k) {
    const index<Rank> i = index_of(k, shape);
    if (flat_index(i, shape) != k) return false;
    for (std::size_t d = 0; d < Rank; ++d)
      if (i[d] >= shape[d]) return false;
  }
  return true;
}
static_assert(each_inverts_the_other(std::array<std::size_t, 1>{7}));
static_assert(each_inverts_the_other(std::array<std::size_t, 2>{1, 5}));
static_assert(each_inverts_the_other(shape3{2, 3, 4}));
static_assert(each_inverts_the_other(std::array<std::size_t, 5>{2, 1, 3, 1, 2}));

// a position is written in braces, or given as it is
static_assert(index_from<2>({3, 5}) == index<2>{3, 5} && index_from<2>(index<2>{3, 5}) == index<2>{3, 5});

// rank 0 has one position; an extent of 0 leaves none
static_assert(volume_of(std::array<std::size_t, 0>{}) == 1);
static_assert(flat_index(index<0>{}, std::array<std::size_t, 0>{}) == 0);
static_assert(index_of(0, std::array<std::size_t, 0>{}) == index<0>{});
static_assert(volume_of(shape3{2, 0, 4}) == 0);

}  // namespace
