// Searches for the best sharding annotations of a program and explains them before it runs, on 1 worker.
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <partita/explain/step_picture.hpp>
#include <partita/rule/sharding/rules.hpp>

using namespace partita;

int main(int argc, char** argv) {
  // [program]
  const mesh m{axis{"data", 4}, axis{"model", 8}};
  graph g(m);
  const value x = g.input({512, 1024}, m.layout("data", ""), "x");  // the program's annotation
  const value up_weight = g.parameter({1024, 4096}, "up_weight"),
              down_weight = g.parameter({4096, 1024}, "down_weight");
  const value up = g.apply(rules::matmul, {x, up_weight}, "up");
  const value active = g.apply(rules::elementwise, {up}, "gelu");
  g.apply(rules::matmul, {active, down_weight}, "down");
  // [/program]

  // [search]
  const mesh_links links{{1e-5, 1e-9}, {1e-6, 1e-10}};  // seconds per message and per byte: along data, along model
  const search_answer found = search(g, links);
  std::cout << explain(found);
  // [/search]

  // [plan]
  const graph annotated = found.annotated();
  const completion done = complete(annotated);
  const step_plan step = plan_step(done, found.model);
  std::cout << to_text(step);
  if (argc > 1) std::ofstream(argv[1]) << to_svg(step);
  // [/plan]

  // [limit]
  search_options adam;
  adam.model.states = 2;                     // Adam keeps two tensors for each parameter
  g.constrain(up_weight, m.layout("", ""));  // data parallelism only: replicated weights
  g.constrain(down_weight, m.layout("", ""));
  const search_answer tight = search(g, links, 100 << 20, adam);  // 100 MiB: the optimiser's state must be sharded
  std::cout << explain(tight);
  // [/limit]

  const bool right = step.seconds() == found.best.cost.seconds() && tight.best.states.size() == 2;
  return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
