// Reductions are their definitions on numbers of any type, and an identity changes nothing.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <complex>
#include <limits>
#include <partita/rule/reduction.hpp>

namespace {

using namespace partita;

/// The reduction of any two of these numbers is what `is` says.
template <class Reduction, class T, class Definition>
void reduces(std::initializer_list<T> numbers, Definition is) {
  const Reduction by;
  for (const T a : numbers) {
    BOOST_TEST((by(Reduction::template identity<T>(), a) == a));
    BOOST_TEST((by(a, Reduction::template identity<T>()) == a));
    for (const T b : numbers) BOOST_TEST((by(a, b) == is(a, b)));
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(reductions_of_numbers)

BOOST_AUTO_TEST_CASE(two_numbers_are_reduced_as_defined) {
  const auto largest = [](auto a, auto b) { return std::max(a, b); };
  const auto least = [](auto a, auto b) { return std::min(a, b); };
  const auto added = [](auto a, auto b) { return a + b; };
  const auto multiplied = [](auto a, auto b) { return a * b; };
  const double infinity = std::numeric_limits<double>::infinity();
  reduces<maximum_t, int>({-3, 0, 5}, largest);
  reduces<minimum_t, int>({-3, 0, 5}, least);
  reduces<maximum_t, double>({-infinity, -1.5, 2.5, infinity}, largest);
  reduces<minimum_t, double>({-infinity, -1.5, 2.5, infinity}, least);
  reduces<sum_t, int>({-3, 0, 5}, added);
  reduces<sum_t, std::complex<double>>({{1, 2}, {-3, 4}}, added);
  reduces<mean_t, double>({-1.5, 2.5}, added);
  reduces<product_t, int>({-3, 0, 5}, multiplied);
  reduces<any_t, bool>({false, true}, [](bool a, bool b) { return a || b; });
  reduces<all_t, bool>({false, true}, [](bool a, bool b) { return a && b; });
}

BOOST_AUTO_TEST_CASE(a_mean_is_completed_by_the_number_of_summands) {
  BOOST_TEST(mean_t::completed(10.0, 4) == 2.5);
  BOOST_TEST(mean_t::completed(10.F, 4) == 2.5F);
  BOOST_TEST((mean_t::completed(std::complex<double>(8, -4), 4) == std::complex<double>(2, -1)));
}

BOOST_AUTO_TEST_CASE(extremes_and_exponential_sums_of_what_is_no_number_are_none) {
  const double none = std::numeric_limits<double>::quiet_NaN();
  for (const double x : {-1.0, 0.0, std::numeric_limits<double>::infinity(), none}) {
    BOOST_TEST((std::isnan(maximum_t()(x, none)) && std::isnan(maximum_t()(none, x))));
    BOOST_TEST((std::isnan(minimum_t()(x, none)) && std::isnan(minimum_t()(none, x))));
    BOOST_TEST((std::isnan(log_sum_exp_t()(x, none)) && std::isnan(log_sum_exp_t()(none, x))));
  }
}

BOOST_AUTO_TEST_CASE(exponential_sums_are_the_logarithm_of_the_sum_of_exponentials) {
  const auto test = []<class T>(T) {
    const T infinity = std::numeric_limits<T>::infinity(), most = std::sqrt(std::numeric_limits<T>::epsilon());
    const log_sum_exp_t by;
    for (const T a : {T(-2), T(0), T(0.5), T(3)}) {
      for (const T b : {T(-2), T(0), T(0.5), T(3)}) {
        BOOST_TEST(std::abs(by(a, b) - std::log(std::exp(a) + std::exp(b))) < most);
        BOOST_TEST(std::abs(log_sum_exp_t::derivative(a, b) - std::exp(a - b)) < most);
      }
      BOOST_TEST((by(a, -infinity) == a && by(-infinity, a) == a));
      BOOST_TEST((by(a, infinity) == infinity && by(infinity, a) == infinity));
    }
    BOOST_TEST((by(infinity, infinity) == infinity && by(-infinity, -infinity) == -infinity));
    BOOST_TEST(by(T(1000), T(1000)) == T(1000) + std::log(T(2)));  // where exponentials are infinite
  };
  test(1.F), test(1.0), test(1.L);
}

BOOST_AUTO_TEST_SUITE_END()
