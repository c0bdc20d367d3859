// Every kernel is listed here and satisfies linear_operator. A kernel without an adjoint does not.
#include "block_messages.hpp"
#include "mpi_test.hpp"
#include "pretended.hpp"

#include <partita/kernel/all_reduce.hpp>
#include <partita/kernel/all_sum_reduce.hpp>
#include <partita/kernel/broadcast.hpp>
#include <partita/kernel/halo_exchange.hpp>
#include <partita/kernel/index_exchange.hpp>
#include <partita/kernel/linear_operator.hpp>
#include <partita/kernel/reduce.hpp>
#include <partita/kernel/sum_reduce.hpp>

namespace {

using namespace partita;

template <class K>
concept kernel = linear_operator<K, xt::xtensor<float, 2>, xt::xtensor<float, 2>>;
using small_ones = extents<1, dynamic>;
using large_ones = dynamic_extents<2>;

static_assert(kernel<broadcast<small_ones, large_ones>>);
static_assert(kernel<broadcast<small_ones, large_ones, shared_view_t>>);
static_assert(kernel<sum_reduce<large_ones, small_ones>>);
static_assert(kernel<sum_reduce<large_ones, small_ones, reproducible_t>>);
// [list]
static_assert(kernel<all_sum_reduce<large_ones>>);
static_assert(kernel<reduce<large_ones, small_ones, sum_t>>);
static_assert(kernel<reduce<large_ones, small_ones, mean_t>>);
static_assert(kernel<all_reduce<large_ones, mean_t>>);
static_assert(kernel<halo_exchange<large_ones>>);
static_assert(kernel<index_exchange>);

static_assert(!kernel<reduce<large_ones, small_ones, maximum_t>>);
// [/list]
static_assert(!kernel<reduce<large_ones, small_ones, product_t>>);
static_assert(!kernel<all_reduce<large_ones, minimum_t>>);
static_assert(!kernel<all_reduce<large_ones, any_t>>);
static_assert(!kernel<all_reduce<large_ones, all_t>>);

}  // namespace

BOOST_AUTO_TEST_SUITE(the_face_of_kernels)

BOOST_AUTO_TEST_CASE(counts_what_the_last_call_moved, *test::at_least(2)) {
  const test::pretended one("PARTITA_NODES", "1");  // with several nodes only some workers of a node send
  const world everyone(test::workers());
  const auto row = everyone.partition(extents(everyone.size()));
  const all_reduce a(row, dimensions<0>, maximum);
  BOOST_TEST(a.counts().plans_made == 0U);
  const xt::xtensor<float, 1> x = xt::ones<float>({1000});
  for (int times = 0; times < 3; ++times) {
    const auto y = a(x);
    const kernel_counts counts = a.counts();
    BOOST_TEST(counts.plans_made == 1U);
    BOOST_TEST((counts.messages != 0 || counts.bytes_shared == 4000U));
    std::uint64_t sent[2] = {counts.messages, counts.bytes_by_message};
    PMPI_Allreduce(MPI_IN_PLACE, sent, 2, MPI_UINT64_T, MPI_SUM, everyone.communicator());
    if (sent[0] == 0) continue;
    const block_routes routes{everyone.size(), 4000};
    BOOST_TEST(sent[0] == test::messages_of_sum_to_all(routes));
    const bool whole = routes.sum_to_all_route() == block_route::direct;
    BOOST_TEST(sent[1] == 4000 * (everyone.size() - 1) * (whole ? everyone.size() : 2));
  }
}

BOOST_AUTO_TEST_SUITE_END()
