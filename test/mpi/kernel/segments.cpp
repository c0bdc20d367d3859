// Sums, means, maxima and softmax over segments are those of a loop over the rows of all workers; adjoints are exact.
#include "mpi_test.hpp"
#include "pretended.hpp"
#include "refused.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdlib>
#include <functional>
#include <limits>
#include <partita/comm/over_workers.hpp>
#include <partita/kernel/segments.hpp>
#include <random>
#include <vector>

namespace {

using namespace partita;
using rows = xt::xtensor<double, 2>;

constexpr std::size_t width = 3;

/// The segments that each worker owns, and those of its rows; the same on all workers.
struct case_of_segments {
  std::size_t number = 0;
  std::vector<std::vector<std::size_t>> owned, of_rows;

  case_of_segments(std::size_t workers, unsigned seed) : owned(workers), of_rows(workers) {
    std::mt19937 random(seed);
    number = seed % 5 == 0 ? 1 : seed % 7 == 3 ? 0 : 2 + random() % 12;
    for (std::size_t s = 0; s < number; ++s)
      owned[seed % 4 == 1 ? workers - 1 : seed % 4 == 2 ? (3 * s + seed) % workers : s * workers / number].push_back(s);
    for (std::size_t k = 0; k < workers && number > 0; ++k)
      for (std::size_t j = random() % 3 == 0 ? 0 : random() % 20; j > 0; --j)
        of_rows[k].push_back(seed % 6 == 4 ? number - 1 : (random() % number) / 2 * 2);  // odd ones have no rows
  }
  /// Calls f(worker, row, segment) for all rows of all workers.
  template <class F>
  void for_each_row(F f) const {
    for (std::size_t k = 0; k < of_rows.size(); ++k)
      for (std::size_t j = 0; j < of_rows[k].size(); ++j) f(k, j, of_rows[k][j]);
  }
};

/// Small integers, of which many are equal.
double element(std::size_t worker, std::size_t row, std::size_t c) {
  return static_cast<double>((5 * worker + 3 * row + 7 * c) % 6) - 2;
}
double of_segment(std::size_t segment, std::size_t c) { return static_cast<double>((segment + 3 * c) % 5) - 1; }

template <class F>
rows filled(std::size_t count, F f) {
  rows x = xt::zeros<double>({count, width});
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t c = 0; c < width; ++c) x(i, c) = f(i, c);
  return x;
}
rows at(const std::vector<std::size_t>& segments_at, const rows& all) {
  return filled(segments_at.size(), [&](std::size_t i, std::size_t c) { return all(segments_at[i], c); });
}
double dot(const world& everyone, const rows& a, const rows& b) { return sum_over(everyone, xt::sum<double>(a * b)()); }

}  // namespace

BOOST_AUTO_TEST_SUITE(segments_of_rows)

BOOST_AUTO_TEST_CASE(two_segments_of_the_rows_of_all_workers) {
  const world everyone(test::workers());
  const double P = static_cast<double>(everyone.size()), me = static_cast<double>(everyone.id());
  // [segments]
  const interval mine = balanced_part(2, everyone.size(), everyone.id());
  const segments s(everyone, mine, {1, 0, 1});        // the segments of this worker's rows
  const xt::xtensor<double, 1> x{me, 10, -me};        // one element for each row
  const auto sums = s.sum(x);                         // one for each segment of this worker
  const auto weights = s.softmax(xt::zeros_like(x));  // one for each row
  // [/segments]
  for (std::size_t i = 0; i < mine.size(); ++i) {
    BOOST_TEST(sums(i) == (mine.start + i == 0 ? 10 * P : 0.0));
    BOOST_TEST(s.sizes()[i] == (mine.start + i == 0 ? everyone.size() : 2 * everyone.size()));
  }
  BOOST_TEST(weights(0) == 1 / (2 * P));
  BOOST_TEST(weights(1) == 1 / P);
}

BOOST_AUTO_TEST_CASE(results_are_those_of_a_loop_over_all_rows) {
  const double least = -std::numeric_limits<double>::infinity();
  for (const char* const nodes : {"1", "2"}) {
    const test::pretended apart("PARTITA_NODES", nodes);
    const world everyone(test::workers());
    const std::size_t me = everyone.id();
    for (unsigned seed = 0; seed < 12; ++seed) {
      const case_of_segments all(everyone.size(), seed);
      const auto &owned = all.owned[me], &of_rows = all.of_rows[me];
      const segments s(everyone, owned, of_rows);
      const rows x = filled(of_rows.size(), [&](std::size_t j, std::size_t c) { return element(me, j, c); });
      const rows dy = filled(owned.size(), [&](std::size_t i, std::size_t c) { return of_segment(owned[i], c); });
      rows sum = xt::zeros<double>({all.number, width}), count = sum, most = sum + least, equal = sum, given = sum;
      for (std::size_t i = 0; i < all.number; ++i)
        for (std::size_t c = 0; c < width; ++c) given(i, c) = of_segment(i, c);
      all.for_each_row([&](std::size_t k, std::size_t j, std::size_t i) {
        for (std::size_t c = 0; c < width; ++c) {
          const double e = element(k, j, c);
          sum(i, c) += e, count(i, c) += 1, most(i, c) = std::max(most(i, c), e);
        }
      });
      all.for_each_row([&](std::size_t k, std::size_t j, std::size_t i) {
        for (std::size_t c = 0; c < width; ++c) equal(i, c) += element(k, j, c) == most(i, c) ? 1 : 0;
      });
      const rows divisor = xt::maximum(count, 1.0), tied = xt::maximum(equal, 1.0);
      const rows y = s.sum(x);
      BOOST_TEST((y == at(owned, sum)));
      BOOST_TEST((s.mean(x) == at(owned, sum / divisor)));
      BOOST_TEST((s.maximum(x) == at(owned, most)));
      BOOST_TEST((s.rows(dy) == at(of_rows, given)));
      BOOST_TEST((s.mean_adjoint(dy) == at(of_rows, given / divisor)));
      for (std::size_t i = 0; i < owned.size(); ++i)
        BOOST_TEST(s.sizes()[i] == static_cast<std::size_t>(count(owned[i], 0)));
      BOOST_TEST(dot(everyone, y, dy) == dot(everyone, x, s.rows(dy)));
      const rows share = at(of_rows, given / tied), highest = at(of_rows, most);
      const rows to_ties = filled(
          of_rows.size(), [&](std::size_t j, std::size_t c) { return x(j, c) == highest(j, c) ? share(j, c) : 0.0; });
      BOOST_TEST((s.maximum_adjoint(x, s.maximum(x), dy) == to_ties));
      // other elements by the same object
      const xt::xtensor<int, 1> whole = xt::cast<int>(xt::view(x, xt::all(), 0));
      BOOST_TEST((xt::cast<double>(s.sum(whole)) == xt::view(y, xt::all(), 0)));
      const xt::xtensor<std::complex<float>, 2> z = xt::cast<std::complex<float>>(x);
      BOOST_TEST((s.sum(z) == xt::cast<std::complex<float>>(y)));
    }
  }
}

BOOST_AUTO_TEST_CASE(softmax_adds_up_to_one_and_its_adjoint_is_that_of_the_formula) {
  const world everyone(test::workers());
  const std::size_t me = everyone.id();
  for (unsigned seed = 0; seed < 8; ++seed) {
    const case_of_segments all(everyone.size(), seed);
    const auto &owned = all.owned[me], &of_rows = all.of_rows[me];
    const segments s(everyone, owned, of_rows);
    const double high = 800;  // exp(high) is infinite
    const rows x = filled(of_rows.size(), [&](std::size_t j, std::size_t c) { return high + element(me, j, c); });
    const rows dy = filled(of_rows.size(), [&](std::size_t j, std::size_t c) { return element(j, me, c + 1); });
    rows sum = xt::zeros<double>({all.number, width}), products = sum;
    all.for_each_row([&](std::size_t k, std::size_t j, std::size_t i) {
      for (std::size_t c = 0; c < width; ++c) {
        const double e = std::exp(element(k, j, c));
        sum(i, c) += e, products(i, c) += e * element(j, k, c + 1);
      }
    });
    const rows y = s.softmax(x), dx = s.softmax_adjoint(y, dy);
    const rows expected = xt::exp(x - high) / at(of_rows, sum);
    const rows slope = expected * (dy - at(of_rows, rows(products / sum)));
    BOOST_TEST(y.shape(0) == of_rows.size());
    BOOST_TEST(xt::all(xt::abs(y - expected) < 1e-13));
    BOOST_TEST(xt::all(xt::abs(dx - slope) < 1e-12));
  }
}

BOOST_AUTO_TEST_CASE(a_maximum_that_is_no_number_is_that_of_all_rows_that_are_none) {
  const world everyone(test::workers());
  const std::size_t P = everyone.size(), me = everyone.id();
  const double none = std::numeric_limits<double>::quiet_NaN();
  const segments s(everyone, balanced_part(1, P, me), {0, 0});
  const xt::xtensor<double, 1> x{1, none}, dy = static_cast<double>(P) * xt::ones<double>({s.rows_of_result()});
  const auto y = s.maximum(x);
  for (const double e : y) BOOST_TEST(std::isnan(e));
  const auto dx = s.maximum_adjoint(x, y, dy);
  BOOST_TEST(dx(0) == 0.0);
  BOOST_TEST(dx(1) == 1.0);
}

BOOST_AUTO_TEST_CASE(a_segment_travels_once_from_each_worker) {
  const test::pretended one("PARTITA_NODES", "1");
  const world everyone(test::workers());
  const std::size_t P = everyone.size(), me = everyone.id();
  const segments s(everyone, {me}, std::vector<std::size_t>(50, 0));  // all rows belong to one segment of worker 0
  BOOST_TEST(s.plan().elements_received() == (me == 0 ? 0 : 1));      // of the rows of segments; sums travel back
  const auto y = s.sum(xt::xtensor<int, 1>(xt::ones<int>({50})));
  BOOST_TEST(y(0) == (me == 0 ? static_cast<int>(50 * P) : 0));
}

BOOST_AUTO_TEST_CASE(wrong_calls_are_errors_on_all_workers) {
  const world everyone(test::workers());
  const std::size_t P = everyone.size(), me = everyone.id(), last = P - 1;
  test::expect_refused<shape_error>([&] { segments(everyone, {me}, {me == last ? P : 0}); },
                                    "segment_of_rows): requires each entry of segment_of_rows to be below");
  const segments s(everyone, {me}, {0, last, me});
  const xt::xtensor<double, 1> x = xt::ones<double>({3}), y = xt::ones<double>({1}), bad = xt::ones<double>({2});
  test::expect_refused<shape_error>(
      [&] { s.sum(me == last ? bad : x); },
      "(everyone, owned, segment_of_rows).sum(x): requires a block with a row for each entry of segment_of_rows");
  test::expect_refused<shape_error>([&] { s.mean(me == last ? bad : x); }, ".mean(x): requires a block with a row");
  test::expect_refused<shape_error>(
      [&] { s.mean_adjoint(me == last ? bad : y); },
      ".mean_adjoint(dy): requires a block with a row for each segment that its worker owns");
  test::expect_refused<shape_error>([&] { s.softmax(me == last ? bad : x); }, ".softmax(x): requires a block");
  test::expect_refused<shape_error>([&] { s.softmax_adjoint(x, me == last ? bad : x); },
                                    ".softmax_adjoint(y, dy): requires dy of shape [3], got [2]");
  test::expect_refused<shape_error>([&] { s.softmax_adjoint(me == last ? bad : x, me == last ? bad : x); },
                                    ".softmax_adjoint(y, dy): requires y of shape [3], got [2]");
  test::expect_refused<shape_error>([&] { s.maximum_adjoint(x, me == last ? bad : y, y); },
                                    ".maximum_adjoint(x, y, dy): requires y of shape [1], got [2]");
  const text of_dy = text("requires dy of shape [1], got [2] on worker ")
                     << last << "; dimension 0 numbers the rows of x, of y the segments";
  test::expect_refused<shape_error>([&] { s.maximum_adjoint(x, y, me == last ? bad : y); }, of_dy.c_str());
  if (P > 1) {
    // any two functions: on the last worker another one
    const std::vector<std::function<void()>> calls{[&] { (void)s.rows(y); },
                                                   [&] { (void)s.sum(x); },
                                                   [&] { (void)s.mean(x); },
                                                   [&] { (void)s.maximum(x); },
                                                   [&] { (void)s.softmax(x); },
                                                   [&] { (void)s.mean_adjoint(y); },
                                                   [&] { (void)s.softmax_adjoint(x, x); },
                                                   [&] { (void)s.maximum_adjoint(x, y, y); }};
    for (const auto& one : calls)
      for (const auto& other : calls)
        if (&one != &other) test::expect_refused<disagreement_error>([&] { (me == last ? one : other)(); });
    test::expect_refused<disagreement_error>([&] {
      if (me == last) s.maximum(xt::xtensor<float, 1>(xt::ones<float>({3})));
      else s.maximum(x);
    });
  }
  BOOST_TEST(sum_over(everyone, s.sum(x)(0)) == 3.0 * static_cast<double>(P));
}

BOOST_AUTO_TEST_CASE(means_of_complex_numbers_are_divided_and_rows_are_counted) {
  const world everyone(test::workers());
  const std::size_t P = everyone.size(), me = everyone.id();
  using number = std::complex<double>;
  // segment 0 has two rows of each worker, segment 1 none, segment 2 one row of each worker
  const interval mine = balanced_part(3, P, me);
  const segments s(everyone, mine, {0, 2, 0});
  BOOST_TEST(s.rows_of_argument() == 3U);
  BOOST_TEST(s.rows_of_result() == mine.size());
  const auto p = static_cast<double>(P), m = static_cast<double>(me);
  const xt::xtensor<number, 1> x{number(m, 1), number(3, -m), number(2 * p - m, 3)};
  const auto y = s.mean(x);
  const number wanted[] = {number(p, 2), number(0, 0), number(3, -(p - 1) / 2)};
  for (std::size_t i = 0; i < mine.size(); ++i) BOOST_TEST((y(i) == wanted[mine.start + i]));
  const xt::xtensor<number, 1> dy = xt::ones<number>({mine.size()}) * number(2 * p, 4 * p);
  BOOST_TEST((s.mean_adjoint(dy) == xt::xtensor<number, 1>{number(1, 2), number(2, 4), number(1, 2)}));
  // each worker receives a row for each of its segments that another one owns
  std::size_t others = 0;
  for (const std::size_t segment : {0U, 2U}) others += segment < mine.start || segment >= mine.stop ? 1 : 0;
  if (std::getenv("PARTITA_NODES") == nullptr) {
    BOOST_TEST(s.plan().elements_received() == others);
    BOOST_TEST(s.plan(4).elements_received() == 4 * others);
  }
  const auto most = s.maximum(xt::xtensor<int, 1>{-4, static_cast<int>(me), -5});
  const int largest[] = {-4, std::numeric_limits<int>::min(), static_cast<int>(P) - 1};
  for (std::size_t i = 0; i < mine.size(); ++i) BOOST_TEST(most(i) == largest[mine.start + i]);
}

BOOST_AUTO_TEST_SUITE_END()
