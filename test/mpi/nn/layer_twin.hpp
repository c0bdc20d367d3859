// Common parts of the layer tests: a tensor by a formula, this worker's block of it, random partitions and
// decompositions.
#pragma once

#include "mpi_test.hpp"

#include <cmath>
#include <partita/comm/partition.hpp>
#include <partita/kernel/block_from.hpp>
#include <random>
#include <vector>

namespace test {

using namespace partita;

/// A random number below n, the same on all workers.
inline std::size_t random_below(std::mt19937& draws, std::size_t n) { return n == 0 ? 0 : draws() % n; }

/// A decomposition of these extents over a grid: balanced, or random with possibly empty parts.
template <std::size_t Rank>
decomposition<Rank> random_cuts(std::mt19937& draws, const std::array<std::size_t, Rank>& extents,
                                const std::array<std::size_t, Rank>& grid) {
  return decomposition<Rank>::make([&](std::size_t d) {
    if (random_below(draws, 2) == 0) return cut::balanced(extents[d], grid[d]);
    std::vector<std::size_t> sizes(grid[d], 0);
    for (std::size_t i = 0; i < extents[d]; ++i) ++sizes[random_below(draws, grid[d])];
    return cut::at(sizes);
  });
}

/// A random grid of at most so many places.
template <std::size_t Rank>
std::array<std::size_t, Rank> random_grid(std::mt19937& draws, std::size_t most) {
  std::array<std::size_t, Rank> grid{};
  std::size_t left = most;
  for (std::size_t d = 0; d < Rank; ++d) grid[d] = 1;
  for (std::size_t tries = 0; tries < Rank; ++tries) {
    const std::size_t d = random_below(draws, Rank), more = 1 + random_below(draws, left);
    grid[d] *= more;
    left /= more;
  }
  return grid;
}

/// A random partition of such a grid on some workers of the world, in some order.
template <std::size_t Rank>
partition<dynamic_extents<Rank>> partition_on(const world& everyone, std::mt19937& draws,
                                              const std::array<std::size_t, Rank>& grid) {
  std::vector<std::size_t> ids(everyone.size());
  for (std::size_t k = 0; k < ids.size(); ++k) ids[k] = k;
  for (std::size_t k = ids.size(); k-- > 1;) std::swap(ids[k], ids[random_below(draws, k + 1)]);
  ids.resize(volume_of(grid));
  return [&]<std::size_t... D>(std::index_sequence<D...>) {
    return everyone.partition(dynamic_extents<Rank>(grid[D]...), partita::workers(ids));
  }(std::make_index_sequence<Rank>());
}

/// A dense tensor in one process, for the reference results.
template <class T, std::size_t Rank>
struct whole_tensor {
  std::array<std::size_t, Rank> extents{};
  std::vector<T> values{};

  explicit whole_tensor(const std::array<std::size_t, Rank>& e) : extents(e), values(volume_of(e)) {}
  template <class F>
  whole_tensor(const std::array<std::size_t, Rank>& e, F f) : whole_tensor(e) {
    for (std::size_t k = 0; k < values.size(); ++k) values[k] = static_cast<T>(f(k));
  }
  T& operator[](const partita::index<Rank>& i) { return values[number_of(i, extents)]; }
  const T& operator[](const partita::index<Rank>& i) const { return values[number_of(i, extents)]; }

  /// This worker's block of it.
  template <class P>
  xt::xtensor<T, Rank> block(const P& p, const decomposition<Rank>& cuts) const {
    return block_from<T>(p, cuts, [&](const partita::index<Rank>& i) { return (*this)[i]; });
  }
};

/// Checks that the elements of two blocks differ by at most this fraction of the largest element.
template <class A, class B>
bool close(const A& a, const B& b, double tolerance = 1e-12) {
  if (a.size() != b.size()) return false;
  double most = 1;
  for (std::size_t k = 0; k < b.size(); ++k) most = std::max(most, std::abs(static_cast<double>(b.data()[k])));
  for (std::size_t k = 0; k < b.size(); ++k)
    if (!(std::abs(static_cast<double>(a.data()[k]) - static_cast<double>(b.data()[k])) <= tolerance * most))
      return false;
  return true;
}

}  // namespace test
