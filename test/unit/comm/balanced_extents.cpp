// Numbers of workers for which there are no balanced extents; test/static has those for which there are.
#include <partita/comm/balanced_extents.hpp>

#include <boost/test/unit_test.hpp>
#include <string>

#include "refused.hpp"

namespace {

std::string told(std::size_t workers, std::size_t rank) {
  return "partita::balanced_extents(workers, rank): requires at least one worker, and one only for rank 0, got " +
         std::to_string(workers) + " workers and rank " + std::to_string(rank);
}

}  // namespace

BOOST_AUTO_TEST_CASE(extents_without_workers_or_of_rank_0_for_several_are_refused) {
  using partita::balanced_extents;
  const auto refused_by = [](auto call) { return test::refused<partita::partition_error>(call); };
  for (std::size_t workers = 0; workers < 5; ++workers) {
    const auto expected = [&](std::size_t rank) {
      return workers == 0 || (rank == 0 && workers > 1) ? told(workers, rank) : std::string();
    };
    for (std::size_t rank = 0; rank < 4; ++rank)
      BOOST_TEST(refused_by([&] { return balanced_extents(workers, rank); }) == expected(rank));
    BOOST_TEST(refused_by([&] { return balanced_extents<0>(workers); }) == expected(0));
    BOOST_TEST(refused_by([&] { return balanced_extents<1>(workers); }) == expected(1));
    BOOST_TEST(refused_by([&] { return balanced_extents<3>(workers); }) == expected(3));
  }
}
