// What goes from node to node: whatever the kernel, each byte once to each node that needs it. Nodes are pretended, so
// that messages are exactly what leaves a node.
#include "mpi_test.hpp"
#include "pretended.hpp"

#include <boost/mpi/collectives.hpp>
#include <cstdlib>
#include <functional>
#include <partita/kernel/all_gather.hpp>
#include <partita/kernel/all_sum_reduce.hpp>
#include <partita/kernel/broadcast.hpp>
#include <partita/kernel/reduce_scatter.hpp>
#include <partita/kernel/repartition.hpp>
#include <partita/kernel/sum_reduce.hpp>
#include <string>

namespace {

using namespace partita;
using vector = xt::xtensor<double, 1>;

struct cluster {
  std::size_t nodes;
  const char* shared;
  test::pretended apart{"PARTITA_NODES", std::to_string(nodes).c_str()}, memory{"PARTITA_SHARED", shared};
};

/// Elements that all workers together have sent in the last call.
template <class Kernel>
std::size_t sent(const Kernel& kernel) {
  return boost::mpi::all_reduce(test::workers(), kernel.counts().bytes_by_message, std::plus<>()) / sizeof(double);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(between_nodes)

BOOST_AUTO_TEST_CASE(every_kernel_sends_each_byte_once_to_each_node) {
  if (std::getenv("PARTITA_SHARED_FREE") != nullptr) return;  // there is no room: workers of a node send messages, too
  for (const std::size_t nodes : {1U, 2U, 3U}) {
    const cluster here{nodes, "1"};
    const world everyone(test::workers());
    const std::size_t P = everyone.size(), N = P < nodes ? P : nodes, n = 12 * P * P;
    const auto p = everyone.partition(extents(P));
    const auto root = everyone.partition<1>();
    const vector whole = xt::ones<double>({n}), part = xt::ones<double>({n / P});
    const vector small = xt::ones<double>({24});
    BOOST_TEST_CONTEXT(N << " nodes") {
      const auto once = [&](const auto& kernel, const auto& x, std::size_t expected, const char* name) {
        for (int call = 0; call < 2; ++call) {
          kernel(x);
          BOOST_TEST(sent(kernel) == expected, name << ": " << sent(kernel) << " elements instead of " << expected);
        }
      };
      once(all_gather(p, dimensions<0>), part, (N - 1) * n, "all_gather");
      once(reduce_scatter(p, dimensions<0>), whole, (N - 1) * n, "reduce_scatter");
      once(broadcast(root, p), root.active() ? whole : vector(zero_volume<double, 1>()), (N - 1) * n, "broadcast");
      once(sum_reduce(p, root), whole, (N - 1) * n, "sum_reduce");
      once(all_sum_reduce(p, dimensions<0>), whole, 2 * (N - 1) * n, "all_sum_reduce");
      once(all_gather(p, dimensions<0>), vector(xt::ones<double>({1})), (N - 1) * P, "all_gather of one element");
      once(reduce_scatter(p, dimensions<0>), small, (N - 1) * 24, "reduce_scatter of few elements");
    }
  }
}

BOOST_AUTO_TEST_CASE(gathered_and_scattered_blocks_are_right_on_any_nodes_with_and_without_shared_memory) {
  for (const std::size_t nodes : {2U, 3U})
    for (const char* const shared : {"1", "0"}) {
      const cluster here{nodes, shared};
      const world everyone(test::workers());
      const std::size_t P = everyone.size(), me = everyone.id();
      const auto p = everyone.partition(extents<dynamic, 1>(P));
      for (std::size_t n : {std::size_t{2}, std::size_t{37}, std::size_t{20000}}) {
        const auto value = [](std::size_t i, std::size_t k) { return static_cast<double>(i * 3 + k); };
        const interval mine = balanced_part(n, P, me);
        auto x = uninitialised<double, 2>({mine.size(), 3});
        for (std::size_t i = 0; i < mine.size(); ++i)
          for (std::size_t k = 0; k < 3; ++k) x(i, k) = value(mine.start + i, k);
        const all_gather g(p, dimensions<0>);
        auto wide = uninitialised<double, 2>({n, 7});
        wide.fill(-1);
        const auto y = g(x);
        auto later = g.start(x);
        g.into(x, xt::view(wide, xt::all(), xt::range(2, 5)));  // not in shared memory, and with gaps
        const auto again = later.finish();
        auto z = uninitialised<double, 2>({n, 3});
        for (std::size_t i = 0; i < n; ++i)
          for (std::size_t k = 0; k < 3; ++k) z(i, k) = value(i, k) * static_cast<double>(me + 1);
        const auto sums = g.adjoint(z);
        std::size_t wrong = sums.shape()[0] == mine.size() ? 0 : 1;
        for (std::size_t i = 0; i < n; ++i)
          for (std::size_t k = 0; k < 3; ++k) {
            wrong += y(i, k) == value(i, k) && again(i, k) == value(i, k) && wide(i, k + 2) == value(i, k) ? 0 : 1;
            if (i >= mine.start && i - mine.start < mine.size())
              wrong += sums(i - mine.start, k) == value(i, k) * static_cast<double>(P * (P + 1) / 2) ? 0 : 1;
          }
        for (std::size_t i = 0; i < n; ++i) wrong += wide(i, 1) == -1 && wide(i, 5) == -1 ? 0 : 1;
        BOOST_TEST(wrong == 0U, wrong << " wrong of " << n << " rows on " << nodes << " nodes, shared " << shared);
      }
    }
}

BOOST_AUTO_TEST_SUITE_END()
