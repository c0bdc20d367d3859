// The storage of a program: each block has the lowest offset at which it meets no earlier block of the same time.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstddef>
#include <partita/sharded/detail/step_storage.hpp>
#include <random>
#include <vector>

using namespace partita;
using detail::block_lifetime;

namespace {

std::size_t rounded_up(std::size_t n, std::size_t granule) { return (n + granule - 1) / granule * granule; }
/// The offset of a block and its end, in whole cache lines.
std::size_t end_of(const block_lifetime& one) { return one.offset + rounded_up(one.bytes, 64); }
bool live_together(const block_lifetime& a, const block_lifetime& b) {
  return a.first_step <= b.last_step && b.first_step <= a.last_step;
}

/// The lowest offset, by trying 0 and the ends of all earlier blocks.
std::size_t lowest_offset(const std::vector<block_lifetime>& all, std::size_t k) {
  const std::size_t bytes = rounded_up(all[k].bytes, 64), granule = bytes >= 65536 ? 4096 : 64;
  std::size_t least = ~std::size_t{0};
  for (std::size_t c = 0; c <= k; ++c) {
    const std::size_t offset = c == k ? 0 : rounded_up(end_of(all[c]), granule);
    bool is_free = true;
    for (std::size_t j = 0; j < k; ++j)
      is_free =
          is_free && !(live_together(all[j], all[k]) && offset < end_of(all[j]) && all[j].offset < offset + bytes);
    if (is_free) least = std::min(least, offset);
  }
  return least;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(storage_of_steps)

BOOST_AUTO_TEST_CASE(each_block_is_at_the_lowest_free_offset) {
  std::mt19937 random(41);
  const std::size_t sizes[] = {1, 63, 64, 65, 128, 200, 4096, 65472, 65473, 65535, 65536, 65537, 70000};
  std::size_t shared = 0;
  for (int round = 0; round < 400; ++round) {
    std::vector<block_lifetime> all(1 + random() % 9);
    for (block_lifetime& one : all) {
      one.bytes = sizes[random() % std::size(sizes)];
      one.first_step = random() % 6, one.last_step = one.first_step + random() % 4;
    }
    const std::size_t total = detail::assign_storage_offsets(all);
    std::size_t most = 0, wrong = 0, in_all = 0;
    for (std::size_t k = 0; k < all.size(); ++k) {
      wrong += all[k].offset != lowest_offset(all, k);
      most = std::max(most, end_of(all[k])), in_all += rounded_up(all[k].bytes, 64);
    }
    BOOST_TEST(wrong == 0U);
    BOOST_TEST(total == most);
    shared += total < in_all;
  }
  BOOST_TEST(shared > 100U);
}

BOOST_AUTO_TEST_CASE(a_block_that_is_read_when_another_is_set_shares_nothing_with_it) {
  std::vector<block_lifetime> all{{100, 0, 3}, {100, 3, 5}, {100, 4, 6}, {64, 6, 6}};
  BOOST_TEST(detail::assign_storage_offsets(all) == 256U);
  const std::size_t offsets[] = {0, 128, 0, 128};
  for (std::size_t k = 0; k < 4; ++k) BOOST_TEST(all[k].offset == offsets[k]);
}

BOOST_AUTO_TEST_CASE(blocks_of_at_least_16_pages_begin_at_a_page) {
  std::vector<block_lifetime> all{{64, 0, 1}, {65536, 0, 1}, {64, 0, 1}, {65472, 0, 1}};
  BOOST_TEST(detail::assign_storage_offsets(all) == 4096U + 65536U + 65472U);
  const std::size_t offsets[] = {0, 4096, 64, 69632};
  for (std::size_t k = 0; k < 4; ++k) BOOST_TEST(all[k].offset == offsets[k]);
}

BOOST_AUTO_TEST_CASE(without_blocks_there_is_no_storage) {
  std::vector<block_lifetime> none;
  BOOST_TEST(detail::assign_storage_offsets(none) == 0U);
}

BOOST_AUTO_TEST_SUITE_END()
