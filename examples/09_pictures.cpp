// Draws partitions and communication between workers, which need not exist, as SVG pictures, on 1 worker.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <partita/explain/broadcast_picture.hpp>
#include <partita/explain/completion_picture.hpp>
#include <partita/explain/linear_picture.hpp>
#include <partita/explain/pipeline_picture.hpp>
#include <partita/explain/refused_broadcast_picture.hpp>
#include <partita/explain/repartition_picture.hpp>
#include <partita/explain/step_picture.hpp>
#include <partita/explain/timetable_picture.hpp>
#include <partita/explain/worker_broadcast_picture.hpp>
#include <partita/rule/sharding/rules.hpp>
#include <string>
#include <vector>

using namespace partita;

int main(int argc, char** argv) {
  // the pictures are written into the folder given as argument, or into a new temporary folder
  bool right = true;
  const std::filesystem::path folder = argc > 1 ? argv[1] : std::filesystem::temp_directory_path() / "partita-pictures";
  std::filesystem::create_directories(folder);
  const auto save = [&](const char* name, const long_text& svg) {
    std::cout << name << ".svg, " << svg.size() << " bytes\n";
    right = right && (std::ofstream(folder / (std::string(name) + ".svg")) << svg).good();
  };

  // [movements]
  const grid p_x(extents<1, 3>{});  // a grid is a partition without a world; a partition can be drawn, too
  const grid p_y(extents<2, 3>{});
  save("broadcast", to_svg(worker_broadcast_picture(p_x, p_y)));

  const grid quarters(extents<2, 2>{});
  const grid columns(extents<1, 3>{});
  const repartition_picture moved(quarters, columns, extents<7, 9>{});
  save("repartition", to_svg(moved, 1));  // the plan of worker 1 is printed beneath the picture
  save("repartition-plan", to_svg(moved.plan(1), sizeof(float)));
  // [/movements]

  const worker_pairing<1> pairing(std::array<std::size_t, 1>{1}, std::array<std::size_t, 1>{6}, false, false);
  save("broadcast-tree", to_svg(plan_groups(grid(extents<1>{}), grid(extents<6>{}), pairing, 2)));

  const grid p_w(extents<3, 4>{});
  save("linear", to_svg(linear_picture(grid(extents<1, 4>{}), grid(extents<1, 3>{}, workers(4, 7)), p_w)));
  save("transposed", to_svg(worker_broadcast_picture(grid(extents<1, 3>{}), grid(extents<3, 2>{}), transpose_src)));
  save("refused", to_svg(refused_broadcast_picture(p_x, grid(extents<4, 3>{}), transpose_dest)));
  const grid root(extents<1, 1>{});
  save("gather", to_svg(repartition_picture(grid(extents<4, 1>{}), root, extents<10, 3>{}), 0));
  save("middle", to_svg(repartition_picture(grid(extents<3, 3>{}), grid(extents<4, 4>{}), extents<12, 12>{}), 4));
  save("array-broadcast-mapped", to_svg(broadcast_picture({2U, 3U, 4U}, {3U}, {1})));
  save("array-broadcast-outer", to_svg(broadcast_picture({4U, 1U}, {1U, 3U})));
  save("array-broadcast-composed", to_svg(broadcast_picture({1U, 2U}, {4U, 3U, 1U}, {1, 2})));

  const mesh m{axis{"data", 2}, axis{"model", 4}};
  graph g(m);
  const value x = g.input({8, 128, 64}, m.layout("data", "", ""), "x"),
              up = g.parameter({64, 256}, m.layout("", "model").with_priority(1), "w_up");
  const value down = g.parameter({256, 64}, "w_down");
  const value h = g.apply(rules::elementwise, {g.apply(rules::matmul, {x, up}, "up")}, "gelu");
  g.apply(rules::softmax(), {g.apply(rules::add, {x, g.apply(rules::matmul, {h, down}, "down")}, "residual")},
          "softmax");
  const completion done = complete(g);
  save("program", to_svg(done));
  save("step", to_svg(plan_step(done)));

  // [pipeline]
  const pipeline_shape stages{{0, 1, 2, 3}, 8};  // four stages on four groups of workers, eight micro-batches
  const pipeline_times times{{1e-3, 1e-3, 1e-3, 1e-3}, {2e-3, 2e-3, 2e-3, 2e-3}};
  const pipeline_tasks tasks = tasks_of(pipeline_order::one_forward_one_backward, stages, times);
  save("pipeline", to_svg(simulate(stages, tasks, times)));
  // [/pipeline]
  const pipeline_times apart{{1e-3, 1e-3, 1e-3, 1e-3}, {1e-3, 1e-3, 1e-3, 1e-3}, {1e-3, 1e-3, 1e-3, 1e-3}};
  save("pipeline-zero-bubble", to_svg(simulate(stages, tasks_of(pipeline_order::zero_bubble, stages, apart), apart)));

  // Four layers gather their weights before they use them: a product needs its weight and the previous product.
  std::vector<step_use> layers;
  for (std::uint32_t k = 0; k < 4; ++k) {
    layers.push_back({.reads = {k},
                      .sets = 10 + k,
                      .moves = true,
                      .seconds = 2e-3,
                      .bytes = 1U << 20U,
                      .received = 3U << 18U,
                      .name = "matmul"});
    layers.push_back(
        {.reads = {10 + k, 19 + k}, .sets = 20 + k, .seconds = 3e-3, .bytes = 1U << 20U, .name = "matmul"});
  }
  save("timetable", to_svg(timetable_of(layers, order_steps(layers, 0, layers.size(), {2, 8}))));
  std::cout
      << "The pictures are in " << folder.string() << ".\n"
      << "Look at: repartition.svg in a browser. The plan beneath the picture is the one that the kernel follows.\n";
  return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
