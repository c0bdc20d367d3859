// Tensors whose plans were evicted: those of which the last one had a decomposition that its extents do not tell.
#include <partita/kernel/detail/evicted_plans.hpp>

#include <array>
#include <boost/test/unit_test.hpp>
#include <random>
#include <set>
#include <string>

namespace {

using extents_of_matrix = std::array<std::size_t, 2>;

}  // namespace

BOOST_AUTO_TEST_SUITE(plans_that_were_evicted)

BOOST_AUTO_TEST_CASE(the_last_plan_of_some_extents_tells_whether_they_are_listed) {
  std::mt19937 random(5);
  partita::detail::evicted_plans evicted;
  std::set<extents_of_matrix> expected;
  for (std::size_t k = 0; k < 400; ++k) {
    const extents_of_matrix one{random() % 4, random() % 4};
    const bool has_default_cuts = random() % 2 == 0;
    evicted.note_eviction(one, has_default_cuts);
    if (has_default_cuts) expected.erase(one);
    else expected.insert(one);
    for (std::size_t i = 0; i < 16; ++i) {
      const extents_of_matrix asked{i / 4, i % 4};
      BOOST_TEST(evicted.contains(asked) == expected.contains(asked));
    }
  }
}

BOOST_AUTO_TEST_CASE(extents_of_all_ranks_are_told_apart) {
  partita::detail::evicted_plans evicted;
  evicted.note_eviction(std::array<std::size_t, 1>{6}, false);
  evicted.note_eviction(extents_of_matrix{2, 3}, false);
  BOOST_TEST(evicted.contains(std::array<std::size_t, 1>{6}));
  BOOST_TEST(evicted.contains(extents_of_matrix{2, 3}));
  BOOST_TEST(!evicted.contains(extents_of_matrix{3, 2}));
  BOOST_TEST(!evicted.contains(extents_of_matrix{6, 1}));
  BOOST_TEST(!evicted.contains(std::array<std::size_t, 3>{1, 2, 3}));
}

BOOST_AUTO_TEST_CASE(a_full_list_contains_all_extents) {
  partita::detail::evicted_plans evicted;
  for (std::size_t k = 0; k < 4096; ++k) evicted.note_eviction(extents_of_matrix{k, 1}, false);
  evicted.note_eviction(extents_of_matrix{7, 1}, false);  // a known one needs no further place
  BOOST_TEST(evicted.contains(extents_of_matrix{4095, 1}));
  BOOST_TEST(!evicted.contains(extents_of_matrix{4096, 1}));
  evicted.note_eviction(extents_of_matrix{4096, 1}, false);
  BOOST_TEST(evicted.contains(extents_of_matrix{4096, 1}));
  BOOST_TEST(evicted.contains(extents_of_matrix{9, 9}));
  evicted.note_eviction(extents_of_matrix{7, 1}, true);  // which of the others were not listed is not known any more
  BOOST_TEST(evicted.contains(extents_of_matrix{7, 1}));
}

BOOST_AUTO_TEST_CASE(the_error_of_a_forgotten_plan_names_the_call_and_the_way_out) {
  BOOST_TEST(
      std::string(partita::detail::evicted_plans::error_message("partita::k.adjoint(dy)").c_str()) ==
      "partita::k.adjoint(dy): requires the forward call that dy belongs to among the last 32 structures; the cut "
      "that its x had has been forgotten; call the kernel on x again before its adjoint");
}

BOOST_AUTO_TEST_SUITE_END()
