// Defines what the headers of nn/ declare, for partita/src.hpp.
#pragma once

#ifndef PARTITA_CORE
#error "partita/nn/src.hpp is for the compiled core: define PARTITA_CORE in all files of the program"
#endif

#include <partita/nn/impl/loss.ipp>
#include <partita/nn/impl/movements.ipp>
#include <partita/nn/impl/taps.ipp>
