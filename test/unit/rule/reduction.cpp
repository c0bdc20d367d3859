// Reductions are their definitions on numbers of any type, and an identity changes nothing.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <complex>
#include <limits>
#include <partita/rule/reduction.hpp>
#include <partita/rule/sharding/pending_reduction.hpp>
#include <string>

namespace {

using namespace partita;

/// The length of the longest: a reduction that a program has defined.
struct longest {
  static constexpr int identity() { return 0; }
  constexpr int operator()(int a, int b) const { return a > b ? a : b; }
};
/// No reduction, for it has a state.
struct counting {
  int calls = 0;
  static constexpr int identity() { return 0; }
  constexpr int operator()(int a, int b) const { return a + b; }
};

/// What a reduction declares: l(inear), e(xtreme), i(dempotent), and whether it has a reproducible form.
template <class R>
std::string declared() {
  std::string all;
  if (detail::is_linear_reduction<R>) all += 'l';
  if (detail::is_extreme_reduction<R>) all += 'e';
  if (detail::is_idempotent_reduction<R>) all += 'i';
  if (detail::has_reproducible_form<R>) all += 'r';
  return all;
}
/// The types of elements that a reduction takes: b(ool), i(nt), u(nsigned), f(loat), c(omplex).
template <class R>
std::string taken() {
  std::string all;
  if (reduction_of<R, bool>) all += 'b';
  if (reduction_of<R, int>) all += 'i';
  if (reduction_of<R, unsigned>) all += 'u';
  if (reduction_of<R, float>) all += 'f';
  if (reduction_of<R, std::complex<double>>) all += 'c';
  return all;
}

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

BOOST_AUTO_TEST_CASE(an_identity_is_the_least_or_the_largest_number_of_its_type) {
  const auto test = []<class T>(T) {
    using limits = std::numeric_limits<T>;
    BOOST_TEST((maximum_t::identity<T>() == (limits::has_infinity ? -limits::infinity() : limits::lowest())));
    BOOST_TEST((minimum_t::identity<T>() == (limits::has_infinity ? limits::infinity() : limits::max())));
    BOOST_TEST((sum_t::identity<T>() == T(0) && product_t::identity<T>() == T(1)));
    for (const T a : {T(0), T(1), T(5)}) {
      BOOST_TEST((maximum_t()(maximum_t::identity<T>(), a) == a && minimum_t()(minimum_t::identity<T>(), a) == a));
      BOOST_TEST((product_t()(a, product_t::identity<T>()) == a && sum_t()(a, sum_t::identity<T>()) == a));
    }
  };
  test(1), test(1U), test(1L), test(static_cast<signed char>(1)), test(1.F), test(1.0), test(1.L);
}

BOOST_AUTO_TEST_CASE(any_and_all_of_numbers_are_one_or_zero) {
  for (const int a : {-3, 0, 1, 2}) {
    BOOST_TEST(any_t::completed(a, 1) == (a != 0 ? 1 : 0));
    BOOST_TEST(all_t::completed(a, 1) == (a != 0 ? 1 : 0));
    BOOST_TEST(any_t()(any_t::identity<int>(), a) == (a != 0 ? 1 : 0));
    BOOST_TEST(all_t()(a, all_t::identity<int>()) == (a != 0 ? 1 : 0));
    for (const int b : {-3, 0, 1, 2}) {
      BOOST_TEST(any_t()(a, b) == (a != 0 || b != 0 ? 1 : 0), a << " and " << b);
      BOOST_TEST(all_t()(a, b) == (a != 0 && b != 0 ? 1 : 0), a << " and " << b);
    }
  }
}

/// Each reduction beside a literal of what it is, what it declares, and what it takes.
BOOST_AUTO_TEST_CASE(reductions_are_what_they_declare) {
  const auto is = []<class R>(R, const char* name, pending_reduction kind, const char* of, const char* types) {
    BOOST_TEST(declared<R>() == of, name);
    BOOST_TEST(taken<R>() == types, name);
    BOOST_TEST((detail::pending_kind_of_reduction<R> == kind), name);
    if constexpr (requires { R::name; }) {
      BOOST_TEST(std::string(R::name) == name);
      BOOST_TEST(std::string(name_of(kind)) == R::short_name);
      BOOST_TEST(is_linear(kind) == detail::is_linear_reduction<R>, name);
      BOOST_TEST(is_extreme(kind) == detail::is_extreme_reduction<R>, name);
    }
  };
  is(sum_t(), "sum", pending_reduction::sum, "lr", "iufc");
  is(mean_t(), "mean", pending_reduction::avg, "lir", "fc");
  is(maximum_t(), "maximum", pending_reduction::max, "eir", "biuf");
  is(minimum_t(), "minimum", pending_reduction::min, "eir", "biuf");
  is(product_t(), "product", pending_reduction::prod, "", "iufc");
  is(any_t(), "any", pending_reduction::any, "ir", "biu");
  is(all_t(), "all", pending_reduction::all, "ir", "biu");
  is(log_sum_exp_t(), "log_sum_exp", pending_reduction::log_sum_exp, "", "f");
  is(longest(), "longest", pending_reduction::none, "", "biuf");
  is(counting(), "counting", pending_reduction::none, "", "");
}

BOOST_AUTO_TEST_CASE(a_pending_reduction_has_its_short_name) {
  const char* const names[] = {"none", "sum", "avg", "max", "min", "prod", "any", "all", "lse"};
  for (std::size_t k = 0; k < 9; ++k) BOOST_TEST(std::string(name_of(static_cast<pending_reduction>(k))) == names[k]);
  BOOST_TEST((!is_linear(pending_reduction::none) && !is_extreme(pending_reduction::none)));
}

/// Products, logical reductions and exponential sums pass what only moves values, and their own kind.
BOOST_AUTO_TEST_CASE(a_reduction_that_is_neither_linear_nor_extreme_passes_movements_alone) {
  using kinds = pending_reduction;
  for (const kinds kind : {kinds::prod, kinds::any, kinds::all, kinds::log_sum_exp}) {
    BOOST_TEST(commutes(linearity::movement, kind), name_of(kind));
    for (const linearity how : {linearity::none, linearity::additive, linearity::multilinear, linearity::monotone})
      BOOST_TEST(!commutes(how, kind), name_of(kind));
    for (int by = 1; by <= static_cast<int>(kinds::log_sum_exp); ++by) {
      BOOST_TEST(commutes(static_cast<kinds>(by), kind) == (by == static_cast<int>(kind)), name_of(kind));
      BOOST_TEST(commutes(kind, static_cast<kinds>(by)) == (by == static_cast<int>(kind)), name_of(kind));
    }
  }
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
