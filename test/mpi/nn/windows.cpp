// Compares pooling and upsampling on any partition and decomposition with loops over the whole tensor.
#include "layer_twin.hpp"
#include "random_cases.hpp"
#include "refused.hpp"

#include <cmath>
#include <functional>
#include <limits>
#include <partita/kernel/adjoint_test.hpp>
#include <partita/nn/pooling.hpp>
#include <partita/nn/upsampling.hpp>

namespace {

using namespace partita;
using test::close;
using test::random_below;
using test::refused;
using whole = test::whole_tensor<double, 4>;
using place = partita::index<4>;
using pair_of = std::array<std::size_t, 2>;

/// The inputs of output o along one feature dimension and their weights, by the definition of the layer.
using inputs_of = std::function<std::vector<std::pair<std::size_t, double>>(std::size_t d, std::size_t o)>;

/// The result and the gradient of a layer whose outputs are the product of `by` along both dimensions.
struct answer {
  whole y, dx;
};
answer product(const whole& x, const std::array<std::size_t, 4>& extents, const inputs_of& by,
               const std::function<double(const place&)>& divisor, const std::function<double(std::size_t)>& dy) {
  answer a{whole(extents), whole(x.extents)};
  for (std::size_t k = 0; k < a.y.values.size(); ++k) {
    const place o = index_of(k, extents);
    for (const auto& [i, u] : by(0, o[2]))
      for (const auto& [j, v] : by(1, o[3])) {
        a.y.values[k] += u * v * x[{o[0], o[1], i, j}];
        a.dx[{o[0], o[1], i, j}] += u * v * dy(k) / divisor(o);
      }
    a.y.values[k] /= divisor(o);
  }
  return a;
}
/// The largest input, and the first one in C order if several are equal. NaN counts as larger than all numbers.
answer largest(const whole& x, const std::array<std::size_t, 4>& extents, const inputs_of& by,
               const std::function<double(std::size_t)>& dy) {
  answer a{whole(extents), whole(x.extents)};
  for (std::size_t k = 0; k < a.y.values.size(); ++k) {
    const place o = index_of(k, extents);
    place best{};
    bool any = false;
    for (const auto& [i, u] : by(0, o[2]))
      for (const auto& [j, v] : by(1, o[3]))
        if (const place here{o[0], o[1], i, j};
            !any || x[here] > x[best] || (std::isnan(x[here]) && !std::isnan(x[best])))
          best = here, any = true;
    a.y.values[k] = any ? x[best] : -std::numeric_limits<double>::infinity();
    if (any) a.dx[best] += dy(k);
  }
  return a;
}

double x_at(std::size_t k) { return static_cast<double>((7 * k + k / 5) % 23) - 11; }
double dy_at(std::size_t k) { return static_cast<double>((5 * k + 3) % 13) - 6; }

struct random_case {
  random_case(const world& everyone, std::mt19937& draws)
      : grid(test::random_grid<4>(draws, everyone.size())),
        extents{1 + random_below(draws, 3), 1 + random_below(draws, 3), 1 + random_below(draws, 9),
                1 + random_below(draws, 7)},
        cuts(test::random_cuts<4>(draws, extents, grid)),
        p(test::partition_on<4>(everyone, draws, grid)),
        x(extents, x_at) {}

  std::array<std::size_t, 4> grid, extents;
  decomposition<4> cuts;
  partition<dynamic_extents<4>> p;
  whole x;
};

template <class Layer>
void expect_same(const world& everyone, const random_case& c, Layer& layer, const answer& wanted, double tolerance) {
  const auto of_y = decomposition<4>::balanced(wanted.y.extents, c.grid);
  const auto x = c.x.block(c.p, c.cuts), dy = whole(wanted.y.extents, dy_at).block(c.p, of_y);
  const xt::xtensor<double, 4> y = layer(x);
  BOOST_TEST((y.shape() == dy.shape() || !c.p.active()));
  bool same = true;
  const auto expected = wanted.y.block(c.p, of_y);
  for (std::size_t k = 0; k < y.size(); ++k)
    same = same && (y.data()[k] == expected.data()[k] || (std::isnan(y.data()[k]) && std::isnan(expected.data()[k])) ||
                    std::abs(y.data()[k] - expected.data()[k]) <= tolerance * 20);
  BOOST_TEST(same);
  const xt::xtensor<double, 4> dx = layer.adjoint(dy);
  if (c.p.active()) BOOST_TEST(close(dx, wanted.dx.block(c.p, c.cuts), tolerance));
  static_cast<void>(everyone);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(windows)

BOOST_AUTO_TEST_CASE(pooling_is_its_definition_on_any_cut) {
  const world everyone(test::workers());
  std::mt19937 draws(1);
  std::size_t done = 0;
  for (std::size_t round = 0; round < 8 + test::random_cases(80); ++round) {
    random_case c(everyone, draws);
    for (std::size_t k = round % 4; round % 3 == 1 && k < c.x.values.size(); k += 5)
      c.x.values[k] = std::numeric_limits<double>::quiet_NaN();
    pair_of kernel{}, stride{}, padding{}, dilation{};
    std::array<sliding, 2> slides{};
    const bool ceil_mode = random_below(draws, 2) == 1, counts = random_below(draws, 2) == 1;
    bool fits = true;
    for (std::size_t d = 0; d < 2; ++d) {
      kernel[d] = 1 + random_below(draws, 4), stride[d] = 1 + random_below(draws, 4);
      padding[d] = random_below(draws, kernel[d] / 2 + 1), dilation[d] = 1 + random_below(draws, 2);
      slides[d] = {kernel[d], stride[d], padding[d], dilation[d], ceil_mode};
      fits = fits && slides[d].output_extent(c.extents[d + 2]) > 0;
    }
    if (!fits) continue;
    ++done;
    const auto under = [&](std::size_t d, std::size_t o, std::size_t apart) {
      std::vector<std::pair<std::size_t, double>> all;
      for (std::size_t t = 0; t < kernel[d]; ++t) {
        const auto i = static_cast<long>(o * stride[d] + t * apart) - static_cast<long>(padding[d]);
        if (i >= 0 && i < static_cast<long>(c.extents[d + 2])) all.emplace_back(static_cast<std::size_t>(i), 1.0);
      }
      return all;
    };
    max_pooling biggest(c.p, {kernel, stride, padding, dilation, ceil_mode});
    const std::array<std::size_t, 4> of_max{c.extents[0], c.extents[1], slides[0].output_extent(c.extents[2]),
                                            slides[1].output_extent(c.extents[3])};
    expect_same(everyone, c, biggest,
                largest(
                    c.x, of_max, [&](std::size_t d, std::size_t o) { return under(d, o, dilation[d]); }, dy_at),
                0);

    for (auto& s : slides) s.dilation = 1;
    if (slides[0].output_extent(c.extents[2]) == 0 || slides[1].output_extent(c.extents[3]) == 0) continue;
    const std::array<std::size_t, 4> of_mean{c.extents[0], c.extents[1], slides[0].output_extent(c.extents[2]),
                                             slides[1].output_extent(c.extents[3])};
    average_pooling mean(c.p, {kernel, stride, padding, ceil_mode, counts});
    const auto divisor = [&](const place& o) {  // as in PyTorch: a window ends at the end of the padded tensor
      double all = 1;
      for (std::size_t d = 0; d < 2; ++d) {
        const auto start = static_cast<long>(o[d + 2] * stride[d]) - static_cast<long>(padding[d]);
        const auto n = static_cast<long>(c.extents[d + 2]), stop = start + static_cast<long>(kernel[d]);
        if (counts) all *= static_cast<double>(std::min(stop, n + static_cast<long>(padding[d])) - start);
        else all *= static_cast<double>(std::min(stop, n) - std::max(start, 0L));
      }
      return all;
    };
    expect_same(everyone, c, mean,
                product(
                    c.x, of_mean, [&](std::size_t d, std::size_t o) { return under(d, o, 1); }, divisor, dy_at),
                1e-13);
  }
  BOOST_TEST(done > 2U);
}

BOOST_AUTO_TEST_CASE(adaptive_pooling_is_its_definition_on_any_cut) {
  const world everyone(test::workers());
  std::mt19937 draws(2);
  for (std::size_t round = 0; round < 4 + test::random_cases(32); ++round) {
    const random_case c(everyone, draws);
    const pair_of size{1 + random_below(draws, 6), 1 + random_below(draws, 6)};
    const auto bounds = [&](std::size_t d, std::size_t o) {
      const double share = static_cast<double>(c.extents[d + 2]) / static_cast<double>(size[d]);
      return std::pair{static_cast<std::size_t>(std::floor(static_cast<double>(o) * share + 1e-9)),
                       static_cast<std::size_t>(std::ceil(static_cast<double>(o + 1) * share - 1e-9))};
    };
    const inputs_of by = [&](std::size_t d, std::size_t o) {
      std::vector<std::pair<std::size_t, double>> all;
      for (std::size_t i = bounds(d, o).first; i < bounds(d, o).second; ++i) all.emplace_back(i, 1.0);
      return all;
    };
    const std::array<std::size_t, 4> of_y{c.extents[0], c.extents[1], size[0], size[1]};
    adaptive_average_pooling mean(c.p, {size});
    expect_same(
        everyone, c, mean,
        product(
            c.x, of_y, by, [&](const place& o) { return static_cast<double>(by(0, o[2]).size() * by(1, o[3]).size()); },
            dy_at),
        1e-13);
    adaptive_max_pooling biggest(c.p, {size});
    expect_same(everyone, c, biggest, largest(c.x, of_y, by, dy_at), 0);
  }
}

BOOST_AUTO_TEST_CASE(upsampling_is_its_definition_on_any_cut) {
  const world everyone(test::workers());
  std::mt19937 draws(3);
  for (std::size_t round = 0; round < 6 + test::random_cases(60); ++round) {
    const random_case c(everyone, draws);
    const bool linear = random_below(draws, 3) > 0, corners = linear && random_below(draws, 2) == 0;
    const std::size_t halves = 2 + random_below(draws, 6);
    const double scale = 0.5 * static_cast<double>(halves);
    const bool by_size = random_below(draws, 2) == 0;
    pair_of size{1 + random_below(draws, 12), 1 + random_below(draws, 12)};
    if (!by_size)
      for (std::size_t d = 0; d < 2; ++d)
        size[d] = static_cast<std::size_t>(std::floor(static_cast<double>(c.extents[d + 2]) * scale));
    const inputs_of by = [&](std::size_t d, std::size_t o) {
      const auto n = static_cast<double>(c.extents[d + 2]), m = static_cast<double>(size[d]);
      const double step = by_size ? n / m : 1 / scale, at = static_cast<double>(o);
      std::vector<std::pair<std::size_t, double>> all;
      if (!linear) {
        const std::size_t left = by_size ? o * c.extents[d + 2] / size[d] : 2 * o / halves;
        all.emplace_back(std::min(left, c.extents[d + 2] - 1), 1.0);
        return all;
      }
      double f = corners ? (m == 1 ? 0 : at * (n - 1) / (m - 1)) : std::max(0.0, (at + 0.5) * step - 0.5);
      f = std::min(f, n - 1);
      const double i = std::floor(f);
      all.emplace_back(static_cast<std::size_t>(i), 1 - (f - i));
      if (i + 1 < n) all.emplace_back(static_cast<std::size_t>(i) + 1, f - i);
      return all;
    };
    upsampling_options<2> options{.mode = linear ? upsampling_mode::linear : upsampling_mode::nearest,
                                  .align_corners = corners};
    if (by_size) options.size = size;
    else options.scale = scale;
    upsampling layer(c.p, options);
    const std::array<std::size_t, 4> of_y{c.extents[0], c.extents[1], size[0], size[1]};
    expect_same(everyone, c, layer,
                product(
                    c.x, of_y, by, [](const place&) { return 1.0; }, dy_at),
                1e-12);
  }
}

BOOST_AUTO_TEST_CASE(means_and_interpolations_by_powers_of_two_pass_the_adjoint_test_exactly) {
  const world everyone(test::workers());
  std::mt19937 draws(4);
  for (std::size_t round = 0; round < 4 + test::random_cases(32); ++round) {
    random_case c(everyone, draws);
    const auto passes = [&](auto layer, std::size_t rows, std::size_t columns) {
      const auto of_y = decomposition<4>::balanced({c.extents[0], c.extents[1], rows, columns}, c.grid);
      const auto x = c.x.block(c.p, c.cuts),
                 y = whole({c.extents[0], c.extents[1], rows, columns}, dy_at).block(c.p, of_y);
      return adjoint_test(everyone, layer, x, y).exact();
    };
    const std::size_t h = c.extents[2], w = c.extents[3];
    BOOST_TEST(
        passes(average_pooling(c.p, {.kernel = {4, 2}, .stride = pair_of{1, 2}, .padding = {2, 1}}), h + 1, w / 2 + 1));
    BOOST_TEST(passes(upsampling(c.p, {.scale = 2, .mode = upsampling_mode::linear}), 2 * h, 2 * w));
    BOOST_TEST(passes(upsampling(c.p, {.scale = 3}), 3 * h, 3 * w));
  }
}

BOOST_AUTO_TEST_CASE(what_no_window_can_be_is_refused_on_all_workers) {
  const world everyone(test::workers());
  const auto p = everyone.partition(extents(std::size_t{1}, std::size_t{1}, everyone.size()));
  const auto x = block_from(p, extents<2, 1, 5>{}, [](auto, auto, auto i) { return static_cast<double>(i); });
  const auto says = [](const char* part, auto call) {
    const std::string said = refused<shape_error>(call);
    BOOST_TEST(said.find(part) != std::string::npos, "it says: " << said);
  };
  says("at most half the kernel", [&] { max_pooling(p, {.kernel = {3}, .padding = {2}}); });
  says("numbers must not be negative",
       [&] { average_pooling(p, {.kernel = {2}, .stride = std::array<std::size_t, 1>{0}}); });
  says("numbers must not be negative", [&] { max_pooling(p, {.kernel = {static_cast<std::size_t>(-2)}}); });
  says("numbers must not be negative", [&] { adaptive_max_pooling(p, {.size = {static_cast<std::size_t>(-2)}}); });
  says("a negative one is none", [&] { upsampling(p, {.size = std::array{static_cast<std::size_t>(-8)}}); });
  says("at most the padded tensor", [&] { average_pooling(p, {.kernel = {6}})(x); });
  says("either a size or a scale", [&] { upsampling(p, {}); });
  says("no corners", [&] { upsampling(p, {.scale = 2, .align_corners = true}); });
  says("of x and of the result", [&] { upsampling(p, {.size = std::array<std::size_t, 1>{0}})(x); });
  says("at least one output", [&] { adaptive_max_pooling(p, {.size = {0}}); });
  average_pooling pool(p, {.kernel = {2}});
  says("call the layer first", [&] { pool.adjoint(x); });
  const auto y = pool(x);
  says("of the shape of the last result", [&] {
    auto wrong = y;
    if (everyone.id() == 0) wrong = xt::zeros<double>({2, 1, 7});
    pool.adjoint(wrong);
  });
  BOOST_TEST(pool.adjoint(y).size() == x.size());
}

BOOST_AUTO_TEST_SUITE_END()
