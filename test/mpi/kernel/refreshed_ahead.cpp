// A halo refresh starts to send before all workers have agreed. Failed calls leave no messages behind, tensors that
// have equal blocks on some workers only are not confused, and a worker that is early, or that destroys its kernel,
// does not write into the ghosts of others.
#include "mpi_test.hpp"
#include "random_cases.hpp"
#include "refused.hpp"

#include <partita/kernel/all_sum_reduce.hpp>
#include <partita/kernel/halo_exchange.hpp>

#include <random>
#include <thread>
#include <vector>

namespace {

using namespace partita;
using line = xt::xtensor<long, 2>;

constexpr std::size_t columns = 5;

/// The value of a cell of the tensor in a round.
long value(std::size_t row, std::size_t column, long round) {
  return round * 1000 + static_cast<long>(row * columns + column);
}

/// A tensor that is distributed by rows in the given `sizes`, with a periodic halo of rows.
struct tensor {
  template <class Halo>
  tensor(const partition<dynamic_extents<2>>& p, const Halo& h, const std::vector<std::size_t>& sizes) {
    for (std::size_t k = 0; k < sizes.size(); ++k) {
      if (k == p.index()[0]) start = rows, own = sizes[k];
      rows += sizes[k];
    }
    u = h(line(xt::zeros<long>(std::array<std::size_t, 2>{own, columns})));
  }
  /// Sets the cells of a round, and garbage in the ghosts.
  void set(long round) {
    for (std::size_t i = 0; i < u.shape()[0]; ++i)
      for (std::size_t j = 0; j < columns; ++j) u(i, j) = i >= 1 && i <= own ? value(start + i - 1, j, round) : -1;
  }
  bool is(long round) const {
    bool all = true;
    for (std::size_t i = 0; i < u.shape()[0]; ++i)
      for (std::size_t j = 0; j < columns; ++j) all = all && u(i, j) == value((start + i + rows - 1) % rows, j, round);
    return all;
  }

  std::size_t start = 0, own = 0, rows = 0;
  line u;
};

halo_exchange<dynamic_extents<2>> rows_of(const partition<dynamic_extents<2>>& p) {
  return {p, {.before = {1, 0}, .after = {1, 0}}, boundary::periodic};
}

/// Delays this worker sometimes.
void wander(std::mt19937& own) {
  for (std::size_t k = own() % 4 == 0 ? own() % 200 : 0; k > 0; --k) std::this_thread::yield();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(refreshed_ahead)

BOOST_AUTO_TEST_CASE(tensors_that_look_alike_on_some_workers_alternate_with_calls_that_are_refused) {
  const world everyone(test::workers());
  const std::size_t n = everyone.size();
  const dynamic_partition<2> p = everyone.partition(dynamic_extents<2>(n, 1));
  const auto h = rows_of(p);
  std::vector<std::size_t> even(n, 3), other(n, 3);  // equal on the first worker
  if (n > 1) other.back() = 2;
  if (n > 2) other[1] = 4;
  tensor a(p, h, even), b(p, h, other);
  std::mt19937 common(14), own(static_cast<unsigned>(everyone.id()));
  const std::size_t rounds = 40 + test::random_cases(800);
  for (std::size_t round = 1; round <= rounds; ++round) {
    tensor& now = common() % 2 == 0 ? a : b;
    const std::size_t wrong = common() % 6 == 0 ? common() % n : n;
    wander(own);
    now.set(static_cast<long>(round));
    if (wrong < n) {
      line nowhere = xt::zeros<long>(std::array<std::size_t, 2>{9, columns});
      const std::string said = test::refused<shape_error>([&] { h.refresh(everyone.id() == wrong ? nowhere : now.u); });
      BOOST_TEST(said.find("requires blocks with ghosts of the shapes that a forward call gave") != std::string::npos);
      continue;
    }
    if (common() % 2 == 0) {
      h.refresh(now.u);
    } else {
      auto later = h.start_refresh(now.u);
      wander(own);
      later.finish();
    }
    BOOST_TEST(now.is(static_cast<long>(round)));
  }
}

BOOST_AUTO_TEST_CASE(a_kernel_is_let_go_of_while_others_still_read) {
  const world everyone(test::workers());
  const std::size_t n = everyone.size();
  const dynamic_partition<2> p = everyone.partition(dynamic_extents<2>(n, 1));
  std::mt19937 own(static_cast<unsigned>(everyone.id()) + 7);
  const auto keep = rows_of(p);
  tensor lasting(p, keep, std::vector<std::size_t>(n, 2));
  for (std::size_t round = 1; round <= 10 + test::random_cases(80); ++round) {
    const auto number = static_cast<long>(round);
    std::vector<tensor> all;
    {
      const auto h = rows_of(p);
      all.emplace_back(p, h, std::vector<std::size_t>(n, 4));
      for (long times = 0; times < 3; ++times) {
        all[0].set(number + times);
        wander(own);
        h.refresh(all[0].u);
        BOOST_TEST(all[0].is(number + times));
      }
      all[0].set(number);
      h.refresh(all[0].u);
    }
    for (int k = 0; k < 3; ++k) {  // reuses the memory that it freed
      lasting.set(number + k);
      keep.refresh(lasting.u);
      BOOST_TEST(lasting.is(number + k));
    }
    BOOST_TEST(all[0].is(number));
  }
}

/// One worker finishes an exchange before a sum, which does not agree on a plan at checks::local, all others after it.
BOOST_AUTO_TEST_CASE(a_sum_first_completes_the_exchange_that_another_worker_waits_for) {
  for (const checks level : {checks::agree, checks::local}) {
    const world everyone(test::workers(), level);
    const std::size_t n = everyone.size(), me = everyone.id();
    const dynamic_partition<2> p = everyone.partition(dynamic_extents<2>(1, n));
    const halo_exchange<dynamic_extents<2>> h(p, {.before = {1, 1}, .after = {0, 0}}, boundary::periodic,
                                              halo_algorithm::by_dimension);  // two rounds
    const all_sum_reduce total(everyone.partition(extents(n)), dimensions<0>);
    for (std::size_t turn = 0; turn < 3 * n; ++turn) {
      const bool sooner = turn % n == me;
      const auto own = static_cast<long>(10 * turn + me), before = static_cast<long>(10 * turn + (me + n - 1) % n);
      line x(std::array<std::size_t, 2>{2, 1}, own), y;
      auto later = h.start(x);
      if (sooner) y = later.finish();
      BOOST_TEST(total(xt::xtensor<long, 1>{1})(0) == static_cast<long>(n));
      if (!sooner) y = later.finish();
      BOOST_TEST((y == line{{before, own}, {before, own}, {before, own}}));
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
