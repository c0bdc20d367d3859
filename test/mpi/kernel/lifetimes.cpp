// Creating and destroying kernels, partitions and worlds leaks no resources.
#include "mpi_test.hpp"

#include <partita/kernel/all_sum_reduce.hpp>
#include <partita/kernel/broadcast.hpp>
#include <partita/kernel/repartition.hpp>
#include <partita/kernel/sum_reduce.hpp>

#include <optional>

#include "random_cases.hpp"

using namespace partita;

BOOST_AUTO_TEST_SUITE(lifetimes)

BOOST_AUTO_TEST_CASE(a_hundred_thousand_kernels_are_made_and_dropped) {
  const world everyone(test::workers());
  const std::size_t n = everyone.size();
  const std::size_t rounds = test::random_cases(25'000);  // with four kernels each
  std::size_t members = 0;
  for (std::size_t k = 0; k < rounds; ++k) {
    const auto root = everyone.partition<1>(workers{k % n});
    const auto all = everyone.partition(extents(n));
    const broadcast b(root, all);
    const sum_reduce s(all, root);
    const all_sum_reduce a(all, dimensions<0>);
    const repartition r(root, all);
    members += b.plan().groups.front().members.size();
  }
  BOOST_TEST(members == rounds * n);
}

BOOST_AUTO_TEST_CASE(so_are_two_thousand_that_are_used) {
  const world everyone(test::workers());
  const std::size_t n = everyone.size();
  const xt::xtensor<std::size_t, 1> x{everyone.id(), 1};
  std::size_t wrong = 0;
  for (std::size_t k = 0; k < test::random_cases(2000); ++k) {
    const auto root = everyone.partition<1>(workers{k % n});
    const auto all = everyone.partition(extents(n));
    const auto y = broadcast(root, all)(x);
    wrong += y(0) == k % n ? 0 : 1;
  }
  BOOST_TEST(wrong == 0U);
}

BOOST_AUTO_TEST_CASE(so_are_fifty_repartitions_with_their_shared_memory) {
  const world everyone(test::workers());
  const std::size_t n = everyone.size();
  std::size_t wrong = 0;
  for (std::size_t k = 0; k < 50; ++k) {
    const repartition r(everyone.partition(extents(n)), everyone.partition<1>(workers{k % n}));
    const xt::xtensor<std::size_t, 1> x{everyone.id(), k};
    const auto y = r(x);
    if (everyone.id() == k % n)
      for (std::size_t w = 0; w < n; ++w) wrong += y(2 * w) == w && y(2 * w + 1) == k ? 0 : 1;
  }
  BOOST_TEST(wrong == 0U);
}

BOOST_AUTO_TEST_CASE(two_hundred_worlds_of_parts_of_the_workers) {
  const auto all = test::workers();
  for (std::size_t k = 0; k < test::random_cases(200); ++k) {
    const int side = (all.rank() + static_cast<int>(k)) % 2;
    const boost::mpi::communicator part = all.split(side);
    const world half(part);
    BOOST_TEST(half.size() == static_cast<std::size_t>(part.size()));
    const auto p = half.partition(extents(half.size()));
    const xt::xtensor<int, 1> x{side + 1};
    const auto sum = all_sum_reduce(p, dimensions<0>)(x);
    BOOST_TEST(sum(0) == (side + 1) * part.size());
  }
}

BOOST_AUTO_TEST_CASE(a_world_of_an_mpi_comm_may_number_its_workers_in_another_order) {
  const auto all = test::workers();
  const boost::mpi::communicator reversed = all.split(0, all.size() - all.rank());
  const world everyone(reversed);
  const auto root = everyone.partition<1>();
  const xt::xtensor<int, 1> x{all.rank()};
  const auto y = broadcast(root, everyone.partition(extents(everyone.size())))(x);
  BOOST_TEST(y(0) == all.size() - 1);
}

BOOST_AUTO_TEST_CASE(a_kernel_keeps_its_world_alive) {
  std::optional<broadcast<extents<1>, extents<dynamic>>> kept;
  {
    const world everyone(test::workers());
    kept.emplace(everyone.partition<1>(), everyone.partition(extents(everyone.size())));
  }
  const xt::xtensor<int, 1> x{7};
  BOOST_TEST((*kept)(x)(0) == 7);
}

BOOST_AUTO_TEST_SUITE_END()
