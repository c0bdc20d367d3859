// Partitions for random cases.
#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <partita/comm/partition.hpp>
#include <random>
#include <vector>

namespace test {

/// A partition of some of the workers in some order.
inline partita::partition<partita::dynamic_extents<2>> random_partition(const partita::world& everyone,
                                                                        std::mt19937& random) {
  const std::size_t rows = 1 + random() % everyone.size(), columns = 1 + random() % (everyone.size() / rows);
  std::vector<std::size_t> ids(everyone.size());
  std::iota(ids.begin(), ids.end(), std::size_t{0});
  std::shuffle(ids.begin(), ids.end(), random);
  ids.resize(rows * columns);
  return everyone.partition(partita::dynamic_extents<2>(rows, columns), partita::workers(ids));
}

}  // namespace test
