// With checks::local, block shapes may change on all workers together. Results are right also on workers whose own
// block does not show the change.
#include "mpi_test.hpp"

#include <partita/kernel/broadcast.hpp>
#include <partita/kernel/repartition.hpp>
#include <partita/kernel/sum_reduce.hpp>

namespace {

using namespace partita;
using vector = xt::xtensor<double, 1>;

// some workers have equal parts of 4 and 3, and of 0 and 2
constexpr std::size_t lengths[] = {6, 2, 6, 4, 3, 0, 2, 13};

/// m elements that encode m and the worker.
vector block(std::size_t m, std::size_t worker) { return xt::arange<double>(double(m)) + double(100 * m + worker); }

/// The block of an inactive worker: the same in all calls, so it does not show which call it is.
vector nothing() { return zero_volume<double, 1>(); }

}  // namespace

BOOST_AUTO_TEST_SUITE(shapes_change_under_local_checks)

BOOST_AUTO_TEST_CASE(a_broadcast_gives_what_was_sent) {
  const world everyone(test::workers(), checks::local);
  const broadcast spread(everyone.partition<1>(), everyone.partition(extents(everyone.size())));
  for (const std::size_t m : lengths) {
    BOOST_TEST((spread(everyone.id() == 0 ? block(m, 0) : nothing()) == block(m, 0)));
    BOOST_TEST((spread(block(m, everyone.id())) == block(m, 0)));  // for any argument of the workers that only receive
  }
}

BOOST_AUTO_TEST_CASE(the_adjoint_of_a_broadcast_sums_what_was_sent) {
  const world everyone(test::workers(), checks::local);
  const std::size_t n = everyone.size();
  const broadcast spread(everyone.partition<1>(), everyone.partition(extents(n)));
  for (const std::size_t m : lengths) {
    vector sum = xt::zeros<double>({m});
    for (std::size_t k = 0; k < n; ++k) sum += block(m, k);
    const auto dx = spread.adjoint(block(m, everyone.id()));
    if (everyone.id() == 0) BOOST_TEST((dx == sum));
    else BOOST_TEST(dx.size() == 0U);
  }
}

BOOST_AUTO_TEST_CASE(a_root_outside_gets_the_sum_of_what_was_sent_and_gives_it_back, *test::at_least(2)) {
  const world everyone(test::workers(), checks::local);
  const std::size_t n = everyone.size();
  const sum_reduce sum(everyone.partition(extents(n - 1), workers(1, n)), everyone.partition<1>());
  for (const std::size_t m : lengths) {
    vector all = xt::zeros<double>({m});
    for (std::size_t k = 1; k < n; ++k) all += block(m, k);
    const auto y = sum(everyone.id() == 0 ? nothing() : block(m, everyone.id()));
    if (everyone.id() == 0) BOOST_TEST((y == all));
    else BOOST_TEST(y.size() == 0U);
    const auto back = sum.adjoint(everyone.id() == 0 ? block(m, 0) : nothing());
    if (everyone.id() == 0) BOOST_TEST(back.size() == 0U);
    else BOOST_TEST((back == block(m, 0)));
  }
}

BOOST_AUTO_TEST_CASE(scattered_and_gathered_tensors_are_whole) {
  const world everyone(test::workers(), checks::local);
  const std::size_t n = everyone.size();
  const auto one = everyone.partition<1>();
  const auto all = everyone.partition(extents(n));
  const repartition scatter(one, all);
  const repartition gather(all, one);
  for (const std::size_t m : lengths) {
    const interval mine = balanced_part(m, n, everyone.id());
    const vector whole = block(m, 0), part = xt::view(whole, xt::range(mine.start, mine.start + mine.size()));
    BOOST_TEST((scatter(everyone.id() == 0 ? whole : nothing()) == part));
    const auto gathered = gather(part);
    if (everyone.id() == 0) BOOST_TEST((gathered == whole));
    else BOOST_TEST(gathered.size() == 0U);
    const auto back = gather.adjoint(everyone.id() == 0 ? whole : nothing());
    BOOST_TEST((back == part));
    const auto dx = scatter.adjoint(part);
    if (everyone.id() == 0) BOOST_TEST((dx == whole));
    else BOOST_TEST(dx.size() == 0U);
  }
}

BOOST_AUTO_TEST_SUITE_END()
