// all_to_all: the partitioned dimension changes, as the sequential executor computes it, and changes back.
#include "mpi_test.hpp"
#include "refused.hpp"

#include <partita/kernel/adjoint_test.hpp>
#include <partita/kernel/all_to_all.hpp>
#include <partita/kernel/sequentially.hpp>

#include <vector>

namespace {

using namespace partita;

xt::xtensor<int, 3> block(std::size_t worker, const std::array<std::size_t, 3>& shape) {
  auto x = uninitialised<int, 3>(shape);
  for (std::size_t k = 0; k < x.size(); ++k) x.data()[k] = static_cast<int>(1000 * worker + k);
  return x;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(all_to_all_kernel)

BOOST_AUTO_TEST_CASE(it_is_what_one_process_computes_and_its_adjoint_brings_any_cut_back) {
  const world everyone(test::workers());
  const std::size_t n = everyone.size(), me = everyone.id();
  const auto from = everyone.partition(extents<1, dynamic, 1>(n));
  const auto to = everyone.partition(extents<1, 1, dynamic>(n));
  const all_to_all t(from, to);
  sequentially::all_to_all t_1(from, to);
  for (const bool even : {true, false}) {
    std::vector<xt::xtensor<int, 3>> x;
    for (std::size_t k = 0; k < n; ++k) x.push_back(block(k, {2, even ? 3 : 2 * k, 7}));
    const auto y = t(x[me]), later = t.start(x[me]).finish();
    const auto expected = t_1(x)[me];
    BOOST_TEST((y == expected));
    BOOST_TEST((later == expected));
    auto into = expected;
    into.fill(-1);
    t.into(x[me], into);
    BOOST_TEST((into == expected));
    BOOST_TEST((t.adjoint(y) == x[me]));
    BOOST_TEST((t.start_adjoint(y).finish() == x[me]));
    xt::xtensor<int, 3> back = block(9, {2, even ? 3 : 2 * me, 7});
    t.adjoint_into(y, back);
    BOOST_TEST((back == x[me]));
    BOOST_TEST(adjoint_test(everyone, t, x[me], y).exact());
  }
  BOOST_TEST(t.plan(extents<2, 30, 7>{}).messages_sent() <= n - 1);
}

BOOST_AUTO_TEST_CASE(there_and_back_is_the_identity_and_cuts_may_be_finer_than_they_were, *test::at_least(4)) {
  const world everyone(test::workers());
  const auto from = everyone.partition<4, 1, 1>();
  const auto middle = everyone.partition<2, 1, 2>();
  const auto x = from.active() ? block(everyone.id(), {3, 4, 6}) : zero_volume<int, 3>();
  const auto y = all_to_all(from, middle)(x);
  const auto back = all_to_all(middle, from)(y);
  if (from.active()) BOOST_TEST((back == x));
}

BOOST_AUTO_TEST_CASE(partitions_between_which_no_cut_moves_are_refused, *test::at_least(2)) {
  const world everyone(test::workers());
  const auto two = everyone.partition(extents<dynamic, dynamic>(2, 1));
  BOOST_TEST(
      test::refused<partition_error>([&] { all_to_all(two, everyone.partition(extents<dynamic, dynamic>(1, 1))); })
          .find("partita::all_to_all(p_from, p_to): requires partitions of which one dimension of p_from is cut into k "
                "times") == 0);
  static_assert(all_to_all_error<2>({1, 1}, {1, 1}).empty());
  static_assert(all_to_all_error<3>({4, 1, 2}, {1, 4, 2}).empty());
  static_assert(all_to_all_error<3>({4, 2, 1}, {2, 4, 1}).empty());
  static_assert(!all_to_all_error<3>({4, 1, 1}, {1, 2, 2}).empty());
  static_assert(!all_to_all_error<2>({4, 1}, {1, 2}).empty());
  static_assert(!all_to_all_error<2>({3, 2}, {2, 3}).empty());
}

BOOST_AUTO_TEST_SUITE_END()
