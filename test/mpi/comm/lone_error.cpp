// A worker that throws alone leaves messages of the others unread. A later world must not receive them.
#include "mpi_test.hpp"

#include <optional>
#include <partita/comm/agreement.hpp>
#include <partita/comm/world.hpp>

using namespace partita;

BOOST_AUTO_TEST_SUITE(a_worker_that_throws_alone)

BOOST_AUTO_TEST_CASE(leaves_nothing_to_the_worlds_after_it, *test::at_least(2)) {
  for (int round = 0; round < 3; ++round) {
    std::optional<world> everyone(std::in_place, test::workers(), checks::local);
    const auto describe = [] { return text("a call"); };
    const bool alone = everyone->id() == 0;
    BOOST_CHECK_EXCEPTION(alone ? static_cast<void>(detail::agree_if_checked(*everyone->state(), 1,
                                                                             detail::local_error("alone"), describe))
                                : throw shape_error("alone"),
                          shape_error, [](const shape_error& e) { return std::string(e.what()) == "alone"; });
    if (alone) everyone.reset();
    MPI_Barrier(test::workers());
    if (!alone) {  // they continue: their messages arrive when worker 0 has left
      const int sent = round;
      for (int k = 0; k < 8; ++k) MPI_Send(&sent, 1, MPI_INT, 0, 7, everyone->state()->communicator());
      everyone.reset();
    }
    const world next(test::workers());
    std::uint64_t same[4] = {1, 1, 1, 1}, all[4]{};
    for (int k = 0; k < 20; ++k) next.state()->all_and(same, all);
    BOOST_TEST(all[0] == 1U);
  }
}

BOOST_AUTO_TEST_SUITE_END()
