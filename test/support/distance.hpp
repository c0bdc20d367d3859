// The distance of two numbers, in which NaN counts as a difference.
#pragma once

#include <cmath>
#include <complex>
#include <limits>

namespace test {

/// The distance |a - b|, which is infinite if a or b is NaN: std::max(most, NaN) would be most, and hide the NaN.
template <class T>
double distance_between(const T& a, const T& b) {
  if (a == b) return 0;
  const auto distance = static_cast<double>(std::abs(a - b));
  return std::isnan(distance) ? std::numeric_limits<double>::infinity() : distance;
}

}  // namespace test
