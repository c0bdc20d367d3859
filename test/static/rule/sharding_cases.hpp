// The notation of the compile-time tests of sharding propagation: operands, and the expected shardings of operands and
// results.
#pragma once

#include <initializer_list>
#include <partita/rule/sharding/rules.hpp>

namespace sharding_cases {

using namespace partita;

constexpr mesh m4 = mesh::of_shape(std::array{4}), m22 = mesh::of_shape(std::array{2, 2}),
               m23 = mesh::of_shape(std::array{2, 3}), m24 = mesh::of_shape(std::array{2, 4}),
               m222 = mesh::of_shape(std::array{2, 2, 2});

/// A sharding by one axis for each dimension; -1 for none.
struct by_axis {
  const mesh& on;
  constexpr sharding operator()(std::initializer_list<int> mapping) const {
    return sharding::of_dims_mapping(on, mapping);
  }
  constexpr spec operator()(const shape_list& shape, std::initializer_list<int> mapping) const {
    return spec((*this)(mapping), shape);
  }
};
/// A sharding by a list of axes for each dimension.
struct by_axes {
  const mesh& on;
  constexpr sharding operator()(std::initializer_list<std::initializer_list<int>> lists) const {
    sharding s(on, lists.size());
    std::size_t d = 0;
    for (const auto& list : lists) {
      axis_list axes;
      for (const int a : list) axes.push_back(static_cast<std::size_t>(a));
      s = s.cut(d++, axes);
    }
    return s;
  }
  constexpr spec operator()(const shape_list& shape, std::initializer_list<std::initializer_list<int>> lists) const {
    return spec((*this)(lists), shape);
  }
};

/// A sharding that also has a pending reduction over an axis.
constexpr sharding made_partial(const sharding& s, std::size_t a, pending_reduction kind = pending_reduction::sum) {
  return s.partial(a, kind);
}

constexpr bool matches(const propagation& got, std::initializer_list<sharding> expected) {
  std::size_t t = 0;
  for (const sharding& s : expected)
    if (!(got[t++] == s)) return false;
  return true;
}

/// Propagates from the operands.
template <class Operation>
constexpr bool forward(const policy& by, const Operation& op, std::initializer_list<spec> operands,
                       std::initializer_list<sharding> expected) {
  const shape_span shapes = spec_list(operands);
  const propagation got = propagate(operands.begin()->layout.on, rule(op(shapes)), spec_list(operands), by);
  return matches(got, expected) && got.operands.size() + got.results.size() == expected.size();
}
constexpr bool forward(const policy& by, const rule& r, std::initializer_list<spec> operands,
                       std::initializer_list<sharding> expected) {
  return matches(propagate(operands.begin()->layout.on, r, spec_list(operands), by), expected);
}
/// Propagates from the results to operands of these shapes.
template <class Operation>
constexpr bool backward(const policy& by, const Operation& op, std::initializer_list<shape_list> shapes,
                        std::initializer_list<sharding> results, std::initializer_list<sharding> expected) {
  const shape_span all(shapes);
  const rule r = bind_shapes(op(all), all);
  std::array<spec, 12> x{};
  std::array<spec, 12> y{};
  std::size_t i = 0, j = 0;
  for (const shape_list& shape : shapes) x[i++] = spec(shape);
  for (const sharding& s : results) y[j] = spec(s, result_shape(r, j)), ++j;
  return matches(
      propagate(results.begin()->on, r, spec_list(x.data(), i), spec_list(y.data(), j), direction::backward, by),
      expected);
}

}  // namespace sharding_cases
