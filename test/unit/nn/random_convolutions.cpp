// Compares random convolutions of the sequential executor with loops over every output and every tap: all kinds of
// partitions, uneven and empty blocks, strides larger than the kernel, dilation, groups, depthwise, and all paddings.
#include <partita/nn/convolution_sequentially.hpp>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <random>
#include <vector>

#include "convolution_oracle.hpp"
#include "random_cases.hpp"
#include "refused.hpp"

namespace {

using namespace partita;
std::size_t below(std::mt19937& random, std::size_t n) { return random() % n; }

template <std::size_t Rank>
grid<dynamic_extents<Rank>> placed(std::mt19937& random, const std::array<std::size_t, Rank>& shape,
                                   std::size_t world) {
  std::vector<std::size_t> ids(world);
  for (std::size_t k = 0; k < world; ++k) ids[k] = k;
  std::shuffle(ids.begin(), ids.end(), random);
  ids.resize(volume_of(shape));
  return {dynamic_extents<Rank>(shape), workers(ids)};
}
template <std::size_t Rank>
std::vector<xt::xtensor<double, Rank>> blocks_of(const xt::xtensor<double, Rank>& whole,
                                                 const decomposition<Rank>& cuts, const grid<dynamic_extents<Rank>>& p,
                                                 std::size_t world) {
  std::vector<xt::xtensor<double, Rank>> all;
  for (std::size_t k = 0; k < world; ++k)
    all.push_back(p.contains(k) ? test::part(whole, cuts.block(p.index(p.place(k)))) : zero_volume<double, Rank>());
  return all;
}

struct census {
  std::size_t grouped = 0, by_weights = 0, empty = 0, far = 0, padded = 0;
};

template <std::size_t Features>
void one_case(std::mt19937& random, census& seen) {
  constexpr std::size_t rank = Features + 2;
  using shape = std::array<std::size_t, rank>;
  convolution_options<Features> o;
  o.groups = below(random, 3) == 0 ? 1 + below(random, 3) : 1;
  o.in_channels = o.groups * (1 + below(random, 2)), o.out_channels = o.groups * (1 + below(random, 2));
  o.bias = below(random, 2) == 0;
  o.mode = static_cast<padding_mode>(below(random, 4));
  shape extents{1 + below(random, 3), o.in_channels};
  for (std::size_t f = 0; f < Features; ++f) {
    o.kernel[f] = 1 + below(random, 3), o.stride[f] = 1 + below(random, 4), o.dilation[f] = 1 + below(random, 2);
    extents[2 + f] = o.along(f).reach() + below(random, Features == 1 ? 9 : 4);
    o.padding[f] = below(random, std::min<std::size_t>(3, extents[2 + f]));
    seen.far += o.stride[f] > o.kernel[f] ? 1 : 0, seen.padded += o.padding[f] > 0 ? 1 : 0;
  }
  const bool by_weights = below(random, 2) == 0;
  shape at_x{}, at_y{}, at_w{};
  for (std::size_t d = 2; d < rank; ++d) at_x[d] = at_y[d] = at_w[d] = 1 + below(random, Features == 1 ? 4 : 2);
  at_x[0] = 1 + below(random, 2), at_x[1] = by_weights ? 1 + below(random, 2) : 1;
  at_y[0] = 1 + below(random, 2), at_y[1] = 1 + below(random, 3);
  at_w[0] = at_y[1], at_w[1] = at_x[1];
  if (!by_weights) at_y = at_x;
  const std::size_t world = std::max({volume_of(at_x), volume_of(at_y), by_weights ? volume_of(at_w) : 1});
  const auto p_x = placed<rank>(random, at_x, world);
  const auto p_y = by_weights ? placed<rank>(random, at_y, world) : p_x;
  const auto cuts = decomposition<rank>::make([&](std::size_t d) {
    std::vector<std::size_t> sizes(at_x[d], 0);
    for (std::size_t k = 0; k < extents[d]; ++k) ++sizes[below(random, at_x[d])];
    for (const std::size_t n : sizes) seen.empty += n == 0 ? 1 : 0;
    return cut::at(sizes);
  });
  seen.grouped += o.groups > 1 ? 1 : 0, seen.by_weights += by_weights ? 1 : 0;

  test::whole_convolution<Features> oracle{o, test::small_integers<rank>(o.weight_shape(), 1),
                                           test::small_integers<1>({o.bias ? o.out_channels : 0}, 2)};
  const auto x = test::small_integers<rank>(extents, 3);
  const auto y = oracle.forward(x);
  const auto dy = test::small_integers<rank>(oracle.result(extents), 4);
  typename test::whole_convolution<Features>::tensor dw;
  xt::xtensor<double, 1> db;
  const auto dx = oracle.adjoint(x, dy, dw, db);

  using layer_type = sequentially::convolution<double, Features>;
  auto layer = by_weights ? layer_type(p_x, p_y, placed<rank>(random, at_w, world), o) : layer_type(p_x, o);
  const auto of_y = decomposition<rank>::balanced(oracle.result(extents), at_y);
  const auto got = layer(blocks_of<rank>(x, cuts, p_x, world), oracle.w, oracle.b);
  const auto wanted = blocks_of<rank>(y, of_y, p_y, world);
  for (std::size_t k = 0; k < world; ++k)
    if (p_y.contains(k)) BOOST_REQUIRE(got[k] == wanted[k]);
  const auto back = layer.adjoint(blocks_of<rank>(dy, of_y, p_y, world));
  const auto given = blocks_of<rank>(dx, cuts, p_x, world);
  for (std::size_t k = 0; k < world; ++k)
    if (p_x.contains(k)) BOOST_REQUIRE(back[k] == given[k]);
  BOOST_REQUIRE(layer.weight_gradient() == dw);
  BOOST_REQUIRE(layer.bias_gradient() == db);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(random_convolutions)

BOOST_AUTO_TEST_CASE(random_convolutions_are_what_loops_over_every_tap_give) {
  std::mt19937 random(20261123);
  census seen;
  const std::size_t wanted = test::random_cases(12'000);
  for (std::size_t k = 0; k < wanted; ++k) {
    if (k % 3 == 0) one_case<1>(random, seen);
    if (k % 3 == 1) one_case<2>(random, seen);
    if (k % 3 == 2) one_case<3>(random, seen);
  }
  for (const std::size_t kind : {seen.grouped, seen.by_weights, seen.empty, seen.far, seen.padded})
    BOOST_TEST(kind > wanted / 8);
}

/// The gradients are those of the last adjoint, however many calls came before it, and of which shapes.
BOOST_AUTO_TEST_CASE(gradients_of_the_sequential_executor_do_not_add_up) {
  const grid<dynamic_extents<3>> p(dynamic_extents<3>(1, 1, 2), workers(0, 2));
  const convolution_options<1> o{.in_channels = 2, .out_channels = 3, .kernel = 2, .padding = 1};
  const test::whole_convolution<1> oracle{o, test::small_integers<3>(o.weight_shape(), 1),
                                          test::small_integers<1>({3}, 2)};
  sequentially::convolution<double, 1> layer(p, o);
  for (const std::size_t cells : {5U, 5U, 4U, 7U}) {
    const std::array<std::size_t, 3> extents{2, 2, cells};
    const auto x = test::small_integers<3>(extents, 3 + cells), dy = test::small_integers<3>(oracle.result(extents), 4);
    const auto cuts = decomposition<3>::balanced(extents, {1, 1, 2}),
               of_y = decomposition<3>::balanced(oracle.result(extents), {1, 1, 2});
    xt::xtensor<double, 3> dw;
    xt::xtensor<double, 1> db;
    const auto dx = blocks_of<3>(oracle.adjoint(x, dy, dw, db), cuts, p, 2);
    layer(blocks_of<3>(x, cuts, p, 2), oracle.w, oracle.b);
    for (int times = 0; times < 2; ++times) {
      BOOST_TEST((layer.adjoint(blocks_of<3>(dy, of_y, p, 2)) == dx));
      BOOST_TEST((layer.weight_gradient() == dw));
      BOOST_TEST((layer.bias_gradient() == db));
    }
  }
}

/// Every limit of the options, on both sides of it.
BOOST_AUTO_TEST_CASE(options_are_refused_beyond_their_limits_and_taken_at_them) {
  using options = convolution_options<1>;
  for (std::size_t n = 1; n <= 4; ++n)
    for (std::size_t padding = 0; padding <= 5; ++padding)
      for (std::size_t kernel = 1; kernel <= 5; ++kernel)
        for (std::size_t dilation = 1; dilation <= 2; ++dilation)
          for (const padding_mode mode :
               {padding_mode::zeros, padding_mode::circular, padding_mode::reflect, padding_mode::replicate}) {
            const options o{.in_channels = 2,
                            .out_channels = 4,
                            .kernel = kernel,
                            .padding = padding,
                            .dilation = dilation,
                            .groups = 2,
                            .mode = mode};
            const bool fills = mode == padding_mode::circular  ? padding <= n
                               : mode == padding_mode::reflect ? padding < n
                                                               : true;
            const bool fits = dilation * (kernel - 1) + 1 <= n + 2 * padding;
            BOOST_TEST(convolution_error(o).empty());
            BOOST_TEST(convolution_error(o, {1, 2, n}).empty() == (fills && fits),
                       "padding " << padding << ", kernel " << kernel << " of " << n);
            for (const std::size_t channels : {1U, 3U})
              BOOST_TEST(convolution_error(o, {1, channels, n}) == text("requires x of 2 channels, got extents [1, ")
                                                                       << channels << ", " << n << "]");
          }
  for (std::size_t in = 0; in <= 4; ++in)
    for (std::size_t out = 0; out <= 4; ++out)
      for (std::size_t groups = 0; groups <= 4; ++groups)
        BOOST_TEST(
            convolution_error(options{.in_channels = in, .out_channels = out, .kernel = 1, .groups = groups}).empty() ==
            (groups != 0 && in % groups == 0 && out % groups == 0));
  const grid<dynamic_extents<3>> p(dynamic_extents<3>(1, 1, 1), workers(0, 1));
  for (const std::size_t channels : {1U, 2U}) {
    sequentially::convolution<double, 1> layer(p, {.in_channels = 2, .out_channels = 1, .kernel = 1});
    const std::vector<xt::xtensor<double, 3>> x{xt::ones<double>({std::size_t{1}, channels, std::size_t{3}})};
    const auto said = test::refused<shape_error>([&] { layer(x, xt::ones<double>({1, 2, 1}), {0.0}); });
    BOOST_TEST(said == (channels == 2 ? ""
                                      : "partita::sequentially::convolution: requires x of 2 channels, got extents "
                                        "[1, 1, 3]"));
  }
  constexpr std::size_t most = static_cast<std::size_t>(-1) / 8;
  using plane = convolution_options<2>;
  const auto at = [](std::size_t d, std::size_t value) {
    per_dimension<2> all = 1;
    all[d] = value;
    return all;
  };
  for (std::size_t d = 0; d < 2; ++d) {
    const auto got = [&](const char* what, std::size_t n) {
      return text("requires a ") << what << ", got " << n << " along dimension " << d << " of the features";
    };
    for (const std::size_t n : {std::size_t{0}, std::size_t{1}, most, most + 1, static_cast<std::size_t>(-1)}) {
      const plane strides{.in_channels = 1, .out_channels = 1, .kernel = 1, .stride = at(d, n)},
          dilations{.in_channels = 1, .out_channels = 1, .kernel = 1, .dilation = at(d, n)},
          pads{.in_channels = 1, .out_channels = 1, .kernel = 1, .padding = at(d, n)};
      const bool counts = n >= 1 && n <= most;
      const char* const of_stride = "stride of at least 1 along every feature dimension";
      const char* const of_dilation = "dilation of at least 1 along every feature dimension";
      BOOST_TEST(convolution_error(strides) == (counts ? text() : got(of_stride, n)));
      BOOST_TEST(convolution_error(dilations) == (counts ? text() : got(of_dilation, n)));
      BOOST_TEST(convolution_error(pads) ==
                 (n <= most ? text() : got("padding of at least 0", n) << "; a negative padding is none"));
      if (!counts) {
        const plane kernels{.in_channels = 1, .out_channels = 1, .kernel = at(d, n)};
        BOOST_TEST(convolution_error(kernels) == got("kernel of at least 1 along every feature dimension", n));
      }
    }
    // a kernel of n cells with a dilation of 8 reaches over 8 n
    for (const std::size_t n : {most / 8, most / 8 + 1}) {
      const text error =
          convolution_error(plane{.in_channels = 0, .out_channels = 1, .kernel = at(d, n), .dilation = at(d, 8)});
      BOOST_TEST(error == (n <= most / 8 ? text()
                                         : text("requires a kernel that reaches over at most ")
                                               << most << " cells, got a kernel of " << n
                                               << " and a dilation of 8 along dimension " << d << " of the features"));
    }
  }
}

/// The reference convolution of the other cases also asks the options for these.
BOOST_AUTO_TEST_CASE(options_know_the_shape_of_their_weights_and_the_values_of_their_padding) {
  const convolution_options<2> o{.in_channels = 6,
                                 .out_channels = 4,
                                 .kernel = {2, 3},
                                 .stride = {4, 5},
                                 .padding = {6, 7},
                                 .dilation = {8, 9},
                                 .groups = 2};
  BOOST_TEST((o.weight_shape() == std::array<std::size_t, 4>{4, 3, 2, 3}));
  BOOST_TEST(o.taps() == 6U);
  BOOST_TEST((o.along(0) == sliding{2, 4, 6, 8} && o.along(1) == sliding{3, 5, 7, 9}));
  const std::pair<padding_mode, boundary> modes[] = {{padding_mode::zeros, boundary::zero},
                                                     {padding_mode::circular, boundary::periodic},
                                                     {padding_mode::reflect, boundary::reflect},
                                                     {padding_mode::replicate, boundary::replicate}};
  for (const auto& [mode, beyond] : modes) {
    const auto got = padding_of(convolution_options<2>{.mode = mode});
    const std::array<boundary, 4> wanted{boundary::none, boundary::none, beyond, beyond};
    BOOST_TEST((got.before == wanted && got.after == wanted));
  }
}

BOOST_AUTO_TEST_CASE(a_transposed_extent_is_what_the_kernel_covers_without_the_padding) {
  for (std::size_t n = 0; n <= 4; ++n)
    for (std::size_t stride = 1; stride <= 3; ++stride)
      for (std::size_t kernel = 1; kernel <= 3; ++kernel)
        for (std::size_t dilation = 1; dilation <= 2; ++dilation)
          for (std::size_t padding = 0; padding <= 5; ++padding)
            for (std::size_t more = 0; more <= 3; ++more) {
              const auto covered =
                             static_cast<long>((n == 0 ? 0 : n - 1) * stride + dilation * (kernel - 1) + 1 + more),
                         wanted = n == 0 || more >= stride ? 0 : covered - static_cast<long>(2 * padding);
              BOOST_TEST(transposed_extent({kernel, stride, padding, dilation}, n, more) ==
                             static_cast<std::size_t>(std::max(0L, wanted)),
                         n << " positions, stride " << stride << ", padding " << padding << " and " << more << " more");
            }
  constexpr std::size_t most = static_cast<std::size_t>(-1) / 4;  // beyond it an extent counts as none
  for (const std::size_t padding : {0U, 1U}) {
    BOOST_TEST(transposed_extent({1, 1, padding}, most, 0) == most - 2 * padding);
    BOOST_TEST(transposed_extent({1, 1, padding}, most + 1, 0) == 0U);
    BOOST_TEST(transposed_extent({3, 2, padding}, (most - 4) / 2 + 1, 1) == (most - 4) / 2 * 2 + 4 - 2 * padding);
    BOOST_TEST(transposed_extent({3, 2, padding}, (most - 4) / 2 + 2, 1) == 0U);
  }
}

BOOST_AUTO_TEST_CASE(weights_are_at_most_2_to_the_40_elements) {
  constexpr std::size_t most = std::size_t{1} << 40U, root = std::size_t{1} << 20U;
  const auto error = [](std::size_t in, std::size_t out, const per_dimension<2>& kernel, std::size_t groups = 1) {
    return convolution_error(
        convolution_options<2>{.in_channels = in, .out_channels = out, .kernel = kernel, .groups = groups});
  };
  const auto too_many = [](const std::array<std::size_t, 4>& shape) {
    return text("requires weights of at most 2^40 elements in all, got ")
           << shape << "; a negative number of channels is none";
  };
  BOOST_TEST(error(root, root, 1).empty());
  BOOST_TEST(error(root, root, {1, 2}) == too_many({root, root, 1, 2}));
  BOOST_TEST(error(2 * root, root, {2, 1}, 4).empty());
  BOOST_TEST(error(2 * root, root, {2, 2}, 2) == too_many({root, root, 2, 2}));
  BOOST_TEST(error(root + 1, root, 1) == too_many({root, root + 1, 1, 1}));
  BOOST_TEST((error(most, 0, 1).empty() && error(0, most, 1).empty()));
  BOOST_TEST(error(most + 1, 0, 1) == too_many({0, most + 1, 1, 1}));
  BOOST_TEST(error(0, most + 1, 1) == too_many({most + 1, 0, 1, 1}));
  BOOST_TEST(error(most, most, 1) == too_many({most, most, 1, 1}));  // 2^80, which would wrap around to 0
}

BOOST_AUTO_TEST_CASE(a_tensor_that_does_not_suit_is_refused_by_the_number_of_its_dimension) {
  const auto says = [](const convolution_options<2>& o, const std::array<std::size_t, 4>& extents) {
    return convolution_error(o, extents);
  };
  const std::array<std::size_t, 4> extents{1, 1, 4, 2};
  for (const std::size_t d : {0U, 1U}) {
    const std::size_t n = extents[2 + d];
    per_dimension<2> padding{}, kernel = 1;
    padding[d] = n + 1, kernel[d] = n + 3;
    for (const auto mode : {padding_mode::circular, padding_mode::reflect})
      BOOST_TEST(says({.in_channels = 1, .kernel = 1, .padding = padding, .mode = mode}, extents) ==
                 (text("requires a padding that x can fill (circular: at most its extent, reflect: less), got ")
                  << n + 1 << " along dimension " << d << " of the features of extents [1, 1, 4, 2]"));
    padding[d] = 1;
    BOOST_TEST(says({.in_channels = 1, .kernel = kernel, .padding = padding}, extents) ==
               (text("requires a kernel that fits into the padded x, got one that reaches over ")
                << n + 3 << " cells and a padded x of " << n + 2 << " along dimension " << d
                << " of the features of extents [1, 1, 4, 2]"));
  }
}

BOOST_AUTO_TEST_SUITE_END()
