// How far two numbers are apart.
#pragma once

#include <cmath>
#include <complex>
#include <limits>

namespace test {

/// |a - b|, infinite if one of them is NaN: std::max(most, NaN) is most, so that a NaN would pass.
template <class T>
double distance_between(const T& a, const T& b) {
  if (a == b) return 0;
  const auto distance = static_cast<double>(std::abs(a - b));
  return std::isnan(distance) ? std::numeric_limits<double>::infinity() : distance;
}

}  // namespace test
