// Trees of groups: a broadcast reaches all members, and a reduction combines each contribution once.
#include "mpi_test.hpp"

#include <partita/comm/tree.hpp>
#include <partita/comm/world.hpp>
#include <vector>

using namespace partita;
using detail::tag;

namespace {

/// The group of all workers from `first` on, the highest id first; no members on the other workers.
worker_group group_from(const world& everyone, std::size_t first) {
  worker_group group;
  for (std::size_t k = everyone.size(); k-- > first && everyone.id() >= first;) {
    if (k == everyone.id()) group.position = group.members.size();
    group.members.push_back(k);
  }
  return group;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(trees_of_messages)

BOOST_AUTO_TEST_CASE(what_the_root_has_comes_to_all_members) {
  const world everyone(test::workers());
  for (std::size_t first = 0; first < everyone.size(); ++first) {
    const worker_group group = group_from(everyone, first);
    if (group.members.empty()) continue;
    std::vector<std::uint64_t> data(3, group.position == 0 ? 40 + first : 0);
    detail::spread(*everyone.state(), group, data.data(), data.size(), tag::first_user_tag);
    BOOST_TEST(data == (std::vector<std::uint64_t>(3, 40 + first)), boost::test_tools::per_element());
  }
}

BOOST_AUTO_TEST_CASE(what_members_bring_is_combined_at_the_root_also_if_some_bring_nothing) {
  const world everyone(test::workers());
  const std::size_t P = everyone.size(), me = everyone.id();
  for (std::size_t first = 0; first < P; ++first)
    for (const bool root_gives : {true, false}) {
      const worker_group group = group_from(everyone, first);
      const std::size_t members = group.members.size();
      if (members == 0 || (members == 1 && !root_gives)) continue;
      const bool gives = root_gives || group.position != 0;
      const std::vector<std::uint64_t> mine{1, me};
      std::vector<std::uint64_t> into(2, 99), incoming(2, 99);  // what is there does not count
      detail::collect(*everyone.state(), group, gives ? mine.data() : nullptr, into.data(), incoming.data(), 2,
                      tag::first_user_tag, [](std::uint64_t& a, std::uint64_t b) { a += b; });
      if (group.position != 0) continue;
      std::uint64_t ids = 0;
      for (std::size_t k = first; k < P; ++k) ids += root_gives || k != P - 1 ? k : 0;
      BOOST_TEST(into[0] == (root_gives ? members : members - 1));
      BOOST_TEST(into[1] == ids);
    }
}

BOOST_AUTO_TEST_SUITE_END()
