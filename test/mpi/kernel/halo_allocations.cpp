// A halo exchange in a steady loop allocates nothing, and on one node it sends no messages.
#include <partita/kernel/halo_exchange.hpp>
#include <partita/kernel/halo_exchanges.hpp>

#include <cstdlib>

#include "../support/allocation_count.hpp"
#include "../support/message_count.hpp"
#include "mpi_test.hpp"

using namespace partita;

namespace {

/// The allocations and messages of calls after the first few.
template <class Call>
void expect_steady(const world& everyone, const char* what, Call call) {
  std::size_t allocations = 0, messages = 0;
  for (int round = 0; round < 10; ++round) {
    if (round == 4) allocations = test::allocations(), messages = test::messages();
    call();
  }
  allocations = test::allocations() - allocations;
  messages = test::messages() - messages;  // BOOST_TEST itself allocates
  const bool on_one_node = detail::own_node::of(everyone.communicator()).size() == everyone.size() &&
                           detail::arena::environment_allows_sharing();
  if (!on_one_node && everyone.size() > 1) return;
  BOOST_TEST(allocations == 0U, what << " allocates " << allocations << " times");
  BOOST_TEST(messages == 0U, what << " sends " << messages << " messages");
}

}  // namespace

BOOST_AUTO_TEST_CASE(ghosts_are_refreshed_without_the_heap) {
  if (std::getenv("PARTITA_SHARED_FREE") != nullptr) return;  // the environment has decided
  const world everyone(test::workers());
  const auto p = everyone.partition(dynamic_extents<2>(everyone.size(), 1));
  const auto q = everyone.partition(dynamic_extents<3>(1, everyone.size(), 1));
  const halo_exchange h(p, {.before = {1, 1}, .after = {1, 1}}, boundary::periodic);
  const halo_exchange wide(q, {.before = {2, 1, 0}, .after = {0, 2, 2}}, boundary::zero);
  const xt::xtensor<double, 2> x = xt::ones<double>({17, 40});
  const xt::xtensor<double, 3> z = xt::ones<double>({5, 4, 6});
  auto u = h(x), v = h(x);
  auto w = wide(z);
  expect_steady(everyone, "refresh", [&] { h.refresh(u); });
  expect_steady(everyone, "refresh of three dimensions", [&] { wide.refresh(w); });
  expect_steady(everyone, "refresh that is started", [&] { h.start_refresh(u).finish(); });
  expect_steady(everyone, "a call", [&] { h(x); });
  expect_steady(everyone, "an adjoint", [&] { h.adjoint(u); });
  const halo_exchanges all(h, h, wide);
  all(x, x, z);
  expect_steady(everyone, "refresh of several fields", [&] { all.refresh(u, v, w); });
}
