// With a million workers each worker makes its plan alone, from its own overlaps, and the plans are consistent.
#include <partita/plan/group_plan.hpp>
#include <partita/plan/repartition_plan.hpp>

#include <boost/test/unit_test.hpp>
#include <random>

namespace {
using namespace partita;
constexpr std::size_t million = 1'000'000;
}  // namespace

BOOST_AUTO_TEST_SUITE(a_million_workers)

BOOST_AUTO_TEST_CASE(what_one_sends_its_peer_receives) {
  const grid rows(extents<1000, 1000>{});
  const grid slabs(extents<500, 2000>{}, workers(million / 2, million / 2 + million));
  const std::array<std::size_t, 2> tensor{1'000'003, 1'000'033};
  const auto from = decomposition<2>::balanced(tensor, rows.shape()),
             to = decomposition<2>::balanced(tensor, slabs.shape());
  std::mt19937 random(7);
  for (int trial = 0; trial < 200; ++trial) {
    const std::size_t worker = random() % (million + million / 2);
    const auto plan = plan_repartition(rows, from, slabs, to, worker);
    BOOST_TEST(plan.gives == (worker < million));
    BOOST_TEST(plan.takes == (worker >= million / 2));
    const auto volume = [](const std::array<std::size_t, 2>& shape) { return shape[0] * shape[1]; };
    if (plan.gives) BOOST_TEST(plan.elements_sent() + plan.elements_kept() == volume(plan.source_shape));
    if (plan.takes) BOOST_TEST(plan.elements_received() + plan.elements_kept() == volume(plan.destination_shape));
    for (const auto& send : plan.sends) {
      const auto peer = plan_repartition(rows, from, slabs, to, send.worker);
      bool found = false;
      for (const auto& receive : peer.receives)
        found = found || (receive.worker == worker && receive.where == send.where);
      BOOST_TEST(found);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_worker_knows_its_groups_and_nobody_elses) {
  const grid small(extents<1, 1000>{});
  const grid large(extents<1000, 1000>{});
  const worker_pairing<2> pairing(small.shape(), large.shape(), false, false);
  for (const std::size_t worker : {std::size_t{0}, std::size_t{999}, std::size_t{1000}, million - 1}) {
    const group_plan plan = plan_groups(small, large, pairing, worker);
    BOOST_TEST(plan.small == (worker < 1000));
    BOOST_TEST(plan.large);
    BOOST_TEST_REQUIRE(plan.groups.size() == 1U);
    BOOST_TEST(plan.groups[0].members.size() == 1000U);
    for (const std::size_t member : plan.groups[0].members) BOOST_TEST(member % 1000 == worker % 1000);
    BOOST_TEST(plan.groups[0].members[plan.groups[0].position] == worker);
  }
}

BOOST_AUTO_TEST_CASE(scatter_and_gather_are_plans_of_one_worker_with_all) {
  const grid one(extents<1>{}, workers{17});
  const grid all{extents<dynamic>(million)};
  const std::array<std::size_t, 1> tensor{3 * million + 1};
  const auto whole = decomposition<1>::balanced(tensor, {1}), dealt = decomposition<1>::balanced(tensor, {million});
  const auto scatter = plan_repartition(one, whole, all, dealt, 17);
  BOOST_TEST(scatter.messages_sent() == million - 1);
  BOOST_TEST(scatter.elements_kept() == 3U);
  const auto far = plan_repartition(one, whole, all, dealt, 0);
  BOOST_TEST(far.elements_received() == 4U);
  BOOST_TEST((plan_repartition(all, dealt, one, whole, 0) == reversed(far)));
}

BOOST_AUTO_TEST_SUITE_END()
