// Tests of the test harness: each case has its own communicator, and a case that needs more workers is skipped.
#include <boost/mpi/collectives/all_reduce.hpp>
#include <functional>

#include "mpi_test.hpp"

BOOST_AUTO_TEST_SUITE(support_harness)

BOOST_AUTO_TEST_CASE(the_workers_of_a_case_are_all_workers_in_order) {
  const auto workers = test::workers();
  BOOST_TEST(workers.size() == test::number_of_workers());
  int sum = 0;
  boost::mpi::all_reduce(workers, workers.rank(), sum, std::plus<int>());
  BOOST_TEST(sum == workers.size() * (workers.size() - 1) / 2);
}

BOOST_AUTO_TEST_CASE(a_case_for_three_workers_has_three, *test::at_least(3)) {
  BOOST_TEST(test::number_of_workers() >= 3);
}

BOOST_AUTO_TEST_SUITE_END()
