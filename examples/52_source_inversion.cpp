// Finds the source of a wave from the records of a few rows of receivers, by gradient descent, on 4 workers.
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <partita/partita.hpp>
#include <partita/sharded/scan.hpp>
#include <tuple>
#include <vector>

using namespace partita;
using tensor = sharded_tensor<double>;

constexpr std::size_t side = 20, steps = 32;

int main(int argc, char** argv) {
  boost::mpi::environment environment(argc, argv);
  const world everyone;
  // [layout]
  const mesh m{axis{"rows", 2}, axis{"columns", 2}};
  const sharding cut = m.layout("", "", "rows", "columns");  // any other layout gives the same result
  // [/layout]
  const auto field = [&](auto f) {
    return shard<double>(everyone, cut, {1, 1, side, side},
                         [f](const auto& i) { return f(double(i[2]), double(i[3])); });
  };
  const auto stencil = shard(everyone, m.layout("", "", "", ""),
                             xt::xtensor<double, 4>{{{{0.05, 0.2, 0.05}, {0.2, -1, 0.2}, {0.05, 0.2, 0.05}}}});
  const auto at_rest = field([](double, double) { return 0.; });
  const auto receivers = field([](double i, double) { return int(i) % 6 == 1 ? 1. : 0.; });
  const auto true_source =
      field([](double i, double j) { return std::exp(-((i - 8) * (i - 8) + (j - 12) * (j - 12)) / 6); });

  // [wave]
  const auto pulse = [](std::size_t i) {  // the strength of the source in step i
    const double t = (double(i) - 6) / 3;
    return (1 - 2 * t * t) * std::exp(-t * t);
  };
  const auto next = [&](std::size_t i, const auto& now, const auto& before, const auto& source) {
    const auto laplacian = convolve<2>(now, stencil, {.padding = {1, 1}});
    return add(subtract(multiply(now, 2), before), add(multiply(laplacian, 0.4), multiply(source, pulse(i))));
  };
  // [/wave]
  std::vector<tensor> records;
  scan(
      [&](std::size_t i, const auto& state) {
        const auto& [now, before] = state;
        records.push_back(next(i, now, before, true_source));
        return std::tuple{records.back(), now};
      },
      std::tuple{at_rest, at_rest}, steps);

  // [misfit]
  const auto misfit = [&](const auto& source) {  // the state is the wave, the previous wave, and the misfit so far
    const auto step = [&](std::size_t i, const auto& state, const auto& s) {
      const auto& [now, before, misfit_so_far] = state;
      const auto later = next(i, now, before, s);
      return std::tuple{later, now, add(misfit_so_far, multiply(receivers, square(subtract(later, records[i]))))};
    };
    return sum(std::get<2>(scan(step, std::tuple{at_rest, at_rest, at_rest}, steps, {.recompute_every = 8}, source)));
  };
  // [/misfit]

  // [descent]
  tensor estimate = at_rest;
  double first = 0, slope_error = 0, value = 0;
  std::size_t tape_bytes = 0;
  for (int round = 0; round < 6; ++round) {
    const auto [misfit_so_far, gradients] = value_and_gradient(misfit, estimate);
    const auto& gradient = std::get<0>(gradients);
    // the misfit is a quadratic function of the source: its values at two points give the best length of a step
    const double slope = sum(square(gradient)).number();
    const double along = misfit(subtract(estimate, gradient)).number();
    const double curvature = along - misfit_so_far + slope;
    if (round == 0) {
      tape_bytes = tape_holds().most_bytes;
      first = misfit_so_far;
      const double forward = misfit(add(estimate, gradient)).number();
      slope_error =
          std::abs((forward - along) / 2 - slope) / slope;  // central differences are exact for a quadratic function
    }
    estimate = subtract(estimate, multiply(gradient, slope / (2 * curvature)));
    value = misfit_so_far;
  }
  // [/descent]
  const auto places = argmax(reshape(estimate, {side * side}), dimensions<0>);
  const auto largest_place = static_cast<std::size_t>(places.number());
  if (everyone.id() == 0) {
    std::printf("%zu steps of a wave on %zu x %zu cells, at most %zu bytes kept by a worker\n", steps, side, side,
                tape_bytes);
    std::printf("the gradient differs from a finite difference by %.0e of it\n", slope_error);
    std::printf("6 descents: the misfit falls from %.2f to %.2f, the source is loudest at row %zu, column %zu\n", first,
                value, largest_place / side, largest_place % side);
  }
  const bool right = slope_error < 1e-9 && value < first / 5 && largest_place == 8 * side + 12;
  return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
