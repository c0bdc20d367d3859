// Compiles kernel/detail/repartition_movement.hpp and kernel/detail/repartition_cuts.hpp for the usual ranks.
#pragma once

#include <partita/kernel/detail/repartition_movement.hpp>

namespace partita::detail {

PARTITA_INSTANTIATE_REPARTITIONS()

}  // namespace partita::detail
