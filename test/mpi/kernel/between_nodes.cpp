// Traffic between nodes: every kernel sends each byte at most once to each node that needs it. Nodes are pretended, so
// messages are exactly the data that leaves a node.
#include "mpi_test.hpp"
#include "pretended.hpp"

#include <boost/mpi/collectives.hpp>
#include <cmath>
#include <complex>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <limits>
#include <partita/kernel/all_gather.hpp>
#include <partita/kernel/all_sum_reduce.hpp>
#include <partita/kernel/broadcast.hpp>
#include <partita/kernel/reduce_scatter.hpp>
#include <partita/kernel/repartition.hpp>
#include <partita/kernel/sum_reduce.hpp>
#include <string>
#include <vector>

namespace {

using namespace partita;
using vector = xt::xtensor<double, 1>;

struct cluster {
  std::size_t nodes;
  const char* shared;
  test::pretended apart{"PARTITA_NODES", std::to_string(nodes).c_str()}, memory{"PARTITA_SHARED", shared};
};

/// The number of elements that all workers together sent in the last call.
template <class Kernel>
std::size_t sent(const Kernel& kernel) {
  return boost::mpi::all_reduce(test::workers(), kernel.counts().bytes_by_message, std::plus<>()) / sizeof(double);
}

/// Numbers of similar magnitude, of all magnitudes, that cancel each other, the largest, the smallest, and zeros.
double of_any_kind(std::size_t i, std::size_t worker) {
  using limits = std::numeric_limits<double>;
  const std::size_t mixed = (i * 2654435761U + worker * 40503U) % 100003;
  const double x = std::sin(static_cast<double>(mixed)), sign = worker % 2 == 0 ? 1 : -1;
  switch (i / 700 % 7) {
    case 0:
      return x;
    case 1:
      return std::ldexp(x, static_cast<int>(mixed % 301) - 150);
    case 2:
      return worker < 2 ? sign * static_cast<double>(i) : std::ldexp(x, -70 * static_cast<int>(worker));
    case 3:
      return worker % 3 == 2 ? -limits::max() : limits::max() / (1 + static_cast<double>(i % 2));
    case 4:
      return sign * limits::denorm_min() * static_cast<double>(mixed % 5);
    case 5:
      return i % 2 == 0 && worker == 1 ? 0.0 : -0.0;
    default:
      return i % 3 == worker % 3 ? sign * limits::infinity() : x;
  }
}
template <class T>
xt::xtensor<T, 1> block_of_any_kind(std::size_t n, std::size_t worker) {
  auto x = uninitialised<T, 1>({n});
  for (std::size_t i = 0; i < n; ++i) {
    if constexpr (std::is_same_v<T, std::complex<double>>) x(i) = {of_any_kind(i, worker), of_any_kind(i + 1, worker)};
    else x(i) = std::is_same_v<T, float> && i / 700 % 7 == 3 ? T(1) : static_cast<T>(of_any_kind(i, worker));
  }
  return x;
}
/// The correctly rounded sums over workers first … last - 1.
template <class T>
xt::xtensor<T, 1> sum_of_any_kind(std::size_t n, std::size_t first, std::size_t last) {
  using number = typename partita::detail::component_numbers<T>::type;
  constexpr std::size_t each = partita::detail::component_numbers<T>::count;
  std::vector<xt::xtensor<T, 1>> blocks;
  for (std::size_t k = first; k < last; ++k) blocks.push_back(block_of_any_kind<T>(n, k));
  auto sum = uninitialised<T, 1>({n});
  for (std::size_t i = 0; i < n * each; ++i) {
    const auto value = [&](std::size_t k) { return reinterpret_cast<const number*>(blocks[k].data())[i]; };
    reinterpret_cast<number*>(sum.data())[i] = partita::detail::sum_by_accumulator<number>(value, last - first);
  }
  return sum;
}

template <class T>
void expect_sums_rounded_once(const world& everyone, const std::string& where) {
  const std::size_t P = everyone.size(), me = everyone.id();
  const auto p = everyone.partition(extents(P));
  const auto last = everyone.partition<1>(workers(P - 1, P));
  const all_sum_reduce to_all(p, dimensions<0>, reproducible);
  const sum_reduce to_last(p, last, reproducible);
  constexpr std::size_t most = 9800;
  static const auto of_all = sum_of_any_kind<T>(most, 0, P), of_others = sum_of_any_kind<T>(most, 1, P);
  for (const std::size_t n : {std::size_t{700}, most}) {
    const auto x = block_of_any_kind<T>(n, me);
    const auto expect = [&](const auto& y, const auto& expected, const char* what) {
      const bool right = y.size() == n && std::memcmp(y.data(), expected.data(), n * sizeof(T)) == 0;
      BOOST_TEST(right, what << " of " << n << " elements " << where);
    };
    expect(to_all(x), of_all, "all_sum_reduce");
    expect(to_all.start(x).finish(), of_all, "all_sum_reduce by start");
    const auto y = to_last(x);
    if (last.active()) expect(y, of_all, "sum_reduce");
    if (P == 1) continue;
    const auto others = everyone.partition(extents(P - 1), workers(1, P));
    const auto z = sum_reduce(others, everyone.partition<1>(), reproducible)(x);  // the root does not contribute
    if (me == 0) expect(z, of_others, "sum_reduce of others");
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(between_nodes)

BOOST_AUTO_TEST_CASE(every_kernel_sends_each_byte_once_to_each_node) {
  // without shared memory, workers of one node send messages, too
  if (std::getenv("PARTITA_SHARED_FREE") != nullptr) return;
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
      once(sum_reduce(p, root, reproducible), whole, (N - 1) * n, "sum_reduce, reproducible");
      once(all_sum_reduce(p, dimensions<0>, reproducible), whole, 2 * (N - 1) * n, "all_sum_reduce, reproducible");
      once(all_gather(p, dimensions<0>), vector(xt::ones<double>({1})), (N - 1) * P, "all_gather of one element");
      once(reduce_scatter(p, dimensions<0>), small, (N - 1) * 24, "reduce_scatter of few elements");
    }
  }
}

BOOST_AUTO_TEST_CASE(long_blocks_travel_in_parts_and_arrive_whole) {
  for (const std::size_t nodes : {2U, 3U, 4U, 6U})
    for (const char* const shared : {"1", "0"}) {
      const cluster here{nodes, shared};
      const world everyone(test::workers());
      const std::size_t P = everyone.size(), N = P < nodes ? P : nodes, me = everyone.id();
      if (P == 1 || (nodes == 6 && shared[0] == '0')) continue;
      const auto p = everyone.partition(extents(P));
      const auto root = everyone.partition<1>(workers(P - 1, P));
      const broadcast there(root, p);
      const all_sum_reduce together(p, dimensions<0>);
      for (const std::size_t n : {std::size_t{5}, std::size_t{1021}, std::size_t{100003}}) {
        vector x(std::array<std::size_t, 1>{n});
        for (std::size_t i = 0; i < n; ++i) x(i) = static_cast<double>(i % 1009 + me);
        const bool counts =
            shared[0] == '1' && n * sizeof(double) > 256 && std::getenv("PARTITA_SHARED_FREE") == nullptr;
        const auto expect = [&](const vector& y, const auto& kernel, std::size_t factor, std::size_t more, auto from,
                                const char* name) {
          std::size_t wrong = y.size() == n ? 0 : 1;
          for (std::size_t i = 0; i < y.size(); ++i)
            wrong += y(i) == static_cast<double>(i % 1009 * factor + more) ? 0 : 1;
          BOOST_TEST(wrong == 0U,
                     name << " of " << n << " on " << nodes << " nodes, shared " << shared << ": " << wrong);
          const std::size_t moved = sent(kernel);
          if (counts) BOOST_TEST(moved == from * (N - 1) * n, name << ": " << moved << " elements of " << n);
        };
        const vector none = zero_volume<double, 1>();
        expect(there(root.active() ? x : none), there, 1, P - 1, 1U, "broadcast");
        auto later = there.start(root.active() ? x : none);
        expect(later.finish(), there, 1, P - 1, 1U, "broadcast by start");
        expect(together(x), together, P, P * (P - 1) / 2, 2U, "all_sum_reduce");
        auto sum = together.start(x);
        expect(sum.finish(), together, P, P * (P - 1) / 2, 2U, "all_sum_reduce by start");
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
        g.into(x, xt::view(wide, xt::all(), xt::range(2, 5)));  // a strided view that is not in shared memory
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

BOOST_AUTO_TEST_CASE(sums_that_are_rounded_once_are_the_same_bits_on_any_nodes_with_and_without_shared_memory) {
  for (const std::size_t nodes : {1U, 2U, 3U})
    for (const char* const shared : {"1", "0"}) {
      if (nodes != 2 && shared[0] == '0') continue;
      const cluster here{nodes, shared};
      const world everyone(test::workers());
      const std::string where = "on " + std::to_string(nodes) + " nodes, shared " + shared;
      expect_sums_rounded_once<double>(everyone, where);
      if (nodes != 2 || shared[0] == '0') continue;
      expect_sums_rounded_once<float>(everyone, where);
      expect_sums_rounded_once<std::complex<double>>(everyone, where);
    }
}

BOOST_AUTO_TEST_CASE(rounding_once_takes_a_few_bits_a_number_between_nodes) {
  if (std::getenv("PARTITA_SHARED_FREE") != nullptr) return;
  const cluster here{2, "1"};
  const world everyone(test::workers());
  const std::size_t P = everyone.size(), n = 20000;
  if (P == 1) return;
  const all_sum_reduce a(everyone.partition(extents(P)), dimensions<0>, reproducible);
  auto x = uninitialised<double, 1>({n});
  for (std::size_t i = 0; i < n; ++i) x(i) = std::sin(static_cast<double>(i + n * everyone.id()));
  a(x);
  const double least = 2 * static_cast<double>(n), moved = static_cast<double>(sent(a));
  BOOST_TEST(moved <= 1.06 * least, "all_sum_reduce, reproducible: " << moved / least << " times the least");
}

BOOST_AUTO_TEST_SUITE_END()
