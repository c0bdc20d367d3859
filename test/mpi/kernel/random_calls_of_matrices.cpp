// Random calls of every kernel on matrices of doubles, compared with an oracle.
#include "random_calls.hpp"

BOOST_AUTO_TEST_SUITE(random_calls_of_matrices)

BOOST_AUTO_TEST_CASE(of_doubles_of_rank_two_are_as_the_documents_say) {
  calls::make_calls<double, 2, 2, 2>(test::random_cases(3000), 3, partita::checks::agree);
}

BOOST_AUTO_TEST_CASE(of_doubles_of_rank_two_are_so_when_workers_run_ahead) {
  calls::make_calls<double, 2, 2, 2>(test::random_cases(1500), 4, partita::checks::local);
}

BOOST_AUTO_TEST_SUITE_END()
