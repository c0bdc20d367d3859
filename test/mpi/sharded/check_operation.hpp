// Compares an operation on sharded tensors, and its gradients, with the same operation on whole arrays, for random
// layouts of its operands.
#pragma once

#include "layouts.hpp"

#include <cmath>
#include <complex>
#include <cstdlib>
#include <partita/array/real_part.hpp>
#include <partita/sharded/detail/run_backward.hpp>
#include <partita/sharded/operations.hpp>
#include <partita/sharded/value_and_gradient.hpp>
#include <random_cases.hpp>
#include <type_traits>
#include <vector>

namespace test {

using namespace partita;

using tensor = sharded_tensor<long long>;

/// Small whole numbers that are all different, also as parts of complex ones.
template <class T>
T small_number(const short_list<std::size_t>& index, long long salt) {
  const auto part = [&](long long of) { return static_cast<detail::real_of<T>>(numbered(index, of) * 7 % 11 - 5); };
  if constexpr (detail::is_complex<T>) return T(part(salt), part(salt + 3));
  else return part(salt);
}
template <class T = long long>
sharded_tensor<T> plain(const shape_list& e, long long salt) {
  auto x = detail::tensor_of<T>(nullptr, sharding(mesh(), e.size()), e, detail::tensor_block<T>(e));
  x.for_each_local([&](const auto& i, T& v) { v = small_number<T>(i, salt); });
  return x;
}
template <class T = long long>
sharded_tensor<T> placed(const world& everyone, const sharding& s, const shape_list& e, long long salt) {
  return shard<T>(everyone, s, e, [&](const auto& i) { return small_number<T>(i, salt); });
}
/// Sums and distances: exact for integers.
template <class T>
using measure = std::conditional_t<std::is_integral_v<T>, T, double>;

/// Whether the extents of the gathered x are those of the plain y, and no element is further away than the tolerance.
template <class T>
bool same(const sharded_tensor<T>& x, const sharded_tensor<T>& y, measure<T> tolerance = 0) {
  const auto all = reshard(detail::detach(x), sharding(x.layout().on, x.rank()));
  bool equal = all.extents() == y.extents();
  if (!equal || !all.state()->on->active()) return equal;
  for (std::size_t k = 0; k < y.size(); ++k) {
    const T a = all.data()[k], b = y.data()[k];
    equal = equal && (tolerance == 0 ? a == b : std::abs(a - b) <= tolerance);
  }
  return equal;
}
/// The sum of the products of all elements, or of all real and of all imaginary parts.
template <class T>
measure<T> dot(const sharded_tensor<T>& x, const sharded_tensor<T>& y) {
  measure<T> sum = 0;
  for (std::size_t k = 0; k < x.size(); ++k) {
    const T a = x.data()[k], b = y.data()[k];
    if constexpr (detail::is_complex<T>) sum += a.real() * b.real() + a.imag() * b.imag();
    else sum += a * b;
  }
  return sum;
}

template <class Number = double>
struct operation_law {
  bool is_linear = false;  ///< the gradients are the adjoints: <f x, dy> == <x, f* dy>
  Number tolerance = 0;    ///< of the results, which are equal without it
};

/// Compares f of tensors of elements T with random layouts, and all its gradients, with f of whole arrays.
template <class T, class F>
void check_elements(const world& everyone, const char* name, std::mt19937& random,
                    const std::vector<shape_list>& extents, F f, operation_law<measure<T>> law = {}) {
  ++random_operations();
  const auto known = meshes(everyone.size());
  const mesh m = known[random() % known.size()];
  std::vector<sharded_tensor<T>> whole, parts;
  text how;
  how << name;
  for (std::size_t i = 0; i < extents.size(); ++i) {
    const auto all = layouts(m, extents[i].size());
    sharding s = all[random() % all.size()];
    for (std::size_t a = 0; a < m.rank(); ++a)
      if (random() % 3 == 0 && state_of(s, a) == axis_state::replicated) s = s.reduced(a);
    how << ' ' << s << extents[i];
    const auto salt = static_cast<long long>(i) + 1;
    whole.push_back(detail::parameter_of(plain<T>(extents[i], salt)));
    parts.push_back(detail::parameter_of(placed<T>(everyone, s, extents[i], salt)));
  }
  const auto y = f(whole), z = f(parts);
  using U = typename std::remove_cvref_t<decltype(y)>::value_type;
  BOOST_TEST(same(z, y, static_cast<measure<U>>(law.tolerance)), how);
  const auto seeds = layouts(m, y.rank());
  const auto dy = plain<U>(y.extents(), 9);
  detail::run_backward(y, dy);
  detail::run_backward(z, placed<U>(everyone, seeds[random() % seeds.size()], y.extents(), 9));
  auto there = static_cast<measure<T>>(dot(y, dy));
  for (const auto& x : whole)
    if (x.state()->node->cotangent.state()) there -= dot(x, x.state()->node->cotangent);
  BOOST_TEST((!law.is_linear || std::abs(there) <= law.tolerance), how);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto d = parts[i].state()->node->cotangent;
    BOOST_TEST((d.state() == nullptr) == (whole[i].state()->node->cotangent.state() == nullptr), how);
    if (d.state() == nullptr) continue;  // this operand has no gradient
    BOOST_TEST(d.layout().same_layout(cotangent(parts[i].layout())), how);
    BOOST_TEST(same(d, whole[i].state()->node->cotangent, law.tolerance), (text() << how << " gradient " << i));
  }
}
/// Compares an operation on integers in the same way.
template <class F>
void check(const world& everyone, const char* name, std::mt19937& random, const std::vector<shape_list>& extents, F f,
           bool linear = false) {
  check_elements<long long>(everyone, name, random, extents, f, {.is_linear = linear});
}
/// The same for a linear f, whose gradients are its adjoint: <f x, dy> == <x, f* dy>.
template <class F>
void check_linear(const world& everyone, const char* name, std::mt19937& random, const std::vector<shape_list>& extents,
                  F f) {
  check(everyone, name, random, extents, f, true);
}

}  // namespace test
