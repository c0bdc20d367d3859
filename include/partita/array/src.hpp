// Defines what the headers of array/ declare, for partita/src.hpp.
#pragma once

#ifndef PARTITA_CORE
#error "partita/array/src.hpp is for the compiled core: define PARTITA_CORE in all files of the program"
#endif

#include <partita/array/detail/impl/bit_stream.ipp>
#include <partita/array/detail/impl/machine.ipp>
#include <partita/array/detail/impl/strided_pair.ipp>
#include <partita/array/impl/copy.ipp>
#include <partita/array/impl/overlapping.ipp>
