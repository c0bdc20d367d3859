// Waves in a box: measures how much of the exchange of ghost cells is hidden behind computing, on 4 workers.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <numbers>
#include <partita/partita.hpp>
#include <string>
#include <utility>

using namespace partita;

constexpr double courant = 0.4, pi = std::numbers::pi;

/// The seconds that a call of f takes, measured after a barrier.
template <class Call>
double seconds(Call call) {
  boost::mpi::communicator().barrier();
  const auto start = std::chrono::steady_clock::now();
  call();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

int main(int argc, char** argv) {
  boost::mpi::environment environment(argc, argv);
  world everyone;
  const std::size_t side = argc > 1 ? std::stoul(argv[1]) : 48, steps = 60;
  const double step = 2 * pi / static_cast<double>(side);  // the phase from cell to cell, for one period in the box
  const double frequency =
      2 * std::asin(courant * std::sqrt(3.0) * std::sin(step / 2));  // the frequency of the wave in the leapfrog scheme
  const auto exact_wave = [&](double time) {                         // the exact solution of the leapfrog scheme
    return [=](std::size_t i, std::size_t j, std::size_t k) {
      const double along = step * static_cast<double>(i);
      return std::cos(along) * std::cos(step * static_cast<double>(j)) * std::sin(step * static_cast<double>(k)) *
             std::cos(frequency * time);
    };
  };

  // [wave]
  auto p = everyone.partition<2, 2, 1>();
  halo_exchange h(p, {.before = {1, 1, 1}, .after = {1, 1, 1}}, boundary::periodic);
  const auto at = [&](double time) { return h(block_from(p, dynamic_extents<3>(side, side, side), exact_wave(time))); };
  auto before = at(-1), now = at(0);
  const auto cells = h.cells();
  const auto row = static_cast<std::ptrdiff_t>(now.shape()[2]),
             plane = row * static_cast<std::ptrdiff_t>(now.shape()[1]);
  const auto compute = [&](const box<3>& where) {  // writes the next state over the previous state
    for (std::size_t i = where.start[0]; i < where.stop[0]; ++i)
      for (std::size_t j = where.start[1]; j < where.stop[1]; ++j) {
        const auto first = cells.at(i, j, where.start[2]);
        const double* const u = &now[first];
        double* const v = &before[first];
        for (std::ptrdiff_t k = 0; k < std::ptrdiff_t(where.stop[2] - where.start[2]); ++k) {
          const double neighbours = u[k - plane] + u[k + plane] + u[k - row] + u[k + row] + u[k - 1] + u[k + 1];
          v[k] = 2 * u[k] - v[k] + courant * courant * (neighbours - 6 * u[k]);
        }
      }
  };
  // [/wave]

  // [step]
  const auto overlapped = [&] {
    auto later = h.start_refresh(now);
    compute(cells.interior);
    later.finish();
    for_border_boxes(cells, compute);
  };
  // [/step]
  const auto blocking_step = [&] { h.refresh(now), compute(cells.own); };
  double computing_time = 0, overlapped_time = 0,
         blocking_time = 0;  // seconds without an exchange, with an overlapped exchange, and with a blocking exchange
  for (std::size_t k = 0; k < steps; ++k) {
    const auto saved = before;
    computing_time += seconds([&] { compute(cells.own); });
    before = saved;
    blocking_time += seconds(blocking_step);
    before = saved;
    overlapped_time += seconds(overlapped);
    std::swap(before, now);
  }

  const auto exact_state = at(static_cast<double>(steps));
  double largest_error = 0;
  const auto compare = [&](const auto& i) {
    const auto cell = cells.at(i[0], i[1], i[2]);
    largest_error = std::max(largest_error, std::abs(now[cell] - exact_state[cell]));
  };
  for_interior(cells, compare);
  for_border(cells, compare);
  if (everyone.id() == 0)
    std::printf(
        "%zu^3 cells, %zu steps: %.1e from the exact wave; ghosts take %.0f us a step, of which %.0f%% are hidden\n",
        side, steps, largest_error, 1e6 * std::max(0.0, blocking_time - computing_time) / double(steps),
        100 * std::clamp((blocking_time - overlapped_time) / (blocking_time - computing_time), 0.0, 1.0));
  return largest_error < 1e-11 ? EXIT_SUCCESS : EXIT_FAILURE;
}
