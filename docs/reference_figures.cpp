// Draws the counterparts of the figures in the documents that this library follows: DistDL's and Paddle's.
#include <filesystem>
#include <fstream>
#include <iostream>
#include <partita/explain/completion_picture.hpp>
#include <partita/explain/linear_picture.hpp>
#include <partita/explain/refused_broadcast_picture.hpp>
#include <partita/explain/repartition_picture.hpp>
#include <partita/explain/worker_broadcast_picture.hpp>
#include <partita/plan/complete.hpp>
#include <partita/rule/sharding/rules.hpp>
#include <string>

using namespace partita;

namespace {
// one type for each rank: a picture of any extents is compiled once
using extents_1 = extents<dynamic>;
using extents_2 = extents<dynamic, dynamic>;
using extents_3 = extents<dynamic, dynamic, dynamic>;

grid<extents_1> on(std::size_t a) { return grid(extents_1(a)); }
grid<extents_2> on(std::size_t a, std::size_t b) { return grid(extents_2(a, b)); }
grid<extents_3> on(std::size_t a, std::size_t b, std::size_t c) { return grid(extents_3(a, b, c)); }
}  // namespace

int main(int, char** argv) {
  const std::filesystem::path folder = argv[1];
  std::filesystem::create_directories(folder);
  bool right = true;
  const auto save = [&](const char* name, const long_text& svg) {
    right = right && (std::ofstream(folder / (std::string(name) + ".svg")) << svg).good();
  };

  // DistDL, Broadcast
  save("broadcast-1-to-4", to_svg(worker_broadcast_picture(on(1), on(4))));
  save("broadcast-1-to-2x3", to_svg(worker_broadcast_picture(on(1, 1), on(2, 3))));
  save("broadcast-3x1-to-3x4", to_svg(worker_broadcast_picture(on(3, 1), on(3, 4))));
  save("broadcast-1x1x3-to-4x4x3", to_svg(worker_broadcast_picture(on(1, 1, 3), on(4, 4, 3))));
  save("refused-1x1x3-to-3x3x2", to_svg(refused_broadcast_picture(on(1, 1, 3), on(3, 3, 2))));
  save("refused-1x3-to-3x1", to_svg(refused_broadcast_picture(on(1, 3), on(3, 1))));
  save("broadcast-1x3-to-3x4", to_svg(worker_broadcast_picture(on(1, 3), on(3, 4), transpose_src)));
  save("broadcast-4x1-to-3x4", to_svg(worker_broadcast_picture(on(4, 1), on(3, 4), transpose_dest)));

  // DistDL, Linear: the layer, and the two movements of which its forward and its adjoint are made
  const grid<extents_2> p_y(extents_2(1, 3), workers(4, 7));
  save("linear-setup", to_svg(linear_picture(on(1, 4), p_y, on(3, 4))));
  save("linear-x", to_svg(worker_broadcast_picture(on(1, 4), on(3, 4))));
  save("linear-y", to_svg(worker_broadcast_picture(p_y, on(3, 4), transpose_src)));

  // DistDL, Repartition
  const auto line = decomposition<1>::balanced({16}, {4}), dealt = decomposition<1>::block_cyclic({16}, {4}, {1});
  save("all-to-all-line", to_svg(repartition_picture(on(4), on(4), line, dealt), 0));
  save("all-to-all-square", to_svg(repartition_picture(on(4, 1), on(1, 4), extents_2(4, 4)), 0));
  save("repartition-3x3-to-4x4", to_svg(repartition_picture(on(3, 3), on(4, 4), extents_2(12, 12)), 4));
  save("repartition-4x4-to-3x3", to_svg(repartition_picture(on(4, 4), on(3, 3), extents_2(12, 12)), 4));
  save("repartition-5-to-3", to_svg(repartition_picture(on(5), on(3), extents_1(30)), 0));
  save("repartition-3x4-to-4x2", to_svg(repartition_picture(on(3, 4), on(4, 2), extents_2(12, 8)), 0));
  save("repartition-3x2x2-to-1x2x3", to_svg(repartition_picture(on(3, 2, 2), on(1, 2, 3), extents_3(6, 4, 6)), 0));
  save("scatter-1-to-1x2x3", to_svg(repartition_picture(on(1, 1, 1), on(1, 2, 3), extents_3(4, 4, 6)), 0));
  save("gather-1x2x3-to-1", to_svg(repartition_picture(on(1, 2, 3), on(1, 1, 1), extents_3(4, 4, 6)), 0));

  // Paddle: dims_mapping on a process mesh of 3 x 2, and DimTrans
  save("dims-mapping-rows", to_svg(worker_broadcast_picture(on(3, 1), on(3, 2))));
  save("dims-mapping-both", to_svg(repartition_picture(on(1, 1), on(3, 2), extents_2(6, 12)), 0));
  const mesh m{axis{"x", 3}, axis{"y", 2}};
  graph g(m);
  g.apply(rules::reshape({72, 24, 6, 8}), {g.input({6, 12, 24, 48}, m.layout("x", "", "y", ""), "input")}, "output");
  save("dim-trans", to_svg(complete(g)));
  return right ? 0 : 1;
}
