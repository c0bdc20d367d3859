// Group plans are consistent: all members of a group have the same description of it.
#include <partita/plan/group_plan.hpp>

#include <boost/test/unit_test.hpp>

using namespace partita;

BOOST_AUTO_TEST_SUITE(groups_of_a_broadcast_and_of_a_sum)

BOOST_AUTO_TEST_CASE(all_members_of_a_group_know_the_same_members) {
  const grid small(extents<1, 3>{}, workers{4, 0, 9});
  const grid large(extents<2, 3>{}, workers{0, 1, 2, 3, 4, 5});
  const worker_pairing<2> pairing(large.shape(), {false, true});
  std::size_t roots = 0, receivers = 0;
  for (std::size_t worker = 0; worker < 11; ++worker) {
    const group_plan plan = plan_groups(small, large, pairing, worker);
    BOOST_TEST(plan.small == small.contains(worker));
    BOOST_TEST(plan.large == large.contains(worker));
    BOOST_TEST((plan.rooted() != nullptr) == plan.small);
    BOOST_TEST((plan.joined() != nullptr) == plan.large);
    roots += plan.small ? 1 : 0;
    receivers += plan.large ? 1 : 0;
    for (const worker_group& g : plan.groups) {
      BOOST_TEST(g.members[g.position] == worker);
      BOOST_TEST(g.members[0] == small.workers()[g.number]);
      BOOST_TEST(g.contributors() == 2U);
      for (const std::size_t member : g.members) {
        const group_plan theirs = plan_groups(small, large, pairing, member);
        bool found = false;
        for (const worker_group& other : theirs.groups)
          found = found || (other.number == g.number && other.members == g.members);
        BOOST_TEST(found);
      }
    }
  }
  BOOST_TEST(roots == 3U);
  BOOST_TEST(receivers == 6U);
}

BOOST_AUTO_TEST_CASE(workers_that_agree_in_the_kept_dimensions_sum_among_themselves) {
  const grid p(extents<2, 2, 2>{}, workers{7, 6, 5, 4, 3, 2, 1, 0});
  for (std::size_t worker = 0; worker < 8; ++worker) {
    const group_plan plan = plan_sum_groups(p, {true, false, true}, worker);
    const worker_group& g = plan.groups.at(0);
    BOOST_TEST(g.members.size() == 2U);
    BOOST_TEST(g.members[g.position] == worker);
    BOOST_TEST(g.members[0] - g.members[1] == 2U);  // they differ along dimension 1
    BOOST_TEST(plan.small == (g.position == 0));
  }
  BOOST_TEST(plan_sum_groups(p, {true, true, true}, 8).groups.empty());
}

BOOST_AUTO_TEST_SUITE_END()
