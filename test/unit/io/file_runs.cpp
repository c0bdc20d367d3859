// The runs of a file that form a block: all its elements in the order of the block, for all decompositions.
#include <boost/test/unit_test.hpp>
#include <partita/io/file_runs.hpp>
#include <random>
#include <vector>

namespace {

using namespace partita;

/// The numbers in the file of the elements of a block, element by element.
template <std::size_t Rank>
std::vector<std::size_t> numbers(const decomposition<Rank>& cuts, const partita::index<Rank>& position) {
  std::array<std::vector<std::size_t>, Rank> held;
  for (std::size_t d = 0; d < Rank; ++d)
    cuts.cuts[d].for_pieces(position[d], [&](interval piece, std::size_t) {
      for (std::size_t i = piece.start; i < piece.stop; ++i) held[d].push_back(i);
    });
  std::vector<std::size_t> all;
  const auto shape = cuts.shape(position), extents = cuts.extents();
  for (std::size_t k = 0; k < volume_of(shape); ++k) {
    auto i = index_of(k, shape);
    for (std::size_t d = 0; d < Rank; ++d) i[d] = held[d][i[d]];
    all.push_back(flat_index(i, extents));
  }
  return all;
}

BOOST_AUTO_TEST_SUITE(runs_of_a_file)

BOOST_AUTO_TEST_CASE(the_runs_of_a_block_are_its_elements_in_order_whatever_the_cuts) {
  std::mt19937 random(5);
  bool right = true;
  for (int trial = 0; trial < 2000; ++trial) {
    const auto cuts = decomposition<3>::make([&](std::size_t) {
      const std::size_t n = random() % 6, parts = 1 + random() % 3;
      if (random() % 3 == 0) return cut::block_cyclic(n, parts, 1 + random() % 2);
      if (random() % 2 == 0) return cut::balanced(n, parts);
      std::vector<std::size_t> sizes(parts, 0);
      for (std::size_t k = 0; k < n; ++k) ++sizes[random() % parts];
      return cut::at(sizes);
    });
    std::size_t runs = 0, elements = 0;
    for (std::size_t k = 0; k < volume_of(cuts.parts()); ++k) {
      const auto position = index_of(k, cuts.parts());
      std::vector<std::size_t> found;
      for_file_runs(cuts, position, [&](std::size_t at, std::size_t local, std::size_t count) {
        right = right && count > 0 && local == found.size();
        for (std::size_t i = 0; i < count; ++i) found.push_back(at + i);
        ++runs, elements += count;
      });
      right = right && found == numbers(cuts, position);
    }
    right = right && (runs == 0 || mean_run(cuts) <= elements) && elements == volume_of(cuts.extents());
  }
  BOOST_TEST(right);
}

/// The elements of the tensor over the runs of all blocks, where no block is empty.
BOOST_AUTO_TEST_CASE(the_mean_run_is_that_of_the_runs_of_all_blocks) {
  std::mt19937 random(6);
  for (int trial = 0; trial < 500; ++trial) {
    const auto cuts = decomposition<3>::make([&](std::size_t) {
      const std::size_t parts = 1 + random() % 3, n = 2 * parts + random() % 6;
      return random() % 2 == 0 ? cut::balanced(n, parts) : cut::block_cyclic(n, parts, 1 + random() % 2);
    });
    std::size_t runs = 0, elements = 0;
    for (std::size_t k = 0; k < volume_of(cuts.parts()); ++k)
      for_file_runs(cuts, index_of(k, cuts.parts()),
                    [&](std::size_t, std::size_t, std::size_t count) { ++runs, elements += count; });
    BOOST_TEST(mean_run(cuts) == elements / runs);
  }
}

BOOST_AUTO_TEST_CASE(runs_are_as_long_as_what_stands_behind_the_last_cut) {
  const auto of = [](const cut& a, const cut& b) { return mean_run(decomposition<2>(a, b)); };
  BOOST_TEST(of(cut::balanced(8, 4), cut::balanced(10, 1)) == 20U);
  BOOST_TEST(of(cut::balanced(8, 1), cut::balanced(10, 2)) == 5U);
  BOOST_TEST(of(cut::balanced(8, 1), cut::balanced(10, 1)) == 80U);
  BOOST_TEST(of(cut::balanced(8, 2), cut::block_cyclic(10, 2, 3)) == 2U);
  BOOST_TEST(of(cut::balanced(8, 2), cut::balanced(0, 3)) == 0U);
  BOOST_TEST(mean_run(decomposition<0>(std::array<cut, 0>{})) == 1U);
  std::size_t runs = 0;
  for_file_runs(decomposition<0>(std::array<cut, 0>{}), {}, [&](std::size_t at, std::size_t local, std::size_t count) {
    runs += at == 0 && local == 0 && count == 1 ? 1 : 0;
  });
  BOOST_TEST(runs == 1U);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
