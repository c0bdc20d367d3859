// Compares norms on any partition and decomposition with their definitions on the whole tensor.
#include "layer_twin.hpp"
#include "random_cases.hpp"
#include "refused.hpp"

#include <functional>
#include <optional>
#include <partita/nn/batch_norm.hpp>
#include <partita/nn/group_norm.hpp>
#include <partita/nn/layer_norm.hpp>

namespace {

using namespace partita;
using test::close;
using test::refused;
using place = partita::index<3>;
using cube = test::whole_tensor<double, 3>;

/// A norm by its definition: the statistic and the parameter that an element belongs to, and whether the mean is
/// subtracted.
struct twin {
  std::function<std::size_t(const place&)> statistic, parameter;
  bool centred = true;
  double epsilon = 1e-5;
  std::vector<double> gamma, beta;

  struct result {
    cube y, dx;
    std::vector<double> dgamma, dbeta, mean, unbiased;
  };
  /// Computes the derivatives of y_j by x_i by their formula and sums them over all pairs.
  result operator()(const cube& x, const cube& dy, std::size_t statistics) const {
    result r{cube(x.extents),
             cube(x.extents),
             std::vector<double>(gamma.size()),
             std::vector<double>(gamma.size()),
             std::vector<double>(statistics),
             std::vector<double>(statistics)};
    for (std::size_t s = 0; s < statistics; ++s) {
      std::vector<std::size_t> of_s, q;
      for (std::size_t k = 0; k < x.values.size(); ++k)
        if (const place i = index_of(k, x.extents); statistic(i) == s) of_s.push_back(k), q.push_back(parameter(i));
      const auto n = static_cast<double>(of_s.size());
      double mean = 0, spread = 0;
      for (const std::size_t k : of_s) mean += x.values[k] / n;
      r.mean[s] = mean;
      if (!centred) mean = 0;
      for (const std::size_t k : of_s) spread += (x.values[k] - mean) * (x.values[k] - mean) / n;
      r.unbiased[s] = spread * n / (n - 1);
      const double inverse = 1 / std::sqrt(spread + epsilon);
      const auto normal = [&](std::size_t a) { return (x.values[of_s[a]] - mean) * inverse; };
      for (std::size_t a = 0; a < of_s.size(); ++a) {
        r.y.values[of_s[a]] = normal(a) * gamma[q[a]] + beta[q[a]];
        r.dgamma[q[a]] += dy.values[of_s[a]] * normal(a);
        r.dbeta[q[a]] += dy.values[of_s[a]];
        for (std::size_t b = 0; b < of_s.size(); ++b)
          r.dx.values[of_s[a]] += dy.values[of_s[b]] * gamma[q[b]] * inverse *
                                  ((a == b ? 1 : 0) - (centred ? 1 / n : 0) - normal(a) * normal(b) / n);
      }
    }
    return r;
  }
};

double x_at(std::size_t k) { return static_cast<double>((17 * k + 3) % 31) / 4 - 3; }
/// Large in every second round, so that a misplaced epsilon in the formula is detected.
double epsilon_of(std::size_t round) { return round % 2 == 0 ? 4 : 1e-3; }
double dy_at(std::size_t k) { return static_cast<double>((5 * k + 1) % 13) / 2 - 3; }
std::vector<double> parameters_of(std::size_t n, std::size_t step) {
  std::vector<double> all(n);
  for (std::size_t k = 0; k < n; ++k) all[k] = static_cast<double>((step * k + 1) % 7) / 4 + 0.5;
  return all;
}

/// A random tensor in a random decomposition over some workers.
struct random_case {
  random_case(const world& everyone, std::mt19937& draws)
      : extents{2 + test::random_below(draws, 3), 1 + test::random_below(draws, 5), 1 + test::random_below(draws, 4)},
        grid(test::random_grid<3>(draws, everyone.size())),
        cuts(test::random_cuts<3>(draws, extents, grid)),
        p(test::partition_on<3>(everyone, draws, grid)),
        x(extents, x_at),
        dy(extents, dy_at) {}

  std::array<std::size_t, 3> extents, grid;
  decomposition<3> cuts;
  partition<dynamic_extents<3>> p;
  cube x, dy;
};

template <class Layer>
void expect_same(const random_case& c, Layer& layer, const twin::result& wanted, std::size_t first_parameter) {
  BOOST_TEST(close(layer(c.x.block(c.p, c.cuts)), wanted.y.block(c.p, c.cuts), 1e-11));
  for (const double times : {1.0, 2.0}) {  // gradients accumulate
    BOOST_TEST(close(layer.adjoint(c.dy.block(c.p, c.cuts)), wanted.dx.block(c.p, c.cuts), 1e-10));
    for (std::size_t k = 0; k < layer.weight().size(); ++k)
      BOOST_TEST(std::abs(layer.weight_gradient().data()[k] - times * wanted.dgamma[first_parameter + k]) < 1e-9);
    for (std::size_t k = 0; k < layer.bias().size(); ++k)
      BOOST_TEST(std::abs(layer.bias_gradient().data()[k] - times * wanted.dbeta[first_parameter + k]) < 1e-9);
  }
}
template <class Layer>
void set_parameters(Layer& layer, const twin& by, std::size_t first) {
  using T = typename std::remove_cvref_t<decltype(layer.weight())>::value_type;
  for (std::size_t k = 0; k < layer.weight().size(); ++k)
    layer.weight().data()[k] = static_cast<T>(by.gamma[first + k]);
  for (std::size_t k = 0; k < layer.bias().size(); ++k) layer.bias().data()[k] = static_cast<T>(by.beta[first + k]);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(norms)

BOOST_AUTO_TEST_CASE(batch_norm_is_its_definition_on_any_cut) {
  const world everyone(test::workers());
  std::mt19937 draws(1);
  for (std::size_t round = 0; round < 3 + test::random_cases(24); ++round) {
    const random_case c(everyone, draws);
    const std::size_t channels = c.extents[1];
    const auto channel = [](const place& i) { return i[1]; };
    const double epsilon = epsilon_of(round);
    const twin by{channel, channel, true, epsilon, parameters_of(channels, 3), parameters_of(channels, 5)};
    const auto wanted = by(c.x, c.dy, channels);
    batch_norm<double, 3> layer(c.p, {.channels = channels, .epsilon = epsilon, .channel_cut = c.cuts.cuts[1]});
    const std::size_t first = layer.channels().start;
    set_parameters(layer, by, first);
    expect_same(c, layer, wanted, first);
    for (std::size_t k = 0; k < layer.running_mean().size(); ++k) {
      BOOST_TEST(std::abs(layer.running_mean()(k) - 0.1 * wanted.mean[first + k]) < 1e-13);
      BOOST_TEST(std::abs(layer.running_variance()(k) - (0.9 + 0.1 * wanted.unbiased[first + k])) < 1e-12);
    }
    layer.evaluate();
    cube evaluated(c.extents), dx(c.extents);
    for (std::size_t k = 0; k < evaluated.values.size(); ++k) {
      const std::size_t ch = index_of(k, c.extents)[1];
      const double inverse = 1 / std::sqrt(0.9 + 0.1 * wanted.unbiased[ch] + epsilon);
      evaluated.values[k] = (c.x.values[k] - 0.1 * wanted.mean[ch]) * inverse * by.gamma[ch] + by.beta[ch];
      dx.values[k] = c.dy.values[k] * by.gamma[ch] * inverse;
    }
    BOOST_TEST(close(layer(c.x.block(c.p, c.cuts)), evaluated.block(c.p, c.cuts)));
    BOOST_TEST(close(layer.adjoint(c.dy.block(c.p, c.cuts)), dx.block(c.p, c.cuts)));
  }
}

BOOST_AUTO_TEST_CASE(a_mean_far_away_leaves_the_variance_as_it_is) {
  const world everyone(test::workers());
  const auto p = everyone.partition(extents(everyone.size(), std::size_t{1}));
  const double far = 1e9;
  const auto x = block_from(p, extents<dynamic, 1>(4 * everyone.size()),
                            [&](auto i, auto) { return far + (i % 2 == 0 ? 1.0 : -1.0); });
  batch_norm<double, 2> layer(p, {.channels = 1, .epsilon = 0});
  const auto y = layer(x);
  for (std::size_t k = 0; k < y.size(); ++k) BOOST_TEST(y.data()[k] == (k % 2 == 0 ? 1.0 : -1.0));
}

BOOST_AUTO_TEST_CASE(layer_norm_and_rms_norm_are_their_definitions_with_their_dimensions_cut) {
  const world everyone(test::workers());
  std::mt19937 draws(2);
  for (std::size_t round = 0; round < 3 + test::random_cases(24); ++round) {
    const random_case c(everyone, draws);
    const auto [n, h, w] = c.extents;
    const std::size_t columns = w, both = h * w;
    const auto row = [h_ = h](const place& i) { return i[0] * h_ + i[1]; };
    const auto last = [](const place& i) { return i[2]; };
    const double epsilon = epsilon_of(round);
    const twin one{row, last, true, epsilon, parameters_of(columns, 3), parameters_of(columns, 5)};
    const layer_norm_options<1> over_one{
        .shape = {columns}, .epsilon = epsilon, .cuts = decomposition<1>(c.cuts.cuts[2])};
    layer_norm<double, 3> layer(c.p, over_one);
    set_parameters(layer, one, layer.weight_box().start[0]);
    expect_same(c, layer, one(c.x, c.dy, n * h), layer.weight_box().start[0]);

    twin root = one;
    root.centred = false;
    root.beta.assign(columns, 0);
    rms_norm<double, 3> without_mean(c.p, over_one);
    set_parameters(without_mean, root, without_mean.weight_box().start[0]);
    expect_same(c, without_mean, root(c.x, c.dy, n * h), without_mean.weight_box().start[0]);

    const twin two{[](const place& i) { return i[0]; },
                   [w_ = w](const place& i) { return i[1] * w_ + i[2]; },
                   true,
                   epsilon,
                   std::vector<double>(both, 1),
                   std::vector<double>(both, 0)};
    layer_norm<double, 3, 2> over_two(
        c.p, {.shape = {h, w}, .epsilon = epsilon, .cuts = decomposition<2>(c.cuts.cuts[1], c.cuts.cuts[2])});
    const auto wanted = two(c.x, c.dy, n);
    BOOST_TEST(close(over_two(c.x.block(c.p, c.cuts)), wanted.y.block(c.p, c.cuts), 1e-11));
    BOOST_TEST(close(over_two.adjoint(c.dy.block(c.p, c.cuts)), wanted.dx.block(c.p, c.cuts), 1e-10));
    const box<2> own = over_two.weight_box();
    for (std::size_t k = 0; k < over_two.weight_gradient().size(); ++k) {
      const auto i = index_of(k, own.shape());
      const std::size_t q = (own.start[0] + i[0]) * columns + own.start[1] + i[1];
      BOOST_TEST(std::abs(over_two.weight_gradient().data()[k] - wanted.dgamma[q]) < 1e-9);
      BOOST_TEST(std::abs(over_two.bias_gradient().data()[k] - wanted.dbeta[q]) < 1e-9);
    }
  }
}

BOOST_AUTO_TEST_CASE(group_norm_is_its_definition_also_where_a_group_lies_on_several_workers) {
  const world everyone(test::workers());
  std::mt19937 draws(3);
  for (std::size_t round = 0; round < 3 + test::random_cases(24); ++round) {
    random_case c(everyone, draws);
    c.extents[1] = 6;
    c.cuts = test::random_cuts<3>(draws, c.extents, c.grid);
    c.x = cube(c.extents, x_at), c.dy = cube(c.extents, dy_at);
    for (const std::size_t groups : {1U, 3U, 6U}) {
      const auto group = [&](const place& i) { return i[0] * groups + i[1] / (6 / groups); };
      const auto channel = [](const place& i) { return i[1]; };
      const double epsilon = epsilon_of(round);
      const twin by{group, channel, true, epsilon, parameters_of(6, 3), parameters_of(6, 5)};
      group_norm<double, 3> layer(c.p,
                                  {.groups = groups, .channels = 6, .epsilon = epsilon, .channel_cut = c.cuts.cuts[1]});
      set_parameters(layer, by, layer.channels().start);
      expect_same(c, layer, by(c.x, c.dy, c.extents[0] * groups), layer.channels().start);
    }
  }
}

/// A tensor of any rank has the elements of one of rank 3 in the same order: for norms of channels its features are one
/// dimension, for norms of the last dimension all others are one.
BOOST_AUTO_TEST_CASE(norms_of_all_ranks_are_their_definitions_and_refuse_another_extent_of_any_dimension) {
  const world everyone(test::workers());
  std::mt19937 draws(5);
  const auto of_rank = [&]<class T, std::size_t Rank>(T tolerance, std::integral_constant<std::size_t, Rank>) {
    std::array<std::size_t, Rank> extents{};
    for (std::size_t d = 0; d < Rank; ++d) extents[d] = d == 1 ? 4 : 1 + (d + test::random_below(draws, 3)) % 3;
    const auto grid = test::random_grid<Rank>(draws, everyone.size());
    const auto cuts = test::random_cuts<Rank>(draws, extents, grid);
    const auto p = test::partition_on<Rank>(everyone, draws, grid);
    const auto block_of = [&](const auto& values) {
      return test::whole_tensor<T, Rank>(extents, [&](std::size_t k) { return values[k]; }).block(p, cuts);
    };
    const std::size_t volume = volume_of(extents), last = extents[Rank - 1];
    constexpr double epsilon = 4;
    const auto check = [&](auto&& layer, const twin& by, const std::array<std::size_t, 3>& folded,
                           std::size_t statistics, std::size_t first) {
      const cube x(folded, x_at), dy(folded, dy_at);
      const auto wanted = by(x, dy, statistics);
      const xt::xtensor<T, Rank> block = block_of(x.values), dblock = block_of(dy.values);
      set_parameters(layer, by, first);
      for (std::size_t d = 0; d < Rank; ++d) {
        auto shape = detail::shape_array<Rank>(block.shape());
        if (p.active() && p.workers()[p.size() - 1] == everyone.id()) ++shape[d];
        const xt::xtensor<T, Rank> longer = xt::ones<T>(shape);
        if (p.size() > grid[d]) BOOST_CHECK_THROW(layer(longer), shape_error);
        layer(block);
        BOOST_CHECK_THROW(layer.adjoint(longer), shape_error);
      }
      BOOST_TEST(close(layer(block), block_of(wanted.y.values), tolerance));
      BOOST_TEST(close(layer.adjoint(dblock), block_of(wanted.dx.values), tolerance));
      for (std::size_t k = 0; k < layer.weight().size(); ++k)
        BOOST_TEST(std::abs(layer.weight_gradient().data()[k] - wanted.dgamma[first + k]) < 100 * tolerance);
      for (std::size_t k = 0; k < layer.bias().size(); ++k)
        BOOST_TEST(std::abs(layer.bias_gradient().data()[k] - wanted.dbeta[first + k]) < 100 * tolerance);
    };
    const twin row{[](const place& i) { return i[0]; },
                   [](const place& i) { return i[2]; },
                   true,
                   epsilon,
                   parameters_of(last, 3),
                   parameters_of(last, 5)};
    const layer_norm_options<1> over_last{
        .shape = {last}, .epsilon = epsilon, .cuts = decomposition<1>(cuts.cuts[Rank - 1])};
    layer_norm<T, Rank> centred(p, over_last);
    check(centred, row, {volume / last, 1, last}, volume / last, centred.weight_box().start[0]);
    twin root = row;
    root.centred = false;
    root.beta.assign(last, 0);
    check(rms_norm<T, Rank>(p, over_last), root, {volume / last, 1, last}, volume / last,
          centred.weight_box().start[0]);
    if constexpr (Rank > 1) {
      const std::array<std::size_t, 3> folded{extents[0], 4, volume / extents[0] / 4};
      const auto channel = [](const place& i) { return i[1]; };
      twin by{channel, channel, true, epsilon, parameters_of(4, 3), parameters_of(4, 5)};
      batch_norm<T, Rank> batch(p, {.channels = 4, .epsilon = epsilon, .channel_cut = cuts.cuts[1]});
      if (volume > 4) check(batch, by, folded, 4, batch.channels().start);
      for (const std::size_t groups : {2U, 4U}) {
        by.statistic = [groups](const place& i) { return i[0] * groups + i[1] / (4 / groups); };
        group_norm<T, Rank> group(p,
                                  {.groups = groups, .channels = 4, .epsilon = epsilon, .channel_cut = cuts.cuts[1]});
        check(group, by, folded, extents[0] * groups, group.channels().start);
      }
    }
  };
  [&]<std::size_t... R>(std::index_sequence<R...>) {
    (of_rank(1e-11, std::integral_constant<std::size_t, R + 1>()), ...);
    (of_rank(1e-4F, std::integral_constant<std::size_t, R + 1>()), ...);
  }(std::make_index_sequence<8>());
}

BOOST_AUTO_TEST_CASE(norms_without_parameters_have_a_weight_of_1_and_no_bias) {
  const world everyone(test::workers());
  std::mt19937 draws(4);
  for (std::size_t round = 0; round < 3 + test::random_cases(16); ++round) {
    const random_case c(everyone, draws);
    const auto [n, h, w] = c.extents;
    const double epsilon = epsilon_of(round);
    const auto check = [&](auto&& layer, auto statistic, bool centred, std::size_t statistics) {
      const std::vector<double> one(1, 1), none(1, 0);
      const twin by{statistic, [](const place&) { return std::size_t{0}; }, centred, epsilon, one, none};
      BOOST_TEST(layer.weight().size() == 0U);
      expect_same(c, layer, by(c.x, c.dy, statistics), 0);
    };
    const auto channel = [](const place& i) { return i[1]; };
    const auto row = [h_ = h](const place& i) { return i[0] * h_ + i[1]; };
    const auto sample = [](const place& i) { return i[0]; };
    const decomposition<1> last(c.cuts.cuts[2]);
    check(
        batch_norm<double, 3>(c.p, {.channels = h, .epsilon = epsilon, .affine = false, .channel_cut = c.cuts.cuts[1]}),
        channel, true, h);
    check(group_norm<double, 3>(
              c.p, {.groups = 1, .channels = h, .epsilon = epsilon, .affine = false, .channel_cut = c.cuts.cuts[1]}),
          sample, true, n);
    check(layer_norm<double, 3>(c.p, {.shape = {w}, .epsilon = epsilon, .affine = false, .cuts = last}), row, true,
          n * h);
    check(rms_norm<double, 3>(c.p, {.shape = {w}, .epsilon = epsilon, .affine = false, .cuts = last}), row, false,
          n * h);
  }
}

BOOST_AUTO_TEST_CASE(tensors_that_a_norm_was_not_made_for_are_refused_on_all_workers) {
  const world everyone(test::workers());
  const std::size_t n = everyone.size();
  const auto p = everyone.partition(extents(std::size_t{1}, n));
  const auto x = block_from(p, extents<1, dynamic>(2 * n), [](auto, auto j) { return static_cast<double>(j); });
  batch_norm<double, 2> wrong(p, {.channels = 2 * n + 1}), single(p, {.channels = 2 * n});
  BOOST_TEST(refused<shape_error>([&] { wrong(x); }).find("channels in dimension 1") != std::string::npos);
  BOOST_TEST(refused<shape_error>([&] { single(x); }).find("one element has no variance") != std::string::npos);
  BOOST_TEST(refused<shape_error>([&] { single.adjoint(x); }).find("call the layer first") != std::string::npos);
  single.evaluate();
  BOOST_TEST(close(single(x), x, 1e-5));
  layer_norm<double, 2> other(p, {.shape = {2 * n + 1}});
  BOOST_TEST(refused<shape_error>([&] { other(x); }).find("whose last extents are") != std::string::npos);
  layer_norm<double, 2> spoilt(p, {.shape = {2 * n}});
  if (everyone.id() + 1 == n) spoilt.weight() = xt::ones<double>({7});
  BOOST_TEST(refused<shape_error>([&] { spoilt(x); }).find("assign blocks of the shape") != std::string::npos);
  BOOST_TEST(refused<shape_error>([&] {
               group_norm<double, 2>(p, {.groups = 4, .channels = 6});
             }).find("multiple of the groups") != std::string::npos);
  for (const double none : {-1e-5, std::nan("")}) {
    BOOST_CHECK_THROW((layer_norm<double, 2>(p, {.shape = {2 * n}, .epsilon = none})), shape_error);
    BOOST_CHECK_THROW((rms_norm<double, 2>(p, {.shape = {2 * n}, .epsilon = none})), shape_error);
    BOOST_CHECK_THROW((group_norm<double, 2>(p, {.channels = 2 * n, .epsilon = none})), shape_error);
    BOOST_CHECK_THROW((batch_norm<double, 2>(p, {.channels = 2 * n, .epsilon = none})), shape_error);
    BOOST_CHECK_THROW((batch_norm<double, 2>(p, {.channels = 2 * n, .momentum = none})), shape_error);
  }
  if (n > 1)
    BOOST_TEST(refused<shape_error>([&] {
                 batch_norm<double, 2>(p, {.channels = 6, .channel_cut = cut::balanced(6, n - 1)});
               }).find("along dimension 1") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(first_parameters_are_1_and_0_and_there_are_as_many_as_the_norm_uses) {
  const world everyone(test::workers());
  const std::size_t n = everyone.size();
  const auto p = everyone.partition(extents(std::size_t{1}, n));
  for (const bool affine : {true, false}) {
    const auto check = [&](const char* name, auto layer, bool shifts) {
      BOOST_TEST((layer.weight().size() == (affine ? 2U : 0U) && layer.bias().size() == (affine && shifts ? 2U : 0U)),
                 name);
      for (const double w : layer.weight()) BOOST_TEST(w == 1, name);
      for (const double b : layer.bias()) BOOST_TEST(b == 0, name);
      for (const auto* gradient : {&layer.weight_gradient(), &layer.bias_gradient()})
        for (const double g : *gradient) BOOST_TEST(g == 0, name);
      const auto all = layer.parameters();
      BOOST_TEST((all.size() == 2 && all[0].size() == layer.weight().size() && all[1].size() == layer.bias().size()),
                 name);
      BOOST_TEST((all[0].value() == layer.weight().data() && all[0].gradient() == layer.weight_gradient().data()),
                 name);
      BOOST_TEST((all[1].value() == layer.bias().data() && all[1].gradient() == layer.bias_gradient().data()), name);
      layer.weight_gradient().fill(3), layer.bias_gradient().fill(3);
      layer.zero_gradients();
      for (const auto* gradient : {&layer.weight_gradient(), &layer.bias_gradient()})
        for (const double g : *gradient) BOOST_TEST(g == 0, name);
    };
    check("batch_norm", batch_norm<double, 2>(p, {.channels = 2 * n, .affine = affine}), true);
    check("group_norm", group_norm<double, 2>(p, {.channels = 2 * n, .affine = affine}), true);
    check("layer_norm", layer_norm<double, 2>(p, {.shape = {2 * n}, .affine = affine}), true);
    check("rms_norm", rms_norm<double, 2>(p, {.shape = {2 * n}, .affine = affine}), false);
  }
}

/// Running statistics begin as those of the standard normal distribution, and a layer begins in training mode.
BOOST_AUTO_TEST_CASE(a_new_batch_norm_trains_and_has_a_running_mean_of_0_and_a_variance_of_1) {
  const world everyone(test::workers());
  const std::size_t n = everyone.size();
  const auto p = everyone.partition(extents(std::size_t{1}, n));
  batch_norm<double, 2> layer(p, {.channels = 3 * n}), untracked(p, {.channels = 3 * n, .track = false});
  BOOST_TEST((layer.training() && layer.running_mean().size() == 3 && layer.running_variance().size() == 3));
  for (std::size_t k = 0; k < 3; ++k) BOOST_TEST((layer.running_mean()(k) == 0 && layer.running_variance()(k) == 1));
  BOOST_TEST((untracked.running_mean().size() == 0 && untracked.running_variance().size() == 0));
  BOOST_TEST((layer.channels() == interval{3 * everyone.id(), 3 * everyone.id() + 3}));
  layer.evaluate();
  BOOST_TEST(!layer.training());
  layer.train();
  BOOST_TEST(layer.training());
}

/// Parameters, gradients, tensors and cuts that do not fit are refused in the words of the layer.
BOOST_AUTO_TEST_CASE(what_does_not_fit_a_norm_is_named) {
  const world everyone(test::workers());
  const std::size_t n = everyone.size(), id = everyone.id();
  const auto p = everyone.partition(extents(std::size_t{1}, n));
  using matrix = xt::xtensor<double, 2>;
  const matrix x = matrix(xt::ones<double>({4, 2})) * static_cast<double>(id + 1);
  const xt::xtensor<double, 1> longer = xt::ones<double>({id + 1 == n ? 3 : 2});
  const auto check = [&](const std::string& name, auto layer, bool shifts) {
    const auto says = [&](const std::string& words, auto call) {
      test::expect_refused<shape_error>(call, (name + words).c_str());
    };
    says("(x).adjoint(dy): requires a dy of the shape of the last result; call the layer first, got [4, 2]",
         [&] { layer.adjoint(x); });
    layer(x);
    says("(x).adjoint(dy): requires a dy of the shape of the last result, got [5, 2]", [&] {
      layer.adjoint(id + 1 == n ? matrix(xt::ones<double>({5, 2})) : x);
    });
    const auto keeps = [&](auto& held, const std::string& words) {
      const auto kept = held;
      held = longer;
      says("(x): " + words, [&] { layer(x); });
      says("(x): " + words, [&] { layer.adjoint(x); });
      held = kept;
      layer(x);
    };
    keeps(layer.weight(),
          "requires a weight and its gradient of shape [2], got [3] and [2]; assign blocks of the shape");
    keeps(layer.weight_gradient(), "requires a weight and its gradient of shape [2], got [2] and [3]; assign");
    if (shifts) {
      keeps(layer.bias(), "requires a bias and its gradient of shape [2], got [3] and [2]; assign blocks of the shape");
      keeps(layer.bias_gradient(), "requires a bias and its gradient of shape [2], got [2] and [3]; assign");
    } else {
      keeps(layer.bias(), "requires a bias and its gradient of shape [0], got [");
    }
    if (n == 1) return;
    says("(x) with p = [1, " + std::to_string(n) + "]: ", [&] {
      layer(id + 1 == n ? matrix(xt::ones<double>({5, 2})) : x);
    });
    BOOST_TEST((layer(x).shape() == x.shape()));
  };
  check("partita::batch_norm(p, options)", batch_norm<double, 2>(p, {.channels = 2 * n}), true);
  check("partita::group_norm(p, options)", group_norm<double, 2>(p, {.channels = 2 * n}), true);
  check("partita::layer_norm(p, options)", layer_norm<double, 2>(p, {.shape = {2 * n}}), true);
  check("partita::rms_norm(p, options)", rms_norm<double, 2>(p, {.shape = {2 * n}}), false);
  if (n == 1) return;
  const matrix uneven = xt::ones<double>({std::size_t{4}, id == 0 ? std::size_t{3} : 2 - (id + 1) / n});
  const std::string words =
      "(x): requires x cut along dimension 1 as the layer was made for, 2 in part 0, got 3; say {.cuts";
  layer_norm<double, 2> norm(p, {.shape = {2 * n}});
  rms_norm<double, 2> root(p, {.shape = {2 * n}});
  test::expect_refused<shape_error>([&] { norm(uneven); }, ("partita::layer_norm(p, options)" + words).c_str());
  test::expect_refused<shape_error>([&] { root(uneven); }, ("partita::rms_norm(p, options)" + words).c_str());
}

BOOST_AUTO_TEST_CASE(an_option_of_one_worker_alone_is_refused, *test::at_least(2)) {
  const world everyone(test::workers());
  const std::size_t n = everyone.size();
  const auto p = everyone.partition(extents(std::size_t{1}, n));
  const xt::xtensor<double, 2> x{{1, 2}, {4, 3}, {5, 7}};
  rms_norm<double, 2> next(p, {.shape = {2 * n}});
  for (const std::size_t odd : {std::size_t{0}, n - 1}) {
    const double epsilon = everyone.id() == odd ? 1 : 2;
    const auto check = [&](const char* name, auto layer) {
      BOOST_TEST(!refused([&] { layer(x), next(x); }).empty(), name);  // by the next call at the latest
    };
    check("batch_norm", batch_norm<double, 2>(p, {.channels = 2 * n, .epsilon = epsilon}));
    check("group_norm", group_norm<double, 2>(p, {.channels = 2 * n, .epsilon = epsilon}));
    check("layer_norm", layer_norm<double, 2>(p, {.shape = {2 * n}, .epsilon = epsilon}));
    check("rms_norm", rms_norm<double, 2>(p, {.shape = {2 * n}, .epsilon = epsilon}));
  }
}

BOOST_AUTO_TEST_SUITE_END()
