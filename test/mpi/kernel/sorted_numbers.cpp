// The different, the greatest numbers of all workers and places among sorted ones are those of one process.
#include "mpi_test.hpp"
#include "number_blocks.hpp"
#include "refused.hpp"

#include <algorithm>
#include <limits>
#include <partita/comm/over_workers.hpp>
#include <partita/kernel/sorted_numbers.hpp>
#include <random>
#include <string>

namespace {

using namespace partita;

using test::is_before, test::is_equal;

/// Some blocks are empty, or all but one.
template <class T>
test::number_blocks<T> random_blocks(std::size_t workers, unsigned seed) {
  std::mt19937 random(seed);
  test::number_blocks<T> b;
  const unsigned different = seed % 4 == 0 ? 1 : seed % 4 == 1 ? 4 : 100;
  for (std::size_t k = 0; k < workers; ++k) {
    const bool none = seed % 3 == 2 ? k != seed % workers : random() % 4 == 0;
    for (std::size_t n = none ? 0 : random() % 31; n > 0; --n) {
      if (std::is_floating_point_v<T> && seed % 5 == 4 && random() % 6 == 0)
        b.all.push_back(std::numeric_limits<T>::quiet_NaN());
      else b.all.push_back(static_cast<T>(static_cast<int>(random() % different) - static_cast<int>(different / 2)));
    }
    b.end_of_block();
  }
  return b;
}

template <class T>
void expect_as_in_one_process(const world& everyone) {
  const std::size_t me = everyone.id();
  for (unsigned seed = 0; seed < 20; ++seed) {
    const auto b = random_blocks<T>(everyone.size(), seed), edges = random_blocks<T>(everyone.size(), seed + 7);
    // unique
    std::vector<T> ordered = b.all;
    std::sort(ordered.begin(), ordered.end(), is_before<T>);
    auto different = ordered;
    different.erase(std::unique(different.begin(), different.end(), is_equal<T>), different.end());
    const auto own = unique(everyone, b.of(me));
    const std::size_t before = exclusive_scan(everyone, own.size(), sum_t());
    BOOST_TEST(sum_over(everyone, own.size()) == different.size());
    for (std::size_t j = 0; j < own.size() && before + j < different.size(); ++j)
      BOOST_TEST(is_equal(own(j), different[before + j]));
    // searchsorted
    auto sorted_edges = edges.all;
    std::sort(sorted_edges.begin(), sorted_edges.end(), is_before<T>);
    const auto there = sort(everyone, edges.of(me));
    const auto x = b.of(me);
    const auto left = searchsorted(everyone, there, x), right = searchsorted(everyone, there, x, {.right = true});
    BOOST_TEST_REQUIRE(left.size() == x.size());
    for (std::size_t j = 0; j < x.size(); ++j) {
      const auto range = std::equal_range(sorted_edges.begin(), sorted_edges.end(), x(j), is_before<T>);
      BOOST_TEST(left(j) == static_cast<std::size_t>(range.first - sorted_edges.begin()));
      BOOST_TEST(right(j) == static_cast<std::size_t>(range.second - sorted_edges.begin()));
    }
    // top_k
    const auto places = test::order_of(b.all, true);
    for (const std::size_t k : {std::size_t{0}, std::min<std::size_t>(5, b.all.size()), b.all.size()}) {
      const auto top = top_k(everyone, x, k);
      BOOST_TEST_REQUIRE(top.values.size() == k);
      for (std::size_t j = 0; j < k; ++j) {
        BOOST_TEST(top.indices(j) == places[j]);
        BOOST_TEST(is_equal(top.values(j), b.all[places[j]]));
      }
    }
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(numbers_in_order)

BOOST_AUTO_TEST_CASE(each_worker_has_its_number_and_a_common_one) {
  const world everyone(test::workers());
  const std::size_t P = everyone.size();
  // [order]
  const xt::xtensor<int, 1> x{static_cast<int>(everyone.id()), 100};
  const auto different = unique(everyone, x);                // 0, 1, 2, …, and 100 once
  const auto places = searchsorted(everyone, different, x);  // of each number among them
  const auto [values, from] = top_k(everyone, x, 1);         // 100, from the first worker
  // [/order]
  BOOST_TEST(sum_over(everyone, different.size()) == P + 1);
  BOOST_TEST(places(0) == everyone.id());
  BOOST_TEST(places(1) == P);
  BOOST_TEST(values(0) == 100);
  BOOST_TEST(from(0) == 1U);
}

BOOST_AUTO_TEST_CASE(results_are_those_of_one_process) {
  const world everyone(test::workers());
  expect_as_in_one_process<double>(everyone);
  expect_as_in_one_process<float>(everyone);
  expect_as_in_one_process<int>(everyone);
  expect_as_in_one_process<std::int8_t>(everyone);
}

BOOST_AUTO_TEST_CASE(wrong_calls_are_errors_on_all_workers) {
  const world everyone(test::workers());
  const std::size_t P = everyone.size(), me = everyone.id(), last = P - 1;
  const xt::xtensor<int, 1> up{1, 2}, down{2, 1};
  test::expect_refused<shape_error>([&] { top_k(everyone, up, 2 * P + 1); }, "requires at least k = ");
  test::expect_refused<shape_error>([&] { searchsorted(everyone, me == last ? down : up, up); }, "requires sorted");
  if (P > 1) {
    test::expect_refused<shape_error>([&] { searchsorted(everyone, up, up); }, "requires sorted numbers");
    // the last worker begins below the first one, and those between have no numbers
    const xt::xtensor<int, 1> none, more{3, 4};
    test::expect_refused<shape_error>(
        [&] {
          searchsorted(everyone, me == 0 ? more : me == last ? up : none, up);
        },
        "or begin below those of a worker before it");
    test::expect_refused<disagreement_error>([&] { top_k(everyone, up, me == last ? 1 : 2); });
    test::expect_refused<disagreement_error>([&] { searchsorted(everyone, up - up, up, {me == last}); });
    test::expect_refused<disagreement_error>(
        [&] { me == last ? (void)sort(everyone, up) : (void)unique(everyone, up); });
    test::expect_refused<disagreement_error>([&] {
      if (me == last) sort(everyone, up);
      else searchsorted(everyone, up - up, up);
    });
  }
  BOOST_TEST(top_k(everyone, up, 1).values(0) == 2);
}

BOOST_AUTO_TEST_CASE(a_permutation_depends_on_its_seed_only) {
  const world everyone(test::workers());
  const std::size_t P = everyone.size(), me = everyone.id();
  for (const std::size_t n : {std::size_t{0}, std::size_t{1}, std::size_t{40}}) {
    std::vector<std::uint64_t> keys;  // in one process
    detail::random_words words(7, 0);
    for (std::size_t i = 0; i < n; ++i) {
      const std::uint64_t high = words[2 * i];
      keys.push_back(high << 32U | words[2 * i + 1]);
    }
    const auto order = test::order_of(keys, false);
    // In balance, and all on the last worker.
    for (const interval mine : {balanced_part(n, P, me), me + 1 == P ? interval{0, n} : interval{0, 0}}) {
      const auto own = permutation(everyone, mine.size(), 7);
      BOOST_TEST_REQUIRE(own.size() == mine.size());
      for (std::size_t j = 0; j < own.size(); ++j) BOOST_TEST(own(j) == order[mine.start + j]);
      const index_exchange shuffled(everyone, mine, own);  // the rows, and back
      const xt::xtensor<double, 1> x = xt::arange<double>(static_cast<double>(mine.size()));
      BOOST_TEST((shuffled.adjoint(shuffled(x)) == x));
    }
  }
  if (P > 1) test::expect_refused<disagreement_error>([&] { permutation(everyone, 3, me == 0 ? 1 : 2); });
}

BOOST_AUTO_TEST_CASE(wrong_calls_are_named_with_their_numbers) {
  const world everyone(test::workers());
  const std::size_t P = everyone.size(), me = everyone.id();
  const xt::xtensor<int, 1> up{1, 2}, down{2, 1};
  const text few = text("partita::top_k(everyone, x, k): requires at least k = ")
                   << 2 * P + 1 << " numbers on all workers, got " << 2 * P << "; take a smaller k";
  BOOST_TEST(test::refused<shape_error>([&] { top_k(everyone, up, 2 * P + 1); }) == few.c_str());
  BOOST_TEST(top_k(everyone, up, 2 * P).values(2 * P - 1) == 1);
  for (const std::size_t odd : {std::size_t{0}, P - 1}) {
    const text wrong = text("partita::searchsorted(everyone, sorted, x): requires sorted numbers, those of worker ")
                       << odd << " are not, or begin below those of a worker before it; sort(everyone, x) sorts them";
    const xt::xtensor<int, 1> same = xt::ones<int>({2});
    BOOST_TEST(test::refused<shape_error>(
                   [&] { searchsorted(everyone, me == odd ? down : xt::xtensor<int, 1>(), same); }) == wrong.c_str());
    // equal numbers on several workers are sorted
    BOOST_TEST(searchsorted(everyone, same, same)(1) == 0U);
    BOOST_TEST(searchsorted(everyone, same, same, {.right = true})(0) == 2 * P);
  }
  if (P < 2) return;
  const bool odd = me + 1 == P;
  const xt::xtensor<double, 1> x{1, 2};
  const xt::xtensor<std::int64_t, 1> whole{1, 2};
  const auto differ = [&](auto call) {
    test::expect_refused<disagreement_error>([&] {
      if (odd) call(whole);
      else call(x);
    });
  };
  differ([&](const auto& y) { unique(everyone, y); });
  differ([&](const auto& y) { top_k(everyone, y, 1); });
  differ([&](const auto& y) { searchsorted(everyone, y - y, y); });
  BOOST_TEST(top_k(everyone, x, 1).values(0) == 2.0);
}

BOOST_AUTO_TEST_SUITE_END()
