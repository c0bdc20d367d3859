// Trains a transformer block that gathers its weights while it computes, on 4 workers.
//
// Usage: pending_movements [FILE]
//
// Draws the estimated timetable of a step into FILE, an SVG picture.
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <fstream>
#include <partita/explain/timetable_picture.hpp>
#include <partita/partita.hpp>
#include <partita/sharded/arithmetic.hpp>
#include <partita/sharded/attention.hpp>
#include <partita/sharded/bound_program.hpp>
#include <partita/sharded/losses.hpp>
#include <partita/sharded/norms.hpp>
#include <utility>
#include <vector>

using namespace partita;
using tensor = sharded_tensor<double>;

constexpr std::size_t batch = 8, positions = 8, width = 16, heads = 4, hidden = 32, steps = 30;

// [block]
/// The loss of attention and a feed-forward network on x [batch, positions, width]: the distance from the targets.
const auto loss = [](const auto& x, const auto& targets, const auto& scale, const auto& shift, const auto& q,
                     const auto& k, const auto& v, const auto& o, const auto& up, const auto& down) {
  const auto n = normalise(x, scale, shift);
  const auto mixed = attention(einsum<"btc,chd->bhtd">(n, q), einsum<"btc,chd->bhtd">(n, k),
                               einsum<"btc,chd->bhtd">(n, v), {.causal = true});
  const auto y = add(x, einsum<"bhtd,hdc->btc">(mixed, o));
  const auto z = add(y, einsum<"btf,fc->btc">(gelu(einsum<"btc,cf->btf">(normalise(y, scale, shift), up)), down));
  return mean(losses::mse(z, targets));
};
// [/block]

int main(int argc, char** argv) {
  boost::mpi::environment environment;
  const world everyone;
  // [trace]
  // Samples and weights are sharded over the data axis: each weight is gathered before its product, and its gradient is
  // reduce-scattered.
  const mesh m{axis{"data", everyone.size()}};
  const std::vector<shape_list> extents{{batch, positions, width},
                                        {batch, positions, width},
                                        {width},
                                        {width},
                                        {width, heads, width / heads},
                                        {width, heads, width / heads},
                                        {width, heads, width / heads},
                                        {heads, width / heads, width},
                                        {width, hidden},
                                        {hidden, width}};
  const auto first = [&](std::size_t k) {
    return spec(sharding(m, extents[k].size()).cut(0, axis_list(0)), extents[k]);
  };
  const auto program =
      trace(loss, first(0), first(1), first(2), first(3), first(4), first(5), first(6), first(7), first(8), first(9));
  // [/trace]
  std::vector<tensor> all;
  for (std::size_t k = 0; k < extents.size(); ++k)
    all.push_back(
        shard<double>(everyone, sharding(m, extents[k].size()).cut(0, axis_list(0)), extents[k], [&](const auto& i) {
          double at = double(k);
          for (const auto one : i) at = 1.7 * at + double(one);
          return k == 2 ? 1.0 : (k < 2 ? 1.0 : 0.3) * std::sin(at);
        }));

  // [train]
  const std::vector<std::size_t> weights{2, 3, 4, 5, 6, 7, 8, 9};
  const auto train = [&](const schedule_options& options, timetable& times) {
    auto step = program.bind<double>(everyone, weights, options);
    times = step.timetable();  // step.measured_timetable() has measured times
    std::vector<tensor> w = all;
    std::vector<double> values;
    for (std::size_t t = 0; t < steps; ++t) {
      const tensor value = [&]<std::size_t... I>(std::index_sequence<I...>) {
        return step(w[I]...);
      }(std::make_index_sequence<10>());
      values.push_back(reshard(value, value.layout().without_partials()).number());
      const tensor one =
          shard<double>(everyone, layout_of_cotangent(value.layout()), {}, [](const auto&) { return 1.0; });
      const auto& gradients = step.backward(one);
      for (std::size_t k = 0; k < weights.size(); ++k)
        w[weights[k]] = subtract(w[weights[k]], reshard(gradients[k], w[weights[k]].layout()) * 0.2);
    }
    return values;
  };
  timetable ordered, overlapped;
  const auto in_order = train({.overlap = false}, ordered), ahead = train({.overlap = true}, overlapped);
  // [/train]

  if (everyone.id() == 0) {
    std::printf("the loss falls from %.4f to %.4f in %zu steps\n", ahead.front(), ahead.back(), steps);
    std::printf("with and without overlap it has %s bits\n", ahead == in_order ? "the same" : "OTHER");
    for (const auto& [name, times] : {std::pair{"in order", ordered}, std::pair{"with overlap", overlapped}})
      std::printf("estimate of a step %s: computing %.1f us, waiting for movements %.1f us\n", name,
                  1e6 * times.computing(), 1e6 * times.waiting());
    if (argc > 1) std::ofstream(argv[1]) << to_svg(overlapped);
    else std::printf("give a file name to draw the timetable\n");
  }
  return ahead == in_order && ahead.back() < 0.8 * ahead.front() ? 0 : 1;
}
