// Identically constructed kernels are different kernels: if one worker calls the first and the others call the second,
// all workers get an error. It used to hang if both kernels already had plans.
#include "mpi_test.hpp"

#include <partita/kernel/all_gather.hpp>
#include <partita/kernel/all_sum_reduce.hpp>
#include <partita/kernel/all_to_all.hpp>
#include <partita/kernel/broadcast.hpp>
#include <partita/kernel/repartition.hpp>
#include <string>

#include "refused.hpp"

namespace {

using namespace partita;

/// Calls `one` on the last worker and `other` on the rest, after all workers have called both; then all call both
/// again.
template <class One, class Other, class X>
void expect_told_apart(const world& everyone, const One& one, const Other& other, const X& x) {
  const auto right = one(x);
  BOOST_TEST((other(x) == right));
  const std::string said = test::refused<disagreement_error>([&] {
    if (everyone.id() + 1 == everyone.size()) one(x);
    else other(x);
  });
  BOOST_TEST(said.find("workers make different calls") != std::string::npos, said);
  BOOST_TEST((one(x) == right));
  BOOST_TEST((other(x) == right));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(two_kernels_made_alike)

BOOST_AUTO_TEST_CASE(are_told_apart, *test::at_least(2)) {
  const world everyone(test::workers());
  const auto n = everyone.size();
  const auto line = everyone.partition(extents(n));
  const auto rows = everyone.partition(extents(n, std::size_t{1})),
             columns = everyone.partition(extents(std::size_t{1}, n));
  const xt::xtensor<double, 1> x = xt::ones<double>({7}) * static_cast<double>(everyone.id());
  const xt::xtensor<double, 2> y = xt::ones<double>({std::size_t{2}, n}) * static_cast<double>(everyone.id());
  expect_told_apart(everyone, repartition(rows, columns), repartition(rows, columns), y);
  expect_told_apart(everyone, repartition(rows, columns), all_to_all(rows, columns), y);
  expect_told_apart(everyone, all_gather(rows, dimensions<0>), all_gather(rows, dimensions<0>), y);
  expect_told_apart(everyone, all_sum_reduce(line, dimensions<0>), all_sum_reduce(line, dimensions<0>), x);
  const auto one = everyone.partition<1>();
  expect_told_apart(everyone, broadcast(one, line), broadcast(one, line), x);
}

BOOST_AUTO_TEST_SUITE_END()
