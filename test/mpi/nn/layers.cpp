// Compares dropout, embedding and flatten with their definitions; checks the concept of all layers; and tests networks.
#include "layer_twin.hpp"
#include "random_cases.hpp"
#include "refused.hpp"

#include <partita/kernel/adjoint_test.hpp>
#include <partita/kernel/block_from.hpp>
#include <partita/kernel/repartition.hpp>
#include <partita/nn/activation.hpp>
#include <partita/nn/batch_norm.hpp>
#include <partita/nn/cross_entropy.hpp>
#include <partita/nn/dropout.hpp>
#include <partita/nn/embedding.hpp>
#include <partita/nn/flatten.hpp>
#include <partita/nn/group_norm.hpp>
#include <partita/nn/layer.hpp>
#include <partita/nn/layer_norm.hpp>
#include <partita/nn/linear.hpp>
#include <partita/nn/loss.hpp>
#include <partita/nn/optimiser.hpp>
#include <partita/nn/pooling.hpp>
#include <partita/nn/sequential.hpp>
#include <partita/nn/upsampling.hpp>
#if __has_include(<Random123/philox.h>)
#include <Random123/philox.h>
#endif

namespace {

using namespace partita;
using test::close;
using test::random_below;
using test::refused;
using test::whole_tensor;
using cube = xt::xtensor<double, 3>;
using matrix = xt::xtensor<double, 2>;

// one concept for all layers of the library and for the kernels between them
using p3 = dynamic_extents<3>;
static_assert(layer<linear<double>, matrix> && layer<relu<double>, matrix>);
static_assert(layer<max_pooling<p3>, cube> && layer<average_pooling<p3>, cube>);
static_assert(layer<adaptive_max_pooling<p3>, cube> && layer<adaptive_average_pooling<p3>, cube>);
static_assert(layer<upsampling<p3>, cube> && layer<dropout<p3>, cube>);
static_assert(layer<batch_norm<double, 3>, cube> && layer<group_norm<double, 3>, cube>);
static_assert(layer<layer_norm<double, 3>, cube> && layer<rms_norm<double, 3, 2>, cube>);
static_assert(layer<flatten<p3, dynamic_extents<2>>, cube> && layer<repartition<p3, p3>, cube>);
static_assert(layer<embedding<double, 3>, xt::xtensor<int, 2>>);
static_assert(layer<sequential<relu<double>, linear<double>>, matrix>);
static_assert(!layer<l1_loss<double, 2>, matrix>);  // a loss has two arguments

/// Checks that a call takes what is good, and refuses on all workers what is not, with these words.
template <class Call>
void taken_if(bool is_good, const char* words, Call make) {
  if (is_good) BOOST_CHECK_NO_THROW(make());
  else test::expect_refused<shape_error>(make, words);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(layers)

BOOST_AUTO_TEST_CASE(dropout_is_one_mask_on_every_partition) {
  const world everyone(test::workers());
  std::mt19937 draws(1);
  for (std::size_t round = 0; round < 3 + test::random_cases(16); ++round) {
    const std::array<std::size_t, 3> extents{1 + random_below(draws, 4), 1 + random_below(draws, 5),
                                             1 + random_below(draws, 7)};
    const auto grid = test::random_grid<3>(draws, everyone.size());
    const auto cuts = test::random_cuts<3>(draws, extents, grid);
    const auto p = test::partition_on<3>(everyone, draws, grid);
    const whole_tensor<double, 3> x(extents, [](std::size_t k) { return static_cast<double>(k) + 1; });
    const double probability = round % 2 == 0 ? 0.25 : 0.5;
    dropout layer(p, {.probability = probability, .seed = 17});
    for (const std::uint64_t step : {1U, 2U}) {
      whole_tensor<double, 3> wanted(extents);
      for (std::size_t k = 0; k < x.values.size(); ++k) {
        const std::uint32_t word =
            detail::philox({static_cast<std::uint32_t>(k / 4), 0, static_cast<std::uint32_t>(step), 0}, {17, 0})[k % 4];
        wanted.values[k] = word < probability * 0x1p32 ? 0 : x.values[k] / (1 - probability);
      }
      const auto x_own = x.block(p, cuts);
      BOOST_TEST(close(layer(x_own), wanted.block(p, cuts)));
      BOOST_TEST(layer.step() == step);
      BOOST_TEST(close(layer.adjoint(x_own), wanted.block(p, cuts)));
      layer.evaluate();  // the adjoint is that of the last call, whatever the mode is now
      BOOST_TEST(close(layer.adjoint(x_own), wanted.block(p, cuts)));
      layer.train();
    }
    layer.evaluate();
    BOOST_TEST((layer(x.block(p, cuts)) == x.block(p, cuts)));
    BOOST_TEST((layer.adjoint(x.block(p, cuts)) == x.block(p, cuts)));
    BOOST_TEST(layer.step() == 2U);  // a call in evaluation mode does not count
  }
}

BOOST_AUTO_TEST_CASE(dropout_drops_as_many_as_it_says_and_knows_its_limits) {
  const world everyone(test::workers());
  const auto p = everyone.partition(extents(everyone.size()));
  const auto ones = block_from(p, extents<dynamic>(20000 * everyone.size()), [](auto) { return 1.0F; });
  dropout layer(p, {.probability = 0.3});
  const auto y = layer(ones);
  const double kept = static_cast<double>(xt::count_nonzero(y)()) / static_cast<double>(y.size());
  BOOST_TEST(std::abs(kept - 0.7) < 0.02);
  BOOST_TEST(xt::count_nonzero(dropout(p, {.probability = 1})(ones))() == 0U);
  BOOST_TEST((dropout(p, {.probability = 0})(ones) == ones));
  BOOST_TEST(refused<shape_error>([&] { dropout(p, {.probability = 1.5}); }).find("from 0 to 1") != std::string::npos);
  dropout fresh(p);
  BOOST_TEST(refused<shape_error>([&] { fresh.adjoint(ones); }).find("call the layer first") != std::string::npos);
}

#if __has_include(<Random123/philox.h>)
BOOST_AUTO_TEST_CASE(random_words_are_those_of_Random123) {
  std::mt19937 draws(5);
  for (std::size_t k = 0; k < 1000; ++k) {
    r123::Philox4x32::ctr_type counter{};
    r123::Philox4x32::key_type key{};
    std::array<std::uint32_t, 4> c{};
    std::array<std::uint32_t, 2> s{};
    for (std::size_t d = 0; d < 4; ++d) counter[d] = c[d] = static_cast<std::uint32_t>(draws());
    for (std::size_t d = 0; d < 2; ++d) key[d] = s[d] = static_cast<std::uint32_t>(draws());
    const auto theirs = r123::Philox4x32()(counter, key);
    const auto ours = detail::philox(c, s);
    for (std::size_t d = 0; d < 4; ++d) BOOST_TEST(theirs[d] == ours[d]);
  }
}
#endif

/// Word k of a step is word k % 4 of the block k / 4, whose counter and key have all bits of k, of the step and of the
/// seed.
BOOST_AUTO_TEST_CASE(random_words_depend_on_every_bit_of_the_seed_the_step_and_the_place) {
  std::mt19937_64 draws(6);
  for (int k = 0; k < 200; ++k) {
    const std::uint64_t seed = draws(), step = draws(), place = draws();
    const auto half = [](std::uint64_t n, unsigned shift) { return static_cast<std::uint32_t>(n >> shift); };
    const auto block = detail::philox({half(place / 4, 0), half(place / 4, 32), half(step, 0), half(step, 32)},
                                      {half(seed, 0), half(seed, 32)});
    BOOST_TEST(detail::random_words(seed, step)[place] == block[place % 4]);
  }
}

BOOST_AUTO_TEST_CASE(embedding_looks_up_rows_of_a_table_that_is_cut_by_columns_or_rows) {
  const world everyone(test::workers());
  std::mt19937 draws(2);
  constexpr std::size_t rows = 7, columns = 5;
  const world alone(boost::mpi::communicator(MPI_COMM_SELF, boost::mpi::comm_attach));
  embedding<double, 2> whole(alone.partition<1, 1>(), {.rows = rows, .columns = columns, .seed = 3});
  for (std::size_t round = 0; round < 4 + test::random_cases(24); ++round) {
    const auto grid = test::random_grid<2>(draws, everyone.size());
    const auto p = test::partition_on<2>(everyone, draws, grid);
    const std::size_t n = 1 + random_below(draws, 6);
    const auto batch = test::random_cuts<1>(draws, {n}, {grid[0]});
    // each index twice
    const auto id_at = [&](std::size_t k) { return static_cast<int>((3 * (k / 2) + round) % rows); };
    const bool by_rows = round % 2 == 0;
    embedding<double, 2> layer(
        p,
        {.rows = rows, .columns = columns, .cut = by_rows ? embedding_cut::rows : embedding_cut::columns, .seed = 3});
    const box<2> own = layer.weight_box();
    const interval mine = [&] {
      interval piece;
      if (p.active()) batch.cuts[0].for_pieces(p.index()[0], [&](interval i, std::size_t) { piece = i; });
      return piece;
    }();
    auto x = uninitialised<int, 1>({mine.size()});
    for (std::size_t k = 0; k < x.size(); ++k) x(k) = id_at(mine.start + k);
    const std::size_t first = by_rows ? 0 : own.start[1], width = !p.active() ? 0 : by_rows ? columns : own.shape()[1];
    const auto dy_at = [](std::size_t k, std::size_t j) { return static_cast<double>((5 * k + j) % 7) - 3; };
    const auto y = layer(x);
    auto dy = uninitialised<double, 2>({mine.size(), width});
    bool same = y.shape()[0] == mine.size() && y.shape()[1] == width;
    for (std::size_t k = 0; k < mine.size() && same; ++k)
      for (std::size_t j = 0; j < width; ++j) {
        same = same && y(k, j) == whole.weight()(static_cast<std::size_t>(x(k)), first + j);
        dy(k, j) = dy_at(mine.start + k, first + j);
      }
    BOOST_TEST(same);
    for (const double times : {1.0, 2.0}) {
      BOOST_TEST((layer.adjoint(dy) == xt::xtensor<double, 1>(xt::zeros<double>({mine.size()}))));
      bool right = true;
      for (std::size_t i = own.start[0]; i < own.stop[0]; ++i)
        for (std::size_t j = own.start[1]; j < own.stop[1]; ++j) {
          double sum = 0;
          for (std::size_t k = 0; k < n; ++k) sum += static_cast<std::size_t>(id_at(k)) == i ? dy_at(k, j) : 0;
          right = right && layer.weight_gradient()(i - own.start[0], j - own.start[1]) == times * sum;
        }
      BOOST_TEST(right);
    }
  }
  embedding<float, 2> refuses(everyone.partition(extents(std::size_t{1}, everyone.size())), {.rows = 3, .columns = 9});
  const bool last = everyone.id() + 1 == everyone.size();
  BOOST_TEST(refused<shape_error>([&] {
               refuses(xt::xtensor<int, 1>{0, last ? 3 : 1});
             }).find("below rows, 3") != std::string::npos);
  BOOST_TEST(refused<shape_error>([&] {
               refuses(xt::xtensor<int, 1>{0, last ? -1 : 1});
             }).find("below rows, 3") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(flatten_is_C_order_whatever_is_cut_and_its_adjoint_the_way_back) {
  const world everyone(test::workers());
  std::mt19937 draws(3);
  for (std::size_t round = 0; round < 3 + test::random_cases(24); ++round) {
    const std::array<std::size_t, 3> extents{1 + random_below(draws, 4), 1 + random_below(draws, 5),
                                             1 + random_below(draws, 4)};
    const auto grid = test::random_grid<3>(draws, everyone.size());
    const auto cuts = test::random_cuts<3>(draws, extents, grid);
    const auto p = test::partition_on<3>(everyone, draws, grid);
    const auto grid_y = test::random_grid<2>(draws, everyone.size());
    const auto p_y = test::partition_on<2>(everyone, draws, grid_y);
    const whole_tensor<double, 3> x(extents, [](std::size_t k) { return static_cast<double>(k); });
    const whole_tensor<double, 2> y({extents[0], extents[1] * extents[2]}, [](std::size_t k) { return k; });
    const auto y_own = y.block(p_y, decomposition<2>::balanced(y.extents, grid_y));
    flatten layer(p, p_y);
    const auto got = layer(x.block(p, cuts));
    if (p_y.active()) BOOST_TEST((got == y_own));
    const auto back = layer.adjoint(y_own);
    if (p.active()) BOOST_TEST((back == x.block(p, cuts)));
  }
}

BOOST_AUTO_TEST_CASE(running_statistics_follow_PyTorch) {
  const world everyone(test::workers());
  const auto p = everyone.partition(extents(everyone.size(), std::size_t{1}));
  const std::size_t rows = 2 * everyone.size();
  const auto first = block_from(p, extents<dynamic, 1>(rows), [](auto i, auto) { return i % 2 == 0 ? 1.0 : 5.0; });
  const auto second = block_from(p, extents<dynamic, 1>(rows), [](auto i, auto) { return i % 2 == 0 ? 7.0 : 9.0; });
  const double n = static_cast<double>(rows), share = n / (n - 1);
  const auto after = [&](std::optional<double> momentum, double mean, double variance) {
    batch_norm<double, 2> layer(p, {.channels = 1, .momentum = momentum});
    layer(first), layer(second);
    BOOST_TEST(std::abs(layer.running_mean()(0) - mean) < 1e-13);
    BOOST_TEST(std::abs(layer.running_variance()(0) - variance) < 1e-12);
  };
  after(std::nullopt, 5.5, share * (4 + 1) / 2);  // the average of both batches
  after(0.0, 0, 1);                               // a momentum of 0: the statistics do not change
  after(1.0, 8, share);                           // only the last batch counts
  after(0.5, 0.25 * 0 + 0.25 * 3 + 0.5 * 8, 0.25 + 0.25 * 4 * share + 0.5 * share);
  batch_norm<double, 2> untracked(p, {.channels = 1, .affine = false, .track = false});
  const auto trained = untracked(first);
  untracked.evaluate();
  BOOST_TEST((untracked(first) == trained));
  BOOST_TEST(untracked.running_mean().size() == 0U);
}

BOOST_AUTO_TEST_CASE(a_network_of_them_on_all_workers_is_the_network_on_one) {
  const world everyone(test::workers()), alone(boost::mpi::communicator(MPI_COMM_SELF, boost::mpi::comm_attach));
  const std::size_t n = everyone.size(), batch_parts = n % 2 == 0 ? 2 : 1, feature_parts = n / batch_parts;
  const auto network = [](const world& on, std::size_t b, std::size_t f) {
    const auto p = on.partition(extents<dynamic, 1, dynamic>(b, f));
    const auto row = on.partition(extents<1, dynamic>(b * f));
    const auto all = on.partition<1, 1>();
    linear<double> last(row, all, row, {.in_features = 6, .out_features = 3, .seed = 5});
    return sequential(upsampling(p, {.scale = 2, .mode = upsampling_mode::linear}),
                      batch_norm<double, 3>(p, {.channels = 2}), relu<double>(),
                      max_pooling(p, {.kernel = {3}, .stride = {{2}}, .padding = {1}}),
                      dropout(p, {.probability = 0.25, .seed = 9}), adaptive_average_pooling(p, {.size = {3}}),
                      flatten(p, row), std::move(last));
  };
  auto parted = network(everyone, batch_parts, feature_parts);
  auto single = network(alone, 1, 1);
  const whole_tensor<double, 3> x({4, 2, 7}, [](std::size_t k) { return static_cast<double>((7 * k) % 11) / 4 - 1; });
  const auto run = [&](const world& on, auto& layers, std::size_t b, std::size_t f) {
    const auto p = on.partition(extents<dynamic, 1, dynamic>(b, f));
    const auto all = on.partition<1, 1>();
    cross_entropy_loss<double, 2> loss(all);
    sgd<double> descend(layers.parameters(), {.learning_rate = 0.25});
    std::vector<double> values;
    const auto x_own = x.block(p, decomposition<3>::balanced(x.extents, {b, 1, f}));
    const xt::xtensor<int, 1> targets{0, 1, 2, 0};
    for (int step = 0; step < 4; ++step) {
      const auto scores = layers(x_own);
      values.push_back(loss(scores, targets));
      layers.zero_gradients();
      layers.adjoint(loss.adjoint());
      descend.step();
    }
    layers.evaluate();
    values.push_back(loss(layers(x_own), targets));
    return values;
  };
  const auto of_all = run(everyone, parted, batch_parts, feature_parts), of_one = run(alone, single, 1, 1);
  for (std::size_t k = 0; k < of_one.size(); ++k) BOOST_TEST(std::abs(of_all[k] - of_one[k]) < 1e-12);
  BOOST_TEST(of_one[3] < of_one[0]);
}

BOOST_AUTO_TEST_CASE(a_number_added_to_all_scores_of_a_row_leaves_their_cross_entropy) {
  const world everyone(test::workers());
  cross_entropy_loss<double, 2> loss(everyone.partition<1, 1>());
  const bool holds = everyone.id() == 0;
  const xt::xtensor<int, 1> targets = holds ? xt::xtensor<int, 1>{1, 2} : zero_volume<int, 1>();
  const auto of = [&](double more) {
    return loss(holds ? matrix{{more, more + 2, more - 1}, {3, 1, 1}} : zero_volume<double, 2>(), targets);
  };
  const double value = of(0);
  const matrix slope = loss.adjoint();
  for (const double more : {1000.0, -1000.0}) {  // beyond what exp can take
    BOOST_TEST(std::abs(of(more) - value) < 1e-14);
    BOOST_TEST(close(loss.adjoint(), slope));
  }
}

/// Channels, features and samples on several workers: results are those of one worker.
BOOST_AUTO_TEST_CASE(norms_and_losses_of_cut_tensors_are_those_of_one_worker) {
  const world everyone(test::workers()), alone(boost::mpi::communicator(MPI_COMM_SELF, boost::mpi::comm_attach));
  const std::size_t n = everyone.size();
  const auto number = [](auto i, auto j, auto k) { return static_cast<double>((7 * i + 5 * j * j + 3 * k) % 11) - 4; };
  const auto whole = block_from(alone.partition<1, 1, 1>(), extents<2, 12, 3>{}, number);
  const auto p = everyone.partition(extents(std::size_t{1}, n, std::size_t{1}));
  for (const std::size_t groups : {1U, 2U, 3U, 4U, 6U, 12U}) {
    const group_norm_options o{.groups = groups, .channels = 12, .epsilon = 0.5};
    group_norm<double, 3> cut(p, o), one(alone.partition<1, 1, 1>(), o);
    const cube y = cut(block_from(p, extents<2, 12, 3>{}, number)), wanted = one(whole);
    const auto own = cut.channels();
    BOOST_TEST(close(y, cube(xt::view(wanted, xt::all(), xt::range(own.start, own.stop), xt::all()))), groups);
  }
  const std::size_t rows = n % 2 == 0 ? 2 : 1;
  const auto q = everyone.partition(extents(rows, n / rows));
  const auto ones = block_from(q, extents<4, 12>{}, [](auto, auto) { return 1.0; });
  for (const auto& [reduction, wanted] :
       {std::pair(loss_reduction::sum, -48.0), {loss_reduction::mean, -1.0}, {loss_reduction::batch_mean, -12.0}})
    BOOST_TEST((kl_loss<double, 2>(q, {.reduction = reduction})(ones, ones) == wanted));
}

/// A layer that holds a part of its parameters refuses a tensor that is cut in another way, on all workers.
BOOST_AUTO_TEST_CASE(tensors_of_other_cuts_than_those_of_the_parameters_are_refused, *test::at_least(2)) {
  const world everyone(test::workers());
  const std::size_t n = everyone.size(), id = everyone.id();
  const auto p = everyone.partition(extents(std::size_t{1}, n));
  const matrix even = xt::ones<double>({std::size_t{3}, std::size_t{2}}),
               uneven = xt::ones<double>({std::size_t{3}, id == 0 ? std::size_t{3} : 2 - (id + 1) / n});
  const auto check = [&](auto layer) {
    layer(even);
    BOOST_TEST(!refused<shape_error>([&] { layer(uneven); }).empty());
    layer(even);
  };
  check(layer_norm<double, 2>(p, {.shape = {2 * n}}));
  check(rms_norm<double, 2>(p, {.shape = {2 * n}}));
  check(group_norm<double, 2>(p, {.channels = 2 * n}));
  check(batch_norm<double, 2>(p, {.channels = 2 * n}));
}

/// The law of layer_twin.hpp for every layer.
BOOST_AUTO_TEST_CASE(gradients_and_parameters_of_other_shapes_are_refused) {
  const world everyone(test::workers());
  const std::size_t n = everyone.size();
  const auto p = everyone.partition(dynamic_extents<3>(1, 1, n)), channels = everyone.partition(p3(1, n, 1));
  const auto row = everyone.partition(dynamic_extents<2>(1, n));
  const auto check = [&](const char* name, auto layer) {
    test::expect_shapes_kept(name, everyone, std::move(layer), cube(xt::ones<double>({2, 4, 6})));
  };
  check("max_pooling", max_pooling(p, {.kernel = {3}, .stride = {{2}}, .padding = {1}}));
  check("adaptive_average_pooling", adaptive_average_pooling(p, {.size = {n}}));
  check("upsampling", upsampling(p, {.scale = 2, .mode = upsampling_mode::linear}));
  check("dropout", dropout(p));
  check("batch_norm", batch_norm<double, 3>(p, {.channels = 4}));
  check("group_norm", group_norm<double, 3>(channels, {.groups = 1, .channels = 4 * n}));
  check("flatten", flatten(p, row));
  const matrix rows = xt::ones<double>({3, 2});
  test::expect_shapes_kept("layer_norm", everyone, layer_norm<double, 2>(row, {.shape = {2 * n}}), rows);
  test::expect_shapes_kept("rms_norm", everyone, rms_norm<double, 2>(row, {.shape = {2 * n}}), rows);
  embedding<double, 2> table(row, {.rows = 3, .columns = 2 * n});
  test::expect_shapes_kept("embedding", everyone, std::move(table), xt::xtensor<int, 1>{2, 0});
}

BOOST_AUTO_TEST_CASE(the_adjoint_of_a_loss_is_that_of_its_last_call) {
  const world everyone(test::workers());
  const matrix ones = xt::ones<double>({2, 3}), wide = xt::ones<double>({2, 4});
  kl_loss<double, 2> loss(everyone.partition(extents(1, everyone.size())), {.reduction = loss_reduction::sum});
  const auto refuses = [&](const auto& dy) { return !refused<shape_error>([&] { loss.adjoint(dy); }).empty(); };
  BOOST_TEST((refuses(1.0) && refuses(ones)));
  loss(ones, ones);
  BOOST_TEST(refuses(ones));
  BOOST_TEST((loss.adjoint(2.0) == -2.0 * ones));
  loss.each(ones, ones);
  BOOST_TEST((refuses(1.0) && refuses(wide)));
  BOOST_TEST((loss.adjoint(3.0 * ones) == -3.0 * ones));
}

BOOST_AUTO_TEST_CASE(a_mode_or_a_step_of_one_worker_alone_is_refused, *test::at_least(2)) {
  const world everyone(test::workers());
  const bool odd = everyone.id() == 1;
  const auto p = everyone.partition(p3(1, 1, everyone.size()));
  const cube x = xt::ones<double>({2, 4, 6});
  max_pooling other(p, {.kernel = {1}});
  const auto check = [&](auto layer, auto change, auto undo) {
    layer(x);
    if (odd) change(layer);
    const auto call = [&] { layer(x), other(x); };  // the next call at the latest
    BOOST_TEST(!refused<disagreement_error>(call).empty());
    if (odd) undo(layer);
  };
  const auto evaluates = [](auto& layer) { layer.evaluate(); };
  const auto trains = [](auto& layer) { layer.train(); };
  check(dropout(p), evaluates, trains);
  check(batch_norm<double, 3>(p, {.channels = 4}), evaluates, trains);
  check(
      dropout(p), [](auto& layer) { layer.step(layer.step() + 1); }, [](auto&) {});
}

BOOST_AUTO_TEST_CASE(the_adjoint_is_that_of_the_last_call_whatever_the_program_sets_after_it) {
  const world everyone(test::workers());
  const auto p = everyone.partition(p3(1, 1, everyone.size()));
  cube x = xt::ones<double>({2, 4, 6}), dy = x;
  for (std::size_t k = 0; k < x.size(); ++k) {
    x.data()[k] = static_cast<double>((7 * k + everyone.id()) % 11);
    dy.data()[k] = static_cast<double>((5 * k + everyone.id()) % 13) - 6;
  }
  const auto check = [&](const char* name, auto make, auto set) {
    for (const bool evaluates : {false, true}) {
      auto layer = make(), twin = make();
      if (evaluates) layer.evaluate(), twin.evaluate();
      BOOST_TEST((layer(x) == twin(x)), name);
      set(layer);
      BOOST_TEST((layer.adjoint(dy) == twin.adjoint(dy)), name << (evaluates ? ", evaluation" : ", training"));
      if constexpr (requires { layer.weight_gradient(); })
        BOOST_TEST((layer.weight_gradient() == twin.weight_gradient()), name);
    }
  };
  const auto switch_mode = [](auto& layer) { layer.training() ? layer.evaluate() : layer.train(); };
  for (const bool tracks : {false, true})
    check(
        "batch_norm, mode", [&] { return batch_norm<double, 3>(p, {.channels = 4, .track = tracks}); }, switch_mode);
  check(
      "dropout, mode", [&] { return dropout(p); }, switch_mode);
  check(
      "dropout, step", [&] { return dropout(p); }, [](auto& layer) { layer.step(layer.step() + 5); });
}

/// A refused call has changed the row numbers, so its gradient would be that of no call.
BOOST_AUTO_TEST_CASE(an_embedding_that_refused_numbers_has_no_adjoint_before_the_next_call) {
  const world everyone(test::workers());
  const auto row = everyone.partition(dynamic_extents<2>(1, everyone.size()));
  for (const auto by : {embedding_cut::columns, embedding_cut::rows}) {
    embedding<double, 2> table(row, {.rows = 3, .columns = 2 * everyone.size(), .cut = by});
    const xt::xtensor<int, 1> good{0, 2}, wrong{0, everyone.id() + 1 == everyone.size() ? 3 : 1};
    const matrix y = table(good);
    taken_if(false, "requires numbers below rows", [&] { table(wrong); });
    taken_if(false, "call the layer first", [&] { table.adjoint(y); });
    BOOST_TEST((table.weight_gradient() == 0 * table.weight()));
    BOOST_TEST((table(good) == y));
    taken_if(true, "", [&] { table.adjoint(y); });
  }
}

BOOST_AUTO_TEST_CASE(the_first_rows_of_an_embedding_are_normal) {
  const world alone(boost::mpi::communicator(MPI_COMM_SELF, boost::mpi::comm_attach));
  const matrix all = embedding<double, 2>(alone.partition<1, 1>(), {.rows = 200, .columns = 150, .seed = 3}).weight();
  const auto share_below = [&](double limit) { return xt::mean(xt::cast<double>(xt::abs(all) < limit))(); };
  BOOST_TEST(std::abs(xt::mean(all)()) < 0.02);
  BOOST_TEST(std::abs(xt::mean(all * all)() - 1) < 0.03);
  for (const double limit : {0.25, 1.0, 2.0})
    BOOST_TEST(std::abs(share_below(limit) - std::erf(limit / std::sqrt(2))) < 0.01);
}

BOOST_AUTO_TEST_CASE(options_beyond_their_limits_are_refused_and_those_at_them_taken) {
  const world everyone(test::workers());
  const std::size_t n = everyone.size();
  const auto p = everyone.partition(p3(1, n, 1));
  const auto row = everyone.partition(dynamic_extents<2>(1, n));
  const double none = std::nan("");
  const auto takes = [](auto make) { return refused<shape_error>(make).empty(); };
  for (const double epsilon : {-1e-9, 0.0, 1.0, none}) {
    const bool is_good = epsilon >= 0;
    taken_if(is_good, "requires an epsilon of at least 0; 1e-5 is usual",
             [&] { batch_norm<double, 3>(p, {.channels = n, .epsilon = epsilon}); });
    taken_if(is_good, "requires an epsilon of at least 0; 1e-5 is usual",
             [&] { group_norm<double, 3>(p, {.channels = n, .epsilon = epsilon}); });
    taken_if(is_good, "requires an epsilon of at least 0; 1e-5 is usual",
             [&] { layer_norm<double, 2>(row, {.shape = {n}, .epsilon = epsilon}); });
  }
  for (const double share : {-0.001, 0.0, 1.0, 1.001, none}) {
    const bool is_good = share >= 0 && share <= 1;
    taken_if(is_good, "requires a momentum from 0 to 1, the share of a new batch",
             [&] { batch_norm<double, 3>(p, {.channels = n, .momentum = share}); });
    taken_if(is_good, "requires a probability from 0 to 1", [&] { dropout(p, {.probability = share}); });
  }
  const auto with_cut = [&](std::size_t channels, const cut& c) {
    return takes([&] { batch_norm<double, 3>(p, {.channels = channels, .channel_cut = c}); });
  };
  BOOST_TEST(with_cut(3 * n, cut::balanced(3 * n, n)));
  BOOST_TEST(!with_cut(3 * n, cut::balanced(3 * n, n + 1)));
  BOOST_TEST(!with_cut(3 * n, cut::balanced(3 * n + 1, n)));
  for (std::size_t extent = 3 * n - 1; extent <= 3 * n + 1; ++extent)
    for (std::size_t parts = n; parts <= n + 1; ++parts) {
      const decomposition<1> cuts(cut::balanced(extent, parts));
      const bool is_good = extent == 3 * n && parts == n;
      const text words = text("requires cuts of [")
                         << 3 * n << "] into [" << n << "] parts, as p has along its last "
                         << "dimensions, got cuts of [" << extent << "] into [" << parts << "]";
      taken_if(is_good, words.c_str(), [&] { layer_norm<double, 2>(row, {.shape = {3 * n}, .cuts = cuts}); });
      taken_if(is_good, words.c_str(), [&] { rms_norm<double, 2>(row, {.shape = {3 * n}, .cuts = cuts}); });
      BOOST_TEST(with_cut(3 * n, cuts.cuts[0]) == is_good);
      BOOST_TEST(takes([&] {
                   group_norm<double, 3>(p, {.groups = 1, .channels = 3 * n, .channel_cut = cuts.cuts[0]});
                 }) == is_good);
    }
  for (const std::size_t groups : {0U, 1U, 2U, 3U, 4U, 6U, 7U})
    BOOST_TEST(takes([&] { group_norm<double, 3>(p, {.groups = groups, .channels = 6}); }) ==
               (groups != 0 && 6 % groups == 0));
  const cube x = xt::ones<double>({2, 4, 6});
  const auto lines = everyone.partition(p3(1, 1, n));
  for (std::size_t kernel = 6 * n - 1; kernel <= 6 * n + 2; ++kernel) {
    max_pooling largest(lines, {.kernel = {kernel}, .stride = {{1}}});
    const text got = text("got one of ") << kernel << " cells along dimension 2 of extents [2, 4, " << 6 * n << "]";
    if (kernel <= 6 * n) BOOST_CHECK_NO_THROW(largest(x));
    else test::expect_refused<shape_error>([&] { largest(x); }, got.c_str());
  }
  for (const auto by : {loss_reduction::sum, loss_reduction::mean, loss_reduction::batch_mean}) {
    const bool is_known = by != loss_reduction::batch_mean;
    BOOST_TEST(takes([&] { kl_loss<double, 2>(row, {.reduction = by}); }));
    taken_if(is_known, "requires loss_reduction::mean or ::sum; batch_mean is for kl_loss alone",
             [&] { cross_entropy_loss<double, 2>(row, {.reduction = by}); });
    taken_if(is_known, "requires loss_reduction::mean or ::sum; batch_mean is for kl_loss alone",
             [&] { bce_loss<double, 2>(row, {.reduction = by}); });
  }
  bce_loss<double, 2> bce(row);
  for (const double edge : {0.0, 1.0, -1e-9, 1 + 1e-9, none}) {
    matrix chances = xt::ones<double>({2, 3});
    if (everyone.id() + 1 == n) chances(1, 2) = edge;
    const text words = text("requires x in [0, 1], got an element outside on worker ") << n - 1 << "; give scores to ";
    taken_if(edge >= 0 && edge <= 1, words.c_str(), [&] { bce(chances, chances); });
  }
  embedding<double, 2> table(row, {.rows = 3, .columns = n});
  for (const int number : {0, 2, 3, -1}) {
    const text words = text("requires numbers below rows, 3, got another on worker ") << n - 1;
    taken_if(number >= 0 && number < 3, words.c_str(), [&] {
      table(xt::xtensor<int, 1>{0, everyone.id() + 1 == n ? number : 1});
    });
  }
}

/// Blocks that are no input of a layer are refused in its words, and the next call works.
BOOST_AUTO_TEST_CASE(blocks_beyond_their_limits_are_refused_and_those_at_them_taken) {
  const world everyone(test::workers());
  const std::size_t n = everyone.size();
  const auto p = everyone.partition(p3(1, n, 1));
  const auto row = everyone.partition(dynamic_extents<2>(1, n));
  const auto of = [](std::size_t batch, std::size_t channels, std::size_t cells) -> cube {
    return xt::ones<double>({batch, channels, cells});
  };
  batch_norm<double, 3> batch(p, {.channels = n});
  group_norm<double, 3> group(p, {.groups = 1, .channels = n});
  for (const std::size_t cells : {1U, 2U, 1U}) {
    const text words = text("partita::batch_norm(p, options)(x): requires more than one element in each channel when ")
                       << "training, got x of extents [1, " << n << ", 1]; one element has no variance";
    taken_if(cells > 1, words.c_str(), [&] { batch(of(1, 1, cells)); });
    taken_if(cells > 1, words.c_str(), [&] { batch(of(cells, 1, 1)); });
  }
  batch.evaluate();
  BOOST_CHECK_NO_THROW(batch(of(1, 1, 1)));
  for (const std::size_t channels : {1U, 2U}) {
    const text words = text(": requires x of ") << n << " channels in dimension 1, got [2, " << 2 * n << ", 3]";
    taken_if(channels == 1, words.c_str(), [&] { batch(of(2, channels, 3)); });
    taken_if(channels == 1, words.c_str(), [&] { group(of(2, channels, 3)); });
  }
  layer_norm<double, 2> norm(row, {.shape = {2 * n}});
  for (const std::size_t columns : {1U, 2U, 3U}) {
    const text words = text(": requires x whose last extents are [") << 2 * n << "], got [3, " << n * columns << "]";
    taken_if(columns == 2, words.c_str(), [&] { norm(matrix(xt::ones<double>({std::size_t{3}, columns}))); });
  }
  l1_loss<double, 2> l1(row);
  const matrix ones = xt::ones<double>({2, 3}), wide = xt::ones<double>({2, 4});
  const text shapes = text("requires x and target of one shape, got blocks of [2, 3] and [2, 4] on worker ") << n - 1;
  taken_if(false, shapes.c_str(), [&] { l1(ones, everyone.id() + 1 == n ? wide : ones); });
  taken_if(false,
           "partita::l1_loss.adjoint(dy): requires a loss before, and none was called; call loss(x, target) first",
           [&] { l1.adjoint(1.0); });
  l1.each(ones, ones);
  taken_if(false, "and each(x, target) was called last; give adjoint() a dy of its shape", [&] { l1.adjoint(1.0); });
  taken_if(true, "", [&] { l1(ones, ones), l1.adjoint(1.0); });
  struct {
    matrix operator()(const matrix& x) const { return x; }
    matrix adjoint(const matrix& y) const { return y; }
  } const identity;
  taken_if(true, "", [&] { adjoint_test(everyone, identity, ones, ones); });
  taken_if(
      false,
      "partita::adjoint_test(everyone, f, x, y): partita::local_dot(a, b): requires blocks of one shape, got [2, 3] "
      "and [2, 4]",
      [&] { adjoint_test(everyone, identity, ones, everyone.id() + 1 == n ? wide : ones); });
}

BOOST_AUTO_TEST_CASE(sizes_that_no_worker_could_hold_are_refused) {
  const world everyone(test::workers());
  const auto p = everyone.partition(extents(std::size_t{1}, std::size_t{1}, everyone.size()));
  const auto line = everyone.partition<1, 1>();
  const auto says = [](const char* part, auto call) {
    const std::string said = refused<shape_error>(call);
    BOOST_TEST(said.find(part) != std::string::npos, "it says: " << said);
  };
  const char* const sentence = "2^40 elements in all";
  for (const std::size_t n : {static_cast<std::size_t>(-3), std::size_t{1} << 62U}) {
    says(sentence, [&] { layer_norm<double, 3>(p, {.shape = {n}}); });
    says(sentence, [&] { rms_norm<double, 3, 2>(p, {.shape = {n, n}}); });
    says(sentence, [&] { embedding<double, 3>(p, {.rows = n, .columns = 4}); });
    says(sentence, [&] { embedding<double, 3>(p, {.rows = n, .columns = n}); });
    says(sentence, [&] { linear<double>(line, line, line, {.in_features = n, .out_features = 4}); });
    says(sentence, [&] { linear<double>(line, line, line, {.in_features = 4, .out_features = n}); });
    says("2^40 channels", [&] { batch_norm<double, 3>(p, {.channels = n}); });
    says("2^40 channels", [&] { group_norm<double, 3>(p, {.channels = n}); });
  }
}

/// An element is dropped if its random number is below the probability, and kept if both are equal.
BOOST_AUTO_TEST_CASE(dropout_keeps_an_element_whose_number_is_the_probability) {
  const world everyone(test::workers());
  const std::size_t n = everyone.size();
  const auto p = everyone.partition(extents(n));
  const auto ones = block_from(p, extents<dynamic>(8 * n), [](auto) { return 1.0F; });
  const auto word = [](std::size_t k) {
    return detail::philox({static_cast<std::uint32_t>(k / 4), 0, 1, 0}, {17, 0})[k % 4];
  };
  for (const std::size_t chosen : {0U, 3U, 5U})
    for (const std::uint32_t more : {0U, 1U}) {
      const std::uint32_t limit = word(chosen) + more;
      dropout layer(p, {.probability = static_cast<double>(limit) * 0x1p-32, .seed = 17});
      const auto y = layer(ones);
      for (std::size_t k = 0; k < 8; ++k)
        BOOST_TEST((y(k) != 0) == (word(8 * everyone.id() + k) >= limit), "element " << k << ", limit " << limit);
      BOOST_TEST((everyone.id() != 0 || (y(chosen) != 0) == (more == 0)));
    }
}

BOOST_AUTO_TEST_CASE(dropout_goes_on_from_the_step_that_a_program_sets) {
  const world everyone(test::workers());
  const auto p = everyone.partition(extents(everyone.size()));
  const auto ones = block_from(p, extents<dynamic>(40 * everyone.size()), [](auto) { return 1.0F; });
  dropout layer(p, {.probability = 0.25, .seed = 3}), resumed(p, {.probability = 0.25, .seed = 3});
  BOOST_TEST((layer.training() && layer.step() == 0 && layer.options().probability == 0.25));
  xt::xtensor<float, 1> y;
  for (int step = 0; step < 7; ++step) {
    const xt::xtensor<float, 1> before = y;
    y = layer(ones);
    BOOST_TEST((step == 0 || y != before));
  }
  resumed.step(6);
  BOOST_TEST(resumed.step() == 6U);
  BOOST_TEST((resumed(ones) == y && resumed.step() == 7));
  resumed.step(5), resumed.evaluate();
  BOOST_TEST((!resumed.training() && resumed(ones) == ones && resumed.step() == 5));
  resumed.train();
  BOOST_TEST((resumed.training() && resumed(ones) != ones && resumed.step() == 6));
  BOOST_TEST((resumed(ones) == y));
}

/// Element (i, j) of the table is made of the random numbers 2 k and 2 k + 1 of the seed, for k = i * columns + j, by
/// the transform of Box and Muller (1958).
BOOST_AUTO_TEST_CASE(the_rows_of_an_embedding_are_numbered_in_C_order_on_every_cut) {
  const world everyone(test::workers());
  const auto p = everyone.partition(dynamic_extents<2>(1, everyone.size()));
  for (const auto by : {embedding_cut::columns, embedding_cut::rows}) {
    embedding<double, 2> table(p, {.rows = 6, .columns = 5, .cut = by, .seed = 9});
    const box<2> own = table.weight_box();
    std::size_t wrong = table.weight().size() == own.volume() ? 0 : 1;
    for (std::size_t i = own.start[0]; i < own.stop[0]; ++i)
      for (std::size_t j = own.start[1]; j < own.stop[1]; ++j) {
        const double u = 1 - detail::draw_uniform(9, 2 * (5 * i + j)), v = detail::draw_uniform(9, 2 * (5 * i + j) + 1);
        const double wanted = std::sqrt(-2 * std::log(u)) * std::cos(2 * 3.14159265358979323846 * v);
        wrong += std::abs(table.weight()(i - own.start[0], j - own.start[1]) - wanted) < 1e-14 ? 0 : 1;
      }
    BOOST_TEST(wrong == 0U);
    const auto all = table.parameters();
    BOOST_TEST((all.size() == 1 && all[0].value() == table.weight().data() && all[0].size() == table.weight().size() &&
                all[0].gradient() == table.weight_gradient().data()));
    table.weight_gradient().fill(2);
    table.zero_gradients();
    BOOST_TEST((table.weight_gradient() == 0 * table.weight()));
  }
}

BOOST_AUTO_TEST_CASE(an_embedding_of_a_batch_of_two_dimensions_is_that_of_its_numbers) {
  const world everyone(test::workers()), alone(boost::mpi::communicator(MPI_COMM_SELF, boost::mpi::comm_attach));
  std::mt19937 draws(7);
  const embedding_options o{.rows = 7, .columns = 5, .seed = 3};
  embedding<double, 3> whole(alone.partition<1, 1, 1>(), o);
  for (int round = 0; round < 6; ++round) {
    const auto grid = test::random_grid<3>(draws, everyone.size());
    const auto p = test::partition_on<3>(everyone, draws, grid);
    const auto batch = test::random_cuts<2>(draws, {3, 4}, {grid[0], grid[1]});
    const bool by_rows = round % 2 == 0;
    embedding_options cut = o;
    cut.cut = by_rows ? embedding_cut::rows : embedding_cut::columns;
    embedding<double, 3> layer(p, cut);
    const box<2> own = layer.weight_box(),
                 mine = p.active() ? batch.block(partita::index<2>{p.index()[0], p.index()[1]}) : box<2>{};
    const auto id_at = [&](std::size_t i, std::size_t j) {
      return (3 * i + 5 * j + static_cast<std::size_t>(round)) % 7;
    };
    const auto dy_at = [](std::size_t i, std::size_t j, std::size_t c) {
      return static_cast<double>((5 * i + 3 * j + c) % 7) - 3;
    };
    auto x = uninitialised<int, 2>(mine.shape());
    const std::size_t first = by_rows ? 0 : own.start[1], width = !p.active() ? 0 : by_rows ? 5 : own.shape()[1];
    auto dy = uninitialised<double, 3>({mine.shape()[0], mine.shape()[1], width}), wanted = dy;
    for (std::size_t i = 0; i < mine.shape()[0]; ++i)
      for (std::size_t j = 0; j < mine.shape()[1]; ++j) {
        const std::size_t id = id_at(mine.start[0] + i, mine.start[1] + j);
        x(i, j) = static_cast<int>(id);
        for (std::size_t c = 0; c < width; ++c) {
          wanted(i, j, c) = whole.weight()(id, first + c);
          dy(i, j, c) = dy_at(mine.start[0] + i, mine.start[1] + j, first + c);
        }
      }
    const cube y = layer(x);
    BOOST_TEST((p.active() ? y == wanted : y.size() == 0));
    BOOST_TEST((layer.adjoint(dy) == matrix(xt::zeros<double>(mine.shape()))));
    std::size_t wrong = 0;
    for (std::size_t r = own.start[0]; r < own.stop[0]; ++r)
      for (std::size_t c = own.start[1]; c < own.stop[1]; ++c) {
        double sum = 0;
        for (std::size_t k = 0; k < 12; ++k) sum += id_at(k / 4, k % 4) == r ? dy_at(k / 4, k % 4, c) : 0;
        wrong += layer.weight_gradient()(r - own.start[0], c - own.start[1]) == sum ? 0 : 1;
      }
    BOOST_TEST(wrong == 0U);
  }
}

/// Each layer says its name where its adjoint is called before the layer, and where blocks do not fit together.
BOOST_AUTO_TEST_CASE(layers_are_refused_by_their_names) {
  const world everyone(test::workers());
  const std::size_t n = everyone.size();
  const auto p = everyone.partition(p3(1, 1, n));
  const cube x = xt::ones<double>({2, 4, 6}), more = xt::ones<double>({3, 4, 6});
  const auto check = [&](const std::string& name, const std::string& direction, auto layer) {
    const std::string last = name + ".adjoint(dy): requires a dy of the shape of the last result, [";
    test::expect_refused<shape_error>([&] { layer.adjoint(x); }, (last + "0, 0, 0], got [2, 4, 6]; call the").c_str());
    const auto y = layer(x);
    auto shape = y.shape();
    shape[1] += everyone.id() + 1 == n ? 1 : 0;
    const text of_y = text() << detail::shape_array<3>(y.shape());
    test::expect_refused<shape_error>([&] { layer.adjoint(cube(xt::ones<double>(shape))); },
                                      (last + std::string(of_y.c_str()).substr(1) + ", got [2, 5, ").c_str());
    if (n > 1)
      test::expect_refused<shape_error>([&] { layer(everyone.id() + 1 == n ? more : x); },
                                        (name + direction + " with p = [1, 1, ").c_str());
    BOOST_TEST((layer(x).shape() == y.shape()), name);
  };
  check("partita::dropout(p, options)", "", dropout(p));
  check("partita::max_pooling(p, options)", "(x)", max_pooling(p, {.kernel = {2}}));
  check("partita::average_pooling(p, options)", "(x)", average_pooling(p, {.kernel = {3}}));
  check("partita::adaptive_max_pooling(p, options)", "(x)", adaptive_max_pooling(p, {.size = {n}}));
  check("partita::adaptive_average_pooling(p, options)", "(x)", adaptive_average_pooling(p, {.size = {2 * n}}));
  check("partita::upsampling(p, options)", "(x)", upsampling(p, {.scale = 2}));
  const auto row = everyone.partition(dynamic_extents<2>(1, n));
  embedding<double, 2> table(row, {.rows = 3, .columns = 2 * n});
  const xt::xtensor<int, 1> numbers{2, 0};
  const std::string wants =
      "partita::embedding(p, options).adjoint(dy): requires a dy of the shape of the last result, [";
  test::expect_refused<shape_error>(
      [&] {
        table.adjoint(matrix(xt::ones<double>({2, 2})));
      },
      (wants + "0, 0], got [2, 2]; call the layer first").c_str());
  table(numbers);
  test::expect_refused<shape_error>(
      [&] {
        table.adjoint(matrix(xt::ones<double>({2, 3})));
      },
      (wants + "2, 2], got [2, 3]; call the layer first").c_str());
  table.weight() = xt::ones<double>({4, 2});
  test::expect_refused<shape_error>(
      [&] { table(numbers); },
      "partita::embedding(p, options): requires a weight and its gradient of shape [3, 2], "
      "got [4, 2] and [3, 2]; assign blocks of the shape they had");
  const std::size_t huge = static_cast<std::size_t>(-3);
  test::expect_refused<shape_error>([&] { embedding<double, 2>(row, {.rows = huge, .columns = 4}); },
                                    "partita::embedding(p, options): requires rows x columns of at most 2^40 elements");
  test::expect_refused<shape_error>([&] { layer_norm<double, 2>(row, {.shape = {huge}}); },
                                    "partita::layer_norm(p, options)(x): requires a shape of at most 2^40 elements");
}

/// One worker has an option that changes no message: all workers refuse the call all the same.
BOOST_AUTO_TEST_CASE(an_option_of_one_worker_alone_is_refused, *test::at_least(2)) {
  const world everyone(test::workers());
  const std::size_t n = everyone.size();
  const auto p = everyone.partition(p3(1, 1, n));
  const auto row = everyone.partition(dynamic_extents<2>(1, n));
  const cube x = xt::ones<double>({2, 4, 6});
  max_pooling next(p, {.kernel = {1}});
  for (const std::size_t odd_worker : {std::size_t{0}, n - 1}) {
    const bool odd = everyone.id() == odd_worker;
    const auto check = [&](const char* name, auto layer, const auto& block) {
      BOOST_TEST(!refused([&] { layer(block), next(x); }).empty(), name);  // by the next call at the latest
    };
    check("dropout", dropout(p, {.seed = odd ? 1U : 2U}), x);
    check("batch_norm", batch_norm<double, 3>(p, {.channels = 4, .momentum = odd ? 0.25 : 0.5}), x);
    check("adaptive_max_pooling", adaptive_max_pooling(p, {.size = {odd ? 3 * n : 2 * n}}), x);
    check("adaptive_average_pooling", adaptive_average_pooling(p, {.size = {odd ? 3 * n : 2 * n}}), x);
    check("max_pooling", max_pooling(p, {.kernel = {2}, .ceil_mode = odd}), x);
    check("average_pooling", average_pooling(p, {.kernel = {2}, .count_include_pad = odd}), x);
    check("upsampling", upsampling(p, {.scale = 1, .mode = odd ? upsampling_mode::linear : upsampling_mode::nearest}),
          x);
    check("embedding", embedding<double, 2>(row, {.rows = 3, .columns = 2 * n, .seed = odd ? 1U : 2U}),
          xt::xtensor<int, 1>{2, 0});
  }
  BOOST_TEST((next(x) == x));
}

/// Before the first call no dy has the shape of the last result, not even a dy without elements.
BOOST_AUTO_TEST_CASE(no_layer_has_an_adjoint_before_its_first_call) {
  const world everyone(test::workers());
  const auto p = everyone.partition(p3(1, 1, everyone.size()));
  const auto row = everyone.partition(dynamic_extents<2>(1, everyone.size()));
  const auto check = [](const char* name, auto layer, const auto& dy) {
    BOOST_TEST(refused<shape_error>([&] { layer.adjoint(dy); }).find("call the layer first") != std::string::npos,
               name << " of a dy of " << dy.size() << " elements");
  };
  for (const cube& dy : {cube(xt::zeros<double>({0, 0, 0})), cube(xt::zeros<double>({0, 4, 1})),
                         cube(xt::zeros<double>({2, 4, 0})), cube(xt::ones<double>({2, 4, 1}))}) {
    check("dropout", dropout(p), dy);
    check("max_pooling", max_pooling(p, {.kernel = {1}}), dy);
    check("average_pooling", average_pooling(p, {.kernel = {1}}), dy);
    check("adaptive_max_pooling", adaptive_max_pooling(p, {.size = {1}}), dy);
    check("adaptive_average_pooling", adaptive_average_pooling(p, {.size = {1}}), dy);
    check("upsampling", upsampling(p, {.scale = 1}), dy);
    check("batch_norm", batch_norm<double, 3>(p, {.channels = 4}), dy);
    check("group_norm", group_norm<double, 3>(p, {.groups = 2, .channels = 4}), dy);
    check("embedding", embedding<double, 3>(p, {.rows = 3, .columns = everyone.size()}), dy);
  }
}

/// After a refused call, the adjoint is that of the call before, or is refused on all workers.
BOOST_AUTO_TEST_CASE(the_adjoint_of_windows_after_a_refused_call_is_that_of_the_call_before_it_or_refused) {
  const world everyone(test::workers());
  const auto p = everyone.partition(p3(1, 1, everyone.size()));
  const auto ones = [](std::size_t batch, std::size_t cells) {
    return cube(xt::ones<double>({batch, std::size_t{2}, cells}));
  };
  const auto check = [&](const char* name, auto layer, const cube& wrong) {
    const auto y = layer(ones(2, 6));
    const auto before = layer.adjoint(y);
    BOOST_TEST(!refused<shape_error>([&] { layer(wrong); }).empty(), name);
    try {
      const auto after = layer.adjoint(y);
      BOOST_TEST((after == before), name);
    } catch (const shape_error&) {
    }
    BOOST_TEST((layer(ones(2, 6)) == y), name);
    BOOST_TEST((layer.adjoint(y) == before), name);
  };
  const bool is_first = everyone.id() == 0;
  const std::size_t cells = everyone.size() + 4;  // more than `wrong` has on all workers together
  for (const cube& wrong : {ones(2, 0), ones(2, is_first ? 0 : 1)}) {
    check("max_pooling", max_pooling(p, {.kernel = {cells}}), everyone.size() == 1 ? ones(2, 1) : wrong);
    check("average_pooling", average_pooling(p, {.kernel = {cells}}), everyone.size() == 1 ? ones(2, 1) : wrong);
  }
  check("upsampling", upsampling(p, {.scale = 2}), ones(2, 0));
  check("adaptive_max_pooling", adaptive_max_pooling(p, {.size = {2}}), ones(2, 0));
  if (everyone.size() > 1)
    for (const bool odd : {false, true}) {
      const cube wrong = ones(is_first == odd ? 2 : 3, 6);  // blocks of different batches do not fit together
      check("max_pooling", max_pooling(p, {.kernel = {2}}), wrong);
      check("upsampling", upsampling(p, {.scale = 2}), wrong);
      check("dropout", dropout(p, {.probability = 0}), wrong);
      check("batch_norm", batch_norm<double, 3>(p, {.channels = 2}), wrong);
      check("group_norm", group_norm<double, 3>(p, {.groups = 2, .channels = 2}), wrong);
    }
}

/// On a worker outside of the partition a layer gives a block without elements.
BOOST_AUTO_TEST_CASE(layers_of_one_worker_leave_the_others_without_elements) {
  const world everyone(test::workers());
  const auto one = everyone.partition(p3(1, 1, 1), workers({everyone.size() - 1}));
  const cube x = one.active() ? cube(xt::ones<double>({2, 4, 6})) : cube(zero_volume<double, 3>(2));
  const auto check = [&](const char* name, auto layer) {
    for (int times = 0; times < 2; ++times) {
      const auto y = layer(x);
      const auto dx = layer.adjoint(y);
      BOOST_TEST((one.active() ? y.size() > 0 : y.size() == 0), name);
      BOOST_TEST((one.active() ? dx.shape() == x.shape() : dx.size() == 0), name);
    }
    if constexpr (requires { layer.weight(); }) BOOST_TEST((layer.weight().size() == (one.active() ? 4U : 0U)), name);
  };
  check("dropout", dropout(one));
  check("max_pooling", max_pooling(one, {.kernel = {2}}));
  check("adaptive_average_pooling", adaptive_average_pooling(one, {.size = {2}}));
  check("upsampling", upsampling(one, {.scale = 2}));
  check("batch_norm", batch_norm<double, 3>(one, {.channels = 4}));
  check("group_norm", group_norm<double, 3>(one, {.groups = 2, .channels = 4}));
}

BOOST_AUTO_TEST_SUITE_END()
