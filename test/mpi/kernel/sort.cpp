// Sorted numbers of all workers are those of one std::stable_sort, whatever lengths the blocks have.
#include "mpi_test.hpp"
#include "number_blocks.hpp"
#include "pretended.hpp"
#include "refused.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <partita/comm/over_workers.hpp>
#include <partita/kernel/index_exchange.hpp>
#include <partita/kernel/sort.hpp>
#include <random>

#include "../support/message_count.hpp"

namespace {

using namespace partita;

using test::order_of, test::is_equal;
template <class T>
using blocks = test::number_blocks<T>;

/// Blocks of 0 to 30 numbers, of which `different` differ.
template <class T>
blocks<T> random_blocks(std::size_t workers, unsigned seed, int different) {
  std::mt19937 random(seed);
  blocks<T> b;
  for (std::size_t k = 0; k < workers; ++k) {
    for (std::size_t n = random() % 4 == 0 ? 0 : random() % 31; n > 0; --n) {
      const int number = static_cast<int>(random() % static_cast<unsigned>(different)) - different / 2;
      b.all.push_back(static_cast<T>(number));
    }
    b.end_of_block();
  }
  return b;
}

template <class T>
void expect_sorted(const world& everyone, const blocks<T>& b, const std::vector<std::size_t>& first, bool descending) {
  const std::size_t me = everyone.id(), n = first[me + 1] - first[me];
  const auto x = b.of(me);
  const auto places = order_of(b.all, descending);
  const auto y = sort(everyone, x, {.length = n, .descending = descending});
  const auto from = argsort(everyone, x, {.length = n, .descending = descending});
  BOOST_TEST_REQUIRE(y.size() == n);
  BOOST_TEST_REQUIRE(from.size() == n);
  std::size_t wrong = 0;
  for (std::size_t j = 0; j < n; ++j) {
    const std::size_t place = places[first[me] + j];
    wrong += is_equal(y(j), b.all[place]) && from(j) == place ? 0 : 1;
  }
  BOOST_TEST(wrong == 0U);
}

template <class T>
void expect_all_sorted(const world& everyone) {
  const std::size_t P = everyone.size();
  for (unsigned seed = 0; seed < 12; ++seed) {
    const auto b = random_blocks<T>(P, seed, seed % 3 == 0 ? 3 : 100);
    expect_sorted(everyone, b, b.first, seed % 2 == 1);
    // all on one worker, and lengths turned around
    std::vector<std::size_t> on_one(P + 1, 0), turned{0};
    for (std::size_t k = seed % P; k < P; ++k) on_one[k + 1] = b.all.size();
    for (std::size_t k = P; k > 0; --k) turned.push_back(turned.back() + b.first[k] - b.first[k - 1]);
    expect_sorted(everyone, b, on_one, seed % 2 == 0);
    expect_sorted(everyone, b, turned, seed % 2 == 0);
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(sorting)

BOOST_AUTO_TEST_CASE(blocks_are_sorted_stably_whatever_bits_their_numbers_have_in_common) {
  std::mt19937_64 random(7);
  const auto check = [](const char* kind, std::vector<double> numbers) {
    std::vector<detail::key_and_position> elements, wanted;
    for (std::size_t j = 0; j < numbers.size(); ++j) elements.push_back({detail::sort_key(numbers[j]), j});
    wanted = elements;
    std::stable_sort(wanted.begin(), wanted.end(), [](const auto& a, const auto& b) { return a.key < b.key; });
    detail::radix_sort(elements.data(), elements.size(), [](const auto& e) { return e.key; });
    const std::vector<double> given = numbers;
    detail::number_order<double, false>::sort(numbers.data(), numbers.data() + numbers.size());
    bool same = true;
    for (std::size_t j = 0; j < numbers.size(); ++j)
      same = same && elements[j].key == wanted[j].key && elements[j].position == wanted[j].position &&
             std::bit_cast<std::uint64_t>(numbers[j]) == std::bit_cast<std::uint64_t>(given[wanted[j].position]);
    BOOST_TEST(same, kind);
  };
  for (const std::size_t n : {std::size_t{1023}, std::size_t{1024}, std::size_t{5000}}) {
    std::vector<double> all(n), few(n), near(n), special(n);
    const double kinds[] = {0.0, -0.0, std::nan(""), std::numeric_limits<double>::infinity(), -1e-320, 1e300, -7};
    for (std::size_t j = 0; j < n; ++j) {
      all[j] = std::bit_cast<double>(random());
      few[j] = static_cast<double>(random() % 5) - 2;
      // groups of some and of many numbers that differ in their last bits alone
      near[j] = std::bit_cast<double>(std::bit_cast<std::uint64_t>(j % 3 == 0 ? 1.5 : static_cast<double>(j / 7)) +
                                      random() % 4096);
      special[j] = kinds[random() % 7];
    }
    check("any bits", all), check("few numbers", few), check("last bits", near), check("special", special);
    // sorted and falling, also but for one pair or the last element
    std::sort(all.begin(), all.end(), [](double a, double b) { return detail::sort_key(a) < detail::sort_key(b); });
    check("sorted", all);
    std::swap(all[n - 1], all[n - 2]);
    check("sorted but for the last", all);
    std::reverse(all.begin(), all.end()), std::swap(all[0], all[1]);
    check("falling", all);
    all[n - 1] = all[n - 2];
    check("falling, the last two equal", all);
    all[n - 1] = all[0];
    check("falling but for the last", all);
  }
}

BOOST_AUTO_TEST_CASE(numbers_of_all_workers_are_those_of_one_stable_sort) {
  const world everyone(test::workers());
  expect_all_sorted<double>(everyone);
  expect_all_sorted<float>(everyone);
  expect_all_sorted<int>(everyone);
  expect_all_sorted<std::int8_t>(everyone);
  expect_all_sorted<std::uint64_t>(everyone);
  expect_all_sorted<bool>(everyone);
}

BOOST_AUTO_TEST_CASE(nans_are_last_and_zeros_are_equal) {
  const world everyone(test::workers());
  const double nan = std::numeric_limits<double>::quiet_NaN(), infinite = std::numeric_limits<double>::infinity();
  blocks<double> b;
  for (std::size_t k = 0; k < everyone.size(); ++k) {
    for (const double number : {0.0, nan, -infinite, -0.0, 1e-310, -nan, infinite, -1e300, 0.0, -5e-324})
      b.all.push_back(number);
    b.end_of_block();
  }
  for (const bool descending : {false, true}) expect_sorted(everyone, b, b.first, descending);
  blocks<std::int64_t> ends;
  for (std::size_t k = 0; k < everyone.size(); ++k) {
    for (const std::int64_t number : {std::numeric_limits<std::int64_t>::max(), std::int64_t{-1}, std::int64_t{0},
                                      std::numeric_limits<std::int64_t>::min()})
      ends.all.push_back(number);
    ends.end_of_block();
  }
  for (const bool descending : {false, true}) expect_sorted(everyone, ends, ends.first, descending);
}

BOOST_AUTO_TEST_CASE(other_rows_follow_their_keys_and_return) {
  const world everyone(test::workers());
  const std::size_t me = everyone.id();
  const auto b = random_blocks<double>(everyone.size(), 7, 10);
  const auto keys = b.of(me);
  // [rows]
  const index_exchange by_key(everyone, interval{b.first[me], b.first[me + 1]}, argsort(everyone, keys));
  const auto sorted_keys = by_key(keys);
  // [/rows]
  BOOST_TEST((sorted_keys == sort(everyone, keys)));
  BOOST_TEST((by_key.adjoint(sorted_keys) == keys));
}

BOOST_AUTO_TEST_CASE(quantiles_are_those_of_all_numbers) {
  const world everyone(test::workers());
  for (unsigned seed = 20; seed < 26; ++seed) {
    auto b = random_blocks<float>(everyone.size(), seed, seed % 2 == 0 ? 5 : 1000);
    if (b.all.empty()) continue;
    const auto x = b.of(everyone.id());
    std::sort(b.all.begin(), b.all.end());
    const std::vector<double> asked{0, 0.5, 0.1, 1, 0.999, 0.25};
    const auto got = quantile(everyone, x, asked);
    for (std::size_t k = 0; k < asked.size(); ++k) {
      const double at = asked[k] * static_cast<double>(b.all.size() - 1);
      const auto low = static_cast<std::size_t>(at), high = std::min(low + 1, b.all.size() - 1);
      const double a = b.all[low], c = b.all[high];
      BOOST_TEST(got(k) == a + (at - static_cast<double>(low)) * (c - a), boost::test_tools::tolerance(1e-12));
    }
  }
  // Beside infinities a number is its own quantile, and no share of a difference.
  constexpr double infinite = std::numeric_limits<double>::infinity();
  const xt::xtensor<double, 1> none, some{-infinite, 1, infinite};
  const auto exact = quantile(everyone, everyone.id() == 0 ? some : none, {0.0, 0.5, 1.0});
  BOOST_TEST((exact == some));
  xt::xtensor<double, 1> x = xt::ones<double>({2});
  if (everyone.id() == 0) x(1) = std::numeric_limits<double>::quiet_NaN();
  BOOST_TEST(std::isnan(quantile(everyone, x, {0.0})(0)));
}

/// Blocks of equal numbers of elements, except for the empty block of worker 2, by a function of the position among all
/// of them.
template <class F>
blocks<double> blocks_by(std::size_t workers, std::size_t each, const F& number) {
  blocks<double> b;
  for (std::size_t k = 0; k < workers; ++k) {
    for (std::size_t j = k % 4 == 2 ? each : 0; j < each; ++j) b.all.push_back(number(b.all.size()));
    b.end_of_block();
  }
  return b;
}

BOOST_AUTO_TEST_CASE(equal_sorted_reversed_and_empty_blocks_are_sorted_as_any_others) {
  const world everyone(test::workers());
  for (const std::size_t each : {std::size_t{0}, std::size_t{1}, std::size_t{1500}})
    for (const bool descending : {false, true})
      for (const auto& b : {blocks_by(everyone.size(), each, [](std::size_t) { return 7.0; }),
                            blocks_by(everyone.size(), each, [](std::size_t i) { return static_cast<double>(i); }),
                            blocks_by(everyone.size(), each, [](std::size_t i) { return -static_cast<double>(i); }),
                            blocks_by(everyone.size(), each, [](std::size_t i) { return i % 2 == 0 ? 1.0 : 0.0; })})
        expect_sorted(everyone, b, b.first, descending);
}

BOOST_AUTO_TEST_CASE(keys_of_any_width_are_sorted_and_equal_ones_keep_their_order) {
  using element = detail::key_and_position;
  std::mt19937_64 random(8);
  for (unsigned width = 1; width <= 64; ++width) {
    std::vector<element> all(1024 + width);
    for (std::size_t j = 0; j < all.size(); ++j)
      all[j] = {j > 0 && random() % 2 == 0 ? all[random() % j].key : random() >> (64 - width), j};
    std::vector<element> expected = all;
    std::sort(expected.begin(), expected.end());  // by keys, then by places
    detail::radix_sort(all.data(), all.size(), [](const element& one) { return one.key; });
    bool right = true;
    for (std::size_t j = 0; j < all.size(); ++j) right = right && all[j].position == expected[j].position;
    BOOST_TEST(right, "keys of " << width << " bits");
  }
}

BOOST_AUTO_TEST_CASE(an_element_moves_at_most_once) {
  const test::pretended by_messages("PARTITA_SHARED", "0");  // whose bytes are counted
  const world everyone(test::workers());
  const std::size_t me = everyone.id();
  std::mt19937 random(5);
  for (const bool sorted : {false, true}) {
    const auto b = blocks_by(everyone.size(), 30000, [&](std::size_t i) {
      return sorted ? static_cast<double>(i) : static_cast<double>(random() % 100000);
    });
    const auto places = order_of(b.all, false);
    std::size_t others = 0;  // elements of this worker's result that another worker had
    for (std::size_t j = b.first[me]; j < b.first[me + 1]; ++j)
      others += places[j] < b.first[me] || places[j] >= b.first[me + 1] ? 1 : 0;
    const auto x = b.of(me);
    const std::size_t before = test::bytes_sent();
    sort(everyone, x);
    const double sent = sum_over(everyone, static_cast<double>(test::bytes_sent() - before)),
                 least = sum_over(everyone, 8.0 * static_cast<double>(others));
    BOOST_TEST(sent >= least);
    BOOST_TEST(sent <= 1.1 * least + 2000.0 * static_cast<double>(everyone.size() - 1));
  }
}

BOOST_AUTO_TEST_CASE(wrong_calls_are_errors_on_all_workers) {
  const world everyone(test::workers());
  const std::size_t me = everyone.id(), last = everyone.size() - 1;
  const xt::xtensor<double, 1> x = xt::ones<double>({3});
  test::expect_refused<shape_error>([&] { sort(everyone, x, {.length = me == last ? 4U : 3U}); },
                                    "the lengths that are wanted are");
  test::expect_refused<shape_error>([&] { quantile(everyone, x, {0.5, 1.5}); }, "probabilities from 0 to 1, got 1.5");
  test::expect_refused<shape_error>([&] { quantile(everyone, xt::xtensor<int, 1>(), {0.5}); }, "at least one number");
  if (everyone.size() < 2) return;
  const xt::xtensor<float, 1> y = xt::ones<float>({3});
  test::expect_refused<disagreement_error>([&] { sort(everyone, x, {.descending = me == last}); });
  test::expect_refused<disagreement_error>([&] { quantile(everyone, x, {me == last ? 0.25 : 0.5}); });
  test::expect_refused<disagreement_error>([&] {
    if (me == last) sort(everyone, y);
    else sort(everyone, x);
  });
  test::expect_refused<disagreement_error>([&] {
    if (me == last) argsort(everyone, x);
    else sort(everyone, x);
  });
  BOOST_TEST(sort(everyone, x)(2) == 1.0);
}

BOOST_AUTO_TEST_CASE(probabilities_outside_of_0_to_1_are_refused_and_their_ends_taken) {
  const world everyone(test::workers());
  const xt::xtensor<double, 1> x{1, 3};
  const auto said = [&](double q) { return test::refused<shape_error>([&] { quantile(everyone, x, {0.5, q}); }); };
  const std::string asked = "partita::quantile(everyone, x, probabilities): requires probabilities from 0 to 1, got ";
  BOOST_TEST(said(-0.25) == asked + "-0.250000");
  BOOST_TEST(said(-1e-300).find(asked) == 0U);
  BOOST_TEST(said(1.25) == asked + "1.250000");
  BOOST_TEST(said(std::numeric_limits<double>::quiet_NaN()).find(asked) == 0U);
  BOOST_TEST((said(0).empty() && said(1).empty()));
  BOOST_TEST(test::refused<shape_error>([&] { quantile(everyone, xt::xtensor<double, 1>(), {0.5}); }) ==
             "partita::quantile(everyone, x, probabilities): requires at least one number on some worker, got none");
  const xt::xtensor<int, 1> none, one{7};  // a number alone is each quantile
  BOOST_TEST(
      (quantile(everyone, everyone.id() == 0 ? one : none, {0.0, 0.3, 1.0}) == xt::xtensor<double, 1>{7.0, 7.0, 7.0}));
}

BOOST_AUTO_TEST_CASE(lengths_that_do_not_add_up_are_named_with_both_sums) {
  const world everyone(test::workers());
  const std::size_t P = everyone.size(), me = everyone.id();
  const xt::xtensor<double, 1> x = xt::ones<double>({3});
  for (const std::size_t length : {2U, 4U}) {
    const text sums = text(": requires results of all workers with as many elements as their blocks have, ")
                      << 3 * P << "; the lengths that are wanted are " << 3 * (P - 1) + length
                      << " together; leave out .length for blocks of the same sizes";
    const sort_options options{.length = me == 0 ? length : 3U};
    BOOST_TEST(test::refused<shape_error>([&] { sort(everyone, x, options); }) ==
               std::string("partita::sort(everyone, x)") + sums.c_str());
    BOOST_TEST(test::refused<shape_error>([&] { argsort(everyone, x, options); }) ==
               std::string("partita::argsort(everyone, x)") + sums.c_str());
  }
}

BOOST_AUTO_TEST_CASE(sorts_of_other_numbers_or_in_another_order_on_one_worker_are_refused, *test::at_least(2)) {
  const world everyone(test::workers());
  const bool odd = everyone.id() + 1 == everyone.size();
  const xt::xtensor<double, 1> x = xt::ones<double>({3});
  const xt::xtensor<std::int64_t, 1> whole = xt::ones<std::int64_t>({3});
  const auto differ = [&](auto call) {
    test::expect_refused<disagreement_error>([&] {
      if (odd) call(whole);
      else call(x);
    });
  };
  differ([&](const auto& y) { sort(everyone, y); });
  differ([&](const auto& y) { argsort(everyone, y); });
  differ([&](const auto& y) { quantile(everyone, y, {0.5}); });
  test::expect_refused<disagreement_error>([&] { argsort(everyone, x, {.descending = odd}); });
  const std::vector<double> two{0.5, 0.5}, one{0.5};
  test::expect_refused<disagreement_error>([&] { quantile(everyone, x, odd ? two : one); });
  test::expect_refused<disagreement_error>([&] {
    if (odd) quantile(everyone, x, {0.5});
    else argsort(everyone, x);
  });
  BOOST_TEST(sort(everyone, x).size() == 3U);
}

BOOST_AUTO_TEST_SUITE_END()
