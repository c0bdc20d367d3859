// Calls with a cached plan: a view of a wrong shape is an error of every kernel on all workers, as in the first call,
// and nothing is written. Blocks of different shapes get different plans, for any number of shapes.
#include "mpi_test.hpp"
#include "refused.hpp"

#include <partita/kernel/all_gather.hpp>
#include <partita/kernel/all_sum_reduce.hpp>
#include <partita/kernel/broadcast.hpp>
#include <partita/kernel/reduce_scatter.hpp>
#include <partita/kernel/repartition.hpp>
#include <partita/kernel/sum_reduce.hpp>
#include <partita/nn/linear.hpp>
#include <string>

#include "../support/agreement_messages.hpp"
#include "../support/message_count.hpp"

namespace {

using namespace partita;
using matrix = xt::xtensor<double, 2>;
using shape = std::array<std::size_t, 2>;

matrix full(const shape& extents, double value) {
  matrix x(extents);
  x.fill(value);
  return x;
}

/// Calls fill(x, view) with a view of the result's shape, then with wrong views on one worker and on all.
template <class Plain, class Fill>
void expect_refused_views(const world& everyone, const char* what, const matrix& x, Plain plain, Fill fill) {
  const matrix y = plain(x);  // now there is a plan, but none with a view
  const shape right{y.shape()[0], y.shape()[1]};
  const shape wrong[] = {{right[0] + 1, right[1]},
                         {right[0], right[1] + 1},
                         {right[1], right[0]},
                         {1, right[0] * right[1]},
                         {right[0] * right[1], 1}};
  for (int times = 0; times < 2; ++times) {
    for (const shape& other : wrong) {
      if (other == right) continue;
      for (std::size_t odd = 0; odd <= everyone.size(); ++odd) {  // one worker, then all
        const bool mine = odd == everyone.id() || odd == everyone.size();
        matrix view = full(mine ? other : right, -7);
        const std::string said = test::refused<shape_error>([&] { fill(x, view); });
        BOOST_TEST(said.find("requires a view of the shape of the result") != std::string::npos,
                   what << ", worker " << odd << " of " << everyone.size() << ": it said '" << said << "'");
        if (mine) BOOST_TEST((view == full(other, -7)));
      }
    }
    matrix view = full(right, -7);
    fill(x, view);  // the first time this makes a new plan, the second time it uses it
    BOOST_TEST((view == y));
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(second_calls)

BOOST_AUTO_TEST_CASE(refuse_views_of_another_shape_as_first_calls_do) {
  const world everyone(test::workers());
  const std::size_t P = everyone.size();
  const auto all = everyone.partition(extents(P)), line = all;
  const auto rows = everyone.partition(extents(P, 1)), columns = everyone.partition(extents(1, P));
  const matrix x = full({2 * P, 3 * P}, 1.0 + static_cast<double>(everyone.id()));
  const auto expect = [&](const char* what, const auto& k) {
    expect_refused_views(
        everyone, what, x, [&](const matrix& given) { return k(given); },
        [&](const matrix& given, matrix& view) { k.into(given, view); });
  };
  const auto expect_back = [&](const char* what, const auto& k) {
    expect_refused_views(
        everyone, what, x, [&](const matrix& given) { return k.adjoint(given); },
        [&](const matrix& given, matrix& view) { k.adjoint_into(given, view); });
  };
  expect("broadcast", broadcast(all, line));
  expect("sum_reduce", sum_reduce(all, line));
  expect_back("broadcast.adjoint", broadcast(all, line));
  expect_back("sum_reduce.adjoint", sum_reduce(all, line));
  expect("all_sum_reduce", all_sum_reduce(all, dimensions<0>));
  expect("all_sum_reduce, reproducible", all_sum_reduce(all, dimensions<0>, reproducible));
  expect("repartition", repartition(rows, rows));
  expect("repartition to other rows", repartition(rows, rows, permute<1, 0>));
  expect("all_gather", all_gather(rows, dimensions<0>));
  expect("reduce_scatter", reduce_scatter(rows, dimensions<0>));
  expect("repartition with cuts",
         repartition(rows, rows, result_cuts(cut::balanced(2 * P * P, P), cut::balanced(3 * P, 1))));
  if (P == 1) expect("repartition to columns", repartition(rows, columns));
}

BOOST_AUTO_TEST_CASE(of_more_shapes_than_are_kept_are_right_in_any_order) {
  const world everyone(test::workers());
  const std::size_t P = everyone.size(), me = everyone.id();
  const auto all = everyone.partition(extents(P)), turned = everyone.partition(extents(P), [&] {
    std::vector<std::size_t> ids;
    for (std::size_t w = 0; w < P; ++w) ids.push_back(P - 1 - w);
    return workers(ids);
  }());
  const auto one = everyone.partition<1>();
  const broadcast b(one, all);
  const sum_reduce s(all, one);
  const all_sum_reduce a(all, dimensions<0>);
  const repartition r(all, turned);
  using vector = xt::xtensor<double, 1>;
  for (std::size_t call = 0; call < 120; ++call) {
    const std::size_t n = 1 + call * call % 41;  // sizes in an irregular order, with repetitions
    const auto value = [&](std::size_t w) { return static_cast<double>(w + 10 * call); };
    const vector x = value(me) * xt::ones<double>({n});
    double sum = 0;
    for (std::size_t w = 0; w < P; ++w) sum += value(w);
    const vector summed = sum * xt::ones<double>({n}), first = value(0) * xt::ones<double>({n}),
                 across = value(P - 1 - me) * xt::ones<double>({n});
    const auto y = b(one.active() ? x : vector(zero_volume<double, 1>()));
    BOOST_TEST((y == first));
    const auto z = s(x);
    if (one.active()) BOOST_TEST((z == summed));
    BOOST_TEST((a(x) == summed));
    const auto there = r(x);
    BOOST_TEST((there == across));
    BOOST_TEST((r.adjoint(there) == x));
  }
}

BOOST_AUTO_TEST_CASE(with_blocks_of_other_sizes_gather_all_sizes_in_one_collective) {
  const world everyone(test::workers());
  const std::size_t P = everyone.size(), me = everyone.id();
  const auto line = everyone.partition(extents(P));
  const repartition even(line, line);
  const bool one_node = test::workers_told_by_message(everyone) == 1;
  for (std::size_t call = 0; call < 60; ++call) {
    // in every seventh call the blocks are balanced
    const auto size_of = [&](std::size_t w) { return call % 7 == 3 ? 4 + call : 3 + (7 * call + 5 * w * w) % 11; };
    std::size_t before = 0, all = 0;
    for (std::size_t w = 0; w < P; ++w) before += w < me ? size_of(w) : 0, all += size_of(w);
    const xt::xtensor<double, 1> x =
        xt::arange<double>(static_cast<double>(before), static_cast<double>(before + size_of(me)));
    const interval mine = balanced_part(all, P, me);
    const xt::xtensor<double, 1> wanted =
        xt::arange<double>(static_cast<double>(mine.start), static_cast<double>(mine.stop));
    const std::size_t started = test::messages();
    const auto y = even(x);
    const std::size_t collectives = test::messages() - started;
    BOOST_TEST((y == wanted));
    if (one_node && P > 1 && call > 0) BOOST_TEST(collectives <= 1U);
    BOOST_TEST((even.adjoint(y) == x));
  }
}

BOOST_AUTO_TEST_CASE(with_blocks_of_sizes_that_never_come_again_move_them_there_and_back) {
  const world everyone(test::workers());
  const std::size_t P = everyone.size(), me = everyone.id();
  const auto line = everyone.partition(extents(P));
  const repartition even(line, line);
  for (std::size_t call = 0; call < 100; ++call) {  // more than plans are kept
    const auto size_of = [&](std::size_t w) { return call + 5 * w * (w + call % 3); };
    std::size_t before = 0, all = 0;
    for (std::size_t w = 0; w < P; ++w) before += w < me ? size_of(w) : 0, all += size_of(w);
    const xt::xtensor<double, 1> x =
        xt::arange<double>(static_cast<double>(before), static_cast<double>(before + size_of(me)));
    const interval mine = balanced_part(all, P, me);
    const auto y = even(x);
    BOOST_TEST((y == xt::arange<double>(static_cast<double>(mine.start), static_cast<double>(mine.stop))));
    BOOST_TEST((even.adjoint(y) == x));
  }
}

BOOST_AUTO_TEST_CASE(with_balanced_blocks_after_others_need_no_plan_for_their_adjoint, *test::at_least(2)) {
  const world everyone(test::workers());
  const std::size_t P = everyone.size(), me = everyone.id();
  const auto line = everyone.partition(extents(P));
  const repartition even(line, line);
  using vector = xt::xtensor<double, 1>;
  const auto call = [&](std::size_t n) { return vector(even(vector(xt::ones<double>({n})))); };
  call(me == 0 ? 5 : 3);  // from now on the sizes of all blocks are gathered
  const vector y = call(4);
  for (std::size_t n = 50; n < 90; ++n) call(n + (me == 1 ? 2 : 0));  // more than the plans that are kept
  const vector dx = even.adjoint(y);
  BOOST_TEST((dx == vector(xt::ones<double>({4}))));
}

BOOST_AUTO_TEST_CASE(of_a_layer_add_up_the_bias_of_every_row_of_a_long_batch) {
  const world everyone(test::workers());
  const auto one = everyone.partition<1, 1>(workers(everyone.size() - 1, everyone.size()));
  linear<double> layer(one, one, one, {.in_features = 2, .out_features = 3});
  double expected = 0;
  for (const unsigned rows : {1U, 15U, 16U, 17U, 20U, 33U, 64U, 65U, 200U}) {
    const std::size_t batch = rows;
    layer(one.active() ? full({batch, 2}, 1) : matrix(zero_volume<double, 2>(batch)));
    layer.adjoint(one.active() ? full({batch, 3}, 2) : matrix(zero_volume<double, 2>(batch)));
    expected += 2 * static_cast<double>(batch);
    for (const double g : layer.bias_gradient()) BOOST_TEST(g == expected);
    for (const double g : layer.weight_gradient()) BOOST_TEST(g == expected);
  }
}

BOOST_AUTO_TEST_SUITE_END()
