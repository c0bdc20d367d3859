// Random calls of every kernel on complex tensors of rank three, compared with an oracle.
#include "random_calls.hpp"

BOOST_AUTO_TEST_SUITE(random_calls_of_cubes)

BOOST_AUTO_TEST_CASE(of_complex_numbers_of_rank_three_are_as_the_documents_say) {
  calls::make_calls<std::complex<float>, 3, 1, 3>(test::random_cases(3000), 5, partita::checks::agree);
}

BOOST_AUTO_TEST_CASE(of_complex_numbers_of_rank_three_are_so_when_workers_run_ahead) {
  calls::make_calls<std::complex<float>, 3, 1, 3>(test::random_cases(1500), 6, partita::checks::local);
}

BOOST_AUTO_TEST_SUITE_END()
