// Compares arrays by their bytes: -0 differs from 0, and a NaN equals itself.
#pragma once

#include <cstring>

namespace test {

template <class A, class B>
bool same_bits(const A& a, const B& b) {
  return a.size() == b.size() && (a.size() == 0 || std::memcmp(a.data(), b.data(), a.size() * sizeof(*a.data())) == 0);
}

}  // namespace test
