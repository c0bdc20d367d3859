// Defines the functions that sharded/sharded_partition.hpp declares.
#pragma once

#include <partita/sharded/sharded_partition.hpp>

namespace partita {

PARTITA_DEF cut mesh_cut(const mesh& m, axis_list axes, std::size_t n) {
  if (axes.size() < 2) return cut::balanced(n, m.size(axes));
  std::vector<std::size_t> sizes{n};
  for (std::size_t k = 0; k < axes.size(); ++k) {
    std::vector<std::size_t> finer;
    for (const std::size_t size : sizes)
      for (std::size_t part = 0; part < m.size(axes[k]); ++part)
        finer.push_back(balanced_part(size, m.size(axes[k]), part).size());
    sizes = finer;
  }
  return cut::at(sizes);
}

}  // namespace partita
