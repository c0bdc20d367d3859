// Particles move between the workers that own the parts of a ring; their speeds are sorted, on 4 workers.
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <partita/kernel/send_to.hpp>
#include <partita/kernel/sort.hpp>
#include <partita/partita.hpp>
#include <vector>

using namespace partita;
using particles = xt::xtensor<double, 2>;  // each row is a particle: its position in [0, 1), its speed and its number

constexpr std::size_t particles_per_worker = 1000, steps = 50;

/// The worker that owns the part of the ring that contains a position.
std::size_t owner(const world& everyone, double position) {
  return static_cast<std::size_t>(position * static_cast<double>(everyone.size())) % everyone.size();
}

int main(int argc, char** argv) {
  boost::mpi::environment environment(argc, argv);
  const world everyone;
  const std::size_t first = particles_per_worker * everyone.id();
  particles own = xt::zeros<double>({particles_per_worker, std::size_t{3}});
  for (std::size_t j = 0; j < particles_per_worker; ++j) {
    own(j, 0) = (static_cast<double>(everyone.id()) + static_cast<double>(j) / particles_per_worker) /
                static_cast<double>(everyone.size());
    own(j, 1) = 0.05 * std::sin(1.7 * static_cast<double>(first + j));
    own(j, 2) = static_cast<double>(first + j);
  }

  std::size_t sent = 0;
  // [step]
  for (std::size_t step = 0; step < steps; ++step) {
    std::vector<std::size_t> receivers;
    for (std::size_t j = 0; j < own.shape(0); ++j) {
      own(j, 0) += own(j, 1);
      own(j, 0) -= std::floor(own(j, 0));  // positions on a ring
      receivers.push_back(owner(everyone, own(j, 0)));
    }
    own = send_to(everyone, receivers)(own);  // the result has the rows that arrive
    // [/step]
    for (const std::size_t to : receivers) sent += to == everyone.id() ? 0 : 1;
  }

  // [sorted]
  const xt::xtensor<double, 1> speeds = xt::abs(xt::view(own, xt::all(), 1));
  const double median = quantile(everyone, speeds, {0.5})(0);
  const auto fastest = sort(everyone, speeds, {.descending = true});  // worker 0 gets the greatest speeds
  // [/sorted]

  // check: every particle exists once, at the position that follows from its speed, on the owner of the position
  const xt::xtensor<double, 1> numbers = xt::view(own, xt::all(), 2);
  const auto sorted_numbers = sort(everyone, numbers, {.length = particles_per_worker});
  bool right = true;
  for (std::size_t j = 0; j < particles_per_worker; ++j)
    right = right && sorted_numbers(j) == static_cast<double>(first + j);
  for (std::size_t j = 0; j < own.shape(0); ++j) {
    const double start = own(j, 2) / (particles_per_worker * static_cast<double>(everyone.size())),
                 now = start + steps * own(j, 1);
    const double off = std::abs(now - std::floor(now) - own(j, 0));
    right = right && owner(everyone, own(j, 0)) == everyone.id() && std::min(off, 1 - off) < 1e-12;
  }
  const double wrong_workers = sum_over(everyone, right ? 0.0 : 1.0),
               changes = sum_over(everyone, static_cast<double>(sent));
  if (everyone.id() == 0)
    std::cout << particles_per_worker * everyone.size() << " particles changed their worker " << changes << " times in "
              << steps << " steps\nthe median of their speeds is " << median << ", the greatest speed " << fastest(0)
              << '\n'
              << (wrong_workers == 0 ? "every particle is where it should be\n" : "particles are lost\n");
  return wrong_workers == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
