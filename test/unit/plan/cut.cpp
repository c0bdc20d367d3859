// Which parts of a cut hold a range, against asking every index.
#include <partita/plan/cut.hpp>

#include <boost/test/unit_test.hpp>
#include <random>
#include <utility>

namespace {

using namespace partita;

cut random_cut(std::size_t n, std::size_t p, std::mt19937& random) {
  if (random() % 3 == 0) return cut::balanced(n, p);
  if (random() % 2 == 0) return cut::block_cyclic(n, p, 1 + random() % 5);
  std::vector<std::size_t> sizes(p, 0);
  for (std::size_t k = 0; k < n; ++k) ++sizes[random() % p];
  return cut::at(sizes);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(cutting_a_dimension)

BOOST_AUTO_TEST_CASE(the_parts_of_a_range_are_those_that_hold_its_indices_in_order_and_without_gaps) {
  std::mt19937 random(1);
  bool right = true;
  for (int trial = 0; trial < 5000; ++trial) {
    const std::size_t n = random() % 40, p = 1 + random() % 8;
    const cut c = random_cut(n, p, random);
    std::vector<std::pair<std::size_t, std::size_t>> holder(n);  // of each index: the part, and where in its block
    for (std::size_t k = 0; k < p; ++k) {
      std::size_t held = 0;
      c.for_pieces(k, [&](interval piece, std::size_t at) {
        for (std::size_t i = piece.start; i < piece.stop; ++i) holder[i] = {k, at + i - piece.start};
        held += piece.size();
      });
      right = right && held == c.size(k);
    }
    const std::size_t start = random() % (n + 1), stop = start + random() % (n - start + 1);
    std::size_t next = start, pieces = 0;
    c.for_overlaps({start, stop}, [&](std::size_t part, interval range, std::size_t at) {
      right = right && range.start == next && range.stop > range.start;
      for (std::size_t i = range.start; i < range.stop; ++i)
        right = right && holder[i] == std::make_pair(part, at + i - range.start);
      next = range.stop;
      ++pieces;
    });
    right = right && next == stop && pieces <= c.count_overlaps({start, stop});
  }
  BOOST_TEST(right);
}

BOOST_AUTO_TEST_SUITE_END()
