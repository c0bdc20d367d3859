// Defines the functions that sharded/traced.hpp declares.
#pragma once

#include <partita/sharded/traced.hpp>

namespace partita {

PARTITA_DEF detail::traced_program::traced_program(const mesh& m) : operations(m) {}

PARTITA_DEF void detail::traced_program::add(const applied_operation& done,
                                             const std::shared_ptr<const operation_window>& window,
                                             std::uint32_t no_gradient_bits) {
  applied_operations.push_back(done);
  if (window) windows.push_back(window);
  else applied_operations.back().how = operations.operation(operations.operations() - 1).how;
  gradient_stops.push_back(no_gradient_bits);
}

PARTITA_DEF traced constrain(const traced& x, const sharding& layout, std::size_t priority) {
  x.program()->operations.constrain(x.number_in_graph(), layout, priority);
  return x;
}

}  // namespace partita
