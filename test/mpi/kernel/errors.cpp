// A wrong call throws the same error on every worker and never hangs, also if only some workers can see the mistake.
#include "mpi_test.hpp"

#include <partita/kernel/all_sum_reduce.hpp>
#include <partita/kernel/block_from.hpp>
#include <partita/kernel/broadcast.hpp>
#include <partita/kernel/halo_exchange.hpp>
#include <partita/kernel/repartition.hpp>
#include <partita/kernel/sum_reduce.hpp>
#include <partita/nn/linear.hpp>
#include <partita/nn/softmax_cross_entropy.hpp>

#include <boost/mpi/collectives/all_gather.hpp>
#include <cstdint>
#include <new>
#include <optional>
#include <refused.hpp>
#include <string>
#include <typeinfo>
#include <vector>

namespace {

using namespace partita;

/// The type and message of the exception that a call throws; empty if it does not throw.
template <class Call>
std::string thrown_by(Call call) {
  try {
    call();
  } catch (const error& e) {
    return std::string(typeid(e).name()) + ": " + e.what();
  }
  return {};
}

/// Checks that the call throws an Error with the same message on all workers, and that the message contains `part`.
template <class Error, class Call>
void expect_error_on_all(const char* part, Call call) {
  const std::string mine = thrown_by(call);
  std::vector<std::string> all;
  boost::mpi::all_gather(test::workers(), mine, all);
  BOOST_TEST(mine.find(typeid(Error).name()) == 0U, "it threw: " << mine);
  BOOST_TEST(mine.find(part) != std::string::npos, "it said: " << mine);
  for (const std::string& other : all) BOOST_TEST(other == mine);
}

/// Checks that the world works after an error.
void expect_all_well(const world& everyone) {
  const auto p = everyone.partition(extents(everyone.size()));
  const xt::xtensor<int, 1> x{1, 2};
  const auto sum = all_sum_reduce(p, dimensions<0>)(x);
  BOOST_TEST(sum(1) == 2 * static_cast<int>(everyone.size()));
}

using matrix = xt::xtensor<double, 2>;
matrix ones(std::size_t rows, std::size_t columns) { return xt::ones<double>({rows, columns}); }

}  // namespace

BOOST_AUTO_TEST_SUITE(errors_are_alike_on_all_workers)

BOOST_AUTO_TEST_CASE(workers_twice_or_outside_or_not_as_many_as_places) {
  const world everyone(test::workers());
  const std::size_t n = everyone.size();
  expect_error_on_all<partition_error>("listed twice", [&] { everyone.partition<2>(workers{0, 0}); });
  expect_error_on_all<partition_error>("requires workers of a world of", [&] { everyone.partition(extents(n + 1)); });
  for (const std::size_t beyond : {n, n + 1, n + 7}) {
    const text said = text("requires workers of a world of ") << n << ", got worker " << beyond << " (";
    expect_error_on_all<partition_error>(said.c_str(), [&] { everyone.partition<2>(workers{0, beyond}); });
  }
  expect_error_on_all<partition_error>("requires as many workers", [&] { everyone.partition<2>(workers(0, 1)); });
  expect_error_on_all<partition_error>("places below", [&] { everyone.partition<1>().subset<1>(workers{1}); });
  expect_error_on_all<partition_error>("requires as many workers", [&] { everyone.partition<1>().reshape<1, 2>(); });
  if (n > 1) {
    const auto last = everyone.partition<1>(workers{n - 1});
    const text words = text("partita::partition::index(): requires an active worker; worker ")
                       << everyone.id() << " is not in the partition; ask active() first";
    const std::string said = thrown_by([&] { last.index(); });
    BOOST_TEST(last.active() == said.empty());
    BOOST_TEST((last.active() || said.find(words.c_str()) != std::string::npos), said);
  }
  expect_error_on_all<partition_error>("inside the extents", [&] { everyone.partition<1>().worker({1}); });
  expect_all_well(everyone);
}

BOOST_AUTO_TEST_CASE(extents_that_do_not_broadcast, *test::at_least(6)) {
  const world everyone(test::workers());
  const auto two = everyone.partition(extents(1, 2)), three = everyone.partition(extents(2, 3));
  expect_error_on_all<partition_error>("dimension 1 has 2 against 3", [&] { broadcast(two, three); });
  expect_error_on_all<partition_error>("dimension 1 has 2 against 3", [&] { sum_reduce(three, two); });
  expect_error_on_all<partition_error>("(transposed)", [&] { broadcast(three, three, transpose_src); });
  expect_all_well(everyone);
}

BOOST_AUTO_TEST_CASE(blocks_of_cuts_into_another_number_of_parts) {
  const world everyone(test::workers());
  const std::size_t n = everyone.size();
  const auto p = everyone.partition(extents(n, 1));
  const auto at = [](std::size_t i, std::size_t j) { return static_cast<double>(i + j); };
  const text said = text("got cuts into [") << n + 1 << ", 1] for p = [" << n << ", 1]";
  expect_error_on_all<partition_error>(said.c_str(), [&] {
    block_from(p, decomposition<2>::balanced({10, 7}, {n + 1, std::size_t{1}}), at);
  });
  expect_all_well(everyone);
}

BOOST_AUTO_TEST_CASE(partitions_of_different_worlds) {
  const world everyone(test::workers()), other(test::workers());
  const auto p = everyone.partition<1, 1>();
  const auto q = other.partition<1, 1>();
  expect_error_on_all<partition_error>("partitions of one world", [&] { broadcast(p, q); });
  expect_error_on_all<partition_error>("partitions of one world", [&] { sum_reduce(p, q); });
  expect_error_on_all<partition_error>("partitions of one world", [&] { repartition(p, q); });
  expect_error_on_all<partition_error>("partitions of one world", [&] { union_of(p, q); });
  expect_all_well(everyone);
}

BOOST_AUTO_TEST_CASE(blocks_of_one_sum_that_differ, *test::at_least(2)) {
  const world everyone(test::workers());
  const auto all = everyone.partition(extents(everyone.size()));
  const auto root = everyone.partition<1>();
  const auto x = ones(2, everyone.id() == 1 ? 4 : 3);
  expect_error_on_all<shape_error>("requires the blocks that are summed to have one shape",
                                   [&] { sum_reduce(all, root)(x); });
  expect_error_on_all<shape_error>("requires the blocks that are summed to have one shape",
                                   [&] { broadcast(root, all).adjoint(x); });
  expect_error_on_all<shape_error>("requires the blocks that are summed to have one shape",
                                   [&] { all_sum_reduce(all, dimensions<0>)(x); });
  // the same number of elements in a different shape
  const auto turned = everyone.id() == 1 ? ones(2, 3) : ones(3, 2);
  expect_error_on_all<shape_error>("from [2, 2] to [3, 3]", [&] { all_sum_reduce(all, dimensions<0>)(turned); });
  expect_all_well(everyone);
}

BOOST_AUTO_TEST_CASE(blocks_that_contradict_their_neighbours, *test::at_least(4)) {
  const world everyone(test::workers());
  const auto grid = everyone.partition<2, 2>();
  const auto rows = everyone.partition<4, 1>();
  const repartition move(grid, rows);
  const auto ragged = grid.active() ? ones(2, everyone.id() == 3 ? 4 : 3) : matrix(zero_volume<double, 2>());
  expect_error_on_all<shape_error>(
      "partita::repartition(p_x, p_y)(x) with p_x = [2, 2]: the blocks are ragged: along dimension 1",
      [&] { move(ragged); });
  const auto whole = grid.active() ? ones(2, 3) : matrix(zero_volume<double, 2>());
  BOOST_TEST(move(whole).size() == (rows.active() ? 6U : 0U));
  const auto wrong = rows.active() ? ones(everyone.id() == 2 ? 2 : 1, 6) : matrix(zero_volume<double, 2>());
  expect_error_on_all<shape_error>("requires dy to be cut over p_y", [&] { move.adjoint(wrong); });
  // neighbours exchange ghosts only if all lines are cut alike, whichever worker's block is another
  const halo_exchange ghosts(grid, {.before = 1, .after = 1}, boundary::zero);
  for (std::size_t odd = 0; odd < 4; ++odd) {
    const std::size_t other = odd ^ 1U, columns = everyone.id() == odd ? 4 : everyone.id() == other ? 2 : 3;
    const matrix tiles = grid.active() ? ones(2, columns) : matrix(zero_volume<double, 2>());
    const matrix alone = grid.active() ? ones(2, everyone.id() == odd ? 4 : 3) : matrix(zero_volume<double, 2>());
    expect_error_on_all<shape_error>("requires blocks that are cut alike in every line", [&] { ghosts(tiles); });
    expect_error_on_all<shape_error>("the blocks are ragged", [&] { ghosts(alone); });
  }
  expect_all_well(everyone);
}

BOOST_AUTO_TEST_CASE(views_that_have_not_the_shape_of_the_result_on_one_worker) {
  const world everyone(test::workers());
  const auto all = everyone.partition(extents(everyone.size(), 1));
  const auto across = everyone.partition(extents(1, everyone.size()));
  matrix view({2, everyone.id() + 1 == everyone.size() ? std::size_t{2} : std::size_t{3}});
  const auto x = ones(2, 3);
  expect_error_on_all<shape_error>("requires a view of the shape of the result",
                                   [&] { broadcast(all, all).into(x, view); });
  expect_error_on_all<shape_error>("requires a view of the shape of the result",
                                   [&] { sum_reduce(all, all).into(x, view); });
  expect_error_on_all<shape_error>("requires a view of the shape of the result",
                                   [&] { all_sum_reduce(all, dimensions<0>).into(x, view); });
  matrix tall = xt::zeros<double>({2 * everyone.size() + 1, std::size_t{1}});
  expect_error_on_all<shape_error>("requires a view of the shape of the result",
                                   [&] { repartition(all, across).into(x, tall); });
  for (double element : tall) BOOST_TEST(element == 0.0);  // nothing was written
  expect_all_well(everyone);
}

BOOST_AUTO_TEST_CASE(different_calls_on_different_workers, *test::at_least(2)) {
  const world everyone(test::workers());
  const auto p = everyone.partition(extents(everyone.size()));
  const auto root = everyone.partition<1>(), second = everyone.partition<1>(workers{1});
  const bool odd = everyone.id() == 1;
  const auto x = ones(2, 3);
  const xt::xtensor<float, 2> single = x;
  const broadcast b(root, p), other(second, p);
  const sum_reduce s(p, root);
  const auto differ = "workers make different calls";
  // a different partition
  expect_error_on_all<disagreement_error>(differ, [&] { odd ? other(x) : b(x); });
  expect_error_on_all<disagreement_error>(differ, [&] { odd ? s(x) : b(x); });          // a different kernel
  expect_error_on_all<disagreement_error>(differ, [&] { odd ? b.adjoint(x) : b(x); });  // the other direction
  // a different element type
  expect_error_on_all<disagreement_error>(differ, [&] { odd ? void(b(single)) : void(b(x)); });
  expect_error_on_all<disagreement_error>(
      differ, [&] { odd ? void(b(xt::xtensor<double, 1>{1.})) : void(b(x)); });  // a different rank
  const repartition r(everyone.partition(extents(everyone.size(), 1)), everyone.partition(extents(1, everyone.size())));
  const all_sum_reduce a(p, dimensions<0>);
  expect_error_on_all<disagreement_error>(differ, [&] { odd ? void(a(x)) : void(r(x)); });
  const auto rows = everyone.partition(extents(everyone.size(), 1)),
             columns = everyone.partition(extents(1, everyone.size()));
  for (const strategy way : {strategy::mixed, strategy::message})
    for (const message_form form : {message_form::by_size, message_form::packed, message_form::chunked,
                                    message_form::typed, message_form::measured}) {
      if (way == strategy::mixed && form == message_form::by_size) continue;
      const repartition otherwise(rows, columns, odd ? way : strategy::mixed, odd ? form : message_form::by_size);
      expect_error_on_all<disagreement_error>(differ, [&] { otherwise(x); });
    }
  const broadcast viewed(root, p, shared_view);
  const sum_reduce exact(p, root, reproducible);
  const all_sum_reduce exact_for_all(p, dimensions<0>, reproducible);
  expect_error_on_all<disagreement_error>(differ, [&] { odd ? void(viewed(x)) : void(b(x)); });  // a different policy
  expect_error_on_all<disagreement_error>(differ, [&] { odd ? exact(x) : s(x); });
  expect_error_on_all<disagreement_error>(differ, [&] { odd ? exact_for_all(x) : a(x); });
  expect_all_well(everyone);
}

BOOST_AUTO_TEST_CASE(calls_that_differ_are_told_apart, *test::at_least(2)) {
  const world everyone(test::workers());
  const std::size_t n = everyone.size();
  const bool odd = everyone.id() == 1;
  const auto p = everyone.partition(extents(n));
  const all_sum_reduce sum(p, dimensions<0>);
  const xt::xtensor<double, 1> x{1, 2};
  const xt::xtensor<std::int64_t, 1> whole{1, 2};
  // both types have 8 bytes, so the message names the types and the workers that use them
  expect_error_on_all<disagreement_error>("elements of type double (8 bytes)",
                                          [&] { odd ? void(sum(whole)) : void(sum(x)); });
#if defined(__clang__)
  const char* const of_eight = "elements of type long (8 bytes)";
#else
  const char* const of_eight = "elements of type long int (8 bytes)";  // the name that g++ gives it
#endif
  expect_error_on_all<disagreement_error>(of_eight, [&] { odd ? void(sum(whole)) : void(sum(x)); });
  const auto others = n == 2 ? "worker 0 makes partita::all_sum_reduce" : " other";
  expect_error_on_all<disagreement_error>(others, [&] { odd ? void(sum(whole)) : void(sum(x)); });
  expect_error_on_all<disagreement_error>(", worker 1 makes partita::all_sum_reduce",
                                          [&] { odd ? void(sum(whole)) : void(sum(x)); });
  expect_all_well(everyone);
}

BOOST_AUTO_TEST_CASE(memory_that_is_missing_on_one_worker_while_a_structure_is_worked_out) {
  const world everyone(test::workers());
  expect_error_on_all<communication_error>("worker 0 has no memory to prepare", [&] {
    detail::plan_cache<int> cache;
    const detail::local_error none;
    detail::agreed_structure(
        *everyone.state(), cache, {77, none}, [](int) { return true; },
        [&](detail::local_error&) -> int { return everyone.id() == 0 ? throw std::bad_alloc() : 1; },
        [] { return text("a call"); });
  });
  expect_all_well(everyone);
}

BOOST_AUTO_TEST_CASE(a_loss_without_agreement_is_the_same_and_still_checked) {
  const world agreeing(test::workers()), trusting(test::workers(), checks::local);
  const xt::xtensor<std::size_t, 1> labels{0, 3, 1}, wrong{0, 3, 7};
  const auto loss_of = [&](const world& w, const auto& of) {
    const interval mine = balanced_part(7, w.size(), w.id());
    matrix scores = ones(3, mine.size());
    for (std::size_t j = 0; j < mine.size(); ++j) scores(1, j) = 0.5 * static_cast<double>(mine.start + j);
    softmax_cross_entropy<double> loss(w.partition(extents(1, w.size())));
    return loss(scores, of);
  };
  BOOST_TEST(loss_of(agreeing, labels) == loss_of(trusting, labels));
  expect_error_on_all<shape_error>("label 2 is 7", [&] { loss_of(trusting, wrong); });
}

/// A worker leaves before the first call, when no memory is shared yet, or after it.
BOOST_AUTO_TEST_CASE(a_worker_that_left, *test::at_least(2)) {
  for (const bool after_a_call : {false, true}) {
    std::optional<world> everyone(std::in_place, test::workers());
    const bool leaves = everyone->id() == 1;
    std::string said, said_again;
    const double start = MPI_Wtime();
    {
      const auto p = everyone->partition(extents(everyone->size()));
      const all_sum_reduce a(p, dimensions<0>);
      if (after_a_call) a(ones(2, 3));
      if (!leaves) said = thrown_by([&] { a(ones(2, 3)); });
      // a worker that continues gets the error again, at once
      if (!leaves) said_again = thrown_by([&] { a(ones(2, 3)); });
    }
    everyone.reset();
    BOOST_TEST((leaves || said.find("has left the world") != std::string::npos), "it said: " << said);
    BOOST_TEST((leaves || said_again.find("a worker has left the world") != std::string::npos),
               "it said: " << said_again);
    BOOST_TEST(MPI_Wtime() - start < 5.0);  // no worker waits for one that has left, not even at the end of the world
    expect_all_well(world(test::workers()));
  }
}

BOOST_AUTO_TEST_CASE(a_linear_layer_of_wrong_partitions, *test::at_least(6)) {
  const world everyone(test::workers());
  const auto p_x = everyone.partition(extents(1, 3)), p_y = everyone.partition(extents(1, 2)),
             p_w = everyone.partition(extents(2, 3));
  const linear_options o{.in_features = 7, .out_features = 5};
  expect_error_on_all<partition_error>("p_x cuts the features into 2, p_w into 3",
                                       [&] { linear<double>(p_y, p_y, p_w, o); });
  expect_error_on_all<partition_error>("p_y cuts the features into 3, p_w into 2",
                                       [&] { linear<double>(p_x, p_x, p_w, o); });
  const auto cut = everyone.partition(extents(2, 3));
  expect_error_on_all<partition_error>("a batch dimension, into 2", [&] { linear<double>(cut, p_y, p_w, o); });
  expect_all_well(everyone);
}

BOOST_AUTO_TEST_CASE(a_parallel_linear_layer_of_wrong_partitions, *test::at_least(4)) {
  const world everyone(test::workers());
  const auto p = everyone.partition(extents(1, 4)), half = everyone.partition(extents(1, 2));
  const auto column = everyone.partition(extents(4, 1)), row = everyone.partition(extents(1, 4)),
             both = everyone.partition(extents(2, 2));
  const auto turned = everyone.partition(extents(1, 4), workers{3, 2, 1, 0});
  const linear_options o{.in_features = 7, .out_features = 5};
  using columns = linear<double, column_parallel>;
  using rows = linear<double, row_parallel>;
  expect_error_on_all<partition_error>(
      "p_w cuts the input features into 2; choose p_w with 1 column, or weight_stationary",
      [&] { columns(p, p, both, o); });
  expect_error_on_all<partition_error>(
      "p_w cuts the output features into 2; choose p_w with 1 row, or weight_stationary", [&] { rows(p, p, both, o); });
  expect_error_on_all<partition_error>("p_x cuts the features into 2, p_w into 4",
                                       [&] { columns(half, p, column, o); });
  expect_error_on_all<partition_error>("p_y cuts the features into 2, p_w into 4", [&] { rows(p, half, row, o); });
  expect_error_on_all<partition_error>("got p_x on [3, 2, 1, 0], p_y on [0, 1, 2, 3]",
                                       [&] { columns(turned, p, column, o); });
  expect_error_on_all<partition_error>("make the three from the same workers in the same order",
                                       [&] { rows(p, turned, row, o); });
  const world other(test::workers());
  const auto elsewhere = other.partition(extents(1, 4));
  for (const auto* const p_x : {&p, &elsewhere})
    expect_error_on_all<partition_error>(": make them from one world",
                                         [&] { rows(*p_x, p_x == &p ? elsewhere : p, row, o); });
  expect_all_well(everyone);
}

template <linear_algorithm Algorithm>
void expect_refusals(const world& everyone, std::size_t f_out, std::size_t f_in) {
  const std::size_t n = everyone.size(), last = n - 1;
  const auto p = everyone.partition(extents(1, n));
  linear<double, Algorithm> layer(p, p, everyone.partition(extents(f_out, f_in)),
                                  {.in_features = 2 * n, .out_features = 3 * n});
  const auto x = ones(4, 2);
  expect_error_on_all<shape_error>("features in the last dimension of x",
                                   [&] { layer(ones(4, everyone.id() == last ? 3 : 2)); });
  expect_error_on_all<shape_error>("requires a forward call before", [&] { layer.adjoint(ones(4, 3)); });
  layer(x);
  expect_error_on_all<shape_error>("requires dy of the shape of the last result",
                                   [&] { layer.adjoint(ones(everyone.id() == last ? 5 : 4, 3)); });
  for (double g : layer.weight_gradient()) BOOST_TEST(g == 0);  // a failed call does not change the gradients
  if (n > 1) expect_error_on_all<shape_error>("", [&] { layer(ones(everyone.id() == last ? 5 : 4, 2)); });
  layer(x);
  layer.adjoint(ones(4, 3));
  expect_all_well(everyone);
}

BOOST_AUTO_TEST_CASE(a_parallel_linear_layer_of_wrong_blocks) {
  const world everyone(test::workers());
  expect_refusals<column_parallel>(everyone, everyone.size(), 1);
  expect_refusals<row_parallel>(everyone, 1, everyone.size());
}

BOOST_AUTO_TEST_CASE(a_linear_layer_of_wrong_features) {
  const world everyone(test::workers());
  const std::size_t n = everyone.size(), last = n - 1;
  const auto p_x = everyone.partition(extents(1, n)), p_w = everyone.partition(extents(1, n));
  const auto p_y = everyone.partition<1, 1>();
  linear<double> layer(p_x, p_y, p_w, {.in_features = 2 * n, .out_features = 3});
  const auto wrong = ones(4, everyone.id() == last ? 3 : 2);
  expect_error_on_all<shape_error>("features in the last dimension of x", [&] { layer(wrong); });
  expect_error_on_all<shape_error>("requires a forward call before", [&] { layer.adjoint(ones(4, 3)); });
  layer(ones(4, 2));
  const auto dy = p_y.active() ? ones(5, 3) : matrix(zero_volume<double, 2>());
  expect_error_on_all<shape_error>("requires dy of the shape of the last result", [&] { layer.adjoint(dy); });
  if (everyone.id() == last) layer.weight() = ones(1, 1);
  expect_error_on_all<shape_error>("requires a weight block of", [&] { layer(ones(4, 2)); });
  expect_all_well(everyone);
}

BOOST_AUTO_TEST_CASE(batches_of_a_layer_that_differ, *test::at_least(2)) {
  const world everyone(test::workers());
  const auto p_x = everyone.partition(extents(1, everyone.size())),
             p_w = everyone.partition(extents(1, everyone.size()));
  linear<double> layer(p_x, everyone.partition<1, 1>(), p_w, {.in_features = everyone.size(), .out_features = 2});
  const auto x = ones(everyone.id() == 1 ? 4 : 3, 1);
  expect_error_on_all<shape_error>(
      "partita::linear(x): requires x of one batch on all workers of p_x, got [3] on worker 0 and [4] on worker 1",
      [&] { layer(x); });
  expect_all_well(everyone);
}

BOOST_AUTO_TEST_CASE(a_worker_of_another_batch_is_named_by_its_number_in_the_world, *test::at_least(2)) {
  const world everyone(test::workers());
  const std::size_t n = everyone.size();
  const auto one = everyone.partition<1, 1>();
  for (std::size_t m = n == 2 ? 2 : n - 1; m <= n; ++m) {  // all workers, or all but worker 0, in reverse order
    std::vector<std::size_t> ids;
    for (std::size_t k = 0; k < m; ++k) ids.push_back(n - 1 - k);
    const auto p = everyone.partition(extents(1, m), workers(ids));
    linear<double> layer(p, one, p, {.in_features = m, .out_features = 2});
    for (std::size_t odd = 0; odd < m; ++odd) {
      const std::size_t other = odd == 0 ? 1 : odd;  // the first place whose batch is not that of place 0
      const text part = text("got [") << (odd == 0 ? 4 : 3) << "] on worker " << ids[0] << " and ["
                                      << (odd == 0 ? 3 : 4) << "] on worker " << ids[other];
      const auto x =
          everyone.id() == 0 && m < n ? matrix(zero_volume<double, 2>()) : ones(everyone.id() == ids[odd] ? 4 : 3, 1);
      expect_error_on_all<shape_error>(part.c_str(), [&] { layer(x); });
    }
  }
  expect_all_well(everyone);
}

BOOST_AUTO_TEST_CASE(labels_and_scores_that_do_not_fit) {
  const world everyone(test::workers());
  const auto p = everyone.partition(extents(1, everyone.size()));
  softmax_cross_entropy<double> loss(p);
  const auto scores = ones(2, 2);
  const xt::xtensor<int, 1> labels{0, 1}, few{0}, high{0, static_cast<int>(2 * everyone.size())}, negative{0, -1};
  expect_error_on_all<shape_error>("one label for each row", [&] { loss(scores, few); });
  expect_error_on_all<shape_error>("labels below the number of classes",
                                   [&] { loss(scores, everyone.id() == 0 ? high : labels); });
  expect_error_on_all<shape_error>("labels below the number of classes", [&] { loss(scores, negative); });
  if (everyone.size() > 1) {
    const auto uneven = ones(2, everyone.id() == 1 ? 5 : 2);
    expect_error_on_all<shape_error>("balanced cut of the classes", [&] { loss(uneven, labels); });
    const auto rows = everyone.id() == 1 ? ones(3, 2) : scores;
    const xt::xtensor<int, 1> own = everyone.id() == 1 ? xt::xtensor<int, 1>{0, 0, 0} : labels;
    expect_error_on_all<shape_error>("one batch extent on all workers", [&] { loss(rows, own); });
    const auto cut_rows = everyone.partition(extents(everyone.size(), 1));
    expect_error_on_all<partition_error>("requires p = 1 x ... x f", [&] { softmax_cross_entropy<double>{cut_rows}; });
  }
  expect_all_well(everyone);
}

BOOST_AUTO_TEST_SUITE_END()
