// Pools of memory: the sizes of their blocks, which blocks come again, and how many bytes a pool may keep.
#include <partita/comm/detail/node/heap_pool.hpp>
#include <partita/comm/detail/node/spare_blocks.hpp>
#include <partita/comm/detail/world/kept_buffers.hpp>

#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

namespace {

using partita::detail::memory_use;
using partita::detail::spare_blocks;

constexpr std::size_t page_bytes = 4096, mebibyte = std::size_t{1} << 20U;

/// The sizes of blocks in pages: up to four pages every number, from there on four sizes up to the next power of two.
std::size_t pages_of_block(std::size_t bytes) {
  std::size_t size = 1;
  while (size * page_bytes < bytes) {
    std::size_t power = 1;
    while (2 * power <= size) power *= 2;
    size += power < 4 ? 1 : power / 4;
  }
  return size;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(pools_of_memory)

BOOST_AUTO_TEST_CASE(a_block_has_the_next_of_four_sizes_between_two_powers_of_two) {
  const std::size_t pages[][2] = {{1, 1},   {2, 2},   {3, 3},   {4, 4},     {5, 5},      {7, 7},
                                  {8, 8},   {9, 10},  {10, 10}, {15, 16},   {16, 16},    {17, 20},
                                  {21, 24}, {29, 32}, {33, 40}, {100, 112}, {1000, 1024}};
  for (const auto& [asked, given] : pages) {
    BOOST_TEST(spare_blocks::round_up_block_bytes(asked * page_bytes) == given * page_bytes, asked);
    BOOST_TEST(spare_blocks::round_up_block_bytes(asked * page_bytes - 1) == given * page_bytes, asked);
  }
  BOOST_TEST(spare_blocks::round_up_block_bytes(0) == page_bytes);
  BOOST_TEST(spare_blocks::round_up_block_bytes(page_bytes + 1) == 2 * page_bytes);
  for (std::size_t bytes = 1; bytes < 300 * page_bytes; bytes += 1013)
    BOOST_TEST(spare_blocks::round_up_block_bytes(bytes) == pages_of_block(bytes) * page_bytes, bytes);
}

BOOST_AUTO_TEST_CASE(a_spare_block_serves_the_sizes_that_round_to_its_own_and_the_last_one_comes_first) {
  std::vector<char> memory(400);
  spare_blocks blocks;
  std::map<std::size_t, std::vector<void*>> expected;
  for (std::size_t k = 0; k < memory.size(); ++k) {
    const std::size_t bytes = (k * 37 % 200) * page_bytes + k % 3 * 100;
    BOOST_TEST(blocks.give(memory.data() + k, bytes));
    expected[pages_of_block(bytes)].push_back(memory.data() + k);
  }
  BOOST_TEST(blocks.size() == memory.size());
  for (std::size_t k = 0; k < memory.size() / 2; ++k) {
    const std::size_t bytes = (k * 53 % 210) * page_bytes + k % 2;
    auto& same = expected[pages_of_block(bytes)];
    BOOST_TEST((blocks.take(bytes) == (same.empty() ? nullptr : same.back())));
    if (!same.empty()) same.pop_back();
  }
  std::size_t left = 0;
  for (const auto& [pages, same] : expected) left += same.size();
  BOOST_TEST(blocks.size() == left);
  // what is left is handed out once, each with its size
  std::map<std::size_t, std::vector<void*>> drained;
  blocks.drain_all([&](void* block, std::size_t bytes) { drained[bytes / page_bytes].push_back(block); });
  std::erase_if(expected, [](const auto& one) { return one.second.empty(); });
  BOOST_TEST((drained == expected));
  BOOST_TEST(blocks.size() == 0U);
  BOOST_TEST((blocks.take(page_bytes) == nullptr));
}

BOOST_AUTO_TEST_CASE(use_counts_in_whole_pages_and_a_pool_may_keep_half_as_much_again_as_its_peak) {
  memory_use use;
  BOOST_TEST(use.peak_bytes() == 0U);
  BOOST_TEST(use.allowed_bytes(0) == mebibyte);
  use.add(0), use.add(1), use.add(page_bytes), use.add(page_bytes + 1);
  BOOST_TEST(use.peak_bytes() == 5 * page_bytes);
  use.subtract_bytes(page_bytes + 1), use.subtract_bytes(0);
  BOOST_TEST(use.peak_bytes() == 5 * page_bytes);
  use.add(3 * page_bytes);  // as much as before
  BOOST_TEST(use.peak_bytes() == 5 * page_bytes);
  use.add(1);
  BOOST_TEST(use.peak_bytes() == 6 * page_bytes);
  BOOST_TEST(use.allowed_bytes(100) == mebibyte);
  BOOST_TEST(use.allowed_bytes(2 * mebibyte) == (2 * mebibyte + 6 * page_bytes) / 2 * 3);
  BOOST_TEST(use.allowed_bytes(2 * mebibyte - 1) == (2 * mebibyte + 6 * page_bytes) / 2 * 3);
  use.add(4 * mebibyte), use.subtract_bytes(4 * mebibyte);
  BOOST_TEST(use.allowed_bytes(page_bytes) == (4 * mebibyte + 6 * page_bytes) / 2 * 3);  // the peak counts
}

BOOST_AUTO_TEST_CASE(blocks_of_the_heap_begin_at_pages_and_come_again) {
  static auto& pool = *new partita::detail::heap_pool;  // never destroyed, as the pool of the process
  void* const first = pool.allocate(5000);
  void* const second = pool.allocate(5000);
  BOOST_TEST((first != second && reinterpret_cast<std::uintptr_t>(first) % page_bytes == 0));
  BOOST_TEST(pool.new_block_count() == 2U);
  pool.release(first, 5000);
  void* const other = pool.allocate(9000);
  BOOST_TEST((other != first && pool.new_block_count() == 3));
  BOOST_TEST((pool.allocate(8000) == first && pool.new_block_count() == 3));
  pool.release(second, 5000), pool.release(first, 8000);
  BOOST_TEST((pool.allocate(1 + page_bytes) == first && pool.allocate(2 * page_bytes) == second));
  BOOST_TEST(pool.new_block_count() == 3U);
  pool.release(first, 5000), pool.release(second, 5000), pool.release(other, 9000);
}

BOOST_AUTO_TEST_CASE(a_kept_buffer_grows_and_comes_again_for_its_slot) {
  partita::detail::kept_buffers buffers;
  void* const large = buffers.buffer(3, 1000);
  void* const other = buffers.buffer(0, 1000);
  BOOST_TEST((large != other && buffers.buffer(3, 10) == large && buffers.buffer(3, 1000) == large));
  BOOST_TEST((buffers.buffer(0, 1) == other));
  char* const larger = static_cast<char*>(buffers.buffer(3, 5000));
  for (std::size_t k = 0; k < 5000; ++k) larger[k] = 'a';  // a sanitizer sees it if there is less
  BOOST_TEST((buffers.buffer(3, 5000) == larger && buffers.buffer(0, 1000) == other));
  BOOST_TEST((buffers.buffer(7, 0) != nullptr));
}

BOOST_AUTO_TEST_SUITE_END()
