// Compiles what kernel/detail/repartition_movement.hpp and the header of its cuts define for the usual ranks.
#pragma once

#include <partita/kernel/detail/repartition_movement.hpp>

namespace partita::detail {

PARTITA_REPARTITIONS()

}  // namespace partita::detail
