// Training steps of a perceptron, or of a transformer, whose weights are cut over the data axis, bound with and without
// overlap of movements and computing: times of both, alternating in one run, and the time in which a worker waits for
// movements.
#include "machine.hpp"

#include <algorithm>
#include <partita/partita.hpp>
#include <partita/sharded/attention.hpp>
#include <partita/sharded/bound_program.hpp>
#include <partita/sharded/element_functions.hpp>
#include <partita/sharded/norms.hpp>
#include <partita/sharded/operations.hpp>
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

/// A transformer block on x [batch, positions, width].
const auto block = [](const auto& x, const auto& g, const auto& b, const auto& q, const auto& k, const auto& v,
                      const auto& o, const auto& up, const auto& down) {
  const auto n = normalise(x, g, b);
  const auto seen = attention(einsum<"btc,chd->bhtd">(n, q), einsum<"btc,chd->bhtd">(n, k),
                              einsum<"btc,chd->bhtd">(n, v), {.causal = true});
  const auto y = add(x, einsum<"bhtd,hdc->btc">(seen, o));
  return add(y, einsum<"btf,fc->btc">(gelu(einsum<"btc,cf->btf">(normalise(y, g, b), up)), down));
};

/// Compares steps of a program in order and overlapped. The first argument is the batch, the others are weights.
template <std::size_t... I>
bool compare(const world& everyone, const bench::command_line& line, const std::string& name,
             const traced_function& program, std::index_sequence<I...>, bench::rows& out) {
  const std::size_t width = line.count("width");
  const auto made = [&](std::size_t k) {
    const value v = program.input(k);
    return shard<float>(everyone, program.complete()[v], program.operations()[v].shape, [&](const auto& i) {
      std::size_t salt = k;
      for (const std::size_t at : i) salt = 7 * salt + 5 * at;
      return static_cast<float>(salt % 13) / static_cast<float>(width) - 0.01F;
    });
  };
  const tensor arguments[] = {made(I)...};
  const tensor dy = reshard(arguments[0], layout_of_cotangent(program.complete()[program.result()]));
  struct variant {
    const char* name;
    bound_program<float> step;
    std::vector<double> samples{}, waited{}, computed{};
    std::vector<tensor> found{};
  };
  std::vector<std::size_t> gradients;
  for (std::size_t k = 1; k < sizeof...(I); ++k) gradients.push_back(k);
  variant all[] = {{"in order", program.bind<float>(everyone, gradients, {.overlap = false})},
                   {"overlapped", program.bind<float>(everyone, gradients, {.overlap = true})}};
  for (variant& v : all) v.step.measured();
  for (int round = -1; round < line.rounds("steps"); ++round)
    for (variant& v : all) {
      const double took = bench::timed([&] {
        v.step(arguments[I]...);
        v.step.backward(dy);
      });
      if (round < 0) continue;
      const timetable last = v.step.measured();
      v.samples.push_back(took), v.waited.push_back(last.waiting()), v.computed.push_back(last.computing());
    }
  for (variant& v : all) {
    v.step(arguments[I]...);
    v.found = v.step.backward(dy);
  }
  bool right = true;
  for (std::size_t k = 0; k < gradients.size(); ++k) {
    const tensor &a = all[0].found[k], &b = all[1].found[k];
    right = right && std::equal(a.data(), a.data() + a.size(), b.data());
  }
  const double in_order = bench::median(all[0].samples);
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

bool measure(const bench::command_line& line, bench::rows& out) {
  const world everyone;
  const std::size_t n = everyone.size(), width = line.count("width"), batch = line.count("batch");
  const bool is_transformer = line.word("network") == "transformer";
  if (!is_transformer && line.word("network") != "perceptron")
    throw bench::usage_error("requires --network perceptron or --network transformer");
  constexpr std::size_t heads = 8, positions = 32;
  const std::size_t sequences = batch / positions;
  if (width % n != 0 || (is_transformer ? sequences : batch) % n != 0)
    throw bench::usage_error(
        "requires a --width and a --batch that the number of workers divides; of a transformer, 32 rows are a "
        "sequence");
  if (is_transformer && (heads % n != 0 || width % heads != 0 || batch % positions != 0))
    throw bench::usage_error("requires 8 heads that the number of workers divides, and whole sequences of 32 rows");
  const mesh m{axis{"data", n}};
  // Each weight is gathered where it is used, and its gradient is reduce-scattered.
  const spec rows(m.layout("data", ""), {width, width});
  const std::string size = std::to_string(batch) + " x " + std::to_string(width) + ", " + line.word("link");
  if (!is_transformer) {
    const auto network = [](const auto& x, const auto&... w) { return layers(x, w...); };
    return compare(everyone, line, "step of " + size,
                   trace(network, spec(m.layout("data", ""), {batch, width}), rows, rows, rows, rows, rows, rows),
                   std::make_index_sequence<7>(), out);
  }
  const spec g({width}), project(m.layout("data", "", ""), {width, heads, width / heads}),
      merge(m.layout("data", "", ""), {heads, width / heads, width}), up(m.layout("data", ""), {width, 4 * width}),
      down(m.layout("data", ""), {4 * width, width});
  const auto network = [](const auto& x, const auto& scale, const auto& shift, const auto& q1, const auto& k1,
                          const auto& v1, const auto& o1, const auto& up1, const auto& down1, const auto& q2,
                          const auto& k2, const auto& v2, const auto& o2, const auto& up2, const auto& down2) {
    return block(block(x, scale, shift, q1, k1, v1, o1, up1, down1), scale, shift, q2, k2, v2, o2, up2, down2);
  };
  return compare(everyone, line, "transformer step of " + size,
                 trace(network, spec(m.layout("data", "", ""), {sequences, positions, width}), g, g, project, project,
                       project, merge, up, down, project, project, project, merge, up, down),
                 std::make_index_sequence<15>(), out);
}

}  // namespace

int main(int argc, char** argv) {
  const bench::command_line line(
      "overlap", "training steps with and without overlap of movements and computing", {1},
      {{"network", bench::argument::word, "perceptron of six layers, or transformer of two", "perceptron"},
       {"width", bench::argument::count, "features of each layer", "512", "64"},
       {"batch", bench::argument::count, "rows of a step", "1024", "64"},
       {"steps", bench::argument::count, "steps of each kind", "31", "3"},
       {"link", bench::argument::word, "the link of the workers, for the rows", "one node"}});
  return bench::run_on_workers(argc, argv, line, measure);
}
