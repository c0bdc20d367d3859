// Small boxes between the workers of two nodes are joined into common messages. For all partitions, decompositions and
// numbers of nodes the result is the same, and messages and bytes are as planned. Nodes are pretended.
#include "../support/agreement_messages.hpp"
#include "../support/message_count.hpp"
#include "../support/random_partition.hpp"
#include "mpi_test.hpp"
#include "pretended.hpp"
#include "random_cases.hpp"

#include <boost/mpi/collectives.hpp>

#include <unistd.h>
#include <algorithm>
#include <cstdlib>
#include <functional>
#include <partita/kernel/block_from.hpp>
#include <partita/kernel/broadcast.hpp>
#include <partita/kernel/repartition.hpp>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace partita;
using grid_shape = dynamic_extents<2>;

struct cluster {
  std::size_t nodes;
  const char* shared;
  test::pretended apart{"PARTITA_NODES", std::to_string(nodes).c_str()}, memory{"PARTITA_SHARED", shared};
};

/// Distributes n indices over `parts` parts, some of which are empty.
cut random_cut(std::size_t n, std::size_t parts, std::mt19937& random) {
  std::vector<std::size_t> sizes(parts, 0);
  for (std::size_t i = 0; i < n; ++i) ++sizes[random() % parts];
  return cut::at(sizes);
}
template <class T>
T element_at(std::size_t i, std::size_t j) {
  return static_cast<T>(static_cast<int>(1 + (7 * i + 3 * j) % 97));
}

template <class T>
xt::xtensor<T, 2> block_of(const partition<grid_shape>& p, const decomposition<2>& cuts, bool transposed) {
  return block_from(
      p, cuts, [&](std::size_t i, std::size_t j) { return transposed ? element_at<T>(j, i) : element_at<T>(i, j); });
}
template <class A, class B>
bool same(const A& a, const B& b) {
  return a.shape()[0] == b.shape()[0] && a.shape()[1] == b.shape()[1] && std::equal(a.begin(), a.end(), b.begin());
}

/// Forward and adjoint, blocking, non-blocking and into a view, for blocks on the heap and in shared memory.
template <class T, class Kernel>
void expect_moved(const Kernel& kernel, const partition<grid_shape>& p_x, const partition<grid_shape>& p_y,
                  const xt::xtensor<T, 2>& x, const xt::xtensor<T, 2>& y) {
  const auto right = [](bool active, const auto& got, const xt::xtensor<T, 2>& expected) {
    return !active || same(got, expected);
  };
  for (int round = 0; round < 2; ++round) {
    auto z = kernel(x);
    BOOST_TEST(right(p_y.active(), z, y));
    const auto dx = kernel.adjoint(z);
    BOOST_TEST(right(p_x.active(), dx, x));
    BOOST_TEST(right(p_x.active(), kernel.start_adjoint(y).finish(), x));
    auto later = kernel.start(dx);
    z.fill(T{});
    const auto again = later.finish();
    BOOST_TEST(right(p_y.active(), again, y));
    xt::xtensor<T, 2> wide({z.shape()[0] + 1, z.shape()[1] + 2});
    auto middle =
        xt::view(wide, xt::range(std::size_t{1}, z.shape()[0] + 1), xt::range(std::size_t{1}, z.shape()[1] + 1));
    kernel.into(x, middle);
    BOOST_TEST(right(p_y.active(), middle, y));
  }
}

/// The messages that all workers post for a plan, computed from the plans of all workers, and those of this worker.
struct expected {
  node_messages::posted_counts own{};
  std::size_t messages = 0, bytes = 0, joined = 0;
};
template <class PlanOf>
expected expected_on(std::size_t nodes, std::size_t workers, std::size_t element,
                     const node_messages::posted_counts& own, PlanOf plan_of) {
  struct pair_of_nodes {
    std::set<std::size_t> from, to;
    std::size_t pairs = 0, elements = 0;
  };
  std::vector<pair_of_nodes> all(nodes * nodes);
  for (std::size_t worker = 0; worker < workers; ++worker) {
    const exchange_plan<2> plan = plan_of(worker);
    for (std::size_t k = 0; k < plan.sends.size(); ++k) {
      const std::size_t to = plan.sends[k].worker;
      pair_of_nodes& one = all[worker % nodes * nodes + to % nodes];
      one.from.insert(worker), one.to.insert(to);
      one.pairs += k == 0 || plan.sends[k - 1].worker != to ? 1 : 0;
      one.elements += plan.sends[k].where.volume();
    }
  }
  expected e;
  e.own = own;
  for (std::size_t k = 0; k < all.size(); ++k) {
    if (k / nodes == k % nodes || all[k].pairs == 0) continue;
    const node_traffic traffic{all[k].from.size(), all[k].to.size(), all[k].pairs, all[k].elements * element};
    e.joined += traffic.joint_message_count();
    e.messages += traffic.joint_message_count() == 0 ? traffic.worker_pairs : traffic.joint_message_count();
    e.bytes += traffic.bytes;
  }
  return e;
}

/// Checks the messages that the third call posts, as counted by the kernel and by MPI's profiling interface.
template <class Kernel, class Call>
void expect_posted(const world& everyone, const Kernel& kernel, const expected& e, const char* what, Call call) {
  call(), call();
  const std::size_t agreement = test::messages_of_an_agreement(everyone);
  const std::size_t messages = test::messages(), bytes = test::bytes_sent();
  call();
  const auto sum = [](std::size_t own) { return boost::mpi::all_reduce(test::workers(), own, std::plus<>()); };
  const std::size_t own_posted = test::messages() - messages, posted = sum(own_posted),
                    sent = sum(test::bytes_sent() - bytes);
  const std::size_t agreements = sum(agreement);
  BOOST_TEST(kernel.counts().messages == e.own.messages, what);
  BOOST_TEST(kernel.counts().bytes_by_message == e.own.elements * sizeof(double), what);
  BOOST_TEST(own_posted == e.own.messages + agreement, what);
  BOOST_TEST(sum(kernel.counts().messages) == e.messages, what);
  BOOST_TEST(sum(kernel.counts().bytes_by_message) == e.bytes, what);
  BOOST_TEST(posted == e.messages + agreements, what);
  BOOST_TEST(sent == e.bytes + 32 * agreements, what);
}

/// Checks that this worker sent what messages_between_nodes() reports, if there are only messages between nodes.
template <class Kernel>
void expect_told(const Kernel& kernel, const std::array<std::size_t, 2>& global, std::size_t me) {
  if (std::getenv("PARTITA_SHARED_FREE") != nullptr || !partita::detail::arena::environment_allows_sharing()) return;
  const auto told = kernel.messages_between_nodes(global, sizeof(double)).count_posted(me);
  BOOST_TEST(kernel.counts().messages == told.messages);
  BOOST_TEST(kernel.counts().bytes_by_message == told.elements * sizeof(double));
}

/// The number of nodes that have workers.
std::size_t nodes_of(const world& everyone, std::size_t pretended) { return std::min(everyone.size(), pretended); }

std::vector<std::size_t> members_of(std::size_t nodes, std::size_t workers, std::size_t node) {
  std::vector<std::size_t> members;
  for (std::size_t worker = node; worker < workers; worker += nodes) members.push_back(worker);
  return members;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(messages_that_nodes_share)

BOOST_AUTO_TEST_CASE(any_partitions_and_cuts_on_any_nodes_with_and_without_shared_memory) {
  std::mt19937 random(5);
  for (const auto& [nodes, shared] : {std::pair{2U, "1"}, {3U, "1"}, {4U, "1"}, {2U, "0"}}) {
    const cluster here{nodes, shared};
    const world everyone(test::workers());
    for (std::size_t trial = 0; trial < test::random_cases(16); ++trial) {
      const auto p_x = test::random_partition(everyone, random), p_y = test::random_partition(everyone, random);
      const std::size_t rows = random() % 30, columns = 1 + random() % 30;
      const auto of_x = decomposition<2>::balanced({rows, columns}, p_x.grid().shape());
      const auto cuts = decomposition<2>::make(
          [&](std::size_t d) { return random_cut(d == 0 ? columns : rows, p_y.grid().shape()[d], random); });
      BOOST_TEST_CONTEXT(nodes << " nodes, shared " << shared << ", trial " << trial) {
        const repartition r(p_x, p_y, permute<1, 0>, result_cuts(cuts));
        expect_moved<double>(r, p_x, p_y, block_of<double>(p_x, of_x, false), block_of<double>(p_y, cuts, true));
        expect_told(r, {rows, columns}, everyone.id());
        // the decomposition follows from the shapes of the blocks
        const repartition back(p_y, p_x);
        const auto again = decomposition<2>::balanced({columns, rows}, p_x.grid().shape());
        expect_moved<char>(back, p_y, p_x, block_of<char>(p_y, cuts, true), block_of<char>(p_x, again, true));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(what_is_posted_is_what_was_planned_for_the_nodes) {
  if (std::getenv("PARTITA_SHARED_FREE") != nullptr) return;  // workers of one node send messages, too
  for (const std::size_t nodes : {1U, 2U, 3U}) {
    const cluster here{nodes, "1"};
    const world everyone(test::workers());
    const std::size_t P = everyone.size(), N = nodes_of(everyone, nodes);
    const auto rows = everyone.partition(grid_shape(P, 1)), columns = everyone.partition(grid_shape(1, P)),
               root = everyone.partition(grid_shape(1, 1));
    for (const std::size_t n : {std::size_t{5}, 10 * P, std::size_t{300}}) {
      const auto expect = [&](const auto& p_x, const auto& p_y, const char* what) {
        const auto of_x = decomposition<2>::balanced({n, n + 1}, p_x.grid().shape());
        const auto of_y = decomposition<2>::balanced({n, n + 1}, p_y.grid().shape());
        const auto plan_of = [&](std::size_t worker) {
          return plan_repartition(p_x.grid(), of_x, p_y.grid(), of_y, worker);
        };
        const auto back_of = [&](std::size_t worker) { return reversed(plan_of(worker)); };
        const repartition r(p_x, p_y);
        auto x = block_of<double>(p_x, of_x, false), y = block_of<double>(p_y, of_y, false);
        r(x);  // the first call finds out the nodes
        const std::size_t me = everyone.id();
        const auto told = r.messages_between_nodes(of_x.extents(), sizeof(double)).count_posted(me);
        const auto told_back =
            plan_node_messages(members_of(N, P, me % N), true, sizeof(double), back_of, [&](std::size_t worker) {
              return worker % N;
            }).count_posted(me);
        const expected there = expected_on(N, P, sizeof(double), told, plan_of),
                       back = expected_on(N, P, sizeof(double), told_back, back_of);
        expect_posted(everyone, r, there, what, [&] {
          const auto z = r(x);
          if (p_y.active()) BOOST_TEST(same(z, y));
        });
        expect_posted(everyone, r, back, what, [&] {
          const auto z = r.adjoint(y);
          if (p_x.active()) BOOST_TEST(same(z, x));
        });
        if (n == 5 && P / N > 1 && N > 1) BOOST_TEST(there.joined > 0U, what);
      };
      expect(rows, columns, "rows to columns");
      expect(root, rows, "scatter");
      expect(columns, root, "gather");
    }
  }
}

BOOST_AUTO_TEST_CASE(workers_run_ahead_while_others_wait_for_what_they_pass_on) {
  for (const checks level : {checks::agree, checks::local})
    for (const std::size_t nodes : {2U, 3U}) {
      const cluster here{nodes, "1"};
      const world everyone(test::workers(), level);
      const std::size_t P = everyone.size(), me = everyone.id(), n = 4 * P;
      const auto rows = everyone.partition(grid_shape(P, 1)), columns = everyone.partition(grid_shape(1, P));
      const auto of_x = decomposition<2>::balanced({n, n}, rows.grid().shape());
      const auto of_y = decomposition<2>::balanced({n, n}, columns.grid().shape());
      const repartition r(rows, columns), s(rows, columns);
      const broadcast spread(rows, rows);
      auto x = block_of<double>(rows, of_x, false);
      const auto given = x, expected = block_of<double>(columns, of_y, false);
      const xt::xtensor<double, 2> twice = 2 * expected;
      for (std::size_t turn = 0; turn < 2 + test::random_cases(24); ++turn) {
        if (turn % P == me) ::usleep(1000);
        if ((turn + me) % 3 == 0) {  // some workers make other calls before they finish, some wait
          auto later = r.start(x);
          const xt::xtensor<double, 2> doubled = 2 * x;
          const auto z = s(doubled);
          const auto copy = spread(x);
          if ((turn + 1) % P == me) ::usleep(1000);
          BOOST_TEST(same(later.finish(), expected));
          BOOST_TEST(same(z, twice));
          BOOST_TEST(same(copy, given));
        } else {
          BOOST_TEST(same(r(x), expected));
          x.fill(-1);
          x = given;
          const xt::xtensor<double, 2> doubled = 2 * x;
          BOOST_TEST(same(s(doubled), twice));
          BOOST_TEST(same(spread(x), given));
        }
      }
    }
}

BOOST_AUTO_TEST_SUITE_END()
