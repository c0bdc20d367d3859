// Particles in a partitioned box, whose steps use sums, maxima and scans over all workers, on 6 workers.
#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <partita/partita.hpp>
#include <vector>

using namespace partita;

struct particle {
  double x, y, speed;
};

int main(int argc, char** argv) {
  boost::mpi::environment environment(argc, argv);
  world everyone;
  // [arrangement]
  const std::size_t rows = 50, columns = 30;
  auto p = everyone.partition(balanced_extents<2>(everyone.size()));  // 3 x 2 if the world has 6 workers
  const auto cuts = decomposition<2>::balanced({rows, columns}, p.grid().shape());
  const interval own_rows = cuts.cuts[0].part(p.index()[0]);                       // the rows that this worker holds
  const std::size_t middle_owner = p.worker(cuts.owner({rows / 2, columns / 2}));  // the worker of the middle cell
  // [/arrangement]

  // each worker begins with the particles in its own block, so their numbers differ
  const auto block = cuts.block(p.index());
  std::vector<particle> own_particles;
  for (std::size_t i = block.start[0]; i < block.stop[0]; ++i)
    for (std::size_t j = block.start[1]; j < block.stop[1]; ++j)
      if ((i * i + 3 * j) % 7 == 0)
        own_particles.push_back({static_cast<double>(i), static_cast<double>(j), 1.0 + static_cast<double>(i % 5)});

  // [numbers]
  const std::size_t total = sum_over(everyone, own_particles.size());  // every worker gets the sum
  const std::size_t first =
      exclusive_scan(everyone, own_particles.size());  // the number of this worker's first particle
  std::size_t steps = 0;
  for (bool slow_enough = false; !slow_enough; ++steps) {
    double fastest = 0, energy = 0;
    for (const particle& one : own_particles) {
      fastest = std::max(fastest, one.speed);
      energy += 0.5 * one.speed * one.speed;
    }
    const double dt = 0.5 / maximum_over(everyone, fastest);        // all workers take the same time step
    for (particle& one : own_particles) one.speed *= 1 - 0.1 * dt;  // drag slows the particle down
    slow_enough = all_of(everyone, energy < 0.5 * static_cast<double>(own_particles.size()));
  }
  // [/numbers]

  const bool is_last_number_found =
      sum_over(everyone, first + own_particles.size() == total ? 1 : 0) >= 1 && first <= total;
  const int middle_owners = sum_over(everyone, everyone.id() == middle_owner ? 1 : 0);
  if (everyone.id() == 0)
    std::cout << "Of " << total << " particles the last one settled after " << steps << " steps; worker 0 holds rows "
              << own_rows.start << " to " << own_rows.stop - 1 << ", worker " << middle_owner
              << " the cell in the middle.\n"
              << "Look at: no partition is made for a number, and all workers get the same bits, so all of them leave\n"
              << "the loop at the same step.\n";
  return is_last_number_found && middle_owners == 1 && steps > 1 ? EXIT_SUCCESS : EXIT_FAILURE;
}
