// The dissemination algorithm between nodes: after the last round each node has data of all nodes, and the chosen
// number of messages per round is the fastest.
#include <partita/comm/detail/node/dissemination.hpp>

#include <boost/test/unit_test.hpp>

#include <cstddef>
#include <set>
#include <vector>

namespace {

using partita::link_cost;
using partita::detail::dissemination;

/// Whether every node has the data of every other node, and never gets it twice from the same node.
bool all_hear_of_all(const dissemination& d) {
  std::vector<std::set<std::size_t>> heard(d.nodes), before;
  for (std::size_t node = 0; node < d.nodes; ++node) heard[node] = {node};
  std::size_t now = d.nodes;
  std::set<std::size_t> distances;
  bool once = true;
  d.for_each_message([&](std::size_t round, std::size_t distance) {
    if (round != now) before = heard, now = round;
    once = once && distance > 0 && distance < d.nodes && distances.insert(distance).second;
    for (std::size_t node = 0; node < d.nodes; ++node)
      heard[(node + distance) % d.nodes].insert(before[node].begin(), before[node].end());
  });
  for (const auto& of_node : heard) once = once && of_node.size() == d.nodes;
  return once;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(disseminations)

BOOST_AUTO_TEST_CASE(every_node_hears_of_every_other_one_by_any_radix) {
  for (std::size_t nodes = 1; nodes <= 40; ++nodes)
    for (std::size_t radix = 2; radix <= nodes + 1; ++radix)
      BOOST_TEST(all_hear_of_all({nodes, radix}), nodes << " nodes, radix " << radix);
}

BOOST_AUTO_TEST_CASE(a_long_way_makes_few_rounds_and_dear_messages_many) {
  const link_cost far{1e-3, 1e-6, 1e-8}, dear{1e-6, 1e-6, 1e-8}, card{10e-6, 0.8e-6, 8e-11};
  BOOST_TEST(dissemination::choose_radix(16, far).rounds() == 1);
  BOOST_TEST(dissemination::choose_radix(16, dear).rounds() == 4);
  BOOST_TEST(dissemination::choose_radix(16, card).rounds() == 2);
  BOOST_TEST(dissemination::choose_radix(16, card).messages() == 6);
  BOOST_TEST(dissemination::choose_radix(1000, far).rounds() == 2);
  BOOST_TEST(dissemination::choose_radix(1, far).messages() == 0);
  BOOST_TEST(dissemination::choose_radix(2, dear).messages() == 1);
}

BOOST_AUTO_TEST_CASE(no_radix_is_faster_than_the_one_chosen) {
  for (const link_cost& link : {link_cost{1e-3, 1e-6}, link_cost{1e-5, 1e-6}, link_cost{2e-6, 1e-6}})
    for (const std::size_t nodes : {2U, 3U, 5U, 16U, 17U, 64U, 200U}) {
      const auto chosen = dissemination::choose_radix(nodes, link);
      BOOST_TEST(chosen.radix <= dissemination::max_messages + 1);
      for (std::size_t radix = 2; radix <= dissemination::max_messages + 1; ++radix)
        BOOST_TEST(chosen.seconds(link) <= (dissemination{nodes, radix}).seconds(link));
    }
}

BOOST_AUTO_TEST_SUITE_END()
