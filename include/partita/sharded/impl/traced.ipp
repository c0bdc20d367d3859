// Defines the functions that sharded/traced.hpp declares.
#pragma once

#include <partita/sharded/traced.hpp>

namespace partita {

PARTITA_DEF traced constrain(const traced& x, const sharding& layout, std::size_t priority) {
  x.program()->operations.constrain(x.number_in_graph(), layout, priority);
  return x;
}

}  // namespace partita
