// The NAS benchmark CG: its classes, its matrix, and its iterations with any product of a matrix and a vector.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <partita/comm/over_workers.hpp>
#include <partita/kernel/csr_matrix.hpp>
#include <vector>

namespace nas_cg {

using values = xt::xtensor<double, 1>;

/// Bailey et al., The NAS Parallel Benchmarks, RNR-94-007, section 2.4, and the published results.
struct benchmark_class {
  const char* name;
  std::size_t n, nonzeros;
  double shift, published;
};
inline constexpr benchmark_class classes[] = {
    {"S", 1400, 7, 10, 8.5971775078648}, {"W", 7000, 8, 12, 10.362595087124}, {"A", 14000, 11, 20, 17.130235054029}};

/// The random generator of the benchmark: x = 5^13 x modulo 2^46.
class generator {
 public:
  double operator()() {
    x_ = x_ * 1220703125 & ((std::uint64_t{1} << 46U) - 1);
    return std::ldexp(static_cast<double>(x_), -46);
  }

 private:
  std::uint64_t x_ = 314159265;
};

struct sparse_vector {
  std::vector<std::size_t> places;
  std::vector<double> values;
};
/// The next random sparse vector, with element i = 0.5.
inline sparse_vector next_vector(generator& random, const benchmark_class& c, std::size_t i) {
  std::size_t power = 1;
  while (power < c.n) power *= 2;
  sparse_vector v;
  while (v.places.size() < c.nonzeros) {
    const double value = random();
    const auto place = static_cast<std::size_t>(static_cast<double>(power) * random());
    bool is_new = place < c.n;
    for (const std::size_t other : v.places) is_new = is_new && other != place;
    if (is_new) v.places.push_back(place), v.values.push_back(value);
  }
  for (std::size_t k = 0; k < v.places.size(); ++k)
    if (v.places[k] == i) {
      v.values[k] = 0.5;
      return v;
    }
  v.places.push_back(i), v.values.push_back(0.5);
  return v;
}

/// This worker's share of the entries of the matrix, which is a sum of outer products of sparse vectors. Worker i mod
/// `workers` makes product i, whose rows any worker may own.
// [matrix]
inline std::vector<partita::triplet<double>> entries_of(const benchmark_class& c, std::size_t workers, std::size_t id) {
  generator random;
  random();
  std::vector<partita::triplet<double>> entries;
  double weight = 1;
  for (std::size_t i = 0; i < c.n; ++i, weight *= std::pow(0.1, 1.0 / static_cast<double>(c.n))) {
    const sparse_vector v = next_vector(random, c, i);
    if (i % workers != id) continue;
    for (std::size_t a = 0; a < v.places.size(); ++a)
      for (std::size_t b = 0; b < v.places.size(); ++b)
        entries.push_back({v.places[a], v.places[b], weight * v.values[a] * v.values[b]});
    entries.push_back({i, i, 0.1 - c.shift});
  }
  return entries;
}
// [/matrix]

/// The eigenvalue that the benchmark verifies. `own` is the number of rows of this worker.
template <class Product>
double zeta_of(const partita::world& everyone, const benchmark_class& c, std::size_t own, const Product& a) {
  const auto dot = [&](const values& x, const values& y) {
    return partita::sum_over(everyone, xt::sum<double>(x * y)());
  };
  // [cg]
  const auto solve = [&](const values& x) -> values {
    values z = xt::zeros_like(x), r = x, p = r;
    double residual_square = dot(r, r);
    for (int step = 0; step < 25; ++step) {
      const values q = a(p);
      const double length = residual_square / dot(p, q), before = residual_square;
      z += length * p;
      r -= length * q;
      residual_square = dot(r, r);
      p = r + (residual_square / before) * p;
    }
    return z;
  };
  // [/cg]
  values x = xt::ones<double>({own});
  double zeta = 0;
  for (int iteration = 0; iteration < 15; ++iteration) {
    const values z = solve(x);
    zeta = c.shift + 1 / dot(x, z);
    x = z / std::sqrt(dot(z, z));
  }
  return zeta;
}

}  // namespace nas_cg
