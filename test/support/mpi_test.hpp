// The header for tests on several workers: Boost.Test, the communicator of the case, and decorators that skip a case.
#pragma once

#include <boost/mpi/communicator.hpp>
#include <boost/test/unit_test.hpp>
#include <cstdlib>

namespace test {

/// The communicator of the workers that run the tests. Each test case has its own, so messages that a failed case left
/// pending cannot reach the next case. The first call in a case is collective.
boost::mpi::communicator workers();

/// The number of workers that run the tests. The function may be called anywhere, also before main.
int number_of_workers();

/// `BOOST_AUTO_TEST_CASE(x, *test::at_least(4))`: a run on fewer workers skips the case on all workers, and prints the
/// reason.
inline auto at_least(int n) {
  return boost::unit_test::precondition([n](boost::unit_test::test_unit_id) {
    boost::test_tools::assertion_result enough(number_of_workers() >= n);
    enough.message() << "needs at least " << n << " workers";
    return enough;
  });
}

/// `*test::with_room()`: skips the case, and prints the reason, if the environment says that shared memory has no room.
inline auto with_room() {
  return boost::unit_test::precondition([](boost::unit_test::test_unit_id) {
    boost::test_tools::assertion_result room(std::getenv("PARTITA_SHARED_FREE") == nullptr);
    room.message() << "needs room in shared memory";
    return room;
  });
}

}  // namespace test
