// A convolution that starts before its whole window has arrived: it does not read missing cells, has computed something
// when the rest arrives, and its result is bitwise that of a convolution which waited.
#include <partita/nn/local_convolution.hpp>

#include <boost/test/unit_test.hpp>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

namespace {

using namespace partita;
using sizes = detail::local_convolution<2>;

std::vector<float> random_numbers(std::mt19937& random, std::size_t n) {
  std::vector<float> all(n);
  for (float& a : all) a = static_cast<float>(random() % 2001) / 1000.F - 1;
  return all;
}

/// How many outputs were there before the rest of x came.
template <std::size_t Features>
std::size_t computed_early(std::mt19937& random, const detail::local_convolution<Features>& s,
                           const std::array<interval, Features>& there) {
  const std::size_t cells = volume_of(s.window);
  const auto x = random_numbers(random, s.batch * s.in_channels * cells),
             w = random_numbers(random, s.out_channels * s.rows());
  const auto bias = random_numbers(random, s.out_channels);
  detail::column_convolver<float, Features> local(s);
  std::vector<float> whole(s.batch * s.out_channels * s.columns()), y = whole;
  local.forward(x.data(), w.data(), bias.data(), whole.data());

  std::vector<float> window = x;
  for (std::size_t k = 0; k < window.size(); ++k) {
    const auto i = index_of(k % cells, s.window);
    for (std::size_t f = 0; f < Features; ++f)
      if (i[f] < there[f].start || i[f] >= there[f].stop) window[k] = std::numeric_limits<float>::quiet_NaN();
  }
  std::size_t early = 0, calls = 0;
  local.forward(window.data(), w.data(), bias.data(), y.data(), there, [&] {
    ++calls;
    for (std::size_t k = 0; k < y.size(); ++k) {
      if (y[k] == bias[k / s.columns() % s.out_channels]) continue;
      ++early;
      BOOST_TEST(y[k] == whole[k]);
    }
    window = x;
  });
  BOOST_TEST(calls == 1U);
  BOOST_TEST(std::memcmp(y.data(), whole.data(), y.size() * sizeof(float)) == 0);
  return early;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(convolution_while_x_arrives)

BOOST_AUTO_TEST_CASE(rows_without_ghosts_are_computed_first_and_no_bit_depends_on_it) {
  std::mt19937 random(14);
  sizes s;
  s.batch = 2, s.in_channels = s.group_in_channels = 400,
  s.out_channels = s.group_out_channels = 2;  // a tile is 36 columns: 3 rows and a half
  s.kernel = {3, 3}, s.stride = {1, 1}, s.dilation = {1, 1};
  s.outputs = {20, 10}, s.window = {22, 12};
  const std::size_t rows = computed_early<2>(random, s, {{{1, 21}, {0, 12}}});
  BOOST_TEST(rows >= 2U * 2 * 10 * 10);  // most of the 18 rows that need no ghost
  BOOST_TEST(rows <= 2U * 2 * 10 * 18);
  BOOST_TEST(computed_early<2>(random, s, {{{0, 22}, {0, 12}}}) == 2U * 2 * 200);
  BOOST_TEST(computed_early<2>(random, s, {{{0, 22}, {1, 12}}}) == 0U);  // every tile meets the first column
  BOOST_TEST(computed_early<2>(random, s, {}) == 0U);
}

BOOST_AUTO_TEST_CASE(columns_of_cubes_know_which_cells_they_need) {
  std::mt19937 random(16);
  detail::local_convolution<3> s;
  s.batch = 1, s.in_channels = s.group_in_channels = 400, s.out_channels = s.group_out_channels = 2;
  s.kernel = {3, 1, 3}, s.stride = {1, 1, 1}, s.dilation = {1, 1, 1};
  s.outputs = {20, 1, 10}, s.window = {22, 1, 12};
  BOOST_TEST(computed_early<3>(random, s, {{{0, 22}, {0, 1}, {0, 12}}}) == 2U * 200);
  BOOST_TEST(computed_early<3>(random, s, {{{0, 22}, {0, 1}, {0, 11}}}) == 0U);  // every tile meets the last column
  BOOST_TEST(computed_early<3>(random, s, {{{0, 22}, {0, 1}, {1, 12}}}) == 0U);
  s.outputs = {4, 5, 6}, s.window = {6, 5, 8};
  for (int times = 0; times < 8; ++times)
    computed_early<3>(random, s, {{{random() % 2, 6 - random() % 2}, {0, 5}, {random() % 2, 8 - random() % 2}}});
}

BOOST_AUTO_TEST_CASE(strides_dilations_and_groups_know_which_cells_they_need) {
  std::mt19937 random(15);
  for (int times = 0; times < 4; ++times) {
    sizes s;
    s.batch = 1, s.group_in_channels = 500, s.in_channels = 1000, s.out_channels = 2, s.group_out_channels = 1;
    s.kernel = {2, 1 + random() % 2}, s.stride = {1 + random() % 2, 1 + random() % 2}, s.dilation = {2, 1};
    s.outputs = {12, 7};
    for (std::size_t f = 0; f < 2; ++f)
      s.window[f] = (s.outputs[f] - 1) * s.stride[f] + s.dilation[f] * (s.kernel[f] - 1) + 1;
    computed_early<2>(random, s, {{{2, s.window[0] - 3}, {0, s.window[1]}}});
    computed_early<2>(random, s, {{{random() % 9, s.window[0]}, {random() % 2, s.window[1]}}});
  }
}

BOOST_AUTO_TEST_SUITE_END()
