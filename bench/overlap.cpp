// Compares training steps of a perceptron or a transformer, whose weights are sharded over the data axis, with and
// without overlap of movements and computing, and the time in which a worker waits for movements; or two convolutions
// and pooling with one exchange for each and with one exchange for all. The variants alternate in one run.
#include "machine.hpp"
#include "transformer_block.hpp"

#include <algorithm>
#include <cmath>
#include <partita/partita.hpp>
#include <partita/sharded/bound_program.hpp>
#include <partita/sharded/convolve.hpp>
#include <partita/sharded/element_functions.hpp>
#include <partita/sharded/operations.hpp>
#include <partita/sharded/pool.hpp>
#include <partita/sharded/tensor_functions.hpp>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace partita;
using tensor = sharded_tensor<float>;

template <class X, class W>
auto layers(const X& x, const W& last) {
  return matmul(x, last);
}
template <class X, class W, class... More>
auto layers(const X& x, const W& first, const More&... more) {
  return layers(relu(matmul(x, first)), more...);
}

/// The options and the samples of one way to bind a program.
struct way {
  const char* name;
  schedule_options options;
};

/// Compares steps of a program that is bound in two ways. The first argument of the program is the batch, all other
/// arguments are weights. The results of a training step, which are its gradients, have the same bits.
template <std::size_t... I>
bool compare(const world& everyone, const bench::command_line& line, const std::string& name,
             const traced_function& program, std::index_sequence<I...>, const way (&ways)[2], bool trains,
             bench::rows& out) {
  const std::size_t width = line.count("width");
  const auto tensor_of = [&](std::size_t k) {
    const value v = program.input(k);
    return shard<float>(everyone, program.complete()[v], program.operations()[v].shape, [&](const auto& i) {
      std::size_t salt = k;
      for (const std::size_t at : i) salt = 7 * salt + 5 * at;
      return static_cast<float>(salt % 13) / static_cast<float>(width) - 0.01F;
    });
  };
  const tensor arguments[] = {tensor_of(I)...};
  struct variant {
    bound_program<float> step;
    std::vector<double> samples{}, waited{}, computed{};
    std::vector<tensor> results{};
  };
  std::vector<std::size_t> gradients;
  for (std::size_t k = 1; trains && k < sizeof...(I); ++k) gradients.push_back(k);
  variant all[] = {{program.bind<float>(everyone, gradients, ways[0].options)},
                   {program.bind<float>(everyone, gradients, ways[1].options)}};
  tensor dy;
  if (trains) dy = reshard(arguments[0], layout_of_cotangent(program.complete()[program.result()]));
  for (variant& v : all) v.step.measured_timetable();
  for (int round = -1; round < line.rounds("steps"); ++round)
    for (variant& v : all) {
      const double step_seconds = bench::timed([&] {
        const tensor& y = v.step(arguments[I]...);
        v.results = trains ? v.step.backward(dy) : std::vector<tensor>{y};
      });
      if (round < 0) continue;
      const timetable last = v.step.measured_timetable();
      v.samples.push_back(step_seconds), v.waited.push_back(last.waiting()), v.computed.push_back(last.computing());
    }
  bool right = true;
  for (std::size_t k = 0; k < all[0].results.size(); ++k) {
    const tensor &a = all[0].results[k], &b = all[1].results[k];
    // a product of a larger block may be rounded differently
    right = right && std::equal(a.data(), a.data() + a.size(), b.data(), [&](float u, float v) {
              return trains ? u == v : std::abs(u - v) <= 1e-4F * (1 + std::abs(u));
            });
  }
  const double first = bench::median(all[0].samples);
  for (std::size_t k = 0; k < 2; ++k) {
    const variant& v = all[k];
    const timetable guess = v.step.timetable();
    out.add_peer(name, ways[k].name, v.samples,
                 {{"ratio", bench::median(v.samples) / first},
                  {"seconds_waiting", bench::median(v.waited)},
                  {"seconds_computing", bench::median(v.computed)},
                  {"seconds_estimated", guess.seconds()},
                  {"seconds_estimated_waiting", guess.waiting()}});
  }
  return right;
}

/// Measures two convolutions and pooling of an image that is sharded along its rows: 64 rows for each worker.
bool measure_windows(const world& everyone, const bench::command_line& line, bench::rows& out) {
  const std::size_t n = everyone.size(), channels = line.count("channels");
  const mesh m{axis{"rows", n}};
  const auto network = [](const auto& x, const auto& a, const auto& b) {
    const auto y = convolve<2>(convolve<2>(x, a, {.padding = {1, 1}}), b, {.padding = {1, 1}});
    return max_pool<2>(y, {.kernel = {3, 3}, .stride = 2, .padding = {1, 1}});
  };
  const spec kernel(m.layout("", "", "", ""), {channels, channels, 3, 3});
  const way ways[] = {{"three exchanges", {.wider_windows = false}}, {"wider windows", {.wider_windows = true}}};
  return compare(
      everyone, line,
      "convolution, convolution, pooling of 64 x 64, " + std::to_string(channels) + " channels, " + line.word("link"),
      trace(network, spec(m.layout("", "", "rows", ""), {1, channels, 64 * n, 64}), kernel, kernel),
      std::make_index_sequence<3>(), ways, false, out);
}

bool measure(const bench::command_line& line, bench::rows& out) {
  const world everyone;
  const std::string network_name = line.word("network");
  if (network_name == "windows") return measure_windows(everyone, line, out);
  const std::size_t n = everyone.size(), width = line.count("width"), batch = line.count("batch");
  const bool is_transformer = network_name == "transformer";
  if (!is_transformer && network_name != "perceptron")
    throw bench::usage_error("requires --network perceptron, transformer or windows");
  constexpr std::size_t heads = 8, positions = 32;
  const std::size_t sequences = batch / positions;
  if (width % n != 0 || (is_transformer ? sequences : batch) % n != 0)
    throw bench::usage_error(
        "requires a --width and a --batch that the number of workers divides; of a transformer, 32 rows are a "
        "sequence");
  if (is_transformer && (heads % n != 0 || width % heads != 0 || batch % positions != 0))
    throw bench::usage_error("requires 8 heads that the number of workers divides, and whole sequences of 32 rows");
  const mesh m{axis{"data", n}};
  // Each weight is gathered before its product, and its gradient is reduce-scattered.
  const way ways[] = {{"in order", {.overlap = false}}, {"overlapped", {.overlap = true}}};
  const std::string size = std::to_string(batch) + " x " + std::to_string(width) + ", " + line.word("link");
  if (!is_transformer) {
    const auto network = [](const auto& x, const auto&... w) { return layers(x, w...); };
    const spec rows(m.layout("data", ""), {width, width});
    return compare(everyone, line, "step of " + size,
                   trace(network, spec(m.layout("data", ""), {batch, width}), rows, rows, rows, rows, rows, rows),
                   std::make_index_sequence<7>(), ways, true, out);
  }
  const spec g({width}), project(m.layout("data", "", ""), {width, heads, width / heads}),
      merge(m.layout("data", "", ""), {heads, width / heads, width}), up(m.layout("data", ""), {width, 4 * width}),
      down(m.layout("data", ""), {4 * width, width});
  const auto network = [](const auto& x, const auto& scale, const auto& shift, const auto& q1, const auto& k1,
                          const auto& v1, const auto& o1, const auto& up1, const auto& down1, const auto& q2,
                          const auto& k2, const auto& v2, const auto& o2, const auto& up2, const auto& down2) {
    return bench::transformer_block(bench::transformer_block(x, scale, shift, q1, k1, v1, o1, up1, down1), scale, shift,
                                    q2, k2, v2, o2, up2, down2);
  };
  return compare(everyone, line, "transformer step of " + size,
                 trace(network, spec(m.layout("data", "", ""), {sequences, positions, width}), g, g, project, project,
                       project, merge, up, down, project, project, project, merge, up, down),
                 std::make_index_sequence<15>(), ways, true, out);
}

}  // namespace

int main(int argc, char** argv) {
  const bench::command_line line(
      "overlap", "training steps with and without overlap of movements and computing", {1},
      {{"network", bench::argument::word, "perceptron of six layers, transformer of two, or windows", "perceptron"},
       {"width", bench::argument::count, "features of each layer", "512", "64"},
       {"batch", bench::argument::count, "rows of a step", "1024", "64"},
       {"channels", bench::argument::count, "channels of the images of --network windows", "4", "1"},
       {"steps", bench::argument::count, "steps of each kind", "31", "3"},
       {"link", bench::argument::word, "the link of the workers, for the rows", "one node"}});
  return bench::run_on_workers(argc, argv, line, measure);
}
