// Group plans are consistent: all members of a group have the same description of it.
#include <partita/plan/group_plan.hpp>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <partita/comm/mesh_groups.hpp>
#include <set>
#include <vector>

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
    BOOST_TEST((plan.root_group() != nullptr) == plan.small);
    BOOST_TEST((plan.member_group() != nullptr) == plan.large);
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

/// Groups along some axes are the workers that differ in these axes alone, from any first worker on.
BOOST_AUTO_TEST_CASE(groups_along_axes_are_their_definition) {
  const mesh m{axis{"a", 2}, axis{"b", 3}, axis{"c", 2}};
  const char* const names[] = {"a", "b", "c", "a+b", "a+c", "b+c", "a+b+c"};
  const std::uint32_t sets[] = {1, 2, 4, 3, 5, 6, 7};
  for (std::size_t k = 0; k < 7; ++k)
    for (const std::size_t first : {0U, 1U, 5U}) {
      const worker_groups groups = groups_along(m, names[k], first);
      for (std::size_t v = 0; v < m.size(); ++v)
        for (std::size_t w = 0; w < m.size(); ++w) {
          bool together = true;
          for (std::size_t a = 0; a < 3; ++a)
            together = together && ((sets[k] >> a & 1U) != 0 || coordinate_of(m, v, a) == coordinate_of(m, w, a));
          BOOST_TEST((groups.group_of(first + v) == groups.group_of(first + w)) == together, names[k]);
        }
      for (std::size_t w = 0; w < first; ++w) BOOST_TEST(groups.group_of(w) == groups.size());
    }
}

/// The first member of a group of workers is its small worker, and all members are large; other workers are neither.
BOOST_AUTO_TEST_CASE(the_first_of_a_group_is_small_all_are_large_and_others_are_neither) {
  const worker_groups lists({{4, 1, 6}, {2}, {0, 5}});
  for (std::size_t worker = 0; worker < 9; ++worker) {
    const group_plan plan = lists.plan(worker, group_plan::kind::all_sum_reduce);
    BOOST_TEST(plan.small == (worker == 4 || worker == 2 || worker == 0), worker);
    BOOST_TEST(plan.large == (worker < 7 && worker != 3), worker);
    BOOST_TEST((plan.root_group() != nullptr) == plan.small);
    BOOST_TEST((plan.member_group() != nullptr) == plan.large);
  }
  const grid p(extents<2, 3>{}, workers{7, 1, 2, 3, 4, 5});
  for (std::size_t worker = 0; worker < 9; ++worker) {
    const group_plan plan = plan_sum_groups(p, {true, false}, worker);
    BOOST_TEST(plan.small == (worker == 7 || worker == 3), worker);
    BOOST_TEST(plan.large == p.contains(worker), worker);
  }
}

/// Lists of groups that differ, if only in where one ends and the next begins, have different fingerprints.
BOOST_AUTO_TEST_CASE(groups_that_differ_have_different_fingerprints) {
  std::vector<std::vector<std::vector<std::size_t>>> all;
  std::vector<std::size_t> order{0, 1, 2, 3};
  do
    for (unsigned cuts = 0; cuts < 8; ++cuts) {  // bit k: a group ends behind place k
      auto& lists = all.emplace_back(1);
      for (std::size_t k = 0; k < 4; ++k) {
        lists.back().push_back(order[k]);
        if (k < 3 && (cuts >> k & 1U) != 0) lists.emplace_back();
      }
    }
  while (std::next_permutation(order.begin(), order.end()));
  std::set<std::uint64_t> numbers;
  for (const auto& lists : all) numbers.insert(worker_groups(lists).fingerprint());
  BOOST_TEST(numbers.size() == all.size());
}

BOOST_AUTO_TEST_SUITE_END()
