// Trees of groups: a broadcast reaches all members, and a reduction combines each contribution once.
#include "mpi_test.hpp"

#include <partita/comm/detail/message/posted_messages.hpp>
#include <partita/comm/tree.hpp>
#include <partita/comm/world.hpp>
#include <utility>
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
    detail::tree_broadcast(*everyone.state(), group, data.data(), data.size(), tag::first_user_tag);
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
      detail::tree_reduce(*everyone.state(), group, gives ? mine.data() : nullptr, into.data(), incoming.data(), 2,
                          tag::first_user_tag, [](std::uint64_t& a, std::uint64_t b) { a += b; });
      if (group.position != 0) continue;
      std::uint64_t ids = 0;
      for (std::size_t k = first; k < P; ++k) ids += root_gives || k != P - 1 ? k : 0;
      BOOST_TEST(into[0] == (root_gives ? members : members - 1));
      BOOST_TEST(into[1] == ids);
    }
}

/// A member's own values may be the memory in which it combines; lists of no numbers pass too.
BOOST_AUTO_TEST_CASE(values_are_combined_in_the_order_of_the_tree_also_in_their_own_memory) {
  const world everyone(test::workers());
  const std::size_t P = everyone.size(), me = everyone.id();
  const worker_group group = group_from(everyone, 0);
  const auto value = [&](std::size_t position) { return std::uint64_t{1000003} * position + 5; };
  std::vector<std::uint64_t> expected(P);
  for (std::size_t k = 0; k < P; ++k) expected[k] = value(k);
  for (std::size_t step = 1; step < P; step *= 2)
    for (std::size_t k = 0; k + step < P; k += 2 * step) expected[k] = 3 * expected[k] + expected[k + step];
  const auto combine = [](std::uint64_t& a, std::uint64_t b) { a = 3 * a + b; };
  for (const bool in_place : {false, true}) {
    std::vector<std::uint64_t> own(2, value(P - 1 - me)), into(2, 99), incoming(2, 99);
    detail::tree_reduce(*everyone.state(), group, own.data(), in_place ? own.data() : into.data(), incoming.data(), 2,
                        tag::first_user_tag, combine);
    if (group.position == 0) BOOST_TEST((in_place ? own : into) == std::vector<std::uint64_t>(2, expected[0]));
  }
  std::uint64_t untouched = 8;
  detail::tree_broadcast(*everyone.state(), group, &untouched, 0, tag::first_user_tag);
  detail::tree_reduce(*everyone.state(), group, &untouched, &untouched, &untouched, 0, tag::first_user_tag, combine);
  BOOST_TEST(untouched == 8U);
}

BOOST_AUTO_TEST_CASE(messages_arrive_in_the_order_in_which_they_are_sent_for_each_tag) {
  const world everyone(test::workers());
  const std::size_t P = everyone.size(), me = everyone.id(), next = (me + 1) % P, before = (me + P - 1) % P;
  if (P == 1) return;
  for (int k = 0; k < 3; ++k) {
    const int numbers[] = {static_cast<int>(me), k, 7};
    detail::send(*everyone.state(), numbers, 3, next, tag::block);
  }
  const double other = 0.5;
  detail::send(*everyone.state(), &other, 1, next, tag::header);
  double half = 0;
  detail::receive(*everyone.state(), &half, 1, before, tag::header);
  BOOST_TEST(half == 0.5);
  for (int k = 0; k < 3; ++k) {
    int numbers[3] = {};
    detail::receive(*everyone.state(), numbers, 3, before, tag::block);
    BOOST_TEST((numbers[0] == static_cast<int>(before) && numbers[1] == k && numbers[2] == 7));
  }
}

BOOST_AUTO_TEST_CASE(elements_are_divided_into_messages_of_at_most_a_gibibyte) {
  const auto pieces = []<class T>(T, std::size_t n) {
    std::vector<std::pair<std::size_t, int>> all;
    detail::for_each_message<T>(n, [&](std::size_t first, int count) { all.emplace_back(first, count); });
    return all;
  };
  using list = std::vector<std::pair<std::size_t, int>>;
  constexpr std::size_t most = std::size_t{1} << 27U;  // doubles in a gibibyte
  constexpr int whole = 1 << 27;
  BOOST_TEST((pieces(1.0, 0).empty()));
  BOOST_TEST((pieces(1.0, 5) == list{{0, 5}}));
  BOOST_TEST((pieces(1.0, most) == list{{0, whole}}));
  BOOST_TEST((pieces(1.0, most + 1) == list{{0, whole}, {most, 1}}));
  BOOST_TEST((pieces(1.0, 2 * most + 3) == list{{0, whole}, {most, whole}, {2 * most, 3}}));
  BOOST_TEST((pieces('c', 8 * most + 2) == list{{0, 8 * whole}, {8 * most, 2}}));
  const auto parts = [](std::size_t n, std::size_t max_bytes) {  // of four bytes each
    list all;
    detail::for_each_message_part(detail::element_kind_v<float>, n, max_bytes,
                                  [&](std::size_t first, int count) { all.emplace_back(first, count); });
    return all;
  };
  BOOST_TEST((parts(5, 8) == list{{0, 2}, {8, 2}, {16, 1}}));
  BOOST_TEST((parts(4, 11) == list{{0, 2}, {8, 2}}));
  BOOST_TEST((parts(3, 3) == list{{0, 1}, {4, 1}, {8, 1}}));
  BOOST_TEST((parts(3, 4) == list{{0, 1}, {4, 1}, {8, 1}}));
  BOOST_TEST((parts(3, 12) == list{{0, 3}} && parts(0, 12).empty()));
}

BOOST_AUTO_TEST_SUITE_END()
