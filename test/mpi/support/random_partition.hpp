// Partitions for random cases.
#pragma once

#include "random_grid.hpp"

#include <partita/comm/partition.hpp>
#include <random>

namespace test {

/// A random partition of some of the workers, in random order.
inline partita::partition<partita::dynamic_extents<2>> random_partition(const partita::world& everyone,
                                                                        std::mt19937& random) {
  const auto grid = random_grid(everyone.size(), random);
  const auto [rows, columns] = grid.shape();
  return everyone.partition(partita::dynamic_extents<2>(rows, columns), grid.workers());
}

}  // namespace test
