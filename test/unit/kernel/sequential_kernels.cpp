// The sequential executor of reductions, all-gather and halos: results are those of loops over the workers, and wrong
// blocks are refused with the reason.
#include <partita/kernel/sequentially.hpp>

#include <algorithm>
#include <array>
#include <boost/test/unit_test.hpp>
#include <cstddef>
#include <string>
#include <vector>

#include "refused.hpp"

namespace {

using namespace partita;
using vector = xt::xtensor<double, 1>;
using matrix = xt::xtensor<double, 2>;
using line = grid<dynamic_extents<1>>;
using plane = grid<dynamic_extents<2>>;

constexpr std::size_t world = 8;
const plane large(dynamic_extents<2>(2, 3), workers{5, 0, 4, 1, 3, 2});
const plane row(dynamic_extents<2>(1, 3), workers{2, 7, 0});  // worker 7 gives no block, worker 6 has no part

/// A block of each worker, of numbers that are not 0.
std::vector<matrix> blocks() {
  std::vector<matrix> x;
  for (std::size_t k = 0; k < world; ++k) {
    const auto n = static_cast<double>(k + 1);
    x.push_back(matrix{{n, -2 * n}, {n * n, 12 - n}});
  }
  return x;
}

/// The reduction over each column of `large`, for the workers of `row` and for all workers of `large`.
template <class Reduction, class Fold>
void expect_reduction(Reduction reduction, Fold fold) {
  const std::vector<matrix> x = blocks();
  const auto y = sequentially::reduce(large, row, reduction)(x);
  const auto z = sequentially::all_reduce(large, dimensions<0>, reduction)(x);
  BOOST_TEST_REQUIRE((y.size() == world && z.size() == world));
  for (std::size_t worker = 0; worker < world; ++worker) {
    const std::size_t at = row.place(worker), from = large.place(worker);
    const auto folded = [&](std::size_t column) {
      const matrix &a = x[large.worker({0, column})], &b = x[large.worker({1, column})];
      matrix all = a;
      for (std::size_t k = 0; k < all.size(); ++k) all.data()[k] = fold(a.data()[k], b.data()[k]);
      return all;
    };
    if (at < row.size()) BOOST_TEST((y[worker] == folded(at)));
    else if (from < large.size()) BOOST_TEST((y[worker].shape() == std::array<std::size_t, 2>{2, 0}));
    else BOOST_TEST((y[worker] == x[worker]));
    BOOST_TEST((z[worker] == (from < large.size() ? folded(large.index(from)[1]) : x[worker])));
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(sequential_kernels)

BOOST_AUTO_TEST_CASE(reductions_are_loops_over_the_blocks) {
  expect_reduction(reductions::sum, [](double a, double b) { return a + b; });
  expect_reduction(reductions::mean, [](double a, double b) { return (a + b) / 2; });
  expect_reduction(reductions::product, [](double a, double b) { return a * b; });
  expect_reduction(maximum, [](double a, double b) { return std::max(a, b); });
  expect_reduction(minimum, [](double a, double b) { return std::min(a, b); });
}

BOOST_AUTO_TEST_CASE(the_adjoint_of_a_mean_is_divided_by_the_number_of_blocks_that_were_given) {
  std::vector<matrix> dy = blocks();
  const auto of_mean = sequentially::reduce(large, row, reductions::mean).adjoint(dy);
  const auto of_sum = sequentially::reduce(large, row, reductions::sum).adjoint(dy);
  for (std::size_t worker = 0; worker < world; ++worker) {
    const std::size_t at = large.place(worker);
    if (at == large.size()) continue;
    const matrix& given = dy[row.worker({0, large.index(at)[1]})];
    BOOST_TEST((of_sum[worker] == given));
    BOOST_TEST((of_mean[worker] == matrix(given / 2)));
  }
  BOOST_TEST((of_mean[6] == dy[6]));  // a worker without a part gets its own block, undivided
  BOOST_TEST((of_mean[7].shape() == std::array<std::size_t, 2>{2, 0}));
}

BOOST_AUTO_TEST_CASE(parts_of_sums_are_added_in_the_order_of_the_members) {
  const double given[] = {1e16, 1, -1e16, 3, 1e-3};
  for (const std::vector<std::size_t>& order :
       {std::vector<std::size_t>{0, 1, 2, 3, 4}, {4, 3, 2, 1, 0}, {2, 0, 4, 1, 3}}) {
    const line p(dynamic_extents<1>(5), workers(order));
    std::vector<vector> x;
    for (std::size_t k = 0; k < 5; ++k) {
      vector all = xt::zeros<double>({7});
      for (std::size_t i = 0; i < 7; ++i) all(i) = given[(k + 2 * i) % 5];
      x.push_back(all);
    }
    const auto y = sequentially::reduce_scatter(p, dimensions<0>)(x);
    for (std::size_t place = 0; place < 5; ++place) {
      const interval part = balanced_part(7, 5, place);
      const vector& mine = y[order[place]];
      BOOST_TEST_REQUIRE(mine.size() == part.size());
      for (std::size_t i = part.start; i < part.stop; ++i) {
        double sum = x[order[0]](i);
        for (std::size_t k = 1; k < 5; ++k) sum += x[order[k]](i);
        BOOST_TEST(mine(i - part.start) == sum);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(an_all_gather_that_was_not_called_scatters_in_balance) {
  const line p(dynamic_extents<1>(2), workers{1, 0});
  const vector five{1, 2, 3, 4, 5};
  sequentially::all_gather g(p, dimensions<0>);
  const auto dx = g.adjoint(std::vector<vector>{five, five});
  BOOST_TEST((dx[1] == vector{2, 4, 6}));  // worker 1 is the first
  BOOST_TEST((dx[0] == vector{8, 10}));
  const auto whole = g(std::vector<vector>{vector{4, 5, 6, 7}, vector{3}});
  BOOST_TEST((whole[0] == vector{3, 4, 5, 6, 7} && whole[1] == whole[0]));
  const auto back = g.adjoint(std::vector<vector>{five, five});  // now as x was cut
  BOOST_TEST((back[1] == vector{2} && back[0] == vector{4, 6, 8, 10}));
}

BOOST_AUTO_TEST_CASE(an_adjoint_of_other_extents_than_those_of_the_last_call_goes_to_balanced_blocks) {
  const line two(dynamic_extents<1>(2), workers{0, 1}), turned(dynamic_extents<1>(2), workers{1, 0});
  sequentially::repartition move(two, turned);
  sequentially::all_gather gather(two, dimensions<0>);
  const std::vector<vector> x{vector{1, 2, 3, 4}, vector{5}};
  BOOST_TEST((move(x)[1] == vector{1, 2, 3} && gather(x)[1] == vector{1, 2, 3, 4, 5}));
  for (const std::size_t n : {5U, 4U, 7U, 5U, 1U, 0U, 6U}) {  // the last x had 5 elements, of which 4 on worker 0
    const auto numbers = [](std::size_t from, std::size_t to, double factor) {
      vector some(std::array<std::size_t, 1>{to - from});
      for (std::size_t i = from; i < to; ++i) some(i - from) = factor * static_cast<double>(10 * i + 3);
      return some;
    };
    const std::size_t half = (n + 1) / 2, first = n == 5 ? 4 : half;
    const auto moved = move.adjoint(std::vector<vector>{numbers(half, n, 1), numbers(0, half, 1)});
    BOOST_TEST((moved[0] == numbers(0, first, 1) && moved[1] == numbers(first, n, 1)), n << " elements");
    const auto summed = gather.adjoint(std::vector<vector>{numbers(0, n, 1), numbers(0, n, 1)});
    BOOST_TEST((summed[0] == numbers(0, first, 2) && summed[1] == numbers(first, n, 2)), n << " elements");
  }
}

BOOST_AUTO_TEST_CASE(a_plan_of_rows_to_columns_has_a_box_for_each_worker) {
  const plane rows(dynamic_extents<2>(4, 1), workers(0, 4)), columns(dynamic_extents<2>(1, 4), workers(0, 4));
  const sequentially::repartition move(rows, columns);
  for (std::size_t worker = 0; worker < 4; ++worker) {
    const auto plan = move.plan({8, 4}, worker);
    BOOST_TEST(plan.worker == worker);
    BOOST_TEST(plan.messages_sent() == 3U);
    BOOST_TEST(plan.elements_sent() == 6U);
    BOOST_TEST(plan.elements_kept() == 2U);
    BOOST_TEST((plan.kept[0].where == box<2>{{2 * worker, worker}, {2 * worker + 2, worker + 1}}));
  }
  const auto cuts = decomposition<2>::balanced({8, 4}, {1, 4});
  test::expect_refused<shape_error>(
      [&] {
        (void)sequentially::repartition(rows, columns, result_cuts(cuts)).plan({8, 5}, 0);
      },
      "partita::sequentially::repartition(p_x, p_y): requires cuts that add up to the extents of the tensor");
}

BOOST_AUTO_TEST_CASE(blocks_that_do_not_fit_are_refused_with_the_reason) {
  const line two(dynamic_extents<1>(2), workers(0, 2)), one(dynamic_extents<1>(1), workers(0, 1));
  const std::vector<vector> unlike{vector{1, 2}, vector{1, 2, 3}}, like{vector{1, 2}, vector{3, 4}};
  const auto said = [](auto call) { return test::refused<shape_error>(call); };
  const std::string sums =
      "requires the blocks that are summed to have one shape, got [2] on worker 0 and [3] on worker 1; give every "
      "worker of a sum a block of the same shape";
  BOOST_TEST(said([&] { sequentially::sum_reduce(two, one)(unlike); }) == "partita::sequentially::sum_reduce: " + sums);
  BOOST_TEST(said([&] { sequentially::broadcast(one, two).adjoint(unlike); }) ==
             "partita::sequentially::broadcast: " + sums);
  BOOST_TEST(said([&] { sequentially::reduce(two, one, maximum)(unlike); }) ==
             "partita::sequentially::reduce: " + sums);
  BOOST_TEST(said([&] { sequentially::all_sum_reduce(two, dimensions<0>)(unlike); }) ==
             "partita::sequentially::all_sum_reduce: " + sums);
  BOOST_TEST(said([&] { sequentially::all_reduce(two, dimensions<0>, minimum)(unlike); }) ==
             "partita::sequentially::all_reduce: " + sums);
  sequentially::reduce_scatter scattered(two, dimensions<0>);
  BOOST_TEST(said([&] { scattered(unlike); }) ==
             "partita::sequentially::reduce_scatter: requires the blocks of a sum to have one shape");
  BOOST_TEST(said([&] { scattered.adjoint(unlike); }) ==
             "partita::sequentially::reduce_scatter.adjoint(dy): requires blocks of the balanced cut of [5] over [2]");
  BOOST_TEST((scattered.adjoint(like)[1] == vector{1, 2, 3, 4}));
  sequentially::repartition same(two, two);
  BOOST_TEST(
      said([&] { same.adjoint(unlike); }) ==
      "partita::sequentially::repartition(p_x, p_y).adjoint(dy): requires dy to be cut over p_y as the result of "
      "the forward call was (the balanced cut of [5] over [2]), got a block of [2] at [0]");
  sequentially::repartition given(two, two, result_cuts(cut::at({3, 2})));
  BOOST_TEST(
      said([&] { given.adjoint(unlike); }) ==
      "partita::sequentially::repartition(p_x, p_y).adjoint(dy): requires dy to be cut over p_y as the result of "
      "the forward call was (the given cut of [5] over [2]), got a block of [2] at [0]");
  sequentially::halo_exchange ghosts(two, halo_widths<1>{{1}, {1}}, boundary::periodic);
  const std::string windows =
      "partita::sequentially::halo_exchange.adjoint(dy): requires blocks of the shapes of the last result";
  BOOST_TEST(said([&] { ghosts.adjoint(like); }) == windows);  // there was no call
  const auto y = ghosts(like);
  BOOST_TEST((ghosts.adjoint(y)[0] == vector{2, 4}));
  BOOST_TEST(said([&] { ghosts.adjoint(std::vector<vector>{vector(y[0]), vector{1, 2, 3}}); }) == windows);
  BOOST_TEST(said([&] { ghosts.adjoint(like); }) == windows);
}

BOOST_AUTO_TEST_CASE(plans_that_contradict_each_other_are_an_error) {
  const line from(dynamic_extents<1>(1), workers(0, 1)), to(dynamic_extents<1>(1), workers(1, 2));
  const std::vector<vector> x{vector{1, 2}, vector()};
  const auto cuts = decomposition<1>::balanced({2}, {1});
  auto plans = sequentially::detail::make_repartition_plans(from, cuts, to, cuts, same_axes<1>(), 2);
  BOOST_TEST((sequentially::detail::carry_out(plans, x, true)[1] == x[0]));
  const auto right = plans;
  const auto refused = [&] {
    return test::refused<error>([&] { (void)sequentially::detail::carry_out(plans, x, true); });
  };
  plans[1].receives.clear();
  BOOST_TEST(refused() == "partita::sequentially: the plans send 1 boxes and receive 0");
  const auto contradicts = [&] {
    const std::string said = refused();
    plans = right;
    return said.find("partita::sequentially: worker 1 awaits ") == 0 &&
           said.find(" from worker 0, whose plan does not send it there") != std::string::npos;
  };
  plans = right, plans[0].sends.clear();
  BOOST_TEST(contradicts());
  plans[0].sends[0].worker = 0;
  BOOST_TEST(contradicts());
  plans[0].sends[0].where.stop[0] = 1;
  BOOST_TEST(contradicts());
  plans[0].sends[0].at_peer.offset = 1;
  BOOST_TEST(contradicts());
}

BOOST_AUTO_TEST_SUITE_END()
