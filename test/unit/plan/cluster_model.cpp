// The model of a cluster: it is never faster than its NICs, exact for cases that can be computed by hand, and a
// repartition on a million workers takes at most twice the time of a node's bytes.
#include "../../../bench/cluster_model.hpp"
#include <partita/plan/repartition_plan.hpp>

#include <boost/test/unit_test.hpp>

namespace {

using namespace partita;

/// Pencils along the last dimension of a cube to pencils along another one, on a × b workers.
template <bool NextDimension>
node_exchange pencils(std::size_t a, std::size_t b, std::size_t extent, const cluster_parameters& facts) {
  using three = extents<dynamic, dynamic, dynamic>;
  const grid<three> from(three(a, b, 1)), to(NextDimension ? three(a, 1, b) : three(1, b, a));
  const std::array<std::size_t, 3> tensor{extent, extent, extent};
  const auto there = decomposition<3>::balanced(tensor, from.shape()),
             then = decomposition<3>::balanced(tensor, to.shape());
  return simulate_nodes(
      facts, a * b, sizeof(double), [&](std::size_t worker) { return plan_repartition(from, there, to, then, worker); },
      4);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(model_of_a_cluster)

BOOST_AUTO_TEST_CASE(one_message_takes_what_it_is_made_of) {
  const cluster_parameters facts{1, 1, 0.5, 100, 3, 2};  // a worker a node, in whole seconds
  const grid one(extents<1>{}, workers{0}), other(extents<1>{}, workers{1});
  const std::array<std::size_t, 1> tensor{10};
  const auto whole = decomposition<1>::balanced(tensor, {1});
  const auto plan_of = [&](std::size_t worker) { return plan_repartition(one, whole, other, whole, worker); };
  const node_exchange sent = simulate_node(facts, 0, 2, 1, plan_of), received = simulate_node(facts, 1, 2, 1, plan_of);
  BOOST_TEST(sent.seconds == 1 + 10 * 0.5 + 10 * 2 + 100);
  BOOST_TEST(sent.messages == 1U);
  BOOST_TEST(sent.bytes == 10U);
  BOOST_TEST(sent.bound == 20);
  BOOST_TEST(received.seconds == sent.seconds);
}

BOOST_AUTO_TEST_CASE(what_stays_on_a_node_does_not_meet_its_card) {
  const auto here = pencils<true>(64, 64, 256, {});  // a row of workers is a node
  BOOST_TEST(here.messages == 0U);
  BOOST_TEST(here.bound == 0);
  BOOST_TEST(here.seconds > 0);
}

BOOST_AUTO_TEST_CASE(pencils_of_a_million_workers_take_at_most_twice_what_the_bytes_of_a_node_take) {
  for (const auto& [a, b, extent] :
       {std::array<std::size_t, 3>{100, 100, 1000}, {250, 400, 2000}, {1000, 1000, 8000}}) {
    const node_exchange rows = pencils<true>(a, b, extent, {}), columns = pencils<false>(a, b, extent, {});
    for (const node_exchange& one : {rows, columns}) {
      BOOST_TEST(one.seconds >= one.bound);
      BOOST_TEST(one.seconds <= 2 * one.bound, a * b << " workers: " << one.seconds / one.bound << " of the bound");
    }
  }
}

BOOST_AUTO_TEST_CASE(so_do_those_of_62_kib_a_worker_where_nodes_share_messages) {
  const node_exchange rows = pencils<true>(1000, 1000, 2000, {}), columns = pencils<false>(1000, 1000, 2000, {});
  for (const node_exchange& one : {rows, columns}) {
    BOOST_TEST(one.seconds >= one.bound);
    BOOST_TEST(one.seconds <= 1.5 * one.bound, one.seconds / one.bound << " of the bound");
    BOOST_TEST(one.messages <= 2000U);
  }
}

BOOST_AUTO_TEST_SUITE_END()
