// Compares an operation on sharded tensors, and its gradients, with the same operation on whole arrays, for random
// layouts of its operands.
#pragma once

#include "layouts.hpp"

#include <partita/sharded/detail/run_backward.hpp>
#include <partita/sharded/operations.hpp>
#include <random_cases.hpp>
#include <vector>

namespace test {

using namespace partita;

using tensor = sharded_tensor<long long>;

/// Small numbers that are all different.
inline tensor plain(const shape_list& e, long long salt) {
  auto x = detail::tensor_of<long long>(nullptr, sharding(mesh(), e.size()), e, detail::tensor_block<long long>(e));
  x.for_each_local([&](const auto& i, long long& v) { v = numbered(i, salt) * 7 % 11 - 5; });
  return x;
}
inline tensor placed(const world& everyone, const sharding& s, const shape_list& e, long long salt) {
  return shard<long long>(everyone, s, e, [&](const auto& i) { return numbered(i, salt) * 7 % 11 - 5; });
}
inline tensor leaf(const tensor& x) {
  auto state = std::make_shared<tensor::state_type>(*x.state());
  state->node = detail::new_node<long long>(x.layout());
  return tensor(state);
}
/// Whether the gathered x equals the plain y.
inline bool same(const tensor& x, const tensor& y) {
  const auto all = reshard(detail::detached(x), sharding(x.layout().on, x.rank()));
  bool equal = all.extents() == y.extents();
  if (!equal || !all.state()->on->active()) return equal;
  for (std::size_t k = 0; k < y.size(); ++k) equal = equal && all.data()[k] == y.data()[k];
  return equal;
}

inline long long dot(const tensor& x, const tensor& y) {
  long long sum = 0;
  for (std::size_t k = 0; k < x.size(); ++k) sum += x.data()[k] * y.data()[k];
  return sum;
}

/// Compares f of tensors with random layouts, and all its gradients, with f of whole arrays.
template <class F>
void check(const world& everyone, const char* name, std::mt19937& random, const std::vector<shape_list>& extents, F f,
           bool linear = false) {
  ++random_operations();
  const auto known = meshes(everyone.size());
  const mesh m = known[random() % known.size()];
  std::vector<tensor> whole, parts;
  text how;
  how << name;
  for (std::size_t i = 0; i < extents.size(); ++i) {
    const auto all = layouts(m, extents[i].size());
    sharding s = all[random() % all.size()];
    for (std::size_t a = 0; a < m.rank(); ++a)
      if (random() % 3 == 0 && state_of(s, a) == axis_state::whole) s = s.reduced(a);
    how << ' ' << s << extents[i];
    whole.push_back(leaf(plain(extents[i], static_cast<long long>(i) + 1)));
    parts.push_back(leaf(placed(everyone, s, extents[i], static_cast<long long>(i) + 1)));
  }
  const tensor y = f(whole), z = f(parts);
  BOOST_TEST(same(z, y), how);
  const auto seeds = layouts(m, y.rank());
  detail::run_backward(y, plain(y.extents(), 9));
  detail::run_backward(z, placed(everyone, seeds[random() % seeds.size()], y.extents(), 9));
  long long there = dot(y, plain(y.extents(), 9));
  for (const tensor& x : whole)
    if (x.state()->node->cotangent.state()) there -= dot(x, x.state()->node->cotangent);
  BOOST_TEST((!linear || there == 0), how);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const tensor d = parts[i].state()->node->cotangent;
    BOOST_TEST((d.state() == nullptr) == (whole[i].state()->node->cotangent.state() == nullptr), how);
    if (d.state() == nullptr) continue;  // this operand has no gradient
    BOOST_TEST(d.layout().same_layout(cotangent(parts[i].layout())), how);
    BOOST_TEST(same(d, whole[i].state()->node->cotangent), (text() << how << " gradient " << i));
  }
}
/// The same for a linear f, whose gradients are its adjoint: <f x, dy> == <x, f* dy>.
template <class F>
void check_linear(const world& everyone, const char* name, std::mt19937& random, const std::vector<shape_list>& extents,
                  F f) {
  check(everyone, name, random, extents, f, true);
}

}  // namespace test
