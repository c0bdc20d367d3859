// Fourier, cosine and sine transforms by their definitions, on a whole tensor in one process.
#pragma once

#include <array>
#include <cmath>
#include <complex>
#include <cstddef>
#include <map>
#include <numbers>
#include <partita/array/fourier_rule.hpp>
#include <partita/core/index.hpp>
#include <tuple>
#include <vector>

namespace test {

using partita::fourier_norm;
using partita::real_transform;
using partita::detail::line_kind;
using number = std::complex<double>;

/// exp(2 pi i k / n) for all k < n.
inline const std::vector<number>& roots_of_unity(std::size_t n) {
  static std::map<std::size_t, std::vector<number>> cache;
  std::vector<number>& roots = cache[n];
  for (std::size_t k = roots.size(); k < n; ++k)
    roots.push_back(std::polar(1.0, 2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(n)));
  return roots;
}

/// Entry (k, j) of the matrix of a cosine or sine transform, as SciPy defines it, or of the Hartley transform: without
/// a factor, or orthonormal.
inline double entry(real_transform kind, bool ortho, std::size_t k, std::size_t j, std::size_t n) {
  const double K = static_cast<double>(k), J = static_cast<double>(j), N = static_cast<double>(n),
               pi = std::numbers::pi;
  const auto end_norm = [&](std::size_t i, bool first,
                            bool last) {  // the factor at the ends of the orthonormal matrices
    return (first && i == 0) || (last && i + 1 == n) ? std::numbers::sqrt2 / 2 : 1.0;
  };
  // in the matrices without a factor, an end is not counted twice
  const auto end_factor = [&](bool is) { return is ? 1.0 : 2.0; };
  switch (kind) {
    case real_transform::dct_1: {
      const double c = std::cos(pi * K * J / (N - 1));
      if (!ortho) return c * end_factor(j == 0 || j + 1 == n);
      return std::sqrt(2 / (N - 1)) * c * end_norm(k, true, true) * end_norm(j, true, true);
    }
    case real_transform::dct_2: {
      const double c = std::cos(pi * K * (2 * J + 1) / (2 * N));
      return ortho ? std::sqrt(2 / N) * c * end_norm(k, true, false) : 2 * c;
    }
    case real_transform::dct_3: {
      const double c = std::cos(pi * (2 * K + 1) * J / (2 * N));
      return ortho ? std::sqrt(2 / N) * c * end_norm(j, true, false) : c * end_factor(j == 0);
    }
    case real_transform::dct_4: {
      const double c = std::cos(pi * (2 * K + 1) * (2 * J + 1) / (4 * N));
      return (ortho ? std::sqrt(2 / N) : 2) * c;
    }
    case real_transform::dst_1: {
      const double s = std::sin(pi * (K + 1) * (J + 1) / (N + 1));
      return (ortho ? std::sqrt(2 / (N + 1)) : 2) * s;
    }
    case real_transform::dst_2: {
      const double s = std::sin(pi * (K + 1) * (2 * J + 1) / (2 * N));
      return ortho ? std::sqrt(2 / N) * s * end_norm(k, false, true) : 2 * s;
    }
    case real_transform::dst_3: {
      const double s = std::sin(pi * (2 * K + 1) * (J + 1) / (2 * N));
      return ortho ? std::sqrt(2 / N) * s * end_norm(j, false, true) : s * end_factor(j + 1 == n);
    }
    case real_transform::dst_4: {
      const double s = std::sin(pi * (2 * K + 1) * (2 * J + 1) / (4 * N));
      return (ortho ? std::sqrt(2 / N) : 2) * s;
    }
    default: {
      const double angle = 2 * pi * static_cast<double>(k * j % n) / N;
      return (ortho ? 1 / std::sqrt(N) : 1) * (std::cos(angle) + std::sin(angle));
    }
  }
}
/// The matrix of a transform, row by row.
inline const std::vector<double>& matrix(real_transform kind, bool ortho, std::size_t n) {
  static std::map<std::tuple<real_transform, bool, std::size_t>, std::vector<double>> cache;
  std::vector<double>& entries = cache[{kind, ortho, n}];
  for (std::size_t at = entries.size(); at < n * n; ++at) entries.push_back(entry(kind, ortho, at / n, at % n, n));
  return entries;
}
/// The factor by which a transform followed by its inverse multiplies n points.
inline double points(line_kind kind, real_transform real, std::size_t n) {
  const auto N = static_cast<double>(n);
  if (kind != line_kind::real_to_real || real == real_transform::hartley) return N;
  return real == real_transform::dct_1 ? 2 * (N - 1) : real == real_transform::dst_1 ? 2 * (N + 1) : 2 * N;
}
inline real_transform opposite(real_transform kind) {
  if (kind == real_transform::dct_2) return real_transform::dct_3;
  if (kind == real_transform::dct_3) return real_transform::dct_2;
  if (kind == real_transform::dst_2) return real_transform::dst_3;
  if (kind == real_transform::dst_3) return real_transform::dst_2;
  return kind;
}

/// The transform of one line; n is the number of elements of its real side.
inline std::vector<number> line(line_kind kind, real_transform real, bool inverse, fourier_norm norm, std::size_t n,
                                std::vector<number> x) {
  const bool is_backward = inverse || kind == line_kind::complex_to_real;
  double factor = 1;
  if (norm == fourier_norm::ortho) factor = kind == line_kind::real_to_real ? 1 : 1 / std::sqrt(points(kind, real, n));
  else if ((norm == fourier_norm::backward) == is_backward) factor = 1 / points(kind, real, n);
  if (kind == line_kind::complex_to_real) {  // completes the spectrum of a real line
    x.resize(n);
    x[0].imag(0);
    if (n % 2 == 0) x[n / 2].imag(0);
    for (std::size_t k = n / 2 + 1; k < n; ++k) x[k] = std::conj(x[n - k]);
  }
  std::vector<number> y(kind == line_kind::real_to_complex ? n / 2 + 1 : n);
  for (std::size_t k = 0; k < y.size(); ++k) {
    if (kind == line_kind::real_to_real) {
      const auto& rows = matrix(is_backward ? opposite(real) : real, norm == fourier_norm::ortho, n);
      for (std::size_t j = 0; j < n; ++j) y[k] += x[j] * rows[k * n + j];
    } else {
      const auto& roots = roots_of_unity(n);
      for (std::size_t j = 0; j < n; ++j) y[k] += x[j] * (is_backward ? roots[j * k % n] : std::conj(roots[j * k % n]));
    }
    y[k] *= factor;
    if (kind == line_kind::complex_to_real) y[k].imag(0);
  }
  return y;
}

/// A whole tensor in C order.
template <std::size_t Rank>
struct whole_tensor {
  std::array<std::size_t, Rank> extents;
  std::vector<number> values;

  whole_tensor(const std::array<std::size_t, Rank>& shape) : extents(shape), values(partita::volume_of(shape)) {}
  number& at(const partita::index<Rank>& i) { return values[partita::flat_index(i, extents)]; }

  /// Transforms each line along a dimension; n is the number of elements of the real side of a line.
  void transform(std::size_t d, line_kind kind, real_transform real, bool inverse, fourier_norm norm, std::size_t n) {
    auto shape = extents;
    shape[d] = kind == line_kind::real_to_complex ? n / 2 + 1 : n;
    whole_tensor result(shape);
    auto starts = extents;
    if (starts[d] == 0 || n == 0) {
      *this = result;
      return;
    }
    starts[d] = 1;
    for (std::size_t k = 0; k < partita::volume_of(starts); ++k) {
      auto i = partita::index_of(k, starts);
      std::vector<number> x;
      for (i[d] = 0; i[d] < extents[d]; ++i[d]) x.push_back(at(i));
      const std::vector<number> y = line(kind, real, inverse, norm, n, x);
      for (i[d] = 0; i[d] < y.size(); ++i[d]) result.at(i) = y[i[d]];
    }
    *this = result;
  }
};

}  // namespace test
