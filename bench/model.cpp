// How long repartitions of up to a million workers would take, by the model of cluster_model.hpp; needs no MPI.
#include <cstdio>
#include <partita/plan/repartition_plan.hpp>
#include "cluster_model.hpp"

namespace {

using namespace partita;
using three = extents<dynamic, dynamic, dynamic>;

void pencils(const char* name, std::size_t a, std::size_t b, std::size_t extent, const three& result) {
  const cluster_facts facts;
  const grid<three> from(three(a, b, 1)), to(result);
  const std::array<std::size_t, 3> tensor{extent, extent, extent};
  const auto there = decomposition<3>::balanced(tensor, from.shape()),
             then = decomposition<3>::balanced(tensor, to.shape());
  const auto slowest = simulate_nodes(facts, a * b, sizeof(double), [&](std::size_t worker) {
    return plan_repartition(from, there, to, then, worker);
  });
  const double block = static_cast<double>(extent) * static_cast<double>(extent) * static_cast<double>(extent) * 8 /
                       static_cast<double>(a * b);
  std::printf(
      "{\"bench\": \"model\", \"case\": \"%s\", \"workers\": %zu, \"block\": %.0f, \"messages\": %zu, \"bytes\": %zu, "
      "\"ms\": %.4f, "
      "\"bound\": %.4f}\n",
      name, a * b, block, slowest.messages, slowest.bytes, 1e3 * slowest.seconds, 1e3 * slowest.bound);
}

}  // namespace

int main() {
  for (const auto& [a, b, small, large] :
       {std::array<std::size_t, 4>{100, 100, 430, 1100}, {250, 400, 930, 2360}, {1000, 1000, 2000, 5080}})
    for (const std::size_t extent : {small, large}) {
      pencils("along rows of workers", a, b, extent, three(a, 1, b));
      pencils("along columns of workers", a, b, extent, three(1, b, a));
    }
  return 0;
}
