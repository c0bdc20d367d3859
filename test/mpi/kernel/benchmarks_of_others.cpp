// Benchmarks of others, whose communication by hand one index exchange replaces, pass their own verification: HPCG's
// conjugate gradients, and Sparse and PIC of the Parallel Research Kernels (PRK).
#include "mpi_test.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <partita/comm/over_workers.hpp>
#include <partita/kernel/csr_matrix.hpp>
#include <partita/kernel/send_to.hpp>
#include <utility>
#include <vector>

namespace {

using namespace partita;
using values = xt::xtensor<double, 1>;
using entries_of_row = std::vector<std::pair<std::size_t, double>>;

constexpr std::size_t edge = 6, points = edge * edge * edge;

/// A row of HPCG's matrix (GenerateProblem_ref.cpp): 26 on the diagonal, -1 for each neighbour in the cube.
entries_of_row row_of_hpcg(std::size_t row) {
  const std::size_t z = row / (edge * edge), y = row / edge % edge, x = row % edge;
  entries_of_row all;
  for (std::size_t c = z == 0 ? 0 : z - 1; c < std::min(z + 2, edge); ++c)
    for (std::size_t b = y == 0 ? 0 : y - 1; b < std::min(y + 2, edge); ++b)
      for (std::size_t a = x == 0 ? 0 : x - 1; a < std::min(x + 2, edge); ++a) {
        const std::size_t column = (c * edge + b) * edge + a;
        all.emplace_back(column, column == row ? 26.0 : -1.0);
      }
  return all;
}
/// HPCG's loop (CG_ref.cpp) with any product and preconditioner; how many iterations it takes to this residual.
template <class Dot, class Product, class Preconditioner>
int iterations(values& x, values r, double residual, const Dot& dot, const Product& a, const Preconditioner& m) {
  values z = m(r), p = z;
  double along = dot(r, z);
  const double first = std::sqrt(dot(r, r));
  int count = 0;
  for (; count < 100 && std::sqrt(dot(r, r)) > residual * first; ++count) {
    const values q = a(p);
    const double length = along / dot(p, q), before = along;
    x += length * p;
    r -= length * q;
    z = m(r);
    along = dot(r, z);
    p = z + (along / before) * p;
  }
  return count;
}
/// The rows of one worker, or all rows. `columns` has the local number of the column of each entry.
struct local_rows {
  std::vector<entries_of_row> rows{};
  std::vector<std::vector<std::size_t>> columns{};

  values multiply(const values& x) const {
    values y = xt::zeros<double>({rows.size()});
    for (std::size_t i = 0; i < rows.size(); ++i)
      for (std::size_t k = 0; k < rows[i].size(); ++k) y(i) += rows[i][k].second * x(columns[i][k]);
    return y;
  }
  /// A step of symmetric Gauss-Seidel (ComputeSYMGS_ref.cpp) on the rows of this worker; the ghosts behind them remain.
  void smooth(const values& r, values& z) const {
    const auto solve_row = [&](std::size_t i) {
      double sum = r(i), diagonal = 0;
      for (std::size_t k = 0; k < rows[i].size(); ++k)
        if (columns[i][k] == i) diagonal = rows[i][k].second;
        else sum -= rows[i][k].second * z(columns[i][k]);
      z(i) = sum / diagonal;
    };
    for (std::size_t i = 0; i < rows.size(); ++i) solve_row(i);
    for (std::size_t i = rows.size(); i-- > 0;) solve_row(i);
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(benchmarks_of_others)

BOOST_AUTO_TEST_CASE(hpcg_takes_as_many_iterations_as_the_sequential_code) {
  const world everyone(test::workers());
  const interval mine = balanced_part(points, everyone.size(), everyone.id());
  local_rows whole, own;
  for (std::size_t row = 0; row < points; ++row) {
    whole.rows.push_back(row_of_hpcg(row));
    whole.columns.emplace_back();
    for (const auto& entry : whole.rows.back()) whole.columns.back().push_back(entry.first);
  }
  own.rows.assign(whole.rows.begin() + static_cast<std::ptrdiff_t>(mine.start),
                  whole.rows.begin() + static_cast<std::ptrdiff_t>(mine.stop));
  own.columns.resize(own.rows.size());
  // [halo]
  std::map<std::size_t, std::size_t> place;  // of each column in a vector: ghosts are behind own elements
  for (const auto& row : own.rows)
    for (const auto& [column, value] : row)
      if (column < mine.start || column >= mine.stop) place[column] = 0;
  std::vector<std::size_t> ghosts;
  for (auto& [column, at] : place) at = mine.size() + ghosts.size(), ghosts.push_back(column);
  for (std::size_t i = 0; i < mine.size(); ++i) place[mine.start + i] = i;
  for (std::size_t i = 0; i < mine.size(); ++i)
    for (const auto& entry : own.rows[i]) own.columns[i].push_back(place[entry.first]);
  const index_exchange halo(everyone, mine, ghosts);  // halo.refresh(x) fills the ghosts behind the rows of x
  // [/halo]
  const auto dot = [&](const values& a, const values& b) { return sum_over(everyone, xt::sum<double>(a * b)()); };
  const auto dot_of_whole = [](const values& a, const values& b) { return xt::sum<double>(a * b)(); };
  const auto product = [&](const local_rows& a) {
    return [&a, &halo, n = mine.size(), g = ghosts.size()](const values& x) {
      values ghosted = xt::zeros<double>({n + g});
      std::copy(x.begin(), x.end(), ghosted.begin());
      halo.refresh(ghosted);
      return a.multiply(ghosted);
    };
  };
  const auto none = [](const values& r) { return r; };
  const auto right_side = [](const local_rows& a) {  // of the solution 1
    values b = xt::zeros<double>({a.rows.size()});
    for (std::size_t i = 0; i < b.size(); ++i)
      for (const auto& entry : a.rows[i]) b(i) += entry.second;
    return b;
  };
  values x = xt::zeros<double>({mine.size()}), x_of_whole = xt::zeros<double>({points});
  const int sequential = iterations(
      x_of_whole, right_side(whole), 1e-8, dot_of_whole, [&](const values& v) { return whole.multiply(v); }, none);
  BOOST_TEST(sequential > 5);
  BOOST_TEST(iterations(x, right_side(own), 1e-8, dot, product(own), none) == sequential);
  for (const double element : x) BOOST_TEST(std::abs(element - 1) < 1e-6);

  // HPCG's own verification (TestCG.cpp): with large diagonals 12 iterations are enough, 2 with its
  // preconditioner, here on one grid.
  local_rows large = own;
  for (std::size_t i = 0; i < large.rows.size(); ++i)
    for (auto& [column, value] : large.rows[i])
      if (column == mine.start + i) value = column < 9 ? 1e6 * static_cast<double>(column + 2) : 1e6;
  values b = right_side(own);
  for (std::size_t i = 0; i < b.size(); ++i)
    b(i) *= mine.start + i < 9 ? 1e6 * static_cast<double>(i + mine.start + 2) : 1e6;
  x.fill(0);
  BOOST_TEST(iterations(x, b, 1e-12, dot, product(large), none) <= 12);
  x.fill(0);
  const auto smoothed = [&](const values& r) {  // a step before and one after the refresh, as in ComputeMG_ref.cpp
    values z = xt::zeros<double>({mine.size() + ghosts.size()});
    large.smooth(r, z);
    halo.refresh(z);
    large.smooth(r, z);
    return values(xt::view(z, xt::range(0, mine.size())));
  };
  BOOST_TEST(iterations(x, b, 1e-12, dot, product(large), smoothed) <= 2);
}

BOOST_AUTO_TEST_CASE(prk_sparse_passes_its_verification) {
  const world everyone(test::workers());
  constexpr std::size_t bits = 4, size = std::size_t{1} << bits, all = size * size, radius = 2, steps = 3;
  const interval mine = balanced_part(all, everyone.size(), everyone.id());
  const auto place = [](std::size_t i, std::size_t j) {  // the bits of the place in the grid, reversed
    std::size_t from = i % size + (j % size << bits), to = 0;
    for (std::size_t b = 0; b < 2 * bits; ++b, from >>= 1U) to = to << 1U | (from & 1U);
    return to;
  };
  std::vector<triplet<double>> entries;
  for (std::size_t row = mine.start; row < mine.stop; ++row) {
    const std::size_t i = row % size, j = row / size;
    std::vector<std::size_t> columns{place(i, j)};
    for (std::size_t r = 1; r <= radius; ++r)
      for (const std::size_t column :
           {place(i + r, j), place(i + size - r, j), place(i, j + r), place(i, j + size - r)})
        columns.push_back(column);
    for (const std::size_t column : columns) entries.push_back({row, column, 1 / static_cast<double>(column + 1)});
  }
  const csr_matrix<double> a(everyone, mine, mine, entries);
  values x = xt::zeros<double>({mine.size()}), result = xt::zeros_like(x);
  for (std::size_t step = 0; step <= steps; ++step) {
    for (std::size_t i = 0; i < x.size(); ++i) x(i) += static_cast<double>(mine.start + i + 1);
    result += a(x);
  }
  const double wanted = 0.5 * static_cast<double>(all * (4 * radius + 1) * (steps + 1) * (steps + 2));
  BOOST_TEST(std::abs(sum_over(everyone, xt::sum<double>(result)()) - wanted) < 1e-8);
}

BOOST_AUTO_TEST_CASE(prk_pic_passes_its_verification) {
  // Charges at the points of a grid alternate by columns. A particle has the charge with which their force moves it by
  // 2 k + 1 columns in each step; it has a velocity of m rows in a step.
  const world everyone(test::workers());
  constexpr std::size_t steps = 7, particles = 200, columns = 24;
  constexpr double L = columns, k = 1, m = 2;
  const std::size_t P = everyone.size(), me = everyone.id();
  const auto charge = [](double x) { return static_cast<std::size_t>(x) % 2 == 0 ? 1.0 : -1.0; };
  const auto owner = [&](double x) {
    for (std::size_t w = 0;; ++w)
      if (static_cast<std::size_t>(x) < balanced_part(columns, P, w).stop) return w;
  };
  // x, y, their velocities, the charge, x and y at the start, the number
  xt::xtensor<double, 2> own = xt::zeros<double>({std::size_t{0}, std::size_t{8}});
  std::vector<double> made;
  const double base = 1 / (2 * (0.5 / std::sqrt(0.5)) / 0.5);  // in the middle of a cell
  for (std::size_t n = 0; n < particles; ++n) {
    const double x = static_cast<double>(n * n % columns) + 0.5, y = static_cast<double>(n % columns) + 0.5;
    if (owner(x) == me)
      for (const double v : {x, y, 0.0, m, charge(x) * (2 * k + 1) * base, x, y, static_cast<double>(n + 1)})
        made.push_back(v);
  }
  own = xt::adapt(made, std::vector<std::size_t>{made.size() / 8, 8});
  for (std::size_t step = 0; step <= steps; ++step) {
    std::vector<std::size_t> receivers;
    for (std::size_t j = 0; j < own.shape(0); ++j) {
      const double x = own(j, 0), y = own(j, 1), a = x - std::floor(x), b = y - std::floor(y);
      double fx = 0, fy = 0;
      for (const auto& [dx, dy, of] : {std::array{a, b, charge(x)}, std::array{a, b - 1, charge(x)},
                                       std::array{a - 1, b, -charge(x)}, std::array{a - 1, b - 1, -charge(x)}}) {
        const double r2 = dx * dx + dy * dy, f = own(j, 4) * of / r2 / std::sqrt(r2);
        fx += f * dx, fy += f * dy;
      }
      own(j, 0) = std::fmod(x + own(j, 2) + 0.5 * fx + L, L);
      own(j, 1) = std::fmod(y + own(j, 3) + 0.5 * fy + L, L);
      own(j, 2) += fx, own(j, 3) += fy;
      receivers.push_back(owner(own(j, 0)));
    }
    own = send_to(everyone, receivers)(own);
  }
  double numbers = 0;
  for (std::size_t j = 0; j < own.shape(0); ++j) {
    const double moved = own(j, 4) * charge(own(j, 5)) > 0 ? 1 : -1, count = steps + 1;
    const double x = std::fmod(own(j, 5) + moved * count * (2 * k + 1) + 8 * L, L),
                 y = std::fmod(own(j, 6) + m * count, L);
    BOOST_TEST(std::abs(own(j, 0) - x) < 1e-5);
    BOOST_TEST(std::abs(own(j, 1) - y) < 1e-5);
    BOOST_TEST(owner(own(j, 0)) == me);
    numbers += own(j, 7);
  }
  BOOST_TEST(sum_over(everyone, numbers) == particles * (particles + 1) / 2.0);
}

BOOST_AUTO_TEST_SUITE_END()
