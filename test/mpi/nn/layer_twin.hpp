// Common parts of the layer tests: a tensor by a formula, this worker's block of it, random partitions and
// decompositions.
#pragma once

#include "mpi_test.hpp"

#include <boost/mpi/collectives.hpp>
#include <cmath>
#include <functional>
#include <partita/comm/partition.hpp>
#include <partita/kernel/block_from.hpp>
#include <random>
#include <type_traits>
#include <vector>

#include "refused.hpp"

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
  T& operator[](const partita::index<Rank>& i) { return values[flat_index(i, extents)]; }
  const T& operator[](const partita::index<Rank>& i) const { return values[flat_index(i, extents)]; }

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

/// Whether one of these calls throws a shape_error, on this worker.
template <class... Call>
bool one_refuses(Call... call) {
  return (!refused<shape_error>(call).empty() || ...);
}
/// Checks that a layer refuses, on all workers, an adjoint of another shape than its last result (on the last worker,
/// or on all), and a parameter or a gradient that the last worker has given another shape; and that it then works
/// again.
template <class Layer, class X>
void expect_shapes_kept(const char* name, const world& everyone, Layer layer, const X& x) {
  const bool last = everyone.id() + 1 == everyone.size();
  const auto y = layer(x);
  using result = std::remove_cvref_t<decltype(y)>;
  using block = xt::xtensor<element_of<result>, rank_of<result>>;
  for (std::size_t d = 0; d < y.dimension(); ++d)
    for (const bool on_all : {false, true})
      for (const bool shorter : {false, true}) {
        auto shape = y.shape();
        if (last || on_all) shorter ? --shape[d] : ++shape[d];
        if (shorter && boost::mpi::all_reduce(everyone.communicator(), y.size() == 0, std::logical_or<>())) continue;
        const block other = xt::ones<typename block::value_type>(shape);
        BOOST_TEST(one_refuses([&] { layer.adjoint(other); }),
                   name << ", dimension " << d << " of dy, " << (shorter ? "shorter" : "longer"));
      }
  const auto keeps = [&](const char* what, auto& held) {
    const auto kept = held;
    auto shape = kept.shape();
    if (kept.size() == 0) return;
    if (last) ++shape[0];
    held = xt::ones<typename std::remove_cvref_t<decltype(held)>::value_type>(shape);
    BOOST_TEST(one_refuses([&] { layer.adjoint(y); }), name << ", " << what << " in the adjoint");
    BOOST_TEST(one_refuses([&] { layer(x); }), name << ", " << what);
    held = kept;
    layer(x);  // the next adjoint is that of a call that was not refused
  };
  if constexpr (requires { layer.weight(); }) {
    keeps("weight", layer.weight());
    keeps("gradient of the weight", layer.weight_gradient());
  }
  if constexpr (requires { layer.bias(); }) {
    keeps("bias", layer.bias());
    keeps("gradient of the bias", layer.bias_gradient());
    const auto bias = layer.bias(), gradient = layer.bias_gradient();
    if (last && bias.size() > 0)
      layer.bias() = layer.bias_gradient() = xt::ones_like(xt::view(bias, xt::range(1, bias.size())));
    if (bias.size() > 0) BOOST_TEST(one_refuses([&] { layer(x); }), name << ", bias and its gradient");
    layer.bias() = bias, layer.bias_gradient() = gradient;
  }
  BOOST_TEST((layer(x).shape() == y.shape()), name);
  layer.adjoint(y);
}

}  // namespace test
