// Operations that combine elements: sums that are rounded once know where two terms do not represent them.
#include <partita/comm/element_operation.hpp>

#include <algorithm>
#include <array>
#include <boost/mpl/list.hpp>
#include <boost/test/unit_test.hpp>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace {

// which elements are moved, are read in place by other workers, and are summed
template <class... T>
constexpr bool all_are_moved = (partita::movable_element<T> && ...);
template <class... T>
constexpr bool all_are_summed = (partita::summable_element<T> && ...);
static_assert(
    all_are_moved<bool, char, std::int8_t, std::uint64_t, float, long double, std::complex<double>, std::byte>);
static_assert(all_are_summed<char, std::int8_t, std::uint64_t, float, long double, std::complex<float>>);
static_assert(!partita::movable_element<std::string> && !partita::movable_element<int*> &&
              !partita::movable_element<std::vector<int>>);
static_assert(!partita::summable_element<bool> && !partita::summable_element<std::byte> &&
              !partita::summable_element<std::string>);
static_assert(partita::element_in_place<bool> && partita::element_in_place<std::complex<long double>> &&
              !partita::element_in_place<std::string>);
static_assert(partita::moves_as_bytes<std::byte> && !partita::moves_as_bytes<char>);

using fractions = boost::mpl::list<float, double, std::complex<float>, std::complex<double>>;

/// A reduction whose result tells which elements were combined, and in which order.
struct in_order {
  template <class T>
  static constexpr T identity() {
    return T(0);
  }
  template <class T>
  constexpr T operator()(T a, T b) const {
    return static_cast<T>(3 * a + b);
  }
};
using order_numbers = boost::mpl::list<std::uint8_t, std::int16_t, std::uint32_t, std::int64_t>;

/// The arguments of the last call that combined blocks exactly.
struct exact_call {
  const char* const* blocks = nullptr;
  std::size_t count = 0, n = 0;
  void* to = nullptr;
} last_exact_call;
void combine_all(const char* const* blocks, std::size_t count, std::size_t n, void* to) {
  last_exact_call = {blocks, count, n, to};
}

template <class T, class Numbers>
const char* bytes_of(const Numbers& numbers) {
  return reinterpret_cast<const char*>(numbers.data());
}

template <std::size_t Bytes>
struct bytes_together {
  char bytes[Bytes];
};

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

BOOST_AUTO_TEST_CASE_TEMPLATE(elements_are_combined_one_by_one_in_the_order_of_the_operands, T, order_numbers) {
  const auto& op = partita::detail::element_operation_v<in_order, T>;
  for (std::size_t n = 0; n < 3 * 64 / sizeof(T) + 3; ++n) {
    std::vector<T> a(n + 1), b(n + 1), to(n + 1, T(9)), expected(n + 1, T(9));
    for (std::size_t i = 0; i <= n; ++i) a[i] = static_cast<T>(5 * i + 1), b[i] = static_cast<T>(7 * i + 2);
    for (std::size_t i = 0; i < n; ++i) expected[i] = static_cast<T>(3 * a[i] + b[i]);
    op.combine(to.data(), a.data(), b.data(), n);
    BOOST_TEST((to == expected), n);
    expected[n] = a[n];
    std::vector<T> into_a = a, into_b = b;
    op.combine(into_a.data(), into_a.data(), b.data(), n);
    BOOST_TEST((into_a == expected), n);
    expected[n] = b[n];
    op.combine(into_b.data(), a.data(), into_b.data(), n);
    BOOST_TEST((into_b == expected), n);
  }
}

/// The tree combines neighbours, then the results of neighbours, and so on; the first block may be left out.
BOOST_AUTO_TEST_CASE(blocks_are_combined_along_the_tree_with_or_without_the_first) {
  using T = std::uint64_t;
  const auto& op = partita::detail::element_operation_v<in_order, T>;
  for (std::size_t size = 1; size <= 17; ++size)
    for (const std::size_t first : {0U, 1U})
      for (const std::size_t n : {std::size_t{1}, std::size_t{5}, partita::detail::piece_bytes / sizeof(T)}) {
        if (first == size) continue;
        std::vector<std::vector<T>> x(size, std::vector<T>(n));
        std::vector<const char*> blocks(size, nullptr);
        for (std::size_t k = 0; k < size; ++k)
          for (std::size_t i = 0; i < n; ++i) x[k][i] = 1000003 * k + 17 * i + 1;
        for (std::size_t k = first; k < size; ++k) blocks[k] = bytes_of<T>(x[k]);
        std::vector<T> expected(n), to(n + 1, 77);
        for (std::size_t i = 0; i < n; ++i) {
          std::vector<T> one(size);
          std::vector<bool> there(size);
          for (std::size_t k = 0; k < size; ++k) one[k] = x[k][i], there[k] = k >= first;
          for (std::size_t step = 1; step < size; step *= 2)
            for (std::size_t k = 0; k + step < size; k += 2 * step) {
              one[k] = there[k] ? 3 * one[k] + one[k + step] : one[k + step];
              there[k] = true;
            }
          expected[i] = one[0];
        }
        const char* const result =
            partita::detail::combine_blocks(op, blocks.data(), first, size, n, reinterpret_cast<char*>(to.data()));
        const bool alone = size - first == 1;  // a block alone stays where it is
        BOOST_TEST((result == (alone ? blocks[first] : reinterpret_cast<char*>(to.data()))));
        BOOST_TEST((std::equal(expected.begin(), expected.end(), reinterpret_cast<const T*>(result))));
        BOOST_TEST(to.back() == 77U);
        if (alone) BOOST_TEST((to == std::vector<T>(n + 1, 77)));
      }
}

BOOST_AUTO_TEST_CASE(three_blocks_or_more_and_several_results_are_combined_exactly) {
  partita::detail::element_operation op = partita::detail::element_operation_v<partita::sum_t, double>;
  op.combine_exactly = &combine_all;
  const std::vector<double> x{1, 2};
  const std::vector<const char*> blocks(6, bytes_of<double>(x));
  std::vector<double> to(4);
  for (std::size_t results = 1; results <= 2; ++results)
    for (std::size_t size = 1; size <= 5; ++size)
      for (std::size_t first = 0; first < (size > 1 ? 2U : 1U); ++first) {
        last_exact_call = {}, op.result_block_count = results;
        char* const into = reinterpret_cast<char*>(to.data());
        const char* const result = partita::detail::combine_blocks(op, blocks.data(), first, size, 2, into);
        const bool exactly = size - first > 2 || results > 1;
        BOOST_TEST((last_exact_call.to == (exactly ? into : nullptr)));
        BOOST_TEST(last_exact_call.count == (exactly ? size - first : 0));
        BOOST_TEST(last_exact_call.n == (exactly ? 2U : 0U));
        BOOST_TEST((last_exact_call.blocks == (exactly ? blocks.data() + first : nullptr)));
        if (exactly) BOOST_TEST((result == into));
      }
}

BOOST_AUTO_TEST_CASE(an_operation_has_the_steps_that_its_reduction_and_its_elements_need) {
  using namespace partita;
  using detail::element_operation_v;
  const auto has_exact_sum = [](const detail::element_operation& op) { return op.combine_exactly != nullptr; };
  BOOST_TEST((has_exact_sum(element_operation_v<sum_t, double, true>)));
  BOOST_TEST((has_exact_sum(element_operation_v<mean_t, std::complex<float>, true>)));
  BOOST_TEST((!has_exact_sum(element_operation_v<sum_t, double>)));
  BOOST_TEST((!has_exact_sum(element_operation_v<sum_t, int, true>)));
  BOOST_TEST((!has_exact_sum(element_operation_v<maximum_t, double, true>)));
  BOOST_TEST((element_operation_v<sum_t, std::complex<double>, true>.form_between_nodes != nullptr));
  BOOST_TEST((element_operation_v<sum_t, float>.form_between_nodes == nullptr));
  const auto completes = [](const detail::element_operation& op) { return op.complete != nullptr; };
  BOOST_TEST((completes(element_operation_v<mean_t, float>) && completes(element_operation_v<any_t, int>)));
  BOOST_TEST((!completes(element_operation_v<sum_t, float>) && !completes(element_operation_v<all_t, bool>)));
  BOOST_TEST((element_operation_v<sum_t, float>.result_block_count == 1U));
  BOOST_TEST((element_operation_v<sum_t, float, true>.form_between_nodes->two_term_operation.result_block_count == 2U));
  BOOST_TEST((element_operation_v<sum_t, float>.of->bytes == 4 &&
              element_operation_v<sum_t, std::complex<double>>.of->bytes == 16));
}

BOOST_AUTO_TEST_CASE(a_mean_is_divided_by_the_number_of_its_blocks) {
  std::vector<double> y{6, 9, 30, 4};
  partita::detail::element_operation_v<partita::mean_t, double>.complete(y.data(), 3, 3);
  BOOST_TEST((y == std::vector<double>{2, 3, 10, 4}));
  partita::detail::element_operation_v<partita::mean_t, double>.complete(y.data(), 0, 7);
  BOOST_TEST((y == std::vector<double>{2, 3, 10, 4}));
  std::vector<std::complex<float>> z{{4, 8}, {2, 6}};
  partita::detail::element_operation_v<partita::mean_t, std::complex<float>>.complete(z.data(), 1, 2);
  BOOST_TEST((z == std::vector<std::complex<float>>{{2, 4}, {2, 6}}));
  std::vector<int> any{0, 5, -2, 7};
  partita::detail::element_operation_v<partita::any_t, int>.complete(any.data(), 3, 1);
  BOOST_TEST((any == std::vector<int>{0, 1, 1, 7}));
}

BOOST_AUTO_TEST_CASE(kinds_are_equal_if_their_elements_are_moved_and_added_alike) {
  using partita::detail::element_kind;
  using wide = std::complex<double>;
  constexpr auto of_float = element_kind::moved<float>();
  BOOST_TEST((of_float == element_kind::moved<int>()));  // four bytes that are only moved
  BOOST_TEST((element_kind::moved<std::complex<float>>() == element_kind::moved<double>()));
  BOOST_TEST((!(of_float == element_kind::moved<double>())));
  BOOST_TEST((!(element_kind::moved<wide>() == element_kind::moved<std::complex<long double>>())));  // by 16 bytes both
  BOOST_TEST((!(of_float == element_kind::summed<float>())));
  BOOST_TEST((!(element_kind::summed<int>() == element_kind::summed<float>())));
  BOOST_TEST((element_kind::summed<int>() == element_kind::summed<int>()));
  BOOST_TEST((element_kind::moved<wide>().bytes == 16 && of_float.bytes == 4 && of_float.add == nullptr));
  BOOST_TEST((of_float.in_shared_memory && element_kind::summed<double>().in_shared_memory));
  using partita::detail::is_shareable;
  struct not_empty {
    explicit not_empty(int given) : number(given) {}
    int number;
  };
  static_assert(is_shareable<bytes_together<64>> && !is_shareable<bytes_together<65>>);
  static_assert(!is_shareable<std::string> && !is_shareable<not_empty>);
}

BOOST_AUTO_TEST_CASE(a_row_of_elements_is_copied_and_nothing_beside_it) {
  using number = std::complex<float>;
  const auto kind = partita::detail::element_kind::moved<number>();
  std::vector<number> from(5), to(5);
  for (std::size_t k = 0; k < 5; ++k) from[k] = {static_cast<float>(k + 1), static_cast<float>(20 * k)};
  kind.copy_row(to.data() + 1, from.data() + 2, 2);
  kind.copy_row(nullptr, nullptr, 0);
  BOOST_TEST((to == std::vector<number>{{}, from[2], from[3], {}, {}}));
  const auto summed = partita::detail::element_kind::summed<std::complex<double>>();
  std::vector<std::complex<double>> x{{1, 2}, {3, 4}}, y{{10, 20}, {30, 40}};
  const std::ptrdiff_t back = -1, unit = 1;
  const std::size_t two = 2;
  summed.add(reinterpret_cast<char*>(y.data() + 1), &back, reinterpret_cast<const char*>(x.data()), &unit, &two, 1);
  BOOST_TEST((y == std::vector<std::complex<double>>{{13, 24}, {31, 42}}));
}

BOOST_AUTO_TEST_SUITE_END()
