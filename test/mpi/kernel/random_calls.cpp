// Random calls of every kernel on vectors of integers, compared with an oracle.
#include "random_calls.hpp"

BOOST_AUTO_TEST_SUITE(random_calls)

BOOST_AUTO_TEST_CASE(of_integers_of_rank_one_are_as_the_documents_say) {
  calls::make_calls<int, 1, 1, 2>(test::random_cases(3000), 1, partita::checks::agree);
}

BOOST_AUTO_TEST_CASE(of_integers_of_rank_one_are_so_when_workers_run_ahead) {
  calls::make_calls<int, 1, 1, 2>(test::random_cases(1500), 2, partita::checks::local);
}

BOOST_AUTO_TEST_SUITE_END()
