// Convolutions by oneDNN against those by columns and BLAS: random shapes in one, two and three dimensions, strides,
// dilations, groups and blocks that cut groups. Exactly the same on small integers, to rounding on other numbers.
#include "distance.hpp"
#include "mpi_test.hpp"

#include <partita/nn/local_convolution.hpp>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "random_cases.hpp"

namespace {

using namespace partita;

struct numbers {
  std::mt19937 random{20261123};
  bool whole = true;

  std::size_t below(std::size_t n) { return random() % n; }
  std::vector<float> operator()(std::size_t n) {
    std::vector<float> all(n);
    for (float& a : all) a = whole ? static_cast<float>(below(7)) - 3 : static_cast<float>(below(20001)) / 10000 - 1;
    return all;
  }
};

template <std::size_t Features>
detail::local_convolution<Features> any_sizes(numbers& any) {
  detail::local_convolution<Features> s;
  const std::size_t groups = any.below(3) == 0 ? 2 + any.below(3) : 1;
  s.batch = 1 + any.below(3), s.group_in_channels = 1 + any.below(20), s.group_out_channels = 1 + any.below(20);
  s.in_channels = groups * s.group_in_channels, s.out_channels = groups * s.group_out_channels;
  if (any.below(8) == 0 && s.group_out_channels > 1) {  // the last channels of a group and the first of the next ones
    s.first_out_channel = 1 + any.below(s.group_out_channels - 1), s.out_channels -= 1;
    s.in_channels = ((s.first_out_channel + s.out_channels - 1) / s.group_out_channels + 1) * s.group_in_channels;
  }
  for (std::size_t f = 0; f < Features; ++f) {
    s.kernel[f] = 1 + any.below(3), s.stride[f] = 1 + any.below(3), s.dilation[f] = 1 + any.below(2);
    s.outputs[f] = 1 + any.below(Features == 1 ? 40 : Features == 2 ? 9 : 5);
    s.window[f] = (s.outputs[f] - 1) * s.stride[f] + s.dilation[f] * (s.kernel[f] - 1) + 1 + any.below(s.stride[f]);
  }
  return s;
}

/// How far the two are apart, over the largest of them.
double apart(const std::vector<float>& a, const std::vector<float>& b) {
  double most = 0, largest = 1e-30;
  for (std::size_t k = 0; k < a.size(); ++k) {
    most = std::max(most, test::distance_between(a[k], b[k]));
    largest = std::max(largest, std::abs(static_cast<double>(b[k])));
  }
  return most / largest;
}

struct census {
  std::size_t by_onednn = 0, several = 0, grouped = 0, far = 0, dilated = 0;
};

template <std::size_t Features>
void one_case(numbers& any, census& seen) {
  const auto s = any_sizes<Features>(any);
  detail::onednn_convolver<Features> other(s);
  detail::column_convolver<float, Features> columns(s);
  seen.by_onednn += other.uses_onednn() ? 1 : 0, seen.grouped += s.out_channels != s.group_out_channels ? 1 : 0;
  seen.several += s.out_channels != s.group_out_channels || s.in_channels >= 8 ? 1 : 0;
  seen.far += s.stride[0] > s.kernel[0] ? 1 : 0, seen.dilated += s.dilation[0] > 1 ? 1 : 0;
  const double bound = any.whole ? 0 : 1e-5;
  const std::size_t cells = detail::local_convolution<Features>::product(s.window);
  const auto x = any(s.batch * s.in_channels * cells), w = any(s.out_channels * s.rows()), b = any(s.out_channels),
             dy = any(s.batch * s.out_channels * s.columns());
  const bool with_bias = any.below(2) == 0;
  std::vector<float> y(dy.size()), dx(x.size(), 1), dw = any(w.size()), db = any(b.size());
  std::vector<float> y_wanted = y, dx_wanted = dx, dw_wanted = dw, db_wanted = db;
  for (int times = 0; times < 2; ++times) {
    other.forward(x.data(), w.data(), with_bias ? b.data() : nullptr, y.data());
    other.adjoint(dy.data(), w.data(), dx.data());
    other.gradients(x.data(), dy.data(), dw.data(), with_bias ? db.data() : nullptr);
    columns.forward(x.data(), w.data(), with_bias ? b.data() : nullptr, y_wanted.data());
    columns.adjoint(dy.data(), w.data(), dx_wanted.data());
    columns.gradients(x.data(), dy.data(), dw_wanted.data(), with_bias ? db_wanted.data() : nullptr);
  }
  BOOST_TEST(apart(y, y_wanted) <= bound);
  BOOST_TEST(apart(dx, dx_wanted) <= bound);
  BOOST_TEST(apart(dw, dw_wanted) <= bound);
  BOOST_TEST(apart(db, db_wanted) <= bound);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(onednn_products)

BOOST_AUTO_TEST_CASE(random_convolutions_by_onednn_are_those_by_columns) {
  numbers any;
  census seen;
  const std::size_t wanted = test::random_cases(600);
  for (std::size_t k = 0; k < wanted; ++k) {
    any.whole = k % 2 == 0;
    if (k % 3 == 0) one_case<1>(any, seen);
    if (k % 3 == 1) one_case<2>(any, seen);
    if (k % 3 == 2) one_case<3>(any, seen);
  }
  BOOST_TEST(seen.by_onednn > wanted / 2);
  BOOST_TEST(seen.by_onednn < seen.several);  // channels that cut groups go by columns
  for (const std::size_t kind : {seen.grouped, seen.far, seen.dilated}) BOOST_TEST(kind > wanted / 8);
}

BOOST_AUTO_TEST_CASE(what_has_no_elements_stays_as_it_is_by_columns) {
  detail::local_convolution<2> s;
  s.kernel = {3, 3}, s.stride = s.dilation = {1, 1}, s.window = {3, 3}, s.outputs = {1, 1}, s.out_channels = 2,
  s.batch = 0;
  detail::onednn_convolver<2> none(s);
  BOOST_TEST(!none.uses_onednn());
  bool came = false;
  none.forward(nullptr, nullptr, nullptr, nullptr, {}, [&] { came = true; });
  BOOST_TEST(came);
}

BOOST_AUTO_TEST_SUITE_END()
