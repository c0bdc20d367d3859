// Which worker holds and which worker writes each byte of a file; and complete transfers when read() and write()
// transfer only a part.
#include <boost/test/unit_test.hpp>
#include <numeric>
#include <partita/io/detail/posix_file.hpp>
#include <partita/io/file_domains.hpp>
#include <partita/plan/decomposition.hpp>
#include <random>

namespace {

using namespace partita;

template <std::size_t Rank>
std::vector<std::size_t> slab_sizes(const std::array<std::size_t, Rank>& extents, std::size_t owners) {
  const auto grid = slab_grid(extents, owners);
  const auto cuts = decomposition<Rank>::balanced(extents, grid);
  std::vector<std::size_t> sizes;
  std::size_t expected = 0;
  for (std::size_t k = 0; k < volume_of(grid); ++k) {
    const box<Rank> slab = cuts.block(index_of(k, grid));
    if (!slab.empty()) BOOST_TEST(flat_index(slab.start, extents) == expected);  // slabs follow each other in the file
    expected += slab.volume();
    partita::index<Rank> last = slab.stop;
    for (std::size_t& i : last) --i;
    if (!slab.empty()) BOOST_TEST(flat_index(last, extents) + 1 == expected);  // and each is one range of it
    sizes.push_back(slab.volume());
  }
  BOOST_TEST(expected == volume_of(extents));
  return sizes;
}

BOOST_AUTO_TEST_SUITE(domains_of_a_file)

BOOST_AUTO_TEST_CASE(slabs_are_boxes_and_ranges_of_the_file_and_half_of_the_owners_have_one) {
  for (std::size_t owners = 1; owners < 14; ++owners)
    for (std::size_t a = 0; a < 6; ++a)
      for (std::size_t b = 0; b < 6; ++b)
        for (std::size_t c = 0; c < 5; ++c) {
          const std::array<std::size_t, 3> extents{a, b, c};
          const std::size_t slabs = slab_sizes(extents, owners).size(), volume = volume_of(extents);
          BOOST_TEST(slabs >= 1U);
          BOOST_TEST(slabs <= owners);
          if (volume >= owners) BOOST_TEST(2 * slabs > owners);
        }
  BOOST_TEST(slab_sizes<0>({}, 5).size() == 1U);
  BOOST_TEST(slab_sizes<1>({7}, 3).size() == 3U);
  BOOST_TEST((slab_grid<2>({2, 10}, 6) == std::array<std::size_t, 2>{2, 3}));
}

BOOST_AUTO_TEST_CASE(small_tensors_have_few_owners) {
  static_assert(worthwhile_owners(100, 65536, 6) == 1);
  static_assert(worthwhile_owners(4 * 65536, 65536, 6) == 4);
  static_assert(worthwhile_owners(std::size_t{1} << 40U, 65536, 6) == 6);
  static_assert(worthwhile_owners(0, 0, 6) == 6);
  // as many as there may be, each of which holds enough
  for (std::size_t bytes = 0; bytes <= 40; ++bytes)
    for (std::size_t least = 1; least <= 10; ++least)
      for (std::size_t most = 1; most <= 6; ++most) {
        std::size_t wanted = 1;
        while (wanted < most && (wanted + 1) * least <= bytes) ++wanted;
        BOOST_TEST(worthwhile_owners(bytes, least, most) == wanted, bytes << ", " << least << ", " << most);
      }
}

BOOST_AUTO_TEST_CASE(every_byte_is_written_once_by_one_owner_of_its_page) {
  std::mt19937 random(3);
  for (int trial = 0; trial < 3000; ++trial) {
    const std::size_t page = random() % 2 == 0 ? 16 : 64, data_at = 64 * (1 + random() % 3);
    std::vector<std::size_t> slabs(1 + random() % 8);
    for (std::size_t& bytes : slabs) bytes = random() % 3 == 0 ? random() % 5 : random() % 200;
    const file_domains plan = plan_file_domains(data_at, slabs, page);
    BOOST_REQUIRE(plan.owners() == slabs.size());

    // what moves between owners is one tensor of bytes, cut in two ways
    std::vector<int> file(plan.bytes(), 0), moving;
    for (std::size_t byte = 0; byte < data_at; ++byte) file[byte] = -1;
    for (std::size_t k = 0; k < plan.owners(); ++k)
      for (std::size_t byte = 0; byte < plan.bytes_sent(k); ++byte)
        moving.push_back(static_cast<int>(plan.slab_starts[k] + byte));
    std::size_t next = 0;
    bool once = true, pages = true;
    for (std::size_t k = 0; k < plan.owners(); ++k) {
      if (plan.write_starts[k] == plan.write_starts[k + 1]) {
        BOOST_TEST(plan.bytes_sent(k) == slabs[k]);
        BOOST_TEST(plan.bytes_received(k) == 0U);
        continue;
      }
      pages = pages && plan.write_starts[k] % page == 0;
      std::size_t at = k == 0 ? data_at : plan.write_starts[k];
      for (std::size_t byte = plan.slab_starts[k] + plan.bytes_sent(k); byte < plan.slab_starts[k + 1]; ++byte)
        once = once && byte == at && std::exchange(file[at++], static_cast<int>(byte)) == 0;
      for (std::size_t n = 0; n < plan.bytes_received(k); ++n, ++next)
        once = once && moving[next] == static_cast<int>(at) && std::exchange(file[at++], moving[next]) == 0;
      once = once && at == plan.write_starts[k + 1];
    }
    for (std::size_t byte = data_at; byte < file.size(); ++byte) once = once && file[byte] == static_cast<int>(byte);
    BOOST_TEST(once);
    BOOST_TEST(pages);
    BOOST_TEST(next == moving.size());
  }
}

BOOST_AUTO_TEST_CASE(what_is_moved_in_part_or_interrupted_is_moved_whole) {
  std::size_t moved = 0, calls = 0;
  const auto some = [&](std::size_t done, std::size_t count) -> ssize_t {
    BOOST_TEST(done == moved);
    if (++calls % 2 == 0) {
      errno = EINTR;
      return -1;
    }
    moved += count < 7 ? count : 7;
    return static_cast<ssize_t>(count < 7 ? count : 7);
  };
  BOOST_TEST(detail::transfer_all_bytes(100, some) == 0);
  BOOST_TEST(moved == 100U);
  BOOST_TEST(detail::transfer_all_bytes(10, [](std::size_t, std::size_t) -> ssize_t { return 0; }) ==
             detail::end_of_file);
  BOOST_TEST(detail::transfer_all_bytes(10, [](std::size_t done, std::size_t) -> ssize_t {
               errno = ENOSPC;
               return done == 0 ? 3 : -1;
             }) == ENOSPC);
  std::size_t largest = 0;
  BOOST_TEST(detail::transfer_all_bytes(std::size_t{5} << 30U, [&](std::size_t, std::size_t count) {
               largest = std::max(largest, count);
               return static_cast<ssize_t>(count);
             }) == 0);
  BOOST_TEST(largest == std::size_t{1} << 30U);
}

BOOST_AUTO_TEST_CASE(places_behind_4_gigabytes_are_no_other_places) {
  const std::size_t row = std::size_t{5} << 30U;  // two owners of 5 GiB and 1 byte each, on a file with a hole
  const file_domains plan = plan_file_domains(128, {row + 1, row + 1}, 4096);
  BOOST_TEST(plan.bytes() == 2 * row + 130);
  BOOST_TEST(plan.write_starts[1] == row + 4096);
  char name[] = "/tmp/partita_unit_XXXXXX";
  const int made = mkstemp(name);
  BOOST_REQUIRE(made >= 0);
  ::close(made);
  detail::posix_file file;
  BOOST_TEST(file.open(name, O_RDWR) == 0);
  const char front[] = "front", back[] = "back";
  BOOST_TEST(file.write(front, 5, plan.slab_starts[1]) == 0);
  BOOST_TEST(file.write(back, 4, plan.bytes() - 4) == 0);
  std::size_t bytes = 0;
  BOOST_TEST(file.size(bytes) == 0);
  BOOST_TEST(bytes == plan.bytes());
  char read[6] = "";
  BOOST_TEST(file.read(read, 5, plan.slab_starts[1]) == 0);
  BOOST_TEST(std::string(read) == "front");
  BOOST_TEST(file.read(read, 4, plan.bytes() - 4) == 0);
  BOOST_TEST(std::string(read, 4) == "back");
  BOOST_TEST(file.read(read, 5, plan.slab_starts[1] & 0xffffffffU) == 0);  // where 32 bits would have put it
  BOOST_TEST(std::string(read, 5) == std::string(5, '\0'));
  BOOST_TEST(file.read(read, 5, plan.bytes() - 4) == detail::end_of_file);
  ::unlink(name);
}

BOOST_AUTO_TEST_CASE(a_temporary_stands_beside_its_file) {
  BOOST_TEST(detail::temporary_name("a/w.npy", 0xab) == "a/w.npy.tmp.00000000000000ab");
  BOOST_TEST(detail::parent_folder("a/b/w.npy") == "a/b");
  BOOST_TEST(detail::parent_folder("w.npy") == ".");
  BOOST_TEST(detail::parent_folder("/w.npy") == "/");
  BOOST_TEST(detail::random_word() != detail::random_word());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
