// The members of a group by node, and the member that represents each of them.
#include <partita/plan/members_by_node.hpp>

#include <boost/test/unit_test.hpp>
#include <random>

using partita::members_by_node;

BOOST_AUTO_TEST_SUITE(members_of_a_group_by_node)

BOOST_AUTO_TEST_CASE(nodes_are_numbered_as_the_members_name_them) {
  const members_by_node nodes({7, 2, 7, 7, 2, 5});
  BOOST_TEST(nodes.nodes() == 3U);
  BOOST_TEST(nodes.members(0) == (std::vector<std::size_t>{0, 2, 3}), boost::test_tools::per_element());
  BOOST_TEST(nodes.members(1) == (std::vector<std::size_t>{1, 4}), boost::test_tools::per_element());
  BOOST_TEST(nodes.members(2) == (std::vector<std::size_t>{5}), boost::test_tools::per_element());
  BOOST_TEST(members_by_node({}).nodes() == 0U);
}

BOOST_AUTO_TEST_CASE(every_member_is_on_its_node_and_lanes_are_as_even_as_can_be) {
  std::mt19937 random(8);
  for (int trial = 0; trial < 200; ++trial) {
    std::vector<std::size_t> node(1 + random() % 12);
    for (std::size_t& n : node) n = random() % 4;
    const members_by_node nodes(node);
    for (std::size_t k = 0; k < node.size(); ++k)
      for (std::size_t other = 0; other < node.size(); ++other)
        BOOST_TEST((nodes.node_of(k) == nodes.node_of(other)) == (node[k] == node[other]));
    for (std::size_t from = 0; from < nodes.nodes(); ++from)
      for (std::size_t to = 0; to < nodes.nodes(); ++to) {
        std::vector<std::size_t> lanes(node.size());
        for (const std::size_t k : nodes.members(from)) {
          BOOST_TEST(nodes.node_of(nodes.representative(k, to)) == to);
          ++lanes[nodes.representative(k, to)];
        }
        const std::size_t a = nodes.members(from).size(), b = nodes.members(to).size();
        for (const std::size_t k : nodes.members(to)) BOOST_TEST(lanes[k] <= (a + b - 1) / b);
      }
  }
}

/// Local rank k of c members is paired with local rank floor(k d / c) of d members.
BOOST_AUTO_TEST_CASE(a_member_is_represented_by_the_one_of_its_share) {
  std::mt19937 random(9);
  for (int trial = 0; trial < 200; ++trial) {
    std::vector<std::size_t> node(1 + random() % 14);
    for (std::size_t& n : node) n = random() % 3;
    const members_by_node nodes(node);
    for (std::size_t from = 0; from < nodes.nodes(); ++from)
      for (std::size_t to = 0; to < nodes.nodes(); ++to) {
        const auto &own = nodes.members(from), &other = nodes.members(to);
        for (std::size_t k = 0; k < own.size(); ++k) {
          const std::size_t paired = k * other.size() / own.size();
          BOOST_TEST(nodes.representative(own[k], to) == (from == to ? own[k] : other[paired]));
          BOOST_TEST(nodes.peer_index(own[k], other.size()) == paired);
        }
      }
  }
}

BOOST_AUTO_TEST_SUITE_END()
