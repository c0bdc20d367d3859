// Products with a sparse matrix are those with the whole matrix, wherever its entries are given; the adjoint is exact.
#include "mpi_test.hpp"
#include "pretended.hpp"
#include "refused.hpp"

#include <complex>
#include <partita/comm/over_workers.hpp>
#include <partita/kernel/compose.hpp>
#include <partita/kernel/csr_matrix.hpp>
#include <partita/kernel/operator_sum.hpp>
#include <random>
#include <set>
#include <vector>

namespace {

using namespace partita;

/// Entries of an n x m matrix; the same on all workers. Some places have several entries.
std::vector<triplet<double>> random_entries(std::size_t n, std::size_t m, std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<triplet<double>> entries;
  while (entries.size() < count && n * m > 0)
    entries.push_back({random() % n, random() % m, static_cast<double>(random() % 9) - 4});
  return entries;
}

/// The range of a worker: balanced, all on one worker, or none on the first.
interval range_of(std::size_t n, std::size_t workers, std::size_t id, unsigned kind) {
  if (kind == 0) return balanced_part(n, workers, id);
  const std::size_t holder = kind == 1 ? 0 : workers - 1;
  return id < holder ? interval{0, 0} : id == holder ? interval{0, n} : interval{n, n};
}

xt::xtensor<double, 2> whole_of(std::size_t n, std::size_t m, const std::vector<triplet<double>>& entries) {
  xt::xtensor<double, 2> all = xt::zeros<double>({n, m});
  for (const auto& entry : entries) all(entry.row, entry.column) += entry.value;
  return all;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(sparse_matrices)

BOOST_AUTO_TEST_CASE(products_are_those_with_the_whole_matrix) {
  const world everyone(test::workers());
  const std::size_t P = everyone.size(), me = everyone.id();
  for (unsigned seed = 0; seed < 12; ++seed) {
    const std::size_t n = seed % 4 == 0 ? 2 : 13 + seed, m = seed % 3 == 0 ? n : 5 + seed, width = 3;
    const auto all = random_entries(n, m, seed == 5 ? 0 : 4 * n, seed);
    const auto whole = whole_of(n, m, all);
    std::vector<triplet<double>> given;  // on any worker
    for (std::size_t k = 0; k < all.size(); ++k)
      if ((k * k + seed) % P == me) given.push_back(all[k]);
    const interval rows = range_of(n, P, me, seed % 3), columns = range_of(m, P, me, seed % 2);
    const csr_matrix<double> a(everyone, rows, columns, given);
    std::set<std::array<std::size_t, 2>> places;  // equal ones are one entry
    for (const auto& one : all)
      if (one.row >= rows.start && one.row < rows.stop) places.insert({one.row, one.column});
    BOOST_TEST(a.entries() == places.size());
    const auto x_of = [](std::size_t j, std::size_t c) { return static_cast<double>((3 * j + 5 * c) % 7) - 2; };
    xt::xtensor<double, 1> x = xt::zeros<double>({columns.size()}), dy = xt::zeros<double>({rows.size()});
    xt::xtensor<double, 2> several = xt::zeros<double>({columns.size(), width});
    for (std::size_t j = 0; j < columns.size(); ++j) {
      x(j) = x_of(columns.start + j, 0);
      for (std::size_t c = 0; c < width; ++c) several(j, c) = x_of(columns.start + j, c);
    }
    for (std::size_t i = 0; i < rows.size(); ++i) dy(i) = x_of(rows.start + i, 4);
    const auto y = a(x);
    const auto ys = a(several);
    BOOST_TEST_REQUIRE(y.shape(0) == rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i)
      for (std::size_t c = 0; c < width; ++c) {
        double sum = 0;
        for (std::size_t j = 0; j < m; ++j) sum += whole(rows.start + i, j) * x_of(j, c);
        BOOST_TEST(ys(i, c) == sum);
        if (c == 0) BOOST_TEST(y(i) == sum);
      }
    const auto dx = a.adjoint(dy);
    BOOST_TEST_REQUIRE(dx.shape(0) == columns.size());
    for (std::size_t j = 0; j < columns.size(); ++j) {
      double sum = 0;
      for (std::size_t i = 0; i < n; ++i) sum += whole(i, columns.start + j) * x_of(i, 4);
      BOOST_TEST(dx(j) == sum);
    }
    BOOST_TEST(sum_over(everyone, xt::sum<double>(y * dy)()) == sum_over(everyone, xt::sum<double>(x * dx)()));
    const auto dxs = a.adjoint(ys);
    BOOST_TEST_REQUIRE(dxs.shape(1) == width);
    for (std::size_t c = 0; c < width; ++c)
      BOOST_TEST((xt::view(dxs, xt::all(), c) == a.adjoint(xt::view(ys, xt::all(), c))));
  }
}

BOOST_AUTO_TEST_CASE(the_gradient_of_the_values_is_the_adjoint_of_the_product_as_a_function_of_them) {
  const world everyone(test::workers());
  const std::size_t P = everyone.size(), me = everyone.id();
  for (unsigned seed = 0; seed < 6; ++seed) {
    const std::size_t n = seed == 4 ? 2 : 11 + seed, m = seed % 2 == 0 ? n : 4 + seed;
    const auto all = random_entries(n, m, seed == 5 ? 0 : 4 * n, seed);
    const interval rows = range_of(n, P, me, seed % 3), columns = range_of(m, P, me, seed % 2);
    csr_matrix<double> a(everyone, rows, columns, me == 0 ? all : std::vector<triplet<double>>());
    xt::xtensor<double, 2> x = xt::zeros<double>({columns.size(), std::size_t{2}}),
                           dy = xt::zeros<double>({rows.size(), std::size_t{2}});
    const auto x_of = [](std::size_t j, std::size_t c) { return static_cast<double>((3 * j + 5 * c) % 7) - 2; };
    for (std::size_t k = 0; k < x.size(); ++k) x.flat(k) = x_of(columns.start + k / 2, k % 2);
    for (std::size_t k = 0; k < dy.size(); ++k) dy.flat(k) = x_of(rows.start + k / 2, k % 2 + 3);
    const auto [y, ghosts] = a.product_and_ghosts(x);
    const auto gradient = a.values_adjoint(x, ghosts, dy);
    BOOST_TEST((gradient == a.values_adjoint(x, dy)));
    const auto places = a.triplets();
    BOOST_TEST_REQUIRE(gradient.size() == places.size());
    for (std::size_t k = 0; k < places.size(); ++k) {
      double sum = 0;
      for (std::size_t c = 0; c < 2; ++c) sum += x_of(places[k].row, c + 3) * x_of(places[k].column, c);
      BOOST_TEST(gradient(k) == sum);
      BOOST_TEST(a.values()(k) == places[k].value);
      if (k > 0)
        BOOST_TEST((places[k - 1].row < places[k].row ||
                    (places[k - 1].row == places[k].row && places[k - 1].column < places[k].column)));
    }
    // The product is linear in the values, so <A(v) x, dy> == <v, values_adjoint(x, dy)> for any v.
    xt::xtensor<double, 1> v = xt::zeros<double>({places.size()});
    for (std::size_t k = 0; k < v.size(); ++k) v(k) = x_of(places[k].row, places[k].column);
    a.set_values(v);
    BOOST_TEST(sum_over(everyone, xt::sum<double>(a(x) * dy)()) == sum_over(everyone, xt::sum<double>(v * gradient)()));
  }
}

BOOST_AUTO_TEST_CASE(an_element_of_x_travels_once_on_one_node) {
  const test::pretended together("PARTITA_NODES", "1");
  const world everyone(test::workers());
  const std::size_t P = everyone.size(), me = everyone.id(), n = 4 * P;
  const interval mine = balanced_part(n, P, me);
  std::vector<triplet<double>> all;  // every row has the first column twice, and its own
  for (std::size_t i = mine.start; i < mine.stop; ++i) {
    all.push_back({i, 0, 1.0}), all.push_back({i, 0, 1.0});
    if (i != 0) all.push_back({i, i, 1.0});
  }
  const csr_matrix<double> a(everyone, mine, mine, all);
  BOOST_TEST(a.exchange().plan().elements_received() == (me == 0 ? 0 : 1));
  BOOST_TEST(a.entries() == (me == 0 ? 7 : 8));
}

BOOST_AUTO_TEST_CASE(columns_are_counted_beyond_32_bits) {
  const world everyone(test::workers());
  const std::size_t P = everyone.size(), me = everyone.id(), wide = std::size_t{3} << 30U;
  const interval columns{wide * me, wide * (me + 1)};
  std::vector<triplet<double>> entries;
  for (std::size_t row = 0; row < P; ++row) entries.push_back({row, wide * (row + 1) - 1, static_cast<double>(row)});
  const csr_matrix<double> a(everyone, {me, me + 1}, columns, me == 0 ? entries : std::vector<triplet<double>>());
  BOOST_TEST(a.triplets().size() == 1);
  BOOST_TEST(a.triplets().front().column == wide * (me + 1) - 1);
}

BOOST_AUTO_TEST_CASE(views_and_expressions_are_multiplied_as_tensors_are) {
  const world everyone(test::workers());
  const std::size_t P = everyone.size(), me = everyone.id();
  std::vector<triplet<double>> entries;  // the last row has none
  for (std::size_t row = 2 * me; row < 2 * me + 2 && row + 1 < 2 * P; ++row)
    entries.push_back({row, (row + 3) % (2 * P), static_cast<double>(row + 1)});
  const csr_matrix<double> a(everyone, {2 * me, 2 * me + 2}, {2 * me, 2 * me + 2}, entries);
  const auto first = static_cast<double>(4 * me);
  const xt::xtensor<double, 1> every{first, -1, first + 2, -1}, x{first, first + 2};
  const xt::xtensor<double, 2> several{{first, 1}, {first + 2, 2}};
  const xt::xtensor<double, 2, xt::layout_type::column_major> by_columns = several;
  BOOST_TEST((a(xt::view(every, xt::range(0, 4, 2))) == a(x)));
  BOOST_TEST((a(xt::view(several, xt::all(), 0)) == a(x)));
  BOOST_TEST((a(0.5 * x + 0.5 * x) == a(x)));
  BOOST_TEST((a(by_columns) == a(several)));
}

BOOST_AUTO_TEST_CASE(complex_numbers_are_not_conjugated) {
  const world everyone(test::workers());
  using number = std::complex<double>;
  const std::size_t P = everyone.size(), me = everyone.id();
  const csr_matrix<number> a(everyone, {me, me + 1}, {me, me + 1}, {{me, (me + 1) % P, number(0, 1)}});
  const xt::xtensor<number, 1> x{number(static_cast<double>(me), 0)};
  BOOST_TEST((a(x)(0) == number(0, static_cast<double>((me + 1) % P))));
  BOOST_TEST((a.adjoint(x)(0) == number(0, static_cast<double>((me + P - 1) % P))));
}

BOOST_AUTO_TEST_CASE(wrong_calls_are_errors_on_all_workers) {
  const world everyone(test::workers());
  const std::size_t P = everyone.size(), me = everyone.id(), last = P - 1;
  const interval mine{2 * me, 2 * me + 2};
  test::expect_refused<shape_error>(
      [&] {
        csr_matrix<double>(everyone, me == last ? interval{2 * me + 1, 2 * me + 3} : mine, mine, {});
      },
      "that follow each other");
  test::expect_refused<shape_error>(
      [&] {
        csr_matrix<double>(everyone, mine, me == last ? interval{2 * me + 1, 2 * me + 3} : mine, {});
      },
      "that follow each other");
  if (P > 1)
    test::expect_refused<shape_error>(
        [&] {
          csr_matrix<double>(everyone, mine, me == last ? interval{2 * me, 2 * me - 1} : mine, {});
        },
        "that follow each other");
  test::expect_refused<shape_error>(
      [&] {
        csr_matrix<double>(everyone, mine, mine, {{0, me == last ? 2 * P : 0, 1.0}});
      },
      "requires entries of a matrix of");
  for (const std::size_t odd : {std::size_t{0}, last}) {
    std::vector<interval> table{{2 * odd + 1, 2 * odd + 2}};  // begins too late
    if (odd != 0) table.push_back({2 * odd - 1, 2 * odd + 2}), table.push_back({2 * odd, 2 * odd - 1});  // is reversed
    for (const interval& one : table)
      for (const bool of_rows : {true, false}) {
        const interval wrong = me == odd ? one : mine;
        test::expect_refused<shape_error>(
            [&] { csr_matrix<double>(everyone, of_rows ? wrong : mine, of_rows ? mine : wrong, {}); },
            "that follow each other");
      }
  }
  constexpr std::size_t many = std::size_t{1} << 33U;  // their numbers in a block do not fit in 32 bits
  test::expect_refused<shape_error>(
      [&] {
        csr_matrix<double>(everyone, mine, me == last ? interval{2 * me, many} : mine, {});
      },
      "requires at most 4294967296 columns");
  const csr_matrix<double> a(everyone, mine, mine, {{2 * me, 0, 1.0}});
  const xt::xtensor<double, 1> good = xt::ones<double>({2}), bad = xt::ones<double>({3});
  test::expect_refused<shape_error>([&] { a(me == last ? bad : good); }, "column that its worker owns");
  test::expect_refused<shape_error>([&] { a.adjoint(me == last ? bad : good); }, "row that its worker owns");
  BOOST_TEST(a(good)(0) == 1.0);
  const auto ghosts = a.product_and_ghosts(good).second;
  test::expect_refused<shape_error>([&] { a.values_adjoint(good, me == last ? bad : good); }, "and as many vectors");
  test::expect_refused<shape_error>([&] { a.values_adjoint(good, me == last ? bad : ghosts, good); },
                                    "ghosts are those that product_and_ghosts(x) returns");
  const csr_matrix<double> wide_ones(everyone, mine, {3 * me, 3 * me + 3}, {{2 * me, 0, 1.0}});
  test::expect_refused<shape_error>([&] { wide_ones.values_adjoint(bad, me == last ? bad : good); },
                                    "a row for each column and for each row that their worker owns, 3 and 2, and as "
                                    "many vectors, got [3] and [");
  const xt::xtensor<double, 2> wide = xt::ones<double>({2, 2}), narrow = xt::ones<double>({2, 1});
  test::expect_refused<shape_error>([&] { a.values_adjoint(wide, me == last ? narrow : wide); }, "and as many vectors");
  csr_matrix<double> b(everyone, mine, mine, {{2 * me, 0, 1.0}});
  test::expect_refused<shape_error>([&] { b.set_values(me == last ? bad : xt::xtensor<double, 1>{2.0}); },
                                    "requires a number for each entry");
  if (P < 2) return;
  test::expect_refused<disagreement_error>([&] { a(me == last ? wide : narrow); });
  test::expect_refused<disagreement_error>([&] {
    if (me == last) csr_matrix<float>(everyone, mine, mine, {});
    else csr_matrix<double>(everyone, mine, mine, {});
  });
  test::expect_refused<disagreement_error>([&] {
    if (me == last) a(narrow);
    else csr_matrix<double>(everyone, mine, mine, {});
  });
}

/// One of the extents of x, of its ghosts and of dy is one too large or one too small on the last worker.
BOOST_AUTO_TEST_CASE(the_gradient_of_the_values_requires_the_rows_and_as_many_vectors_of_all_its_blocks) {
  const world everyone(test::workers());
  const std::size_t P = everyone.size(), me = everyone.id(), ghosts = me == 0 ? 0 : 1;
  const interval mine{2 * me, 2 * me + 2};
  const csr_matrix<double> a(everyone, mine, mine, {{2 * me, 0, 1.0}});
  const auto ones = [](std::size_t rows, std::size_t vectors) {
    return xt::xtensor<double, 2>(std::array<std::size_t, 2>{rows, vectors}, 1.0);
  };
  for (std::size_t k = 0; k < 6; ++k)
    for (const bool larger : {true, false}) {
      std::array<std::size_t, 6> n{2, ghosts, 2, 2, 2, 2};  // the rows of x, ghosts and dy; then their vectors
      if (k == 1 && !larger && P == 1) continue;            // there are no ghosts
      if (me + 1 == P) n[k] += larger ? 1 : std::size_t(-1);
      const auto x = ones(n[0], n[3]), of_others = ones(n[1], n[4]), dy = ones(n[2], n[5]);
      BOOST_TEST_CONTEXT("extent " << k << (larger ? " is too large" : " is too small")) {
        test::expect_refused<shape_error>([&] { a.values_adjoint(x, of_others, dy); },
                                          "ghosts are those that product_and_ghosts(x) returns");
        if (k % 3 != 1 && k != 3)
          test::expect_refused<shape_error>([&] { a.values_adjoint(x, dy); }, "and as many vectors, got [");
        if (k == 2 || (k == 5 && P > 1)) test::expect_refused<error>([&] { a.adjoint(dy); });
        if (k == 0 || (k == 3 && P > 1)) test::expect_refused<error>([&] { a(x); });
      }
    }
  BOOST_TEST((a.values_adjoint(ones(2, 3), ones(ghosts, 3), ones(2, 3)) == xt::xtensor<double, 1>{3.0}));
}

BOOST_AUTO_TEST_CASE(a_sum_of_matrices_with_other_rows_on_one_worker_is_refused_on_all, *test::at_least(2)) {
  const world everyone(test::workers());
  const std::size_t P = everyone.size(), me = everyone.id();
  const bool last = me + 1 == P;
  const interval mine{2 * me, 2 * me + 2}, longer{2 * me, 2 * me + (last ? 3 : 2)};
  const csr_matrix<double> a(everyone, mine, mine, {{2 * me, 0, 1.0}}), more_rows(everyone, longer, mine, {}),
      more_columns(everyone, mine, longer, {});
  const xt::xtensor<double, 1> x{1, 2}, dy{3, 4};
  const char* const why = "requires operators whose results have one shape on each worker, got [";
  test::expect_refused<shape_error>([&] { add(a, more_rows)(x); }, why);
  test::expect_refused<shape_error>([&] { add(more_rows, a)(x); }, why);
  test::expect_refused<shape_error>([&] { add(a, more_columns).adjoint(dy); }, why);
  test::expect_refused<shape_error>([&] { add(compose(a, a), more_rows)(x); }, why);
  BOOST_TEST((add(a, a)(x) == xt::xtensor<double, 1>{2, 0}));  // what follows works: x_0 is 1
  const auto dx = add(a, a).adjoint(dy);
  BOOST_TEST(dx(0) == (me == 0 ? 6 * static_cast<double>(P) : 0));
  BOOST_TEST(dx(1) == 0);
}

BOOST_AUTO_TEST_SUITE_END()
