// Operations that combine elements: sums that are rounded once know where two terms do not represent them.
#include <partita/comm/element_operation.hpp>

#include <boost/mpl/list.hpp>
#include <boost/test/unit_test.hpp>
#include <complex>
#include <limits>
#include <vector>

namespace {

using fractions = boost::mpl::list<float, double, std::complex<float>, std::complex<double>>;

}  // namespace

BOOST_AUTO_TEST_SUITE(operations_on_elements)

BOOST_AUTO_TEST_CASE_TEMPLATE(each_number_of_each_element_can_make_the_terms_incomplete, T, fractions) {
  using number = typename partita::detail::component_numbers<T>::type;
  const auto& form = *partita::detail::element_operation_v<partita::sum_t, T, true>.form_between_nodes;
  for (std::size_t n = 0; n < 6; ++n) {
    std::vector<number> terms(sizeof(T) / sizeof(number) * n + 1, number(2));
    terms.back() = std::numeric_limits<number>::quiet_NaN();  // behind the terms of n elements
    const auto complete = [&] { return form.are_complete(reinterpret_cast<const char*>(terms.data()), n); };
    BOOST_TEST(complete());
    for (std::size_t k = 0; k + 1 < terms.size(); ++k) {
      terms[k] = std::numeric_limits<number>::quiet_NaN();
      BOOST_TEST(!complete(), "number " << k << " of " << n << " elements");
      terms[k] = -std::numeric_limits<number>::infinity();
      BOOST_TEST(complete());
    }
  }
}

/// One element of n has a sum that needs three terms: 1, 2^-e and 2^-2e, for numbers of less than e digits.
BOOST_AUTO_TEST_CASE_TEMPLATE(a_sum_of_three_terms_is_incomplete_wherever_it_is, T, fractions) {
  using number = typename partita::detail::component_numbers<T>::type;
  constexpr int digits = std::numeric_limits<number>::digits + 6;
  constexpr std::size_t n = 5, numbers = sizeof(T) / sizeof(number) * n, members = 3;
  const auto& form = *partita::detail::element_operation_v<partita::sum_t, T, true>.form_between_nodes;
  for (std::size_t odd = 0; odd <= numbers; ++odd) {
    std::vector<std::vector<number>> x(members, std::vector<number>(numbers, number(3)));
    for (std::size_t k = 0; k < members && odd < numbers; ++k)
      x[k][odd] = std::ldexp(number(1), -static_cast<int>(k) * digits);
    std::vector<const char*> blocks;
    for (const auto& block : x) blocks.push_back(reinterpret_cast<const char*>(block.data()));
    std::vector<number> terms(2 * numbers);
    form.two_term_operation.combine_exactly(blocks.data(), members, n, terms.data());
    BOOST_TEST(form.are_complete(reinterpret_cast<const char*>(terms.data() + numbers), n) == (odd == numbers));
    for (std::size_t k = 0; k < numbers; ++k) BOOST_TEST(terms[k] == number(k == odd ? 1 : 9));
  }
}

BOOST_AUTO_TEST_SUITE_END()
