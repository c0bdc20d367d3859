// Compiles the movements of the usual layers.
#pragma once

#include <partita/nn/detail/convolution_movements.hpp>
#include <partita/nn/pooling.hpp>

namespace partita::detail {

PARTITA_POOLING_MOVEMENTS()
PARTITA_CONVOLUTION_MOVEMENTS()

}  // namespace partita::detail
