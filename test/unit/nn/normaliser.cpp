// The moments of two sets give those of their union, whatever their sizes, also where one is empty.
#include <partita/nn/detail/normaliser.hpp>

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <random>
#include <vector>

using namespace partita;

namespace {

detail::moments moments_of(const std::vector<double>& x) {
  detail::moments all{static_cast<double>(x.size()), 0, 0};
  for (const double one : x) all.mean += one / all.count;
  for (const double one : x) all.squared_deviation_sum += (one - all.mean) * (one - all.mean);
  return all;
}

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

BOOST_AUTO_TEST_SUITE_END()
