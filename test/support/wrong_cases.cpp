// Cases that fail in every way in which a case can fail. harness.py checks that each failure is reported; the cases are
// not tests themselves.
#include <boost/mpi/communicator.hpp>
#include <stdexcept>

#include "mpi_test.hpp"

BOOST_AUTO_TEST_CASE(passes) { BOOST_TEST(true); }

BOOST_AUTO_TEST_CASE(fails_on_one_worker) { BOOST_TEST(test::workers().rank() != 1); }

BOOST_AUTO_TEST_CASE(fails_and_leaves_a_message) {
  const auto workers = test::workers();
  workers.isend((workers.rank() + 1) % workers.size(), 7, -1);
  BOOST_TEST(false);
}

BOOST_AUTO_TEST_CASE(receives_its_own_message) {
  const auto workers = test::workers();
  auto request = workers.isend((workers.rank() + 1) % workers.size(), 7, workers.rank());
  int received = -1;
  workers.recv(boost::mpi::any_source, 7, received);
  request.wait();
  BOOST_TEST(received == (workers.rank() + workers.size() - 1) % workers.size());
}

BOOST_AUTO_TEST_CASE(throws_on_one_worker_while_the_others_wait) {
  const auto workers = test::workers();
  if (workers.rank() == 1) throw std::runtime_error("left the others alone");
  workers.barrier();
}

BOOST_AUTO_TEST_CASE(waits_for_ever_on_all_workers) {
  const auto workers = test::workers();
  int unsent_number = 0;
  workers.recv(workers.rank(), 0, unsent_number);
}

BOOST_AUTO_TEST_CASE(dies_on_one_worker) {
  const auto workers = test::workers();
  if (workers.rank() == 1) std::abort();
  workers.barrier();
}

BOOST_AUTO_TEST_CASE(needs_more_workers_than_there_are, *test::at_least(100)) { BOOST_TEST(false); }
