// Two annotations determine all shardings of a two-layer transformer, which are explained and drawn, on 1 worker.
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <partita/explain/completion_picture.hpp>
#include <partita/rule/sharding/rules.hpp>

using namespace partita;

int main(int argc, char** argv) {
  // [program]
  const mesh m{axis{"data", 4}, axis{"model", 8}};
  graph g(m);
  const value tokens = g.input({32, 512, 1024}, "tokens");  // the input is batch x sequence x features
  const value in = g.input({2, 1024, 16, 448}, "in"),
              out = g.input({2, 16, 320, 1024}, "out");  // dimensions 0 and 2 are layer and head
  const value scale = g.input({1024}, "scale"), bias = g.input({1024}, "bias");
  const operation_results in_of = g.apply(rules::unbind(0), {in}, "in_of"),
                          out_of = g.apply(rules::unbind(0), {out}, "out_of");

  value x = tokens;
  for (std::size_t layer = 0; layer < 2; ++layer) {  // attention and feed-forward read the same input
    const value normed = g.apply(rules::layer_norm(), {x, scale, bias});
    const value projected = g.apply("bse,ehc->bshc", {normed, in_of[layer]}, "project");
    const operation_results part = g.apply(rules::split(-1, {64, 64, 64, 256}), {projected});
    const value attended = g.apply(rules::attention, {part[0], part[1], part[2]});
    const value active = g.apply(rules::elementwise, {part[3]}, "gelu");
    const value both = g.apply(rules::concatenate(-1), {attended, active});
    const value merged = g.apply("bshc,hce->bse", {both, out_of[layer]}, "merge");
    x = g.apply(rules::add, {x, merged}, "residual");
  }
  // [/program]

  // [annotations]
  g.constrain(tokens, m.layout("data", "", ""));      // data parallelism: the batch is sharded
  g.constrain(in, m.layout("", "", "model", ""), 1);  // tensor parallelism: heads, with lower priority
  const completion done = complete(g);
  // [/annotations]

  // [explain]
  std::cout << explain(done, out) << to_text(done);
  if (argc > 1) std::ofstream(argv[1]) << to_svg(done);  // to_dot(done) writes a Graphviz file
  // [/explain]

  // all weights and activations are sharded along the heads, and each layer needs one all-reduce over the heads
  bool right =
      done[out] == m.layout("", "model", "", "") && done[x] == m.layout("data", "", "") && done.reshards.size() == 2;
  for (const graph_reshard& move : done.reshards)
    right = right && done.plan(move).size() == 1 && done.plan(move)[0].done == reshard_step::what::all_reduce;
  std::cout
      << "Look at: two annotations were given, everything else was inferred. Two moves are left, both a sum over\n"
         "the workers that share a layer; each line says which rule decided it.\n";
  return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
