// Compiles what array/copy.hpp defines for the usual elements.
#pragma once

#include <partita/array/copy.hpp>

namespace partita {

PARTITA_COPIES_AND_SUMS()

}  // namespace partita
