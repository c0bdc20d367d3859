// Group plans are consistent: all members of a group have the same description of it.
#include <partita/plan/group_plan.hpp>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstddef>
#include <partita/comm/mesh_groups.hpp>
#include <random>
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

/// Workers process their groups in one order: by the place of the root.
BOOST_AUTO_TEST_CASE(the_groups_of_a_worker_are_in_the_order_of_their_roots) {
  std::vector<std::size_t> ids{0, 1, 2, 4};
  do {
    const grid small(extents<1, 3>{}, workers{ids[0], ids[1], ids[2]});
    const grid large(extents<2, 3>{}, workers(0, 6));
    const worker_pairing<2> pairing(large.shape(), {false, true});
    for (std::size_t worker = 0; worker < 6; ++worker)
      for (const auto kind :
           {group_plan::kind::broadcast, group_plan::kind::sum_reduce, group_plan::kind::all_sum_reduce}) {
        const group_plan plan = plan_groups(small, large, pairing, worker, kind);
        BOOST_TEST(plan.worker == worker);
        BOOST_TEST((plan.movement == kind));
        std::set<std::size_t> numbers{worker % 3};
        if (small.contains(worker)) numbers.insert(small.place(worker));
        BOOST_TEST_REQUIRE(plan.groups.size() == numbers.size());
        std::size_t g = 0;
        for (const std::size_t number : numbers) {
          const worker_group& group = plan.groups[g++];
          std::vector<std::size_t> members{ids[number]};
          for (const std::size_t member : {number, number + 3})
            if (member != ids[number]) members.push_back(member);
          BOOST_TEST(group.number == number);
          BOOST_TEST(group.members == members, boost::test_tools::per_element());
          BOOST_TEST(group.root_is_large == (ids[number] % 3 == number));
          BOOST_TEST(group.contributors() == 2U);
        }
      }
  } while (std::next_permutation(ids.begin(), ids.end()));
}

BOOST_AUTO_TEST_CASE(groups_of_a_sum_are_numbered_by_their_kept_coordinates) {
  const grid p(extents<2, 2, 2>{}, workers{7, 6, 5, 4, 3, 2, 1, 0});
  for (std::size_t worker = 0; worker < 8; ++worker) {
    const group_plan plan = plan_sum_groups(p, {true, false, true}, worker);
    const std::size_t place = 7 - worker;
    BOOST_TEST((plan.movement == group_plan::kind::all_sum_reduce));
    BOOST_TEST(plan.worker == worker);
    BOOST_TEST(plan.groups.at(0).number == place / 4 * 2 + place % 2);
    BOOST_TEST(plan.groups.at(0).root_is_large);
    BOOST_TEST(plan.groups.at(0).contributors() == 2U);
  }
  BOOST_TEST((plan_sum_groups(p, {true, false, true}, 9).movement == group_plan::kind::all_sum_reduce));
}

BOOST_AUTO_TEST_CASE(workers_of_one_colour_are_a_group_in_the_order_of_their_ids) {
  std::mt19937 random(2);
  for (int turn = 0; turn < 300; ++turn) {
    std::vector<std::size_t> colours(random() % 9);
    for (std::size_t& one : colours) one = random() % 4 == 0 ? worker_groups::no_colour : 7 * (random() % 3);
    std::vector<std::vector<std::size_t>> expected;  // in the order of their first workers
    std::size_t end = 0;
    for (std::size_t w = 0; w < colours.size(); ++w) {
      if (colours[w] == worker_groups::no_colour) continue;
      end = w + 1;
      if (std::count(colours.begin(), colours.begin() + static_cast<std::ptrdiff_t>(w), colours[w]) > 0) continue;
      expected.emplace_back();
      for (std::size_t k = w; k < colours.size(); ++k)
        if (colours[k] == colours[w]) expected.back().push_back(k);
    }
    const worker_groups groups = worker_groups::by_colour(colours);
    BOOST_TEST_REQUIRE(groups.size() == expected.size());
    for (std::size_t g = 0; g < expected.size(); ++g) {
      BOOST_TEST(groups.members(g) == expected[g], boost::test_tools::per_element());
      for (const std::size_t w : expected[g]) BOOST_TEST(groups.group_of(w) == g);
    }
    BOOST_TEST(groups.id_end() == end);
    BOOST_TEST((groups == worker_groups(expected)));
    expected.push_back({9});
    BOOST_TEST(!(groups == worker_groups(expected)));
  }
}

BOOST_AUTO_TEST_CASE(all_members_of_a_listed_group_contribute_whatever_is_moved) {
  const worker_groups lists({{4, 1, 6}, {2}, {0, 5}});
  for (const auto kind : {group_plan::kind::broadcast, group_plan::kind::sum_reduce, group_plan::kind::all_sum_reduce})
    for (std::size_t worker = 0; worker < 8; ++worker) {
      const group_plan plan = lists.plan(worker, kind);
      BOOST_TEST((plan.movement == kind && plan.worker == worker));
      const std::size_t number = lists.group_of(worker);
      BOOST_TEST(plan.groups.size() == (number < 3 ? 1U : 0U));
      for (const worker_group& one : plan.groups) {
        BOOST_TEST(one.number == number);
        BOOST_TEST(one.members == lists.members(number), boost::test_tools::per_element());
        BOOST_TEST(one.members[one.position] == worker);
        BOOST_TEST(one.contributors() == one.members.size());
      }
    }
}

BOOST_AUTO_TEST_SUITE_END()
