// Defines the functions that plan/search_space.hpp declares.
#pragma once

#include <partita/plan/search_space.hpp>

namespace partita::detail {

PARTITA_DEF void layout_options::extend(const sharding& so_far, const shape_list& shape, std::size_t a) {
  const mesh& m = so_far.on;
  if (a == m.rank()) {
    all.push_back(so_far);
    return;
  }
  extend(so_far, shape, a + 1);
  if (m.size(a) == 1) return;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const axis_list before = so_far.cuts[d];
    if (shape[d] == dynamic || m.size(before) * m.size(a) > shape[d]) continue;
    sharding next = so_far;
    next.cuts[d].push_back(a);
    extend(next, shape, a + 1);
    if (before.size() != 1) continue;
    next.cuts[d] = axis_list(a);
    next.cuts[d].append(before);
    extend(next, shape, a + 1);
  }
}

}  // namespace partita::detail
