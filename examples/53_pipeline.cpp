// A pipeline: micro-batches pass through the four stages of a network on four groups of workers, on 4 workers.
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <partita/partita.hpp>
#include <partita/sharded/arithmetic.hpp>
#include <partita/sharded/pipeline.hpp>
#include <partita/sharded/reductions.hpp>
#include <utility>
#include <vector>

using namespace partita;
using tensor = sharded_tensor<double>;

constexpr std::size_t rows = 64, width = 16, stages = 4, micro_batches = 8;

int main() {
  boost::mpi::environment environment;
  const world everyone;
  if (everyone.size() % stages != 0) {
    if (everyone.id() == 0) std::printf("this example needs 4 workers, or a multiple of 4\n");
    return 1;
  }
  const std::size_t workers_per_stage = everyone.size() / stages;

  // [stages]
  // Each stage has workers of its own, over which its micro-batches are sharded.
  const mesh m{axis{"data", workers_per_stage}};
  const sharding sharded_rows = m.layout("data", ""), replicated = m.layout("", "");
  const auto layer = [](const auto& x, const auto& w) { return tanh(matmul(x, w)); };
  std::vector<pipeline_stage> stage_list;
  for (std::size_t s = 0; s < stages; ++s) {
    const placed_mesh where(m, workers(s * workers_per_stage, (s + 1) * workers_per_stage));
    if (s + 1 < stages)
      stage_list.push_back({[=](std::size_t n) {
                              return trace(layer, spec(sharded_rows, {n, width}), spec(replicated, {width, width}));
                            },
                            where});
    else  // the last stage computes the loss
      stage_list.push_back(
          {[=](std::size_t n) {
             const auto loss = [n](const auto& x, const auto& targets, const auto& w) {
               const auto error = subtract(matmul(x, w), targets);
               return sum(multiply(error, error)) / double(n);
             };
             return trace(loss, spec(sharded_rows, {n, width}), spec({n, width}), spec(replicated, {width, width}));
           },
           where});
  }
  // [/stages]

  const auto tensor_on_stage = [&](std::size_t s, const sharding& layout, const shape_list& extents, auto element) {
    const mesh one{axis{"all", 1}};
    return reshard(shard<double>(everyone, sharding(one, 2), extents, element), stage_list[s].where, layout);
  };
  const auto x =
      tensor_on_stage(0, sharded_rows, {rows, width}, [](const auto& i) { return std::sin(double(i[0] * 3 + i[1])); });
  const auto targets = tensor_on_stage(stages - 1, sharded_rows, {rows, width},
                                       [](const auto& i) { return 0.5 * std::cos(double(i[0] * 3 + i[1])); });
  std::vector<std::vector<tensor>> weights(stages);
  for (std::size_t s = 0; s < stages; ++s)
    weights[s].push_back(tensor_on_stage(s, replicated, {width, width}, [s](const auto& i) {
      return 0.3 * std::sin(double((s + 1) * 17 + i[0] * 5 + i[1] * 11));
    }));

  // [train]
  pipeline<double> step(everyone, stage_list, {.rows = rows, .micro_batches = micro_batches});
  double first = 0, last = 0;
  for (int k = 0; k < 100; ++k) {
    const tensor& loss = step(x, targets, weights);
    const auto gradients = step.gradients();
    for (std::size_t s = 0; s < stages; ++s)
      weights[s][0] = subtract(weights[s][0], reshard(gradients[s][0], weights[s][0].layout()) * 0.1);
    // the loss is on the last stage; a reshard copies it to all workers
    const mesh all{axis{"workers", everyone.size()}};
    last = reshard(loss, placed_mesh(all), all.layout()).number();
    if (k == 0) first = last;
  }
  // [/train]

  if (everyone.id() == 0) {
    std::printf("%zu stages, %zu micro-batches of %zu rows\n", stages, micro_batches, rows / micro_batches);
    std::printf("the loss falls from %.4f to %.4f in 100 steps\n", first, last);
    // [idle]
    for (const auto& [order, name] :
         {std::pair{pipeline_order::gpipe, "all forward, then all backward"},
          std::pair{pipeline_order::one_forward_one_backward, "one forward, one backward"}}) {
      const pipeline_shape shape{{0, 1, 2, 3}, micro_batches};
      const pipeline_times times{{1, 1, 1, 1}, {2, 2, 2, 2}};
      const pipeline_run run = simulate(shape, tasks_of(order, shape, times), times);
      std::printf("%-31s idle %.1f %%, at most %u micro-batches kept\n", name, 100 * run.idle, run.most_kept);
    }
    // [/idle]
  }
  return last < 0.5 * first ? 0 : 1;
}
