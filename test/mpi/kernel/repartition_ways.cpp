// Repartition over every channel between workers, non-blocking, into blocks of the caller, and in a steady loop.
#include "../support/allocation_count.hpp"
#include "../support/message_count.hpp"
#include "../support/page_faults.hpp"
#include "mpi_test.hpp"

#include <partita/kernel/repartition.hpp>

#include <cstdlib>

namespace {

using namespace partita;

/// Moves an N x N tensor from rows to columns; its elements encode their indices.
struct rows_to_columns {
  world everyone{test::workers()};
  std::size_t n = everyone.size();
  partition<extents<dynamic, 1>> p_x = everyone.partition(extents<dynamic, 1>(n));
  partition<extents<1, dynamic>> p_y = everyone.partition(extents<1, dynamic>(n));

  template <class T>
  xt::xtensor<T, 2> rows(std::size_t N, T shift) const {
    const interval own = balanced_part(N, n, everyone.id());
    xt::xtensor<T, 2> x({own.size(), N});
    for (std::size_t i = 0; i < own.size(); ++i)
      for (std::size_t j = 0; j < N; ++j) x(i, j) = static_cast<T>((own.start + i) * N + j) + shift;
    return x;
  }
  template <class Y, class T>
  bool columns(const Y& y, std::size_t N, T shift) const {
    const interval own = balanced_part(N, n, everyone.id());
    bool right = y.shape()[0] == N && y.shape()[1] == own.size();
    for (std::size_t i = 0; right && i < N; ++i)
      for (std::size_t j = 0; j < own.size(); ++j)
        right = right && y(i, j) == static_cast<T>(i * N + own.start + j) + shift;
    return right;
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(the_ways_of_a_repartition)

BOOST_AUTO_TEST_CASE(two_that_were_begun_end_in_any_order) {
  const rows_to_columns c;
  const repartition r(c.p_x, c.p_y), other(c.p_x, c.p_y);
  for (std::size_t N : {7U, 64U, 65U, 300U}) {
    const auto x = c.rows<float>(N, 0), x2 = c.rows<float>(N, 5);
    auto first = r.start(x);
    auto second = r.start(x + 1.F);  // a lazy expression is evaluated, and the value kept until finish()
    auto third = other.start(x2);
    const auto y3 = third.finish();
    const auto y2 = second.finish();
    const auto y1 = first.finish();
    BOOST_TEST(c.columns(y1, N, 0.F));
    BOOST_TEST(c.columns(y2, N, 1.F));
    BOOST_TEST(c.columns(y3, N, 5.F));
  }
}

BOOST_AUTO_TEST_CASE(one_that_is_let_go_still_arrives_and_disturbs_nothing) {
  const rows_to_columns c;
  const repartition r(c.p_x, c.p_y);
  const auto x = c.rows<double>(40, 0), x2 = c.rows<double>(40, 3);
  { const auto forgotten = r.start(x); }
  BOOST_TEST(c.columns(r(x2), 40, 3.0));
}

BOOST_AUTO_TEST_CASE(one_outlives_its_kernel_its_partitions_and_its_world) {
  const rows_to_columns c;
  for (int k = 0; k < 3; ++k) {
    auto later = [&] {
      const world apart(test::workers());
      const repartition r(apart.partition(extents(c.n, 1)), apart.partition(extents(1, c.n)));
      const xt::xtensor<float, 2> x = c.rows<float>(65, static_cast<float>(k));
      return r.start(x + 0.F);  // the value is kept, although x is destroyed here
    }();
    BOOST_TEST(c.columns(later.finish(), 65, static_cast<float>(k)));
  }
}

BOOST_AUTO_TEST_CASE(element_types_share_a_structure_but_not_an_exchange) {
  const rows_to_columns c;
  const repartition r(c.p_x, c.p_y);
  BOOST_TEST(c.columns(r(c.rows<float>(33, 1)), 33, 1.F));
  BOOST_TEST(c.columns(r(c.rows<double>(33, 2)), 33, 2.0));
  BOOST_TEST(c.columns(r(c.rows<int>(33, 3)), 33, 3));
  BOOST_TEST(r.plans_made() == 1U);
}

BOOST_AUTO_TEST_CASE(a_view_in_the_middle_of_something_is_filled_and_its_surroundings_are_not) {
  const rows_to_columns c;
  const repartition r(c.p_x, c.p_y);
  const std::size_t N = 50, own = balanced_part(N, c.n, c.everyone.id()).size();
  xt::xtensor<float, 2> big = xt::ones<float>({N + 2, own + 3}) * -1.F;
  auto middle = xt::view(big, xt::range(std::size_t{1}, N + 1), xt::range(std::size_t{2}, own + 2));
  r.into(c.rows<float>(N, 0), middle);
  BOOST_TEST(c.columns(middle, N, 0.F));
  for (std::size_t j = 0; j < own + 3; ++j) BOOST_TEST((big(0, j) == -1.F && big(N + 1, j) == -1.F));
  for (std::size_t i = 0; i < N + 2; ++i)
    BOOST_TEST((big(i, 0) == -1.F && big(i, 1) == -1.F && big(i, own + 2) == -1.F));
}

BOOST_AUTO_TEST_CASE(batches_that_alternate_neither_plan_nor_fault) {
  const rows_to_columns c;
  const repartition r(c.p_x, c.p_y);
  const auto x = c.rows<float>(300, 0), x2 = c.rows<float>(351, 0);
  float sum = 0;
  const auto once = [&] {
    sum += xt::sum(r(x))();
    sum += xt::sum(r(x2))();
  };
  for (int k = 0; k < 30; ++k) once();
  BOOST_TEST(test::least_page_faults(50, once) == 0);
  BOOST_TEST(r.plans_made() == 2U);
  BOOST_TEST(sum > 0);
}

BOOST_AUTO_TEST_CASE(on_one_node_a_repeated_call_neither_allocates_nor_speaks_to_mpi) {
  if (std::getenv("PARTITA_SHARED_FREE") != nullptr) return;  // the environment has decided
  const rows_to_columns c;
  const repartition r(c.p_x, c.p_y);
  const auto x = c.rows<float>(256, 0);
  float sum = 0;
  for (int k = 0; k < 20; ++k) sum += r.adjoint(r(x))(0, 0);
  const std::size_t allocated = test::allocations(), said = test::messages();
  for (int k = 0; k < 50; ++k) sum += r.adjoint(r(x))(0, 0);
  const std::size_t allocated_since = test::allocations() - allocated, said_since = test::messages() - said;
  BOOST_TEST(allocated_since == 0U);
  const char* const nodes = std::getenv("PARTITA_NODES");
  if (partita::detail::arena::environment_allows_sharing() && (nodes == nullptr || std::atoi(nodes) < 2))
    BOOST_TEST(said_since == 0U);
  BOOST_TEST(sum >= 0);
}

BOOST_AUTO_TEST_CASE(the_adjoint_brings_every_element_back) {
  const rows_to_columns c;
  const repartition r(c.p_x, c.p_y);
  for (std::size_t N : {1U, 5U, 64U}) {
    const auto x = c.rows<float>(N, 0);
    BOOST_TEST((r.adjoint(r(x)) == x));
  }
}

BOOST_AUTO_TEST_SUITE_END()
