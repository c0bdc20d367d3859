// Threads: each thread may use its own world; two threads in one world at the same time are an error.
#include "mpi_test.hpp"

#include <atomic>
#include <optional>
#include <partita/kernel/all_sum_reduce.hpp>
#include <partita/kernel/broadcast.hpp>
#include <partita/kernel/repartition.hpp>
#include <string>
#include <thread>

#include "random_cases.hpp"

namespace {

using namespace partita;
using vector = xt::xtensor<double, 1>;

/// Sums and broadcasts blocks of m elements; returns how many results were wrong.
std::size_t wrong_results(const world& w, std::size_t m, std::size_t rounds) {
  const auto p = w.partition(extents(w.size()));
  const all_sum_reduce sum(p, dimensions<0>);
  const broadcast spread(w.partition<1>(), p);
  const broadcast shared(w.partition<1>(), p, shared_view);
  std::size_t wrong = 0;
  for (std::size_t k = 0; k < rounds; ++k) {
    const auto value = static_cast<double>(m + k);
    const vector x = xt::ones<double>({m}) * value;
    const auto y = sum(x);
    const auto z = spread(w.id() == 0 ? x : vector(x * 2.0));
    const auto v = shared(x);
    const bool right = y(0) == value * static_cast<double>(w.size()) && y(m - 1) == y(0) && z(0) == value &&
                       z(m - 1) == value && v(0) == value && v(m - 1) == value;
    wrong += right ? 0 : 1;
  }
  return wrong;
}

bool may_use_threads() {
  int provided = 0;
  MPI_Query_thread(&provided);
  return provided == MPI_THREAD_MULTIPLE;
}

/// Checks that one of two threads of worker 0 that call a kernel of one world at the same time gets an error.
void expect_one_of_two_refused(const world& everyone) {
  const all_sum_reduce sum(everyone.partition(extents(everyone.size())), dimensions<0>);
  sum(vector{1});
  // on worker 0 two threads wait for the other workers, which make their call when one thread got the error
  std::atomic<int> refused = 0;
  if (everyone.id() == 0) {
    const auto call = [&] {
      try {
        sum(vector{1});
      } catch (const communication_error& e) {
        if (std::string(e.what()).find("two threads make calls of one world at once") != std::string::npos) ++refused;
      }
    };
    std::thread first(call), second(call);
    while (refused == 0) std::this_thread::yield();
    test::workers().barrier();
    first.join();
    second.join();
    BOOST_TEST(refused == 1);
  } else {
    test::workers().barrier();
    sum(vector{1});
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(threads)

BOOST_AUTO_TEST_CASE(two_threads_on_two_worlds_get_what_they_would_get_alone) {
  if (!may_use_threads()) return;
  const world one(test::workers()), two(test::workers());
  const std::size_t rounds = test::random_cases(300);
  std::size_t wrong_there = 0;
  std::thread other([&] { wrong_there = wrong_results(two, 4999, rounds); });
  const std::size_t wrong_here = wrong_results(one, 5000, rounds);
  other.join();
  BOOST_TEST(wrong_here == 0U);
  BOOST_TEST(wrong_there == 0U);
}

BOOST_AUTO_TEST_CASE(threads_may_make_their_kernels_and_first_calls_at_once) {
  if (!may_use_threads()) return;
  for (std::size_t k = 0; k < test::random_cases(10); ++k) {
    const world one(test::workers()), two(test::workers()), three(test::workers());
    std::atomic<std::size_t> wrong = 0;
    std::thread second([&] { wrong += wrong_results(two, 70, 3); });
    std::thread third([&] { wrong += wrong_results(three, 7000, 3); });
    wrong += wrong_results(one, 700, 3);
    second.join();
    third.join();
    BOOST_TEST(wrong == 0U);
  }
}

BOOST_AUTO_TEST_CASE(results_may_be_dropped_by_another_thread) {
  if (!may_use_threads()) return;
  const world everyone(test::workers());
  const all_sum_reduce sum(everyone.partition(extents(everyone.size())), dimensions<0>);
  std::size_t wrong = 0;
  for (std::size_t k = 0; k < 200; ++k) {
    auto y = std::make_optional(sum(vector{1, 2, 3}));
    std::thread other([&] {
      wrong += (*y)(2) == 3.0 * static_cast<double>(everyone.size()) ? 0 : 1;
      y.reset();
    });
    other.join();
  }
  BOOST_TEST(wrong == 0U);
}

BOOST_AUTO_TEST_CASE(what_one_thread_began_no_other_finishes) {
  const world everyone(test::workers());
  const auto p = everyone.partition(extents(everyone.size()));
  const all_sum_reduce sum(p, dimensions<0>);
  const repartition turn(p, everyone.partition<1>());
  const auto expect_refused_elsewhere = [&](auto later, double first) {
    int refused = 0;
    std::thread other([&] {
      try {
        static_cast<void>(later.finish());
      } catch (const communication_error& e) {
        if (std::string(e.what()).find("requires the thread that began it") != std::string::npos) ++refused;
      }
    });
    other.join();
    BOOST_TEST(refused == 1);
    const auto y = later.finish();
    BOOST_TEST((y.size() == 0 || y(0) == first));
  };
  const vector x{1, 2, 3};
  for (int k = 0; k < 3; ++k) {
    expect_refused_elsewhere(sum.start(x), static_cast<double>(everyone.size()));
    expect_refused_elsewhere(turn.start(x), 1);
    auto dropped = std::make_optional(turn.start(x));
    std::thread([&] { dropped.reset(); }).join();
  }
}

BOOST_AUTO_TEST_CASE(two_threads_in_one_world_are_refused, *test::at_least(2)) {
  if (may_use_threads()) expect_one_of_two_refused(world(test::workers()));
}

BOOST_AUTO_TEST_CASE(two_threads_in_one_world_are_refused_where_nobody_agrees, *test::at_least(2)) {
  if (may_use_threads()) expect_one_of_two_refused(world(test::workers(), checks::local));
}

BOOST_AUTO_TEST_SUITE_END()
