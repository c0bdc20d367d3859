// Shared memory: the arena, its pool, tensors in it, and the common words that all workers can read.
#include "../support/message_count.hpp"
#include "mpi_test.hpp"
#include "resource_limit.hpp"

#include <partita/comm/detail/node/group_page.hpp>
#include <partita/comm/detail/node/shared_flags.hpp>
#include <partita/comm/detail/node/shared_mapping.hpp>
#include <partita/comm/pooled.hpp>

#include <sys/mman.h>
#include <sys/resource.h>
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace partita;

int own_worker() {
  int w = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &w);
  return w;
}
int all_workers() {
  int n = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &n);
  return n;
}

std::size_t address_space_in_use() {
  std::size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * 4096;
}
/// The file descriptor that the next opened file would get.
std::size_t next_file() {
  const int file = ::dup(0);
  ::close(file);
  return static_cast<std::size_t>(file);
}
bool on_all_workers(bool here) {
  int mine = here ? 1 : 0, all = 0;
  MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  return all != 0;
}
/// Every worker writes its part of the memory and reads the parts of the others.
bool all_read_what_others_wrote(const detail::own_node& members, detail::arena& memory) {
  auto* const block = static_cast<int*>(memory.allocate(4096));
  *block = own_worker() + 1;
  std::vector<unsigned long long> offsets(members.size());
  const unsigned long long offset = memory.offset(block);
  MPI_Allgather(&offset, 1, MPI_UNSIGNED_LONG_LONG, offsets.data(), 1, MPI_UNSIGNED_LONG_LONG, members.communicator());
  bool right = memory.is_in_own_part(block);
  for (std::size_t k = 0; k < members.size(); ++k)
    right = right && *reinterpret_cast<int*>(memory.at(k, offsets[k])) == static_cast<int>(members.worker(k)) + 1;
  MPI_Barrier(members.communicator());
  memory.release(block, 4096);
  return on_all_workers(right);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(memory_of_a_node)

BOOST_AUTO_TEST_CASE(little_address_space_on_one_worker_makes_it_smaller_on_all, *test::with_room()) {
  const partita::detail::own_node members(MPI_COMM_WORLD);
  if (members.size() == 1) return;
  // sizes that no other test uses, so that the arenas are new
  const std::size_t most = std::size_t{1} << 31;
  const bool poor = own_worker() == all_workers() - 1;
  const test::resource_limit space(RLIMIT_AS, poor ? address_space_in_use() + (std::size_t{200} << 20) : RLIM_INFINITY);
  detail::arena& memory = detail::arena::of(members, most);
  BOOST_TEST(memory.shared());
  BOOST_TEST(all_read_what_others_wrote(members, memory));
}

BOOST_AUTO_TEST_CASE(too_little_address_space_on_one_worker_gives_none_on_all) {
  const partita::detail::own_node members(MPI_COMM_WORLD);
  if (members.size() == 1) return;
  const bool poor = own_worker() == 0;
  // the remaining memory is much less than the smallest arena, but enough for the allocations of MPI
  const test::resource_limit space(RLIMIT_AS, poor ? address_space_in_use() + (std::size_t{200} << 20) : RLIM_INFINITY);
  BOOST_TEST(detail::shared_mapping(members, std::size_t{1} << 31, std::size_t{1} << 30).part_bytes() == 0);
}

BOOST_AUTO_TEST_CASE(no_spare_file_on_one_worker_leaves_all_on_the_heap) {
  const partita::detail::own_node members(MPI_COMM_WORLD);
  if (members.size() == 1) return;
  for (int poor = 0; poor < 2; ++poor) {
    const std::size_t most = (std::size_t{1} << 31) + (2 + static_cast<std::size_t>(poor)) * 4096;
    const auto mapped = [most] {  // the number of mapped files without a name that are as large as the memory would be
      std::size_t files = 0;
      std::ifstream maps("/proc/self/maps");
      BOOST_TEST_REQUIRE(maps.is_open());
      for (std::string line; std::getline(maps, line);) {
        std::size_t from = 0, to = 0;
        if (std::sscanf(line.c_str(), "%zx-%zx", &from, &to) == 2 && line.find("/dev/shm/#") != std::string::npos)
          files += to - from >= most / 2 ? 1 : 0;
      }
      return files;
    };
    const std::size_t before = mapped();
    bool shared = true;
    {
      rlimit now{};
      ::getrlimit(RLIMIT_NOFILE, &now);
      const test::resource_limit files(RLIMIT_NOFILE, own_worker() == poor ? next_file() : now.rlim_cur);
      shared = detail::arena::of(members, most).shared();
    }
    BOOST_TEST(!shared);
    BOOST_TEST(mapped() == before);
  }
}

BOOST_AUTO_TEST_CASE(a_job_that_is_killed_leaves_no_file_behind) {
  const partita::detail::own_node members(MPI_COMM_WORLD);
  detail::arena& memory = detail::arena::of(members);
  std::ifstream maps("/proc/self/maps");
  bool mapped = false;
  for (std::string line; std::getline(maps, line);) {
    BOOST_TEST(line.find("/dev/shm/osc_sm") == std::string::npos);
    // this is how the kernel shows an unlinked file, which disappears with the last process that maps it
    if (line.find("/dev/shm/#") != std::string::npos) mapped = line.find("(deleted)") != std::string::npos;
  }
  BOOST_TEST(mapped == memory.shared());
}

BOOST_AUTO_TEST_CASE(a_node_knows_its_members) {
  const partita::detail::own_node members(MPI_COMM_WORLD);
  BOOST_TEST(members.worker(members.place()) == static_cast<std::size_t>(own_worker()));
  BOOST_TEST(members.place_of_worker(static_cast<std::size_t>(own_worker())) == members.place());
  BOOST_TEST(members.place_of_worker(100000) == members.size());
}

BOOST_AUTO_TEST_CASE(pretended_nodes_share_nothing_between_each_other) {
  const partita::detail::own_node members(MPI_COMM_WORLD, own_worker() % 2);
  for (std::size_t k = 0; k < members.size(); ++k)
    BOOST_TEST(members.worker(k) % 2 == static_cast<std::size_t>(own_worker() % 2));
}

BOOST_AUTO_TEST_CASE(the_same_workers_get_the_same_arena) {
  const partita::detail::own_node one(MPI_COMM_WORLD), other(MPI_COMM_WORLD);
  BOOST_TEST(&partita::detail::arena::of(one) == &partita::detail::arena::of(other));
}

BOOST_AUTO_TEST_CASE(blocks_begin_at_a_page_and_can_be_read_by_everybody) {
  const partita::detail::own_node members(MPI_COMM_WORLD);
  partita::detail::arena& memory = partita::detail::arena::of(members);
  auto* const block = static_cast<int*>(memory.allocate(1000 * sizeof(int)));
  BOOST_TEST(reinterpret_cast<std::uintptr_t>(block) % 4096 == 0U);
  block[999] = own_worker() + 1;
  unsigned long long offset = memory.is_in_own_part(block) ? memory.offset(block) : ~0ULL;
  std::vector<unsigned long long> offsets(members.size());
  MPI_Allgather(&offset, 1, MPI_UNSIGNED_LONG_LONG, offsets.data(), 1, MPI_UNSIGNED_LONG_LONG, members.communicator());
  if (memory.shared())
    for (std::size_t k = 0; k < members.size(); ++k)
      BOOST_TEST(reinterpret_cast<int*>(memory.at(k, offsets[k]))[999] == static_cast<int>(members.worker(k)) + 1);
  MPI_Barrier(MPI_COMM_WORLD);
  memory.release(block, 1000 * sizeof(int));
}

BOOST_AUTO_TEST_CASE(a_block_that_was_given_back_comes_again) {
  const partita::detail::own_node members(MPI_COMM_WORLD);
  partita::detail::arena& memory = partita::detail::arena::of(members);
  for (std::size_t bytes : {1UL, 4096UL, 5000UL, 70000UL, 3000000UL}) {
    void* const first = memory.allocate(bytes);
    memory.release(first, bytes);
    const std::size_t fresh = memory.new_block_count();
    for (int k = 0; k < 5; ++k) {
      void* const again = memory.allocate(bytes);
      BOOST_TEST(again == first);
      memory.release(again, bytes);
    }
    BOOST_TEST(memory.new_block_count() == fresh);
  }
}

BOOST_AUTO_TEST_CASE(sizes_waste_less_than_a_quarter_and_keep_their_class) {
  using detail::spare_blocks;
  for (std::size_t bytes = 1; bytes < (std::size_t{1} << 24); bytes += 1 + bytes / 7) {
    const std::size_t size = partita::detail::spare_blocks::round_up_block_bytes(bytes);
    BOOST_TEST(size >= bytes);
    BOOST_TEST(partita::detail::spare_blocks::round_up_block_bytes(size) == size);
    if (bytes > 16384) BOOST_TEST(static_cast<double>(size) < 1.3 * static_cast<double>(bytes));
  }
}

/// Allocates blocks in sizes and orders that are hard for a pool: each size class alone, growing and shrinking, with
/// every second block kept, and at random. At most `most` bytes are in use at any time. Calls look() after each step.
template <class Pool, class Look>
void hurt(Pool& pool, std::size_t most, Look look) {
  std::vector<std::pair<void*, std::size_t>> kept;
  std::size_t used = 0;
  const auto take = [&](std::size_t bytes) {
    kept.emplace_back(pool.allocate(bytes), bytes);
    used += bytes;
    look(kept.back().first, bytes);
  };
  const auto drop = [&](std::size_t k) {
    pool.release(kept[k].first, kept[k].second);
    used -= kept[k].second;
    kept.erase(kept.begin() + static_cast<std::ptrdiff_t>(k));
  };
  const auto drop_all = [&] {
    while (!kept.empty()) drop(kept.size() - 1);
  };
  const auto fill = [&](std::size_t bytes) {
    while (used + bytes <= most) take(bytes);
  };
  for (std::size_t bytes = 20000; bytes <= most; bytes += bytes / 5) fill(bytes), drop_all();
  for (std::size_t bytes = most; bytes > 20000; bytes -= bytes / 6) fill(bytes), drop_all();
  for (std::size_t bytes = 9000; bytes <= most / 2; bytes *= 2) {
    fill(bytes);
    for (std::size_t k = kept.size(); k-- > 0;)
      if (k % 2 == 0) drop(k);
    fill(2 * bytes);
    drop_all();
  }
  std::minstd_rand random(5);
  for (int step = 0; step < 2000; ++step) {
    const std::size_t bytes = std::size_t{1} << (8 + random() % 15), more = bytes + random() % bytes;
    if (used + more <= most) take(more);
    else drop(random() % kept.size());
  }
  drop_all();
}

BOOST_AUTO_TEST_CASE(memory_follows_what_is_used_whatever_the_sizes) {
  constexpr std::size_t most = std::size_t{8} << 20;
  const partita::detail::own_node members(MPI_COMM_WORLD);
  detail::arena& memory = detail::arena::of(members, (std::size_t{1} << 31) + (std::size_t{1} << 20));
  std::size_t worst = 0, highest = 0;
  hurt(memory, most, [&](void* block, std::size_t bytes) {
    if (!memory.is_in_own_part(block)) return;
    worst = std::max(worst, memory.resident_bytes());
    highest = std::max<std::size_t>(highest, memory.offset(block) + bytes);
  });
  BOOST_TEST(worst <= memory.most_used_bytes() / 2 * 3);
  BOOST_TEST(memory.most_used_bytes() <= most + 1000 * 4096);  // in whole pages
  if (memory.shared()) {                                       // the operating system confirms it
    std::vector<unsigned char> pages(highest / 4096 + 1);
    BOOST_TEST(::mincore(memory.at(members.place(), 0), highest, pages.data()) == 0);
    std::size_t there = 0;
    for (const unsigned char p : pages) there += p % 2;
    BOOST_TEST(there * 4096 <= memory.resident_bytes());
    BOOST_TEST(highest < 40 * most);  // addresses of freed blocks are joined and used again
  }
}

BOOST_AUTO_TEST_CASE(an_arena_that_is_used_up_goes_on_from_the_heap) {
  const partita::detail::own_node members(MPI_COMM_WORLD);
  partita::detail::arena& memory = partita::detail::arena::of(members, std::size_t{1} << 20);
  std::vector<void*> blocks;
  for (int k = 0; k < 8; ++k) blocks.push_back(memory.allocate(300000));
  BOOST_TEST(!memory.is_in_own_part(blocks.back()));
  for (void* block : blocks) memory.release(block, 300000);
}

BOOST_AUTO_TEST_CASE(a_tensor_from_the_pool_is_a_tensor) {
  const partita::detail::own_node members(MPI_COMM_WORLD);
  partita::detail::arena& memory = partita::detail::arena::of(members);
  auto t = make_pooled<float, 2>(memory, {30, 40});
  t.fill(3);
  const float* const data = t.data();
  auto moved = std::move(t);
  BOOST_TEST(moved.data() == data);
  const auto copied = moved;
  BOOST_TEST(copied(29, 39) == 3);
  BOOST_TEST(!memory.is_in_own_part(copied.data()));
  xt::xtensor<float, 2> plain = moved + 1.F;
  BOOST_TEST(plain(0, 0) == 4);
  moved = plain;
  BOOST_TEST(moved(5, 5) == 4);
  const auto none = make_pooled<double, 2>(memory, {0, 7});
  BOOST_TEST(none.size() == 0U);
  BOOST_TEST(none.shape()[1] == 7U);
  auto scalar = make_pooled<double, 0>(memory, {});
  scalar() = 2;
  BOOST_TEST(scalar() == 2);
}

BOOST_AUTO_TEST_CASE(every_worker_sees_what_all_have_in_common_on_any_nodes) {
  for (const int nodes : {1, 2, 3, 4}) {
    const partita::detail::own_node members(MPI_COMM_WORLD, own_worker() % nodes);
    partita::detail::shared_flags flags(MPI_COMM_WORLD, members, partita::detail::arena::of(members));
    int own = members.size() == 1 || partita::detail::arena::of(members).shared() ? 1 : 0, all_share = 0;
    MPI_Allreduce(&own, &all_share, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    BOOST_TEST(flags.shared() == (all_share != 0));
    if (!flags.shared()) continue;
    const std::size_t before = test::bytes_sent();
    bool right = true;
    constexpr std::uint64_t rounds = 400;
    for (std::uint64_t round = 0; round < rounds; ++round) {
      // each worker clears its own bit in one word, and all workers pass the number of the round in another
      const std::uint64_t said = ~(std::uint64_t{1} << (static_cast<std::uint64_t>(own_worker()) + round) % 64);
      partita::detail::shared_flags::words all{};
      right = flags.all_and({round, said, ~round, 5}, all) && right;
      std::uint64_t expected = ~std::uint64_t{0};
      for (std::uint64_t k = 0; k < static_cast<std::uint64_t>(all_workers()); ++k)
        expected &= ~(std::uint64_t{1} << (k + round) % 64);
      right = right && all == partita::detail::shared_flags::words{round, expected, ~round, 5};
    }
    BOOST_TEST(right);
    // the first worker of each node sends the messages of the fastest dissemination, the others send nothing
    const auto used = static_cast<std::size_t>(all_workers() < nodes ? all_workers() : nodes);
    const std::size_t messages = partita::detail::dissemination::choose_radix(used, members.link().cost).messages();
    BOOST_TEST(messages == (used < 2 ? 0U : used - 1U));  // on the link that pretended nodes have, one round is fastest
    BOOST_TEST(test::bytes_sent() - before == (members.place() == 0 ? rounds * messages * 32 : 0));
  }
}

BOOST_AUTO_TEST_CASE(a_worker_that_comes_late_is_not_waited_for_longer_than_asked_and_still_finds_what_was_said) {
  const partita::detail::own_node members(MPI_COMM_WORLD);
  partita::detail::shared_flags flags(MPI_COMM_WORLD, members, partita::detail::arena::of(members));
  if (!flags.shared()) return;
  partita::detail::shared_flags::words all{};
  if (own_worker() != 0) BOOST_TEST(!flags.all_and({7, 7, 7, 7}, all, 0.02));
  MPI_Barrier(MPI_COMM_WORLD);
  if (own_worker() == 0) BOOST_TEST(flags.all_and({3, 3, 3, 3}, all));
  if (own_worker() == 0) BOOST_TEST((all == partita::detail::shared_flags::words{3, 3, 3, 3}));
  MPI_Barrier(MPI_COMM_WORLD);
}

/// The words of a node, and when they were told.
struct recorded_words final : partita::detail::shared_flags::listener {
  std::vector<partita::detail::shared_flags::words> of_node{};
  int own_written = 0;
  void receive_and_of_node_words(const partita::detail::shared_flags::words& all) override { of_node.push_back(all); }
  void notify_own_words_written() override { ++own_written; }
};

BOOST_AUTO_TEST_CASE(a_listener_hears_what_its_node_has_in_common_or_on_one_node_that_its_own_words_are_written) {
  for (const int nodes : {1, 2, 3, 4}) {  // 4 stands for two nodes, of three workers and of the others
    const int node = nodes < 4 ? own_worker() % nodes : own_worker() / 3 == 0 ? 0 : 1;
    const partita::detail::own_node members(MPI_COMM_WORLD, node);
    partita::detail::shared_flags flags(MPI_COMM_WORLD, members, partita::detail::arena::of(members));
    if (!flags.shared()) continue;
    const bool several = members.has_other_nodes();
    BOOST_TEST(flags.has_several_nodes() == several);
    for (std::uint64_t round = 0; round < 5; ++round) {
      const auto said_by = [&](std::uint64_t worker) { return ~(std::uint64_t{1} << (worker + round) % 64); };
      std::uint64_t of_node = ~std::uint64_t{0}, of_all = of_node;
      for (std::size_t k = 0; k < members.size(); ++k) of_node &= said_by(members.worker(k));
      for (int k = 0; k < all_workers(); ++k) of_all &= said_by(static_cast<std::uint64_t>(k));
      recorded_words told;
      partita::detail::shared_flags::words all{};
      const auto own = said_by(static_cast<std::uint64_t>(own_worker()));
      BOOST_TEST(flags.all_and({own, round, 7, own}, all, 1e300, &told));
      BOOST_TEST((all == partita::detail::shared_flags::words{of_all, round, 7, of_all}));
      BOOST_TEST(told.own_written == (several ? 0 : 1));
      BOOST_TEST_REQUIRE(told.of_node.size() == (several ? 1U : 0U));
      if (several) BOOST_TEST((told.of_node[0] == partita::detail::shared_flags::words{of_node, round, 7, of_node}));
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

BOOST_AUTO_TEST_CASE(numbers_pass_with_the_words_on_one_node_and_stay_until_the_next_words) {
  constexpr std::size_t most = partita::detail::shared_flags::max_numbers;
  for (const int nodes : {1, 2}) {
    const partita::detail::own_node members(MPI_COMM_WORLD, own_worker() % nodes);
    partita::detail::shared_flags flags(MPI_COMM_WORLD, members, partita::detail::arena::of(members));
    if (!flags.shared()) continue;
    const auto number = [](std::size_t worker, std::size_t round, std::size_t k) {
      return 10000 * round + 100 * worker + k;
    };
    for (std::size_t round = 1; round < 6; ++round) {
      const std::size_t count = round == 3 ? 2 : most;
      std::uint64_t own[most] = {};
      for (std::size_t k = 0; k < count; ++k) own[k] = number(static_cast<std::size_t>(own_worker()), round, k);
      BOOST_TEST(flags.publish_numbers(own, count) == !members.has_other_nodes());
      partita::detail::shared_flags::words all{};
      BOOST_TEST(flags.all_and({round, 0, 0, 0}, all));
      BOOST_TEST(all[0] == round);
      bool right = true;
      for (std::size_t w = 0; w < static_cast<std::size_t>(all_workers()) && !members.has_other_nodes(); ++w)
        for (std::size_t k = 0; k < count; ++k) right = right && flags.published_numbers(w)[k] == number(w, round, k);
      BOOST_TEST(right);
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

BOOST_AUTO_TEST_CASE(every_worker_knows_the_nodes_of_all_workers) {
  const auto workers = static_cast<std::size_t>(all_workers());
  for (const std::size_t nodes : {1U, 2U, 3U}) {
    const auto node_of = [&](std::size_t worker) { return worker == 1 ? 0 : worker % nodes; };  // 0 and 1 together
    const auto me = static_cast<std::size_t>(own_worker());
    const partita::detail::own_node members(MPI_COMM_WORLD, static_cast<int>(node_of(me)));
    std::vector<std::size_t> lowest(workers), expected;
    for (std::size_t k = workers; k-- > 0;)
      for (std::size_t other = k + 1; other-- > 0;)
        if (node_of(other) == node_of(k)) lowest[k] = other;
    std::vector<int> firsts;
    for (std::size_t k = 0; k < workers; ++k) {
      if (node_of(k) == node_of(me)) expected.push_back(k);
      if (lowest[k] == k) firsts.push_back(static_cast<int>(k));
    }
    const bool several = firsts.size() > 1;
    BOOST_TEST(members.size() == expected.size());
    BOOST_TEST(members.has_other_nodes() == several);
    BOOST_TEST((members.lowest_workers() == (several ? firsts : std::vector<int>())));
    BOOST_TEST(members.node_table().size() == (several ? workers : 0));
    for (std::size_t k = 0; k < workers; ++k) {
      BOOST_TEST(members.node_of(k) == lowest[k]);
      const auto found = std::find(expected.begin(), expected.end(), k);
      BOOST_TEST(members.place_of_worker(k) == static_cast<std::size_t>(found - expected.begin()));
    }
    for (std::size_t place = 0; place < expected.size(); ++place) BOOST_TEST(members.worker(place) == expected[place]);
    BOOST_TEST(members.worker(members.place()) == me);
    int size = 0, place = 0;
    MPI_Comm_size(members.communicator(), &size);
    MPI_Comm_rank(members.communicator(), &place);
    BOOST_TEST(
        (static_cast<std::size_t>(size) == members.size() && static_cast<std::size_t>(place) == members.place()));
  }
}

BOOST_AUTO_TEST_CASE(kernels_get_tags_in_turn_and_discarded_messages_change_the_tags_of_later_ones) {
  partita::detail::own_node members(MPI_COMM_WORLD);
  bool in_turn = true;
  for (int k = 0; k < 30000; ++k) in_turn = members.next_tag() == 1000 + k && in_turn;
  BOOST_TEST(in_turn);
  BOOST_TEST(members.next_tag() == 1000);
  for (int round = 0; round < 30; ++round) {
    BOOST_TEST(!members.is_last_round());
    BOOST_TEST(members.tag_in_this_round(2) == 2 + 32768 * round);
    BOOST_TEST(members.tag_in_this_round(31000) == 31000 + 32768 * round);
    members.next_round();
  }
  for (int more = 0; more < 3; ++more) {
    BOOST_TEST(members.is_last_round());
    BOOST_TEST(members.tag_in_this_round(2) == 2 + 32768 * 30);
    members.next_round();
  }
}

BOOST_AUTO_TEST_CASE(a_block_for_one_call_goes_back_to_the_pool) {
  const partita::detail::own_node members(MPI_COMM_WORLD);
  partita::detail::arena& memory = partita::detail::arena::of(members);
  void* used = nullptr;
  {
    const partita::detail::arena_block block(memory, 50000), none(memory, 0);
    BOOST_TEST((block.data() != nullptr && none.data() == nullptr));
    used = block.data();
  }
  void* const again = memory.allocate(50000);
  BOOST_TEST(again == used);
  memory.release(again, 50000);
}

BOOST_AUTO_TEST_CASE(a_block_goes_back_to_where_it_came_from) {
  const partita::detail::own_node members(MPI_COMM_WORLD);
  partita::detail::arena& memory = partita::detail::arena::of(members);
  for (const bool from_arena : {true, false}) {
    constexpr std::size_t bytes = 123456;
    const auto take = [&] {
      return from_arena ? memory.allocate(bytes) : partita::detail::heap_pool::instance().allocate(bytes);
    };
    void* const first = take();
    partita::detail::arena::release_arena_or_heap(first, bytes);
    void* const again = take();
    BOOST_TEST(again == first);
    partita::detail::arena::release_arena_or_heap(again, bytes);
  }
}

/// Signals of one kernel may be written late: their memory is used again for signals only.
BOOST_AUTO_TEST_CASE(memory_of_signals_comes_again_for_signals_alone) {
  const partita::detail::own_node members(MPI_COMM_WORLD);
  partita::detail::arena& memory = partita::detail::arena::of(members);
  constexpr std::size_t bytes = 98765;
  void* const signals = memory.allocate_signals(bytes);
  const bool shared = memory.is_in_own_part(signals);
  memory.release_signals(signals, bytes);
  void* const block = memory.allocate(bytes);
  BOOST_TEST((block == signals) == !shared);  // the heap does not keep them apart
  if (shared) {
    void* const again = memory.allocate_signals(bytes);
    BOOST_TEST(again == signals);
    memory.release_signals(again, bytes);
  }
  memory.release(block, bytes);
}

BOOST_AUTO_TEST_SUITE_END()
