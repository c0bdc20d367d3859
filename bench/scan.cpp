// Times a scan and its gradient with each option, and compares the times with predictions. A prediction follows from
// the number of computed steps, the time of a scan that records all steps, and the time of a step without a gradient.
#include "machine.hpp"

#include <algorithm>
#include <functional>
#include <partita/sharded/parts.hpp>
#include <partita/sharded/scan.hpp>
#include <partita/sharded/tensor_functions.hpp>
#include <string>
#include <tuple>
#include <vector>

namespace {

using namespace partita;

bool measure(const bench::command_line& line, bench::rows& out) {
  const world everyone;
  const mesh m{axis{"rows", everyone.size()}};
  const std::size_t n = line.count("steps"), rows = line.count("rows") * everyone.size(),
                    columns = line.count("columns");
  const auto field = [&](double salt) {
    return shard<double>(everyone, m.layout("rows", ""), {rows, columns}, [=](const auto& i) {
      return std::sin(salt + 0.3 * static_cast<double>(i[0]) + 0.7 * static_cast<double>(i[1]));
    });
  };
  const auto u = field(1), speed = field(2);
  // the step of a wave equation reads the row above, which may belong to another worker
  const auto step = [&](const auto& state, const auto& c) {
    const auto& [now, before] = state;
    const auto above = pad(slice(now, dimensions<0>, {0, rows - 1}), dimensions<0>, {1, 0});
    return std::tuple{add(subtract(multiply(now, 2), before), multiply(c, subtract(above, now))), now};
  };
  struct variant {
    std::string name;
    scan_options options;
    std::vector<double> samples{}, ratios{};
  };
  std::vector<variant> variants{{"all steps recorded", {}},
                                {"every 8th state", {.recompute_every = 8}},
                                {"every 32nd state", {.recompute_every = 32}},
                                {"10 checkpoints", {.checkpoints = 10}},
                                {"3 checkpoints", {.checkpoints = 3}}};
  std::vector<double> forward;
  const auto small = multiply(speed, 0.01);
  double first = 0;
  bool right = true;
  for (int round = -1; round < line.rounds(); ++round) {
    const double forward_seconds = bench::timed([&] { scan(step, std::tuple{u, u}, n, small); });
    if (round >= 0) forward.push_back(forward_seconds);
    double recorded = 0;
    for (variant& v : variants) {
      const double gradient_seconds = bench::timed([&] {
        const auto all = value_and_gradient(
            [&](const auto& c) {
              return sum(std::get<0>(scan(step, std::tuple{u, u}, n, v.options, c)));
            },
            small);
        const double corner_gradient = std::get<0>(all.gradients).data()[0];
        if (round < 0 && &v == variants.data()) first = corner_gradient;
        right = right && corner_gradient == first;
      });
      // the time that the number of steps predicts, from the samples of this round
      if (&v == variants.data()) recorded = gradient_seconds;
      const double recomputed_steps = static_cast<double>(scan_cost(n, v.options, 0, 0).steps - n);
      if (round < 0) continue;
      v.samples.push_back(gradient_seconds);
      v.ratios.push_back(gradient_seconds / (recorded + recomputed_steps * forward_seconds / static_cast<double>(n)));
    }
  }
  const std::string name = "scan of " + std::to_string(n) + " steps";
  out.add_peer(name, "without a gradient", forward, {{"steps", n}});
  for (const variant& v : variants)
    out.add_peer(name, v.name, v.samples,
                 {{"steps", scan_cost(n, v.options, 0, 0).steps}, {"ratio", bench::median(v.ratios)}});
  return right;
}

}  // namespace

int main(int argc, char** argv) {
  const bench::command_line line("scan", "scans that compute steps again, over the count of their steps", {1},
                                 {{"steps", bench::argument::count, "steps of the scan", "256", "40"},
                                  {"rows", bench::argument::count, "rows of a worker", "128", "16"},
                                  {"columns", bench::argument::count, "columns", "128", "16"},
                                  {"rounds", bench::argument::count, "samples", "11", "2"}});
  return bench::run_on_workers(argc, argv, line, measure);
}
