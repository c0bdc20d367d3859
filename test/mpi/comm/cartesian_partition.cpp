// Cartesian communicators keep their coordinates as partitions.
#include "mpi_test.hpp"
#include "refused.hpp"

#include <boost/mpi/cartesian_communicator.hpp>
#include <partita/comm/cartesian_partition.hpp>
#include <partita/kernel/all_sum_reduce.hpp>
#include <string>

using namespace partita;
using test::refused;

BOOST_AUTO_TEST_SUITE(cartesian_partitions)

BOOST_AUTO_TEST_CASE(every_worker_stands_where_its_cartesian_communicator_puts_it) {
  const boost::mpi::communicator& all = test::workers();
  const int n = all.size(), down = n % 2 == 0 ? 2 : 1;
  for (const bool reorder : {false, true}) {
    const boost::mpi::cartesian_topology topology({{down, true}, {n / down, false}});
    const boost::mpi::cartesian_communicator there(all, topology, reorder);
    const auto p = cartesian_partition<2>(there);
    BOOST_TEST_REQUIRE(p.active());
    const std::vector<int> expected = there.coordinates(there.rank());
    for (std::size_t d = 0; d < 2; ++d) BOOST_TEST(static_cast<int>(p.index()[d]) == expected[d]);
    BOOST_TEST(p.extents()[0] == static_cast<std::size_t>(down));
    BOOST_TEST(p.worker(p.index()) == static_cast<std::size_t>(there.rank()));
    const auto sum = all_sum_reduce(p, dimensions<1>)(xt::xtensor<int, 1>{expected[1], 1});
    BOOST_TEST((sum == xt::xtensor<int, 1>{n / down * (n / down - 1) / 2, n / down}));
  }
}

BOOST_AUTO_TEST_CASE(a_row_of_a_cartesian_communicator_is_a_partition_of_its_own) {
  const boost::mpi::communicator& all = test::workers();
  const int n = all.size(), down = n % 2 == 0 ? 2 : 1;
  const boost::mpi::cartesian_communicator there(
      all, boost::mpi::cartesian_topology({{down, false}, {n / down, false}}), false);
  const boost::mpi::cartesian_communicator row(there, std::vector<int>{1});
  const auto p = cartesian_partition<1>(row);
  BOOST_TEST(p.size() == static_cast<std::size_t>(n / down));
  BOOST_TEST(static_cast<int>(p.index()[0]) == there.coordinates(there.rank())[1]);
}

BOOST_AUTO_TEST_CASE(the_world_of_the_partition_has_the_level_of_checks_that_is_given) {
  const boost::mpi::communicator& all = test::workers();
  const boost::mpi::cartesian_communicator line(all, boost::mpi::cartesian_topology({{all.size(), false}}), false);
  BOOST_TEST((cartesian_partition<1>(line).world().level() == checks::agree));
  for (const checks level : {checks::local, checks::agree})
    BOOST_TEST((cartesian_partition<1>(line, level).world().level() == level));
}

BOOST_AUTO_TEST_CASE(what_is_not_cartesian_or_of_another_rank_is_refused_on_all_workers) {
  const boost::mpi::communicator& all = test::workers();
  BOOST_TEST(refused<partition_error>([&] { cartesian_partition<2>(all); }).find("Cartesian topology") !=
             std::string::npos);
  const boost::mpi::cartesian_communicator line(all, boost::mpi::cartesian_topology({{all.size(), false}}), false);
  BOOST_TEST(refused<partition_error>([&] { cartesian_partition<2>(line); }).find("got one of 1") != std::string::npos);
}

/// MPI_Cart_create gives no communicator to the workers that its grid leaves out. By default an error of MPI ends the
/// job.
BOOST_AUTO_TEST_CASE(a_worker_that_a_cartesian_communicator_leaves_out_is_told) {
  const int sizes[] = {1}, periods[] = {0};
  MPI_Comm first = MPI_COMM_NULL;
  BOOST_TEST_REQUIRE(MPI_Cart_create(test::workers(), 1, sizes, periods, 0, &first) == MPI_SUCCESS);
  if (test::workers().rank() == 0) {
    const boost::mpi::communicator own(first, boost::mpi::comm_take_ownership);
    const auto p = cartesian_partition<1>(own);
    BOOST_TEST((p.size() == 1 && p.active()));
  } else {
    const boost::mpi::communicator none(first, boost::mpi::comm_attach);
    MPI_Errhandler before = MPI_ERRHANDLER_NULL;
    MPI_Comm_get_errhandler(MPI_COMM_WORLD, &before);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    const std::string told = refused<partition_error>([&] { cartesian_partition<1>(none); });
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, before);
    MPI_Errhandler_free(&before);
    BOOST_TEST(told.find("requires a communicator with a Cartesian topology") != std::string::npos, told);
  }
}

BOOST_AUTO_TEST_SUITE_END()
