// Compiles the template instances that io/sharded_checkpoint.hpp declares extern.
#pragma once

#include <partita/io/sharded_checkpoint.hpp>

namespace partita::detail {

PARTITA_INSTANTIATE_CHECKPOINTS()

}  // namespace partita::detail
