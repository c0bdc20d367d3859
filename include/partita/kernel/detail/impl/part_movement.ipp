// Compiles the templates of kernel/detail/part_movement.hpp for the usual ranks.
#pragma once

#include <partita/kernel/detail/part_movement.hpp>

namespace partita::detail {

PARTITA_PART_MOVEMENTS()

}  // namespace partita::detail
