// Estimates how long repartitions on up to a million workers and Fourier transforms on 1024 workers take, by the model
// of cluster_model.hpp, without MPI.
#include <partita/plan/repartition_plan.hpp>
#include <string>
#include "cluster_model.hpp"
#include "harness.hpp"
#include "transform_model.hpp"

namespace {

using namespace partita;
using three = extents<dynamic, dynamic, dynamic>;

void pencils(bench::rows& out, const char* name, std::size_t a, std::size_t b, std::size_t extent,
             const three& result) {
  const cluster_parameters facts;
  const grid<three> from(three(a, b, 1)), to(result);
  const std::array<std::size_t, 3> tensor{extent, extent, extent};
  const auto there = decomposition<3>::balanced(tensor, from.shape()),
             then = decomposition<3>::balanced(tensor, to.shape());
  const auto slowest = simulate_nodes(facts, a * b, sizeof(double), [&](std::size_t worker) {
    return plan_repartition(from, there, to, then, worker);
  });
  const double block = static_cast<double>(extent) * static_cast<double>(extent) * static_cast<double>(extent) * 8 /
                       static_cast<double>(a * b);
  out.add_derived(name, {{"workers", a * b},
                         {"block", static_cast<std::size_t>(block)},
                         {"messages", slowest.messages},
                         {"bytes", slowest.bytes},
                         {"ms", 1e3 * slowest.seconds},
                         {"bound", 1e3 * slowest.bound}});
}

/// Prints the moves of transforms of 512 x 512 x 512 numbers of type double on 32 x 32 workers.
void transform(bench::rows& out, const char* name, const detail::pencil_request& request) {
  constexpr std::size_t bytes = 2 * sizeof(double);
  const auto shape = [](const std::array<std::size_t, 3>& s) {
    return std::to_string(s[0]) + " x " + std::to_string(s[1]) + " x " + std::to_string(s[2]);
  };
  for (const transform_move& move : moves_of_transform(request, cluster_parameters(), bytes))
    out.add_derived(name, {{"workers", request.workers},
                           {"move", shape(move.from) + " to " + shape(move.to)},
                           {"messages", move.cost.most_messages},
                           {"bytes", move.cost.most_sent * bytes},
                           {"all_bytes", move.cost.elements_moved * bytes},
                           {"least_bytes", move.least_elements * bytes},
                           {"node_messages", move.node.messages},
                           {"node_bytes", move.node.bytes},
                           {"ms", 1e3 * move.node.seconds},
                           {"bound", 1e3 * move.node.bound}});
}
void transforms(bench::rows& out) {
  const shape_list pencils{32, 32, 1}, all{0, 1, 2};
  transform(out, "complex, free layout",
            {.extents = {512, 512, 512}, .grid_x = pencils, .grid_y = {}, .dimensions = all, .workers = 1024});
  transform(out, "complex, layout of x",
            {.extents = {512, 512, 512},
             .grid_x = pencils,
             .grid_y = pencils,
             .dimensions = all,
             .workers = 1024,
             .in_place = true});
  transform(out, "real, free layout",
            {.extents = {512, 512, 257},
             .grid_x = pencils,
             .grid_y = {},
             .dimensions = all,
             .workers = 1024,
             .first_dimension = 2});
}

}  // namespace

int main(int argc, char** argv) {
  const bench::command_line line(
      "model", "repartitions of up to a million workers, and transforms, by a model of clusters; measures nothing",
      {1, 1}, {{"most-workers", bench::argument::count, "the largest number of workers", "1000000", "10000"}});
  return bench::run_alone(argc, argv, line, [](const bench::command_line& given, bench::rows& out) {
    for (const auto& [a, b, small, large] :
         {std::array<std::size_t, 4>{100, 100, 430, 1100}, {250, 400, 930, 2360}, {1000, 1000, 2000, 5080}})
      for (const std::size_t extent : {small, large}) {
        if (a * b > given.count("most-workers")) continue;
        pencils(out, "along rows of workers", a, b, extent, three(a, 1, b));
        pencils(out, "along columns of workers", a, b, extent, three(1, b, a));
      }
    transforms(out);
    return true;
  });
}
