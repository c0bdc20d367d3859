// The harness of these tests: each case has workers of its own, and too few of them are a skip.
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

BOOST_AUTO_TEST_CASE(what_one_case_leaves_in_flight_does_not_reach_the_next) {
  const auto workers = test::workers();
  const int next = (workers.rank() + 1) % workers.size();
  workers.isend(next, 7, -1);
  BOOST_TEST(true);
}

BOOST_AUTO_TEST_CASE(a_message_that_an_earlier_case_left_is_not_received) {
  const auto workers = test::workers();
  const int next = (workers.rank() + 1) % workers.size();
  auto request = workers.isend(next, 7, workers.rank());
  int received = -1;
  workers.recv(boost::mpi::any_source, 7, received);
  request.wait();
  BOOST_TEST(received == (workers.rank() + workers.size() - 1) % workers.size());
}

BOOST_AUTO_TEST_CASE(a_case_for_three_workers_has_three, *test::at_least(3)) {
  BOOST_TEST(test::number_of_workers() >= 3);
}

BOOST_AUTO_TEST_SUITE_END()
