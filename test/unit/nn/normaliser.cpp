// The common parts of norms: the moments of two sets give those of their union, whatever their sizes, also where one is
// empty; elements are numbered by some of their indices; and channels are split as the options say.
#include <partita/nn/detail/normaliser.hpp>

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "refused.hpp"

using namespace partita;

namespace {

detail::moments moments_of(const std::vector<double>& x) {
  detail::moments all{static_cast<double>(x.size()), 0, 0};
  for (const double one : x) all.mean += one / all.count;
  for (const double one : x) all.squared_deviation_sum += (one - all.mean) * (one - all.mean);
  return all;
}

/// The options of a norm that say how its channels are split.
struct channel_options {
  std::size_t channels = 0;
  std::optional<cut> channel_cut{};
};

}  // namespace

BOOST_AUTO_TEST_SUITE(normalisers)

BOOST_AUTO_TEST_CASE(moments_of_a_union) {
  std::mt19937 random(7);
  for (std::size_t round = 0; round < 200; ++round) {
    std::vector<double> a(random() % 6), b(random() % 3), both;
    for (auto* some : {&a, &b})
      for (double& one : *some) both.push_back(one = static_cast<double>(random() % 9));
    const auto joined = detail::merge_moments()(moments_of(a), moments_of(b)), wanted = moments_of(both);
    BOOST_TEST(joined.count == wanted.count);
    BOOST_TEST(std::abs(joined.mean - wanted.mean) < 1e-12);
    BOOST_TEST(std::abs(joined.squared_deviation_sum - wanted.squared_deviation_sum) < 1e-12);
  }
}

BOOST_AUTO_TEST_CASE(elements_are_numbered_by_the_chosen_dimensions_in_C_order) {
  const std::array<std::size_t, 3> shape{3, 2, 4};
  for (unsigned chosen = 0; chosen < 8; ++chosen) {
    const std::array<bool, 3> is{(chosen & 1U) != 0, (chosen & 2U) != 0, (chosen & 4U) != 0};
    const detail::element_map<3> map(shape, is);
    std::size_t count = 1;
    for (std::size_t d = 0; d < 3; ++d) count *= is[d] ? shape[d] : 1;
    BOOST_TEST(map.count == count);
    for (std::size_t k = 0; k < 24; ++k) {
      const auto i = index_of(k, shape);
      std::size_t number = 0, got = 0;
      for (std::size_t d = 0; d < 3; ++d) {
        if (is[d]) number = number * shape[d] + i[d];
        got += map.offsets[d].at(i[d]);
      }
      BOOST_TEST(got == number, "element " << k << ", dimensions " << chosen);
    }
  }
  const detail::element_map<3> one(shape);
  BOOST_TEST(one.count == 1U);
  for (std::size_t d = 0; d < 3; ++d) BOOST_TEST((one.offsets[d] == std::vector<std::size_t>(shape[d], 0)));
}

BOOST_AUTO_TEST_CASE(channels_are_split_as_the_options_say_by_default_evenly_and_there_are_at_most_2_to_the_40) {
  constexpr std::size_t most = std::size_t{1} << 40U;
  const auto split = [](const channel_options& o, std::size_t parts) {
    return detail::cut_of_channels(o, parts, "test");
  };
  const auto says = [&](const channel_options& o, std::size_t parts) {
    return test::refused<shape_error>([&] { split(o, parts); });
  };
  for (std::size_t parts = 1; parts <= 4; ++parts)
    for (std::size_t channels = 0; channels <= 6; ++channels)
      BOOST_TEST((split({.channels = channels}, parts) == cut::balanced(channels, parts)));
  const cut own = cut::at({1, 4, 2});
  BOOST_TEST((split({.channels = 7, .channel_cut = own}, 3) == own));
  const std::string wants = "test: requires a channel_cut of the ";
  BOOST_TEST(says({.channels = 8, .channel_cut = own}, 3) ==
             wants + "8 channels into the 3 parts that p has along dimension 1, got one of 7 into 3");
  BOOST_TEST(says({.channels = 7, .channel_cut = own}, 2) ==
             wants + "7 channels into the 2 parts that p has along dimension 1, got one of 7 into 3");
  BOOST_TEST(says({.channels = most}, 2).empty());
  BOOST_TEST(says({.channels = most + 1}, 2) ==
             "test: requires at most 2^40 channels, got 1099511627777; numbers must not be negative");
}

BOOST_AUTO_TEST_CASE(a_tensor_of_other_channels_or_of_others_in_a_part_is_refused_by_its_numbers) {
  const cut own = cut::at({1, 4, 2});
  const auto says = [&](std::size_t extent, const std::vector<std::size_t>& sizes) {
    detail::tensor_layout<2> tensor;
    tensor.extents = {5, extent};
    tensor.sizes[0] = {5}, tensor.sizes[1] = sizes;
    return test::refused<shape_error>([&] { detail::require_channels(tensor, own, "test"); });
  };
  BOOST_TEST(says(7, {1, 4, 2}).empty());
  BOOST_TEST(says(8, {1, 4, 3}) == "test: requires x of 7 channels in dimension 1, got [5, 8]");
  BOOST_TEST(says(6, {1, 4, 1}) == "test: requires x of 7 channels in dimension 1, got [5, 6]");
  const std::string wants = "test: requires the channels cut as the layer was made for, ",
                    way_out = "; say {.channel_cut = ...}, or repartition x";
  BOOST_TEST(says(7, {2, 3, 2}) == wants + "1 in part 0, got 2" + way_out);
  BOOST_TEST(says(7, {1, 3, 3}) == wants + "4 in part 1, got 3" + way_out);
  BOOST_TEST(says(7, {1, 4, 1}) == wants + "2 in part 2, got 1" + way_out);
}

BOOST_AUTO_TEST_SUITE_END()
