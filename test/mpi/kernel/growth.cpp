// The cost of kernels on more workers than cores: messages and memory of a worker grow at most linearly with the number
// of workers. Costs are counted, not timed, on two pretended nodes.
#include "mpi_test.hpp"
#include "pretended.hpp"

#include <algorithm>
#include <array>
#include <partita/kernel/all_gather.hpp>
#include <partita/kernel/all_sum_reduce.hpp>
#include <partita/kernel/broadcast.hpp>
#include <partita/kernel/reduce_scatter.hpp>
#include <partita/kernel/repartition.hpp>
#include <vector>

#include "../support/message_count.hpp"

namespace {

using namespace partita;
using matrix = xt::xtensor<double, 2>;

constexpr std::array<const char*, 5> names{"broadcast", "all_sum_reduce", "all_gather", "reduce_scatter",
                                           "repartition"};

/// The costs, each of the worker on which it is highest.
struct cost {
  std::array<std::size_t, names.size()> first{}, steady{};  // messages of the first call and of a later one
  // bytes of its part of shared memory while all kernels exist
  std::size_t memory = 0;
  std::size_t another = 0;  // bytes for an additional repartition
};

cost cost_of(const world& everyone) {
  const std::size_t P = everyone.size();
  const auto rows = everyone.partition(extents<dynamic, 1>(P));
  const auto columns = everyone.partition(extents<1, dynamic>(P));
  const auto root = everyone.partition<1, 1>();
  const matrix x = xt::ones<double>({8, 512}), none = zero_volume<double, 2>();
  cost c;
  std::size_t at = 0;
  const auto count = [&](const auto& kernel, const matrix& block) {
    const std::size_t before = test::messages();
    kernel(block);
    c.first[at] = test::messages() - before;
    for (int k = 0; k < 2; ++k) kernel(block);
    const std::size_t settled = test::messages();
    kernel(block);
    c.steady[at++] = test::messages() - settled;
  };
  const broadcast b(root, rows);
  const all_sum_reduce a(rows, dimensions<0>);
  const all_gather g(columns, dimensions<1>);
  const reduce_scatter s(columns, dimensions<1>);
  const repartition r(rows, columns);
  count(b, root.active() ? x : none);
  count(a, x);
  count(g, matrix(xt::ones<double>({std::size_t{8}, 512 / P})));
  count(s, x);
  count(r, x);
  c.memory = b.memory()->resident_bytes();
  constexpr std::size_t more = 4;
  std::vector<repartition<extents<dynamic, 1>, extents<1, dynamic>>> others;
  for (std::size_t k = 0; k < more; ++k) others.emplace_back(rows, columns)(x);
  c.another = (b.memory()->resident_bytes() - c.memory) / more;
  static_assert(sizeof(cost) == (2 * names.size() + 2) * sizeof(std::size_t));
  PMPI_Allreduce(MPI_IN_PLACE, &c, 2 * names.size() + 2, MPI_UNSIGNED_LONG, MPI_MAX, everyone.communicator());
  return c;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(growth)

BOOST_AUTO_TEST_CASE(messages_and_memory_of_a_worker_grow_no_faster_than_the_workers, *test::at_least(64)) {
  const test::pretended apart("PARTITA_NODES", "2");
  const world everyone(test::workers());
  std::vector<cost> costs;
  for (const std::size_t P : {16U, 32U, 64U}) {
    const world part = everyone.part(workers(0, P));
    if (part.active()) costs.push_back(cost_of(part));
  }
  for (std::size_t k = 1; k < costs.size(); ++k) {
    for (std::size_t i = 0; i < names.size(); ++i) {
      BOOST_TEST(costs[k].first[i] <= 2 * costs[k - 1].first[i],
                 names[i] << ", first: " << costs[k - 1].first[i] << " messages, then " << costs[k].first[i]);
      BOOST_TEST(costs[k].steady[i] <= 2 * costs[k - 1].steady[i],
                 names[i] << ": " << costs[k - 1].steady[i] << " messages, then " << costs[k].steady[i]);
    }
    BOOST_TEST(costs[k].another <= 2 * costs[k - 1].another,
               "a kernel: " << costs[k - 1].another << " bytes, then " << costs[k].another);
    BOOST_TEST(costs[k].memory <= 2 * costs[k - 1].memory, costs[k - 1].memory << " bytes, then " << costs[k].memory);
  }
  if (everyone.id() == 0)
    for (const cost& c : costs)
      for (std::size_t i = 0; i < names.size(); ++i)
        BOOST_TEST_MESSAGE(names[i] << " " << c.first[i] << " " << c.steady[i] << ", all " << c.memory
                                    << " bytes, one more " << c.another);
}

BOOST_AUTO_TEST_SUITE_END()
