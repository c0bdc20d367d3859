// The cost of messages between nodes: measured or set by the environment. It has no influence on results.
#include "mpi_test.hpp"
#include "pretended.hpp"
#include "refused.hpp"

#include <partita/comm/partition.hpp>
#include <partita/kernel/all_sum_reduce.hpp>
#include <partita/kernel/broadcast.hpp>
#include <partita/kernel/sum_reduce.hpp>
#include <vector>

using namespace partita;
using test::refused;

namespace {

using vector = xt::xtensor<double, 1>;

/// Pretends nodes and sets the parameters of their link, for worlds that are made during its lifetime.
struct nodes_with_link {
  nodes_with_link(const char* n, const char* l) : nodes("PARTITA_NODES", n), link("PARTITA_LINK", l) {}
  test::pretended nodes, link;
};

/// Sums whose last bits depend on the order of summation, and moved blocks.
std::vector<vector> results(const world& everyone) {
  const auto all = everyone.partition(extents(everyone.size()));
  const auto first = everyone.partition<1>();
  const broadcast spread(first, all);
  const sum_reduce sum(all, first);
  const all_sum_reduce sums(all, dimensions<0>);
  std::vector<vector> got;
  for (const std::size_t n : {5U, 700U, 1900U, 9000U, 40000U}) {
    vector x = xt::ones<double>({n}), none = zero_volume<double, 1>();
    for (std::size_t k = 0; k < n; ++k) x(k) = 1.0 / static_cast<double>(3 + k + 7 * everyone.id());
    for (int again = 0; again < 2; ++again)  // sends before the agreement begin with the second call
      got.push_back(spread(everyone.id() == 0 ? x : none)), got.push_back(sum(x)), got.push_back(sums(x));
  }
  return got;
}

constexpr const char* links[] = {"1e-5,1e-6,1e-10", "1e-3,1e-6,1e-8,32768", "1e-6,1e-6,1e-7,8192", "1e-7,1e-7,1e-12,1"};

}  // namespace

BOOST_AUTO_TEST_SUITE(link_of_nodes)

BOOST_AUTO_TEST_CASE(what_is_told) {
  using detail::node_link_settings;
  const node_link_settings all("2e-5,3e-6,1e-9,16384");
  BOOST_TEST((all.given && all.latency == 2e-5 && all.message == 3e-6 && all.byte == 1e-9 && all.eager_bytes == 16384));
  BOOST_TEST((node_link_settings("1,2,3").given && node_link_settings("1,2,3").eager_bytes == 2048));
  for (const char* const wrong : {"", "1", "1,2", "1,2,", "1,0,3", "1,-2,3", "nan,1,1", "inf,1,1", "x", "1;2;3"})
    BOOST_TEST(!node_link_settings(wrong).given, wrong);
  BOOST_TEST(!node_link_settings(nullptr).given);
}

BOOST_AUTO_TEST_CASE(a_trial_finds_something_of_each, *test::at_least(2)) {
  const MPI_Comm everyone = test::workers();
  int id = 0;
  MPI_Comm_rank(everyone, &id);
  if (id > 1) return;
  detail::link_trial trial(everyone, 1 - id, true);
  if (id == 1) return trial.answer_commands();
  const detail::measured_link link = trial.measure_link();
  BOOST_TEST((link.cost.latency > 0 && link.cost.latency < 1 && link.cost.seconds_per_message > 0 &&
              link.cost.seconds_per_byte > 0));
  BOOST_TEST(link.cost.seconds_per_byte < 1e-6);
  BOOST_TEST((link.eager_bytes >= 2048 && link.eager_bytes <= 32768));
}

BOOST_AUTO_TEST_CASE(worlds_of_other_nodes_know_what_worker_0_was_told, *test::at_least(2)) {
  for (const char* const said : links) {
    const nodes_with_link now("2", said);
    int id = 0;
    MPI_Comm_rank(test::workers(), &id);
    const test::pretended others("PARTITA_LINK", id == 0 ? said : "1,1,1");
    const world everyone(test::workers());
    const detail::measured_link& link = detail::own_node::of(everyone.state()->communicator()).link();
    const detail::node_link_settings told(said);
    BOOST_TEST((link.cost.latency == told.latency && link.cost.seconds_per_byte == told.byte &&
                link.eager_bytes == told.eager_bytes));
  }
}

BOOST_AUTO_TEST_CASE(results_do_not_depend_on_it) {
  for (const char* const nodes : {"2", "3"}) {
    std::vector<vector> expected;
    for (const char* const said : links) {
      const nodes_with_link now(nodes, said);
      const world everyone(test::workers());
      const auto got = results(everyone);
      if (expected.empty()) expected = got;
      BOOST_TEST((got == expected), said);
    }
  }
}

BOOST_AUTO_TEST_CASE(what_was_sent_for_nothing_is_nobodys, *test::at_least(3)) {
  const nodes_with_link now("3", "1e-5,1e-6,1e-10,32768");  // more than MPI's eager limit between these "nodes"
  const world everyone(test::workers());
  const auto all = everyone.partition(extents(everyone.size()));
  const broadcast spread(everyone.partition<1>(), all);
  const all_sum_reduce sums(all, dimensions<0>);
  for (const std::size_t n : {600U, 1500U, 15000U}) {
    const vector x = xt::ones<double>({n});
    const auto calls = [&](bool wrong) {
      if (wrong) return sums(x);
      return spread(everyone.id() == 0 ? x : zero_volume<double, 1>());
    };
    for (int k = 0; k < 2; ++k) {
      BOOST_TEST(calls(false).size() == n);
      BOOST_TEST(calls(true)(n - 1) == static_cast<double>(everyone.size()));
    }
    BOOST_TEST(!refused<disagreement_error>([&] { calls(everyone.id() == 2); }).empty());
    BOOST_TEST(!refused<disagreement_error>([&] { calls(everyone.id() != 2); }).empty());
    BOOST_TEST((calls(false) == x));
    BOOST_TEST(calls(true)(0) == static_cast<double>(everyone.size()));
  }
}

BOOST_AUTO_TEST_SUITE_END()
