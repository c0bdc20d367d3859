// Compares operations on tensors of complex numbers, and their gradients, with those on whole arrays, for random
// layouts of the operands. The numbers have integer parts, so that results do not depend on an order of summation.
#pragma once

#include "layouts.hpp"

#include <complex>
#include <partita/sharded/complex.hpp>
#include <partita/sharded/detail/run_backward.hpp>
#include <random_cases.hpp>
#include <vector>

namespace test {

using namespace partita;
using complex = std::complex<double>;

/// Small integers as elements of T.
template <class T>
T small_number(const short_list<std::size_t>& index, long long salt) {
  const auto part = [&](long long of) { return static_cast<detail::real_of<T>>(numbered(index, of) * 7 % 11 - 5); };
  if constexpr (detail::is_complex<T>) return T(part(salt), part(salt + 3));
  else return part(salt);
}
template <class T>
sharded_tensor<T> undivided(const shape_list& e, long long salt) {
  auto x = detail::tensor_of<T>(nullptr, sharding(mesh(), e.size()), e, detail::tensor_block<T>(e));
  x.for_each_local([&](const auto& i, T& v) { v = small_number<T>(i, salt); });
  return x;
}
template <class T>
sharded_tensor<T> placed_tensor(const world& everyone, const sharding& s, const shape_list& e, long long salt) {
  return shard<T>(everyone, s, e, [&](const auto& i) { return small_number<T>(i, salt); });
}
/// The largest distance of an element of the gathered x from that of the plain y; 1 if their extents differ.
template <class T>
double difference(const sharded_tensor<T>& x, const sharded_tensor<T>& y) {
  const auto all = reshard(detail::detached(x), sharding(x.layout().on, x.rank()));
  if (!(all.extents() == y.extents())) return 1;
  auto most = detail::real_of<T>(0);
  for (std::size_t k = 0; k < y.size() && all.state()->on->active(); ++k)
    most = std::max(most, std::abs(all.data()[k] - y.data()[k]));
  return most;
}
/// The sum of the products of all real and all imaginary parts.
template <class T>
double real_dot(const sharded_tensor<T>& x, const sharded_tensor<T>& y) {
  double sum = 0;
  for (std::size_t k = 0; k < x.size(); ++k)
    sum += std::real(x.data()[k]) * std::real(y.data()[k]) + std::imag(x.data()[k]) * std::imag(y.data()[k]);
  return sum;
}

struct complex_law {
  bool is_linear = false;  ///< as a map of real numbers: <f x, dy> == <x, f* dy>
  double tolerance = 0;    ///< of the results, which are equal without it
};
/// Compares f of tensors of elements T with random layouts, and all its gradients, with f of whole arrays.
template <class T, class F>
void check_elements(const world& everyone, const char* name, std::mt19937& random,
                    const std::vector<shape_list>& extents, F f, complex_law law = {}) {
  const auto known = meshes(everyone.size());
  const mesh m = known[random() % known.size()];
  std::vector<sharded_tensor<T>> whole, parts;
  text how;
  how << name;
  for (std::size_t i = 0; i < extents.size(); ++i) {
    const auto all = layouts(m, extents[i].size());
    sharding s = all[random() % all.size()];
    for (std::size_t a = 0; a < m.rank(); ++a)
      if (random() % 3 == 0 && state_of(s, a) == axis_state::whole) s = s.reduced(a);
    how << ' ' << s << extents[i];
    const auto salt = static_cast<long long>(i) + 1;
    whole.push_back(detail::parameter_of(undivided<T>(extents[i], salt)));
    parts.push_back(detail::parameter_of(placed_tensor<T>(everyone, s, extents[i], salt)));
  }
  const auto y = f(whole), z = f(parts);
  using U = typename std::remove_cvref_t<decltype(y)>::value_type;
  BOOST_TEST(difference(z, y) <= law.tolerance, how);
  const auto seeds = layouts(m, y.rank());
  const auto dy = undivided<U>(y.extents(), 9);
  detail::run_backward(y, dy);
  detail::run_backward(z, placed_tensor<U>(everyone, seeds[random() % seeds.size()], y.extents(), 9));
  double there = real_dot(y, dy);
  for (const auto& x : whole)
    if (x.state()->node->cotangent.state()) there -= real_dot(x, x.state()->node->cotangent);
  BOOST_TEST((!law.is_linear || std::abs(there) <= law.tolerance), how);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto d = parts[i].state()->node->cotangent;
    BOOST_TEST((d.state() == nullptr) == (whole[i].state()->node->cotangent.state() == nullptr), how);
    if (d.state() == nullptr) continue;  // this operand has no gradient
    BOOST_TEST(d.layout().same_layout(cotangent(parts[i].layout())), how);
    BOOST_TEST(difference(d, whole[i].state()->node->cotangent) <= law.tolerance, (text() << how << " gradient " << i));
  }
}

/// Compares the gradient of a real loss by complex numbers with differences: its real part with those of steps along
/// the real axis, its imaginary part along the imaginary one.
template <class F>
void check_differences(const char* name, const xt::xtensor<complex, 1>& at, F loss) {
  const auto [value, gradients] = value_and_gradient(loss, at);
  const auto& gradient = std::get<0>(gradients);
  constexpr double step = 1e-6;
  for (std::size_t k = 0; k < at.size(); ++k)
    for (const complex along : {complex(1, 0), complex(0, 1)}) {
      auto more = at, less = at;
      more(k) += step * along;
      less(k) -= step * along;
      const double slope = (xt::xtensor<double, 0>(loss(more))() - xt::xtensor<double, 0>(loss(less))()) / (2 * step);
      const double known = along.real() != 0 ? gradient(k).real() : gradient(k).imag();
      BOOST_TEST(std::abs(slope - known) < 1e-6 * (1 + std::abs(known)),
                 name << ' ' << k << ": " << slope << ' ' << known);
    }
}

}  // namespace test
