// Compiles what array/copy.hpp defines for the usual elements.
#pragma once

#include <partita/array/copy.hpp>

namespace partita {

PARTITA_INSTANTIATE_COPY_AND_ADD()

}  // namespace partita
