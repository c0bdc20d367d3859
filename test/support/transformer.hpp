// A transformer as a graph: layers of attention and feed-forward, each after a norm and with a residual connection.
#pragma once

#include <cstddef>
#include <partita/plan/graph.hpp>
#include <partita/rule/sharding/rules.hpp>

namespace test {

/// The graph of a transformer with 1024 features, 16 heads and sequences of 512. With `by_hand`, axis 0 shards the
/// batch, and axis 1 shards the first weight of each pair by columns and the second weight by rows.
inline partita::graph transformer(const partita::mesh& m, std::size_t layers, std::size_t batch, bool by_hand) {
  using namespace partita;
  constexpr std::size_t length = 512, features = 1024, heads = 16, inner = 4096;
  graph g(m);
  const char* const data = m.axes[0].name();
  const char* const model = m.axes[1].name();
  const auto weight = [&](const shape_list& shape, const sharding& layout, const char* name) {
    return by_hand ? g.parameter(shape, layout, name) : g.parameter(shape, name);
  };
  value x = by_hand ? g.input({batch, length, features}, m.layout(data, "", ""), "tokens")
                    : g.input({batch, length, features}, "tokens");
  const auto norm = [&](value v) {
    const value scale = g.parameter({features}, "scale"), bias = g.parameter({features}, "bias");
    return value(g.apply(rules::layer_norm(), {v, scale, bias}, "norm"));
  };
  for (std::size_t layer = 0; layer < layers; ++layer) {
    const value n = norm(x);
    value projected[3];
    for (std::size_t k = 0; k < 3; ++k) {
      constexpr const char* names[] = {"query", "key", "value"};
      const value w = weight({features, heads, features / heads}, m.layout("", model, ""), names[k]);
      projected[k] = g.apply("bse,ehd->bshd", {n, w}, names[k]);
    }
    const value out = weight({heads, features / heads, features}, m.layout(model, "", ""), "out");
    const value attended = g.apply(rules::attention, {projected[0], projected[1], projected[2]});
    const value merged = g.apply("bshd,hde->bse", {attended, out}, "merge");
    const value residual = g.apply(rules::add, {x, merged}, "residual");
    const value up = weight({features, inner}, m.layout("", model), "up"),
                down = weight({inner, features}, m.layout(model, ""), "down");
    const value active = g.apply(rules::elementwise, {g.apply("bse,ef->bsf", {norm(residual), up}, "up")}, "gelu");
    x = g.apply(rules::add, {residual, g.apply("bsf,fe->bse", {active, down}, "down")}, "residual");
  }
  return g;
}

}  // namespace test
