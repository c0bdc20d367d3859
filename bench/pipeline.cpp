// Times steps of a pipeline with one stage for each worker, in several orders that alternate in one run, and compares
// the measured idle share of the workers with the simulated idle share. If the machine has fewer cores than stages, a
// stage can wait instead of computing, as for a device of its own.
#include "machine.hpp"

#include <chrono>

#include <partita/comm/over_workers.hpp>
#include <partita/partita.hpp>
#include <partita/sharded/arithmetic.hpp>
#include <partita/sharded/operate.hpp>
#include <partita/sharded/pipeline.hpp>
#include <partita/sharded/reductions.hpp>
#include <thread>
#include <utility>
#include <vector>

namespace {

using namespace partita;
using tensor = sharded_tensor<float>;

/// An operation that returns its operand after a wait, which stands for the time of a device; its adjoint also waits.
struct waiting {
  static constexpr std::size_t parameters = 2;
  double milliseconds = 0, back = 0;

  static constexpr partita::rule rule(const shape_span& shapes) { return rules::elementwise.named("waiting")(shapes); }
  template <class T>
  void local(const tensor_part<const T>& x, const tensor_part<T>& y) const {
    std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(milliseconds));
    for (std::size_t k = 0; k < y.size(); ++k) y[k] = x[k];
  }
  template <class X>
  X adjoint(std::size_t, const X& dy, const X&, const X&) const {
    return apply_op(waiting{back, back}, dy);
  }
};

bool measure(const bench::command_line& line, bench::rows& out) {
  const world everyone;
  const std::size_t stages = everyone.size(), width = line.count("width"), rows = line.count("batch"),
                    micro_batches = line.count("micro-batches");
  const auto device = line.has("device") ? line.decimal("device") : 0.0;
  if (rows < micro_batches) throw bench::usage_error("requires a --batch of a row for each micro-batch");
  const mesh m{axis{"data", 1}};
  const sharding replicated = m.layout("", "");
  // Each stage has two products, and the last stage also computes the loss.
  const auto layers = [=](const auto& x, const auto& v, const auto& w) {
    if (device == 0) return tanh(matmul(tanh(matmul(x, v)), w));
    // the cotangents of the inputs take as long as the forward pass, and so do the gradients of the weights
    const auto y = tanh(matmul(tanh(matmul(x, v)), apply_op(waiting{0, device}, w)));
    return apply_op(waiting{device, device}, y);
  };
  std::vector<pipeline_stage> list;
  for (std::size_t s = 0; s < stages; ++s) {
    const shape_list weight{width, width};
    const bool is_last = s + 1 == stages;
    list.push_back({[=](std::size_t n) {
                      const auto loss = [=](const auto& x, const auto& t, const auto& v, const auto& w) {
                        const auto wrong = subtract(layers(x, v, w), t);
                        return sum(multiply(wrong, wrong)) / static_cast<double>(n);
                      };
                      const shape_list x{n, width};
                      return is_last ? trace(loss, spec(replicated, x), spec(x), spec(weight), spec(weight))
                                     : trace(layers, spec(replicated, x), spec(weight), spec(weight));
                    },
                    placed_mesh(m, workers(s, s + 1))});
  }
  const auto made = [&](std::size_t s, std::size_t salt, const shape_list& extents) {
    const auto element = [&](const auto& i) {
      return (static_cast<float>((i[0] * 7 + i[1] * 5 + salt) % 13) - 6) / static_cast<float>(width);
    };
    return reshard(shard<float>(everyone, replicated, extents, element), list[s].where, replicated);
  };
  const auto x = made(0, 1, {rows, width}), targets = made(stages - 1, 2, {rows, width});
  std::vector<std::vector<tensor>> weights(stages);
  for (std::size_t s = 0; s < stages; ++s)
    for (const std::size_t k : {3U, 4U}) weights[s].push_back(made(s, k, {width, width}));
  struct variant {
    const char* name;
    pipeline<float> step;
    std::vector<double> samples{}, idle{};
  };
  const auto in = [&](pipeline_order order) {
    return pipeline<float>(everyone, list, {.rows = rows, .micro_batches = micro_batches, .order = order});
  };
  std::vector<variant> all;
  all.push_back({"gpipe", in(pipeline_order::gpipe)});
  all.push_back({"one forward one backward", in(pipeline_order::one_forward_one_backward)});
  all.push_back({"zero bubble", in(pipeline_order::zero_bubble)});
  for (variant& v : all) v.step.measured_timetable();
  bool right = true;
  for (int round = -1; round < line.rounds("steps"); ++round)
    for (variant& v : all) {
      const double took = bench::timed([&] { v.step(x, targets, weights); });
      const double computing = sum_over(everyone, v.step.measured_timetable().computing());
      if (round < 0) continue;
      v.samples.push_back(took);
      v.idle.push_back(1 - computing / (static_cast<double>(stages) * took));
    }
  const std::vector<std::vector<tensor>> first = all[0].step.gradients();
  for (variant& v : all) {
    const auto gradients = v.step.gradients();
    for (std::size_t s = 0; s < stages; ++s)
      for (std::size_t k = 0; k < 2; ++k) {
        const tensor &a = gradients[s][k], &b = first[s][k];
        right = right && std::equal(a.data(), a.data() + a.size(), b.data());
      }
    out.add_peer("pipeline step", v.name, v.samples,
                 {{"device_ms", device},
                  {"ratio", bench::median(v.samples) / bench::median(all[0].samples)},
                  {"idle", bench::median(v.idle)},
                  {"simulated idle", v.step.simulated().idle}});
  }
  return right;
}

}  // namespace

int main(int argc, char** argv) {
  const bench::command_line line(
      "pipeline", "steps of a pipeline in several orders, and the idle share of its workers", {1},
      {{"width", bench::argument::count, "features of each layer", "512", "32"},
       {"batch", bench::argument::count, "rows of a step", "1024", "16"},
       {"micro-batches", bench::argument::count, "parts of a batch", "8", "4"},
       {"device", bench::argument::decimal, "milliseconds that each pass waits for its device", "", "1"},
       {"steps", bench::argument::count, "steps of each order", "15", "2"}});
  return bench::run_on_workers(argc, argv, line, measure);
}
