// Training steps of a perceptron whose weights are cut over the data axis, bound with and without overlap of movements
// and computing: times of both, alternating in one run, and the time in which a worker waits for movements.
#include "machine.hpp"

#include <algorithm>
#include <partita/partita.hpp>
#include <partita/sharded/bound_program.hpp>
#include <partita/sharded/element_functions.hpp>
#include <partita/sharded/operations.hpp>
#include <partita/sharded/tensor_functions.hpp>
#include <string>
#include <vector>

namespace {

using namespace partita;

template <class X, class W>
auto layers(const X& x, const W& last) {
  return matmul(x, last);
}
template <class X, class W, class... More>
auto layers(const X& x, const W& first, const More&... more) {
  return layers(relu(matmul(x, first)), more...);
}

bool measure(const bench::command_line& line, bench::rows& out) {
  const world everyone;
  const std::size_t n = everyone.size(), width = line.count("width"), batch = line.count("batch");
  if (width % n != 0 || batch % n != 0)
    throw bench::usage_error("requires a --width and a --batch that the number of workers divides");
  const mesh m{axis{"data", n}};
  const sharding rows = m.layout("data", "");
  // Six layers; each weight is gathered where it is used, and its gradient is reduce-scattered.
  const auto network = [](const auto& x, const auto&... w) { return layers(x, w...); };
  const shape_list weight{width, width};
  const auto program = trace(network, spec(rows, {batch, width}), spec(rows, weight), spec(rows, weight),
                             spec(rows, weight), spec(rows, weight), spec(rows, weight), spec(rows, weight));
  const auto tensor = [&](std::size_t k, const shape_list& extents) {
    return shard<float>(everyone, rows, extents, [&](const auto& i) {
      return static_cast<float>((i[0] * 7 + i[1] * 5 + k) % 13) / static_cast<float>(width) - 0.01F;
    });
  };
  const auto x = tensor(9, {batch, width}), dy = reshard(x, layout_of_cotangent(program.complete()[program.result()]));
  std::vector<sharded_tensor<float>> w;
  for (std::size_t k = 0; k < 6; ++k) w.push_back(tensor(k, weight));
  struct variant {
    const char* name;
    bound_program<float> step;
    std::vector<double> samples{}, waited{}, computed{};
  };
  const std::vector<std::size_t> gradients{1, 2, 3, 4, 5, 6};
  variant all[] = {{"in order", program.bind<float>(everyone, gradients, {.overlap = false})},
                   {"overlapped", program.bind<float>(everyone, gradients, {.overlap = true})}};
  bool right = true;
  for (variant& v : all) v.step.measured();
  for (int round = -1; round < line.rounds("steps"); ++round)
    for (variant& v : all) {
      const double took = bench::timed([&] {
        v.step(x, w[0], w[1], w[2], w[3], w[4], w[5]);
        v.step.backward(dy);
      });
      if (round < 0) continue;
      const timetable last = v.step.measured();
      v.samples.push_back(took), v.waited.push_back(last.waiting()), v.computed.push_back(last.computing());
    }
  std::vector<sharded_tensor<float>> found[2];
  for (std::size_t k = 0; k < 2; ++k) {
    all[k].step(x, w[0], w[1], w[2], w[3], w[4], w[5]);
    found[k] = all[k].step.backward(dy);
  }
  for (std::size_t k = 0; k < 6; ++k) {
    const sharded_tensor<float>&a = found[0][k], &b = found[1][k];
    right = right && std::equal(a.data(), a.data() + a.size(), b.data());
  }
  const double in_order = bench::median(all[0].samples);
  const std::string name =
      "step of " + std::to_string(batch) + " x " + std::to_string(width) + ", " + line.word("link");
  for (const variant& v : all) {
    const timetable guess = v.step.timetable();
    out.add_peer(name, v.name, v.samples,
                 {{"ratio", bench::median(v.samples) / in_order},
                  {"seconds_waiting", bench::median(v.waited)},
                  {"seconds_computing", bench::median(v.computed)},
                  {"seconds_estimated", guess.seconds()},
                  {"seconds_estimated_waiting", guess.waiting()}});
  }
  return right;
}

}  // namespace

int main(int argc, char** argv) {
  const bench::command_line line(
      "overlap", "training steps with and without overlap of movements and computing", {1},
      {{"width", bench::argument::count, "features of each layer", "512", "64"},
       {"batch", bench::argument::count, "rows of a step", "1024", "64"},
       {"steps", bench::argument::count, "steps of each kind", "31", "3"},
       {"link", bench::argument::word, "the link of the workers, for the rows", "one node"}});
  return bench::run_on_workers(argc, argv, line, measure);
}
