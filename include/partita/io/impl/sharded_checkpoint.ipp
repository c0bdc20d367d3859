// Compiles what io/sharded_checkpoint.hpp lists.
#pragma once

#include <partita/io/sharded_checkpoint.hpp>

namespace partita::detail {

PARTITA_INSTANTIATE_CHECKPOINTS()

}  // namespace partita::detail
