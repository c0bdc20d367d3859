// What a test on several workers includes: Boost.Test, the workers of the case, and how to ask for enough of them.
#pragma once

#include <boost/mpi/communicator.hpp>
#include <boost/test/unit_test.hpp>
#include <cstdlib>

namespace test {

/// The workers that run the tests. Each test case has a communicator of its own, so what a failed case left in flight
/// cannot reach the next one. All workers must call it for the first time in a case at the same point.
boost::mpi::communicator workers();

/// How many workers run the tests; may be called anywhere, also before main.
int number_of_workers();

/// `BOOST_AUTO_TEST_CASE(x, *test::at_least(4))`: with fewer workers the case is skipped on all of them, with this
/// reason.
inline auto at_least(int n) {
  return boost::unit_test::precondition([n](boost::unit_test::test_unit_id) {
    boost::test_tools::assertion_result enough(number_of_workers() >= n);
    enough.message() << "needs at least " << n << " workers";
    return enough;
  });
}

/// `*test::with_room()`: where shared memory is said to have no room the case is skipped, with this reason.
inline auto with_room() {
  return boost::unit_test::precondition([](boost::unit_test::test_unit_id) {
    boost::test_tools::assertion_result room(std::getenv("PARTITA_SHARED_FREE") == nullptr);
    room.message() << "needs room in shared memory";
    return room;
  });
}

}  // namespace test
