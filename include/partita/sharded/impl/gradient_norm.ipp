// Defines the functions that sharded/gradient_norm.hpp declares.
#pragma once

#include <partita/sharded/gradient_norm.hpp>

namespace partita::detail {

PARTITA_DEF sharding reduced_layout(const sharding& s, const shape_list& extents) {
  sharding finished = s.without_partials();
  for (std::size_t a = 0; a < s.on.rank(); ++a)
    if (s.pending[a] != pending_reduction::none) finished = cut_further(finished, extents, a);
  return finished;
}

PARTITA_DEF bool is_first_holder(const bound_mesh& on, const sharding& s) {
  bool first = on.active();
  for (std::size_t a = 0; first && a < s.on.rank(); ++a)
    first = (s.cut_axes() >> a & 1U) != 0 || coordinate_of(s.on, on.place(), a) == 0;
  return first;
}

PARTITA_DEF void require_limit(const char* call, double most) {
  if (!(most >= 0)) throw shape_error(text(call) << ": requires a limit that is a number and not negative");
}

}  // namespace partita::detail
