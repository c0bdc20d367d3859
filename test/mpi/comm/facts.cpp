// The small allgather: every worker gets the data of all workers.
#include "mpi_test.hpp"

#include <partita/comm/facts.hpp>

using namespace partita;
using detail::facts;

BOOST_AUTO_TEST_SUITE(facts_among_workers)

BOOST_AUTO_TEST_CASE(all_workers_know_what_each_has_said) {
  const world everyone(test::workers());
  detail::world_state& state = *everyone.state();
  const std::uint64_t P = everyone.size(), me = everyone.id();
  const auto all = detail::gather_numbers<2>(state, {me, 7 * me});
  BOOST_TEST(all.size() == P);
  for (std::uint64_t k = 0; k < P; ++k) BOOST_TEST((all[k] == facts<2>{k, 7 * k}));
  BOOST_TEST((detail::sum_of_all<2>(state, {me, 1}) == facts<2>{P * (P - 1) / 2, P}));
}

BOOST_AUTO_TEST_CASE(numbers_are_compared_without_a_sign) {
  const world everyone(test::workers());
  const std::uint64_t P = everyone.size(), me = everyone.id(), high = std::uint64_t{1} << 63U;
  const auto most =
      detail::maximum_over_workers<3>(*everyone.state(), {me, me == P - 1 ? high + 2 : 1, ~std::uint64_t{0} - me});
  BOOST_TEST((most == facts<3>{P - 1, high + 2, ~std::uint64_t{0}}));
}

BOOST_AUTO_TEST_CASE(words_are_put_together_by_exclusive_or) {
  const world everyone(test::workers());
  std::vector<std::uint32_t> words{1U << everyone.id(), 5};
  detail::xor_over_workers(*everyone.state(), words);
  BOOST_TEST(words[0] == (1U << everyone.size()) - 1);
  BOOST_TEST(words[1] == (everyone.size() % 2 == 1 ? 5U : 0U));
}

BOOST_AUTO_TEST_CASE(something_holds_on_all_workers_or_not) {
  const world everyone(test::workers());
  for (int call = 0; call < 3; ++call) {
    BOOST_TEST(detail::is_true_on_all(*everyone.state(), true));
    BOOST_TEST(detail::is_true_on_all(*everyone.state(), everyone.id() + 1 != everyone.size()) == false);
  }
}

BOOST_AUTO_TEST_SUITE_END()
