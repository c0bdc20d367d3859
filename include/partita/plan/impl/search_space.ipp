// Defines the functions that plan/search_space.hpp declares.
#pragma once

#include <partita/plan/search_space.hpp>

namespace partita::detail {

PARTITA_DEF void layout_options::extend(const sharding& layout, const shape_list& shape, std::size_t a) {
  const mesh& m = layout.on;
  if (a == m.rank()) {
    layouts.push_back(layout);
    return;
  }
  extend(layout, shape, a + 1);
  if (m.size(a) == 1) return;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const axis_list before = layout.cuts[d];
    if (shape[d] == dynamic || m.size(before) * m.size(a) > shape[d]) continue;
    sharding next = layout;
    next.cuts[d].push_back(a);
    extend(next, shape, a + 1);
    if (before.size() != 1) continue;
    next.cuts[d] = axis_list(a);
    next.cuts[d].append(before);
    extend(next, shape, a + 1);
  }
}

}  // namespace partita::detail
