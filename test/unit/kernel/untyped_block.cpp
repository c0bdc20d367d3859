// Blocks whose element type and rank are known at run time only: their sizes, whether they are contiguous, copies, and
// whether two of them share memory.
#include <partita/kernel/detail/untyped_block.hpp>

#include <algorithm>
#include <array>
#include <boost/test/unit_test.hpp>
#include <cstddef>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "random_cases.hpp"

using partita::strided;
using namespace partita::detail;

namespace {

template <std::size_t Rank>
untyped_block block_of(const std::array<std::size_t, Rank>& shape, const std::array<std::ptrdiff_t, Rank>& strides) {
  return strided<std::int32_t, Rank>{nullptr, shape, strides};
}

/// The offsets of all elements of a block from its first one, in elements and in C order.
template <std::size_t Rank>
std::vector<std::ptrdiff_t> offsets(const std::array<std::size_t, Rank>& shape,
                                    const std::array<std::ptrdiff_t, Rank>& strides) {
  std::vector<std::ptrdiff_t> all{0};
  for (std::size_t d = 0; d < Rank; ++d) {
    std::vector<std::ptrdiff_t> longer;
    for (const std::ptrdiff_t one : all)
      for (std::size_t k = 0; k < shape[d]; ++k) longer.push_back(one + static_cast<std::ptrdiff_t>(k) * strides[d]);
    all = longer;
  }
  return all;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(untyped_blocks)

BOOST_AUTO_TEST_CASE(a_block_is_dense_if_its_elements_are_contiguous_in_c_order) {
  BOOST_TEST(block_of<2>({2, 3}, {3, 1}).is_dense());
  BOOST_TEST(!block_of<2>({2, 3}, {4, 1}).is_dense());
  BOOST_TEST(!block_of<2>({2, 3}, {1, 2}).is_dense());
  BOOST_TEST(!block_of<2>({2, 3}, {-3, -1}).is_dense());
  BOOST_TEST(!block_of<1>({2}, {2}).is_dense());
  BOOST_TEST(block_of<3>({1, 2, 1}, {50, 1, 70}).is_dense());  // the stride of an extent of 1 is not used
  BOOST_TEST(!block_of<2>({2, 1}, {7, 1}).is_dense());
  BOOST_TEST(block_of<2>({0, 3}, {9, 9}).is_dense());  // without elements
  BOOST_TEST(block_of<2>({3, 0}, {9, 9}).is_dense());
  BOOST_TEST(block_of<0>({}, {}).is_dense());
}

BOOST_AUTO_TEST_CASE(a_block_counts_its_elements_and_its_copy_is_dense) {
  BOOST_TEST(element_count_of_shape(pad_shape<3>({2, 3, 4}), 3) == 24U);
  BOOST_TEST(element_count_of_shape(pad_shape<3>({2, 3, 4}), 2) == 6U);  // extents beyond the rank do not count
  BOOST_TEST(element_count_of_shape(pad_shape<2>({2, 0}), 2) == 0U);
  BOOST_TEST(element_count_of_shape(block_shape{}, 0) == 1U);
  const untyped_block block = block_of<3>({2, 3, 4}, {1, 2, 6});
  BOOST_TEST(block.rank == 3U);
  BOOST_TEST(block.element_bytes == 4U);
  BOOST_TEST(block.size() == 24U);
  BOOST_TEST((unpad_shape<3>(block.shape) == std::array<std::size_t, 3>{2, 3, 4}));
  const char where = 'x';
  const untyped_block dense = block.dense_block_at(&where);
  BOOST_TEST((dense.data == &where && dense.shape == block.shape && dense.rank == 3 && dense.element_bytes == 4));
  BOOST_TEST((dense.strides[0] == 12 && dense.strides[1] == 4 && dense.strides[2] == 1));
  BOOST_TEST(dense.is_dense());
}

BOOST_AUTO_TEST_CASE(a_copy_has_the_elements_of_the_source_and_changes_nothing_beside_them) {
  std::mt19937 random(1);
  const auto kind = element_kind::moved<std::int32_t>();
  for (std::size_t round = 0; round < 20 + test::random_cases(200); ++round) {
    // the last extents are of more than 4096 bytes
    const std::array<std::size_t, 2> shape{random() % 5, random() % 5 + (round % 7 == 0 ? 1500 : 0)};
    const auto layout = [&](bool dense) {
      const auto columns = static_cast<std::ptrdiff_t>(shape[1]);
      return dense ? std::array<std::ptrdiff_t, 2>{columns, 1} : std::array<std::ptrdiff_t, 2>{2 * columns + 3, 2};
    };
    const auto from_strides = layout(random() % 2 == 0), to_strides = layout(random() % 2 == 0);
    std::vector<std::int32_t> source(5 * (2 * shape[1] + 3) + 2), target(source.size(), -1), wanted = target;
    for (std::size_t k = 0; k < source.size(); ++k) source[k] = static_cast<std::int32_t>(k);
    const auto from = offsets(shape, from_strides), to = offsets(shape, to_strides);
    for (std::size_t k = 0; k < from.size(); ++k)
      wanted[static_cast<std::size_t>(to[k])] = source[static_cast<std::size_t>(from[k])];
    copy(kind, strided<std::int32_t, 2>{target.data(), shape, to_strides},
         strided<const std::int32_t, 2>{source.data(), shape, from_strides});
    BOOST_TEST((target == wanted), "round " << round);
  }
}

BOOST_AUTO_TEST_CASE(blocks_share_memory_if_the_ranges_of_their_addresses_meet) {
  std::mt19937 random(2);
  std::vector<std::int16_t> memory(400);
  std::size_t sharing = 0;
  const std::size_t rounds = 100 + test::random_cases(2000);
  for (std::size_t round = 0; round < rounds; ++round) {
    std::array<untyped_block, 2> blocks;
    std::array<std::pair<std::ptrdiff_t, std::ptrdiff_t>, 2> range;  // the first element, and the one after the last
    for (std::size_t k = 0; k < 2; ++k) {
      std::array<std::size_t, 2> shape{random() % 4, random() % 4};
      std::array<std::ptrdiff_t, 2> strides{};
      for (std::ptrdiff_t& stride : strides) stride = static_cast<std::ptrdiff_t>(random() % 13) - 6;
      const auto first = static_cast<std::ptrdiff_t>(150 + random() % 30);
      const auto all = offsets(shape, strides);
      range[k] = all.empty() ? std::pair<std::ptrdiff_t, std::ptrdiff_t>{}
                             : std::pair{first + *std::min_element(all.begin(), all.end()),
                                         first + *std::max_element(all.begin(), all.end()) + 1};
      blocks[k] = strided<std::int16_t, 2>{memory.data() + first, shape, strides};
    }
    const bool has_elements = blocks[0].size() != 0 && blocks[1].size() != 0;
    const bool wanted = has_elements && range[0].first < range[1].second && range[1].first < range[0].second;
    sharing += wanted ? 1 : 0;
    BOOST_TEST(blocks_share_memory(blocks[0], blocks[1]) == wanted);
    BOOST_TEST(blocks_share_memory(blocks[1], blocks[0]) == wanted);
  }
  BOOST_TEST(sharing > rounds / 16);
  BOOST_TEST(sharing < rounds * 7 / 8);
  // neighbours, and elements of several bytes
  const auto line = [&](std::size_t first, std::size_t n) {
    return untyped_block(strided<std::int16_t, 1>{memory.data() + first, {n}, {1}});
  };
  BOOST_TEST(!blocks_share_memory(line(10, 5), line(15, 5)));
  BOOST_TEST(blocks_share_memory(line(10, 6), line(15, 5)));
}

BOOST_AUTO_TEST_SUITE_END()
