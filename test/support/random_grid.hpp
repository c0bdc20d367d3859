// A random two-dimensional grid of some of the workers, in any order.
#pragma once

#include <algorithm>
#include <cstddef>
#include <partita/plan/grid.hpp>
#include <random>
#include <vector>

namespace test {

inline partita::grid<partita::dynamic_extents<2>> random_grid(std::size_t worker_count, std::mt19937& random) {
  const std::size_t rows = 1 + random() % worker_count, columns = 1 + random() % (worker_count / rows);
  std::vector<std::size_t> ids(worker_count);
  for (std::size_t k = 0; k < worker_count; ++k) ids[k] = k;
  std::shuffle(ids.begin(), ids.end(), random);
  ids.resize(rows * columns);
  return {partita::dynamic_extents<2>(rows, columns), partita::workers(ids)};
}

}  // namespace test
