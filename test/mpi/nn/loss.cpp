// Compares losses on any partition and decomposition with their definitions on the whole tensor.
#include "layer_twin.hpp"
#include "random_cases.hpp"
#include "refused.hpp"

#include <cmath>
#include <functional>
#include <limits>
#include <partita/nn/cross_entropy.hpp>
#include <partita/nn/loss.hpp>
#include <partita/nn/softmax_cross_entropy.hpp>

namespace {

using namespace partita;
using test::close;
using test::refused;
using test::whole_tensor;

struct definition {
  std::function<double(double, double)> value;
  std::function<double(double)> as_input, as_target;  // both take a multiple of 1/8 in [-2, 2]
  bool has_corner = false;                            // at x = target, where the slope counts as 0
};

double as_it_is(double v) { return v; }
double in_0_1(double v) { return (v + 2.5) / 5; }
double positive(double v) { return v + 2.5; }

/// Checks that the loss of random blocks is that of the whole tensor, for all reductions, and that its adjoint is the
/// slope.
template <class Loss, class Options>
void expect_loss(unsigned seed, const definition& by, Options options) {
  const world everyone(test::workers());
  std::mt19937 draws(seed);
  for (std::size_t round = 0; round < 2 + test::random_cases(8); ++round) {
    const std::array<std::size_t, 2> extents{1 + test::random_below(draws, 6), 1 + test::random_below(draws, 6)};
    const auto grid = test::random_grid<2>(draws, everyone.size());
    const auto cuts = test::random_cuts<2>(draws, extents, grid);
    const auto p = test::partition_on<2>(everyone, draws, grid);
    const whole_tensor<double, 2> x(
        extents, [&](std::size_t k) { return by.as_input(static_cast<double>((17 * k + round) % 31) / 8 - 2); });
    const whole_tensor<double, 2> t(
        extents, [&](std::size_t k) { return by.as_target(static_cast<double>((11 * k + 2) % 29) / 8 - 1.75); });
    double total = 0;
    whole_tensor<double, 2> each(extents), slope(extents);
    for (std::size_t k = 0; k < x.values.size(); ++k) {
      const double h = 1e-6, a = x.values[k], b = t.values[k];
      total += each.values[k] = by.value(a, b);
      slope.values[k] = (by.value(a + h, b) - by.value(a - h, b)) / (2 * h);
      if (by.has_corner && a == b) slope.values[k] = 0;
    }
    const auto count = static_cast<double>(x.values.size());
    for (const auto reduction : {loss_reduction::mean, loss_reduction::sum}) {
      options.reduction = reduction;
      Loss loss(p, options);
      const double by_n = reduction == loss_reduction::mean ? count : 1;
      const auto x_own = x.block(p, cuts), t_own = t.block(p, cuts);
      const double value = loss(x_own, t_own);
      BOOST_TEST(std::abs(value - total / by_n) <= 1e-12 * std::max(1.0, std::abs(total)));
      xt::xtensor<double, 2> wanted = slope.block(p, cuts) * (2 / by_n);
      BOOST_TEST(close(loss.adjoint(2.0), wanted, 1e-6));
      BOOST_TEST(close(loss.each(x_own, t_own), each.block(p, cuts)));
      wanted = slope.block(p, cuts) * t_own;
      BOOST_TEST(close(loss.adjoint(t_own), wanted, 1e-6));
    }
  }
}

/// Compares the cross entropy of a tensor of any rank with its definition. Class 1 is ignored, though it is a class.
template <std::size_t Rank>
void expect_cross_entropy(const world& everyone, std::mt19937& draws, const std::array<std::size_t, Rank>& extents) {
  const auto grid = test::random_grid<Rank>(draws, everyone.size());
  const auto cuts = test::random_cuts<Rank>(draws, extents, grid);
  const auto p = test::partition_on<Rank>(everyone, draws, grid);
  const std::size_t classes = extents[1], features = volume_of(extents) / extents[0] / classes;
  const whole_tensor<double, Rank> x(extents, [](std::size_t k) { return static_cast<double>((7 * k) % 19) / 4 - 2; });
  std::array<std::size_t, Rank - 1> of_rows{};
  for (std::size_t d = 0; d + 1 < Rank; ++d) of_rows[d] = extents[d == 0 ? 0 : d + 1];
  const auto target_of = [&](std::size_t row) { return static_cast<int>((5 * row + 2) % classes); };
  whole_tensor<double, Rank> dx(extents);
  std::vector<double> each(extents[0] * features, 0);
  double total = 0, count = 0;
  for (std::size_t row = 0; row < each.size(); ++row) {
    if (target_of(row) == 1) continue;
    const auto at = [&](std::size_t c) { return (row / features * classes + c) * features + row % features; };
    double sum = 0;
    for (std::size_t c = 0; c < classes; ++c) sum += std::exp(x.values[at(c)]);
    each[row] = std::log(sum) - x.values[at(static_cast<std::size_t>(target_of(row)))];
    total += each[row], count += 1;
    for (std::size_t c = 0; c < classes; ++c)
      dx.values[at(c)] = std::exp(x.values[at(c)]) / sum - (static_cast<int>(c) == target_of(row) ? 1 : 0);
  }
  const auto rows = decomposition<Rank - 1>::make([&](std::size_t d) { return cuts.cuts[d == 0 ? 0 : d + 1]; });
  const auto own_rows = [&](auto at) {  // this worker's block of a tensor without the classes
    using T = std::remove_cvref_t<decltype(at(0))>;
    if (!p.active()) return zero_volume<T, Rank - 1>();
    partita::index<Rank - 1> place{};
    for (std::size_t d = 0; d + 1 < Rank; ++d) place[d] = p.index()[d == 0 ? 0 : d + 1];
    const auto own = rows.block(place);
    auto block = uninitialised<T, Rank - 1>(own.shape());
    for (std::size_t k = 0; k < block.size(); ++k) {
      auto i = index_of(k, own.shape());
      for (std::size_t d = 0; d + 1 < Rank; ++d) i[d] += own.start[d];
      block.data()[k] = at(flat_index(i, of_rows));
    }
    return block;
  };
  const auto x_own = x.block(p, cuts);
  const auto t_own = own_rows(target_of);
  cross_entropy_loss<double, Rank> mean(p, {.ignore_index = 1}),
      sum(p, {.reduction = loss_reduction::sum, .ignore_index = 1});
  BOOST_TEST(std::abs(mean(x_own, t_own) - total / count) <= 1e-12 * std::max(1.0, total));
  const xt::xtensor<double, Rank> slope = dx.block(p, cuts) * (3 / count);
  BOOST_TEST(close(mean.adjoint(3.0), slope));
  BOOST_TEST(std::abs(sum(x_own, t_own) - total) <= 1e-12 * std::max(1.0, total));
  BOOST_TEST(close(sum.each(x_own, t_own), own_rows([&](std::size_t row) { return each[row]; })));
  BOOST_TEST((sum.options().ignore_index == 1 && sum.options().reduction == loss_reduction::sum));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(losses)

BOOST_AUTO_TEST_CASE(of_elements_are_their_definitions_on_any_cut) {
  const auto l1 = [](double x, double t) { return std::abs(x - t); };
  expect_loss<l1_loss<double, 2>>(1, {l1, as_it_is, as_it_is, true}, loss_options{});
  const auto square = [](double x, double t) { return (x - t) * (x - t); };
  expect_loss<mse_loss<double, 2>>(2, {square, as_it_is, as_it_is}, loss_options{});
  const auto smooth = [](double x, double t) {
    const double d = std::abs(x - t);
    return d < 0.5 ? d * d : d - 0.25;
  };
  expect_loss<smooth_l1_loss<double, 2>>(3, {smooth, [](double v) { return v + 0.01; }, as_it_is},
                                         smooth_l1_options{.beta = 0.5});
  const auto bce = [](double x, double t) { return -t * std::log(x) - (1 - t) * std::log(1 - x); };
  expect_loss<bce_loss<double, 2>>(4, {bce, in_0_1, in_0_1}, loss_options{});
  const auto logits = [](double x, double t) {
    const double s = 1 / (1 + std::exp(-x));
    return -t * std::log(s) - (1 - t) * std::log(1 - s);
  };
  expect_loss<bce_with_logits_loss<double, 2>>(5, {logits, as_it_is, in_0_1}, loss_options{});
  const auto kl = [](double x, double t) { return t * (std::log(t) - x); };
  expect_loss<kl_loss<double, 2>>(6, {kl, as_it_is, in_0_1}, kl_options{});
  const auto kl_of_logarithms = [](double x, double t) { return std::exp(t) * (t - x); };
  expect_loss<kl_loss<double, 2>>(7, {kl_of_logarithms, as_it_is, as_it_is}, kl_options{.log_target = true});
  const auto poisson = [](double x, double t) { return std::exp(x) - t * x; };
  expect_loss<poisson_nll_loss<double, 2>>(8, {poisson, as_it_is, positive}, poisson_nll_options{});
  const auto poisson_of_rates = [](double x, double t) { return x - t * std::log(x + 0.01); };
  expect_loss<poisson_nll_loss<double, 2>>(9, {poisson_of_rates, positive, positive},
                                           poisson_nll_options{.log_input = false, .epsilon = 0.01});
}

BOOST_AUTO_TEST_CASE(of_any_rank_are_the_sum_over_all_elements_and_refuse_another_extent_of_any_dimension) {
  const world everyone(test::workers());
  const auto of_rank = [&]<std::size_t Rank>(std::integral_constant<std::size_t, Rank>) {
    std::array<std::size_t, Rank> grid{}, shape{};
    for (std::size_t d = 0; d < Rank; ++d) grid[d] = d + 1 == Rank ? everyone.size() : 1, shape[d] = 1 + d % 2;
    const auto p = everyone.partition(dynamic_extents<Rank>(grid));
    xt::xtensor<double, Rank> x(shape), t(shape, 1.0);
    for (std::size_t k = 0; k < x.size(); ++k) x.data()[k] = static_cast<double>(k + everyone.id());
    double wanted = 0;
    for (std::size_t w = 0; w < everyone.size(); ++w)
      for (std::size_t k = 0; k < x.size(); ++k)
        wanted += (static_cast<double>(k + w) - 1) * (static_cast<double>(k + w) - 1);
    mse_loss<double, Rank> loss(p, {.reduction = loss_reduction::sum});
    BOOST_TEST(loss(x, t) == wanted);
    BOOST_TEST((loss.adjoint(1.0) == 2 * (x - t)));
    for (std::size_t d = 0; d < Rank; ++d) {
      auto longer = shape;
      if (everyone.id() + 1 == everyone.size()) ++longer[d];
      const xt::xtensor<double, Rank> other(longer, 1.0);
      BOOST_TEST(refused<shape_error>([&] { loss(x, other); }).find("of one shape") != std::string::npos);
    }
    BOOST_TEST(loss(x, t) == wanted);
  };
  [&]<std::size_t... R>(std::index_sequence<R...>) {
    (of_rank(std::integral_constant<std::size_t, R + 1>()), ...);
  }(std::make_index_sequence<8>());
}

BOOST_AUTO_TEST_CASE(a_smooth_loss_without_a_square_is_the_absolute_one_also_where_both_are_equal) {
  const world everyone(test::workers());
  const auto p = everyone.partition(extents(everyone.size()));
  const xt::xtensor<double, 1> x{1, 2, 3}, t{2, 2, 2};
  smooth_l1_loss<double, 1> smooth(p, {.beta = 0});
  l1_loss<double, 1> absolute(p);
  BOOST_TEST(smooth(x, t) == absolute(x, t));
  BOOST_TEST((smooth.adjoint(3.0) == absolute.adjoint(3.0)));
  BOOST_TEST((smooth.each(x, t) == xt::xtensor<double, 1>{1, 0, 1}));
}

BOOST_AUTO_TEST_CASE(kl_of_an_infinite_target_is_the_difference_of_its_terms) {
  const double infinity = std::numeric_limits<double>::infinity();
  const detail::kl_function kl{{}};
  BOOST_TEST(std::isnan(kl.value(1, infinity)));
  BOOST_TEST(std::isnan(kl.value(0, infinity)));
  BOOST_TEST(kl.value(-1, infinity) == infinity);
}

BOOST_AUTO_TEST_CASE(kl_divides_by_the_batch_alone_if_asked_for) {
  const world everyone(test::workers());
  const auto p = everyone.partition(extents(1, everyone.size()));
  const auto ones = block_from(p, extents<3, 5>{}, [](auto, auto) { return 1.0; });
  kl_loss<double, 2> loss(p, {.reduction = loss_reduction::batch_mean});
  BOOST_TEST(loss(ones, ones) == -5.0);  // 15 elements of 1 (log 1 - 1), over a batch of 3
  BOOST_TEST((loss.adjoint(3.0) == -1.0 * ones));

  const auto cut_last = everyone.partition(extents(1, 1, everyone.size()));
  const auto cubes = block_from(cut_last, extents<3, 1, 12>{}, [](auto, auto, auto) { return 1.0; });
  kl_loss<double, 3> of_cubes(cut_last, {.reduction = loss_reduction::batch_mean});
  BOOST_TEST(of_cubes(cubes, cubes) == -12.0);  // each sample counts once, on however many workers its elements are
}

BOOST_AUTO_TEST_CASE(scores_far_beyond_what_exp_can_take_have_finite_losses) {
  const world everyone(test::workers());
  const auto p = everyone.partition(extents(everyone.size()));
  const auto x =
      block_from(p, extents<dynamic>(2 * everyone.size()), [](auto i) { return i % 2 == 0 ? 2000. : -2000.; });
  const auto t = block_from(p, extents<dynamic>(2 * everyone.size()), [](auto i) { return i % 2 == 0 ? 1. : 0.; });
  bce_with_logits_loss<double, 1> with_logits(p);
  BOOST_TEST(with_logits(x, t) == 0.0);
  bce_loss<double, 1> bce(p);  // the logarithm of 0 counts as -100
  const auto zero = block_from(p, extents<dynamic>(everyone.size()), [](auto) { return 0.; });
  const auto one = block_from(p, extents<dynamic>(everyone.size()), [](auto) { return 1.; });
  BOOST_TEST(bce(zero, one) == 100.0);
  BOOST_TEST(bce(one, one) == 0.0);
}

BOOST_AUTO_TEST_CASE(cross_entropy_is_its_definition_with_classes_batch_and_features_cut) {
  const world everyone(test::workers());
  std::mt19937 draws(11);
  for (std::size_t round = 0; round < 3 + test::random_cases(24); ++round) {
    const std::array<std::size_t, 3> extents{1 + test::random_below(draws, 4), 1 + test::random_below(draws, 6),
                                             1 + test::random_below(draws, 4)};
    const std::array<std::size_t, 2> rows{extents[0], extents[2]};
    const auto grid = test::random_grid<3>(draws, everyone.size());
    const auto cuts = test::random_cuts<3>(draws, extents, grid);
    const auto p = test::partition_on<3>(everyone, draws, grid);
    const whole_tensor<double, 3> x(extents, [](std::size_t k) { return static_cast<double>((7 * k) % 19) / 4 - 2; });
    const whole_tensor<int, 2> t(
        rows, [&](std::size_t k) { return k % 5 == 4 ? -7 : static_cast<int>((3 * k + round) % extents[1]); });
    const whole_tensor<double, 2> dy(rows, [](std::size_t k) { return static_cast<double>(k % 5) - 2; });
    whole_tensor<double, 2> each(rows);
    whole_tensor<double, 3> dx(extents), dx_each(extents);
    double total = 0, count = 0;
    for (std::size_t n = 0; n < extents[0]; ++n)
      for (std::size_t i = 0; i < extents[2]; ++i) {
        const int wanted = t[{n, i}];
        if (wanted < 0) continue;
        double sum = 0;
        for (std::size_t c = 0; c < extents[1]; ++c) sum += std::exp(x[{n, c, i}]);
        each[{n, i}] = std::log(sum) - x[{n, static_cast<std::size_t>(wanted), i}];
        total += each[{n, i}], count += 1;
        for (std::size_t c = 0; c < extents[1]; ++c) {
          dx[{n, c, i}] = std::exp(x[{n, c, i}]) / sum - (c == static_cast<std::size_t>(wanted) ? 1 : 0);
          dx_each[{n, c, i}] = dx[{n, c, i}] * dy[{n, i}];
        }
      }
    if (count == 0) continue;
    const auto rows_of = [&](const auto& whole) {  // this worker's block of a tensor without the class dimension
      using T = std::remove_cvref_t<decltype(whole.values[0])>;
      if (!p.active()) return zero_volume<T, 2>(cuts.cuts[0].size(0));
      const box<3> own = cuts.block(p.index());
      auto block = uninitialised<T, 2>({own.shape()[0], own.shape()[2]});
      for (std::size_t n = 0; n < block.shape()[0]; ++n)
        for (std::size_t i = 0; i < block.shape()[1]; ++i) block(n, i) = whole[{own.start[0] + n, own.start[2] + i}];
      return block;
    };
    cross_entropy_loss<double, 3> mean(p, {.ignore_index = -7}),
        sum(p, {.reduction = loss_reduction::sum, .ignore_index = -7});
    const auto x_own = x.block(p, cuts);
    const auto t_own = rows_of(t);
    BOOST_TEST(std::abs(mean(x_own, t_own) - total / count) <= 1e-12 * std::max(1.0, total));
    const xt::xtensor<double, 3> dx_mean = dx.block(p, cuts) * (3 / count);
    BOOST_TEST(close(mean.adjoint(3.0), dx_mean));
    BOOST_TEST(std::abs(sum(x_own, t_own) - total) <= 1e-12 * std::max(1.0, total));
    BOOST_TEST(close(sum.adjoint(), dx.block(p, cuts)));
    BOOST_TEST(close(sum.each(x_own, t_own), rows_of(each)));
    BOOST_TEST(close(sum.adjoint(rows_of(dy)), dx_each.block(p, cuts)));
  }
}

BOOST_AUTO_TEST_CASE(what_cannot_be_is_refused_on_all_workers_though_one_alone_sees_it) {
  const world everyone(test::workers());
  const std::size_t n = everyone.size();
  const bool last = everyone.id() + 1 == n;
  const auto p = everyone.partition(extents(n));
  const auto half = block_from(p, extents<dynamic>(2 * n), [](auto) { return 0.5; });
  bce_loss<double, 1> bce(p);
  xt::xtensor<double, 1> spoilt = half;
  constexpr double infinity = std::numeric_limits<double>::infinity();
  for (const double x : {1.5, std::nextafter(1.0, 2.0), infinity, -0.5, -1e-300, -infinity, std::nan("")}) {
    if (last) spoilt(1) = x;
    BOOST_TEST(refused<shape_error>([&] { bce(spoilt, half); }).find("x in [0, 1]") != std::string::npos, x);
    BOOST_TEST(refused<shape_error>([&] { bce.each(spoilt, half); }).find("x in [0, 1]") != std::string::npos, x);
  }
  for (const double x : {0.0, -0.0, 1e-300, 1.0}) {
    if (last) spoilt(1) = x;
    BOOST_TEST(refused([&] { bce(spoilt, half); }) == "", x);
  }
  const xt::xtensor<double, 1> longer = last ? xt::xtensor<double, 1>{1, 2, 3} : half;
  BOOST_TEST(refused<shape_error>([&] { bce(half, longer); }).find("of one shape") != std::string::npos);
  BOOST_TEST(refused<shape_error>([&] { bce.each(half, longer); }).find("of one shape") != std::string::npos);
  BOOST_TEST(std::abs(bce(half, half) - std::log(2.0)) < 1e-15);  // and the loss still works
  BOOST_TEST(refused<shape_error>([&] { bce.adjoint(half); }).find("call each first") != std::string::npos);
  BOOST_TEST(refused([&] {
               mse_loss<double, 1>(p, {.reduction = loss_reduction::batch_mean});
             }).find("kl_loss alone") != std::string::npos);

  const auto lines = everyone.partition(extents(n, std::size_t{1}));
  cross_entropy_loss<double, 2> entropy(lines);
  const auto scores = block_from(lines, extents<dynamic, 3>(n), [](auto, auto) { return 0.0; });
  const xt::xtensor<int, 1> right{0}, wrong{last ? 3 : 0}, none{last ? -1 : 0}, two{0, 0};
  BOOST_TEST(refused<shape_error>([&] { entropy(scores, wrong); }).find("got 3") != std::string::npos);
  BOOST_TEST(refused<shape_error>([&] { entropy(scores, none); }).find("got -1") != std::string::npos);
  BOOST_TEST(refused<shape_error>([&] { entropy(scores, two); }).find("without dimension 1") != std::string::npos);
  BOOST_TEST(std::abs(entropy(scores, right) - std::log(3.0)) < 1e-15);
}

BOOST_AUTO_TEST_CASE(there_is_no_gradient_before_a_loss_nor_after_one_that_failed) {
  const world everyone(test::workers());
  const std::size_t n = everyone.size();
  const auto p = everyone.partition(extents(n, std::size_t{1}));
  const auto x = block_from(p, extents<dynamic, 3>(n), [](auto, auto j) { return 0.25 * static_cast<double>(j); });
  const xt::xtensor<double, 2> longer = xt::ones<double>({2, 3});
  const xt::xtensor<int, 1> labels{1}, wrong{3};
  mse_loss<double, 2> mean(p);
  cross_entropy_loss<double, 2> entropy(p);
  softmax_cross_entropy<double> alone(everyone.partition(extents<1, 1>(), workers{0}));
  for (int round = 0; round < 2; ++round) {
    BOOST_TEST(refused<shape_error>([&] { mean.adjoint(); }).find("call loss(x, target) first") != std::string::npos);
    BOOST_TEST(refused<shape_error>([&] { entropy.adjoint(); }).find("call loss(x, target) first") !=
               std::string::npos);
    BOOST_TEST(refused<shape_error>([&] { alone.adjoint(); }).find("call loss(scores, labels)") != std::string::npos);
    BOOST_TEST(refused<shape_error>([&] { mean.adjoint(x); }).find("of each(x, target)") != std::string::npos);
    mean(x, x), entropy(x, labels), alone(x, labels);
    BOOST_TEST((mean.adjoint().shape() == x.shape() && entropy.adjoint().shape() == x.shape()));
    BOOST_TEST(alone.adjoint().size() == x.size());
    mean.each(x, x), entropy.each(x, labels);
    BOOST_TEST(refused<shape_error>([&] { mean.adjoint(); }).find("each(x, target) was called last") !=
               std::string::npos);
    BOOST_TEST(refused<shape_error>([&] { entropy.adjoint(1.0); }).find("was called last") != std::string::npos);
    BOOST_CHECK_THROW(mean(x, longer), shape_error);
    BOOST_CHECK_THROW(entropy(x, wrong), shape_error);
    BOOST_CHECK_THROW(alone(x, wrong), shape_error);
  }
}

BOOST_AUTO_TEST_CASE(cross_entropy_of_any_rank_is_its_definition_and_leaves_out_a_class_that_is_ignored) {
  const world everyone(test::workers());
  std::mt19937 draws(12);
  for (int round = 0; round < 4; ++round) {
    expect_cross_entropy<2>(everyone, draws, {5, 3});
    expect_cross_entropy<4>(everyone, draws, {2, 4, 3, 2});
  }
}

BOOST_AUTO_TEST_CASE(a_mean_over_no_row_is_no_number_and_a_sum_over_none_is_0) {
  const world everyone(test::workers());
  const auto p = everyone.partition(extents(1, everyone.size()));
  const xt::xtensor<double, 2> x = xt::ones<double>({2, 2});
  const xt::xtensor<int, 1> targets{1, 1};
  cross_entropy_loss<double, 2> mean(p, {.ignore_index = 1}),
      sum(p, {.reduction = loss_reduction::sum, .ignore_index = 1});
  BOOST_TEST(std::isnan(mean(x, targets)));  // as PyTorch has it
  BOOST_TEST(sum(x, targets) == 0.0);
  BOOST_TEST((sum.adjoint() == 0 * x));
}

BOOST_AUTO_TEST_CASE(targets_and_gradients_of_other_shapes_than_the_rows_are_refused_on_all_workers) {
  const world everyone(test::workers());
  const bool last = everyone.id() + 1 == everyone.size();
  cross_entropy_loss<double, 4> loss(everyone.partition(extents(1, 1, 1, everyone.size())));
  const xt::xtensor<double, 4> x = xt::ones<double>({2, 3, 4, 2});
  const std::array<std::size_t, 3> right{2, 4, 2};
  const xt::xtensor<int, 3> targets = xt::ones<int>(right);
  const xt::xtensor<double, 3> dy = xt::ones<double>(right);
  for (std::size_t d = 0; d < 3; ++d) {
    auto shape = right;
    shape[d] += last ? 1 : 0;
    const xt::xtensor<int, 3> longer = xt::ones<int>(shape);
    const xt::xtensor<double, 3> longer_dy = xt::ones<double>(shape);
    test::expect_refused<shape_error>([&] { loss(x, longer); },
                                      "partita::cross_entropy_loss: requires a target of the shape of x without "
                                      "dimension 1, got blocks of [2, 3, 4, 2] "
                                      "and [");
    test::expect_refused<shape_error>([&] { loss.each(x, longer); }, "cut the target like x");
    loss.each(x, targets);
    const char* const wants =
        "partita::cross_entropy_loss::adjoint(dy): requires a dy of the shape of the last result of";
    test::expect_refused<shape_error>([&] { loss.adjoint(longer_dy); }, wants);
    BOOST_TEST((loss.adjoint(dy).shape() == x.shape()));
    loss(x, targets);
    test::expect_refused<shape_error>([&] { loss.adjoint(dy); }, wants);
    BOOST_TEST((loss.adjoint(1.0).shape() == x.shape()));
  }
}

/// The classes are split over workers in any order, and a batch may have no rows.
BOOST_AUTO_TEST_CASE(the_classes_of_a_softmax_may_lie_on_workers_in_any_order) {
  const world everyone(test::workers());
  const std::size_t n = everyone.size(), classes = 2 * n + 1, batch = 3;
  std::vector<std::size_t> backwards;
  for (std::size_t k = n; k-- > 0;) backwards.push_back(k);
  softmax_cross_entropy<double> loss(everyone.partition(extents(1, n), workers(backwards)));
  const interval own = balanced_part(classes, n, n - 1 - everyone.id());
  const auto score = [](std::size_t r, std::size_t c) { return static_cast<double>((5 * r + 7 * c) % 11) / 4; };
  xt::xtensor<double, 2> scores({batch, own.size()});
  for (std::size_t r = 0; r < batch; ++r)
    for (std::size_t c = 0; c < own.size(); ++c) scores(r, c) = score(r, own.start + c);
  const xt::xtensor<std::size_t, 1> labels{0, classes - 1, 1};
  double wanted = 0;
  std::vector<double> sums(batch, 0);
  std::size_t right = 0;
  for (std::size_t r = 0; r < batch; ++r) {
    std::size_t best = 0;
    for (std::size_t c = 0; c < classes; ++c) {
      sums[r] += std::exp(score(r, c));
      if (score(r, c) > score(r, best)) best = c;
    }
    wanted += (std::log(sums[r]) - score(r, labels(r))) / 3;
    right += best == labels(r) ? 1 : 0;
  }
  BOOST_TEST(std::abs(loss(scores, labels) - wanted) < 1e-14);
  xt::xtensor<double, 2> slope = scores;
  for (std::size_t r = 0; r < batch; ++r)
    for (std::size_t c = 0; c < own.size(); ++c)
      slope(r, c) = (std::exp(scores(r, c)) / sums[r] - (own.start + c == labels(r) ? 1 : 0)) / 3;
  BOOST_TEST(close(loss.adjoint(), slope));
  BOOST_TEST(loss.count_correct(scores, labels) == right);

  const xt::xtensor<double, 2> none(std::array<std::size_t, 2>{0, own.size()});
  const xt::xtensor<std::size_t, 1> no_labels(std::array<std::size_t, 1>{0});
  BOOST_TEST(loss(none, no_labels) == 0.0);
  BOOST_TEST(loss.count_correct(none, no_labels) == 0U);
  BOOST_TEST((loss.adjoint().shape() == none.shape()));
}

/// A loss says its name where its arguments do not fit, and where another loss is called on another worker.
BOOST_AUTO_TEST_CASE(each_loss_has_its_name_and_its_options) {
  const world everyone(test::workers());
  const std::size_t n = everyone.size();
  const auto p = everyone.partition(extents(1, n));
  const xt::xtensor<double, 2> x = 0.5 * xt::ones<double>({2, 3}), wide = xt::ones<double>({2, 4});
  mse_loss<double, 2> next(p);
  const auto check = [&](const std::string& name, auto made, auto options, auto other) {
    using loss = decltype(made);
    test::expect_refused<shape_error>([&] { made(x, wide); }, (name + ": requires x and target of one shape").c_str());
    test::expect_refused<shape_error>([&] { made.adjoint(); }, (name + ".adjoint(dy): requires a loss before").c_str());
    test::expect_refused<shape_error>([&] { made.adjoint(x); }, (name + ".adjoint(dy): requires a dy of").c_str());
    for (const std::size_t odd : {std::size_t{0}, n - 1}) {
      loss here(p, everyone.id() == odd ? other : options);
      if (n > 1) BOOST_TEST(!refused([&] { here(x, x); }).empty(), name << " on worker " << odd);
      if (n > 1) BOOST_TEST(!refused([&] { here.each(x, x), next(x, x); }).empty(), name << " on worker " << odd);
    }
  };
  const loss_options sum{.reduction = loss_reduction::sum};
  check("partita::l1_loss", l1_loss<double, 2>(p), loss_options{}, sum);
  check("partita::mse_loss", mse_loss<double, 2>(p), loss_options{}, sum);
  check("partita::smooth_l1_loss", smooth_l1_loss<double, 2>(p), smooth_l1_options{}, smooth_l1_options{.beta = 2});
  check("partita::bce_loss", bce_loss<double, 2>(p), loss_options{}, sum);
  check("partita::bce_with_logits_loss", bce_with_logits_loss<double, 2>(p), loss_options{}, sum);
  check("partita::kl_loss", kl_loss<double, 2>(p), kl_options{}, kl_options{.log_target = true});
  check("partita::poisson_nll_loss", poisson_nll_loss<double, 2>(p), poisson_nll_options{},
        poisson_nll_options{.epsilon = 1});
  if (n == 1) return;
  const xt::xtensor<int, 1> targets{0, 1};
  for (const std::size_t odd : {std::size_t{0}, n - 1}) {
    const bool is_odd = everyone.id() == odd;
    cross_entropy_loss<double, 2> entropy(p, {.ignore_index = is_odd ? -1 : -2});
    BOOST_TEST(!refused([&] { entropy(x, targets); }).empty());
    l1_loss<double, 2> l1(p);
    BOOST_TEST(!refused([&] { is_odd ? l1(x, x) : next(x, x); }).empty());
  }
  BOOST_TEST(next(x, x) == 0.0);
}

/// What a worker outside of the partition passes does not count, and is not compared.
BOOST_AUTO_TEST_CASE(blocks_of_workers_outside_of_a_loss_do_not_count) {
  const world everyone(test::workers());
  const auto one = everyone.partition(extents(1, 1), workers{everyone.size() - 1});
  const xt::xtensor<double, 2> x{{1, 2, 3}, {4, 5, 6}}, t = xt::ones<double>({2, 3}), wide = xt::ones<double>({2, 4});
  for (const auto& [reduction, wanted] :
       {std::pair(loss_reduction::sum, -21.0), {loss_reduction::mean, -3.5}, {loss_reduction::batch_mean, -10.5}})
    for (const bool fits : {true, false})
      BOOST_TEST((kl_loss<double, 2>(one, {.reduction = reduction})(x, one.active() || fits ? t : wide) == wanted));
}

BOOST_AUTO_TEST_SUITE_END()
