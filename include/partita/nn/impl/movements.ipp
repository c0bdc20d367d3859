// Instantiates the window exchanges of pooling and of convolutions over two feature dimensions, for the compiled core.
#pragma once

#include <partita/nn/detail/convolution_movements.hpp>
#include <partita/nn/pooling.hpp>

namespace partita::detail {

PARTITA_POOLING_MOVEMENTS()
PARTITA_CONVOLUTION_MOVEMENTS()

}  // namespace partita::detail
