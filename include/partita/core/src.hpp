// Defines what the headers of core/ declare, for partita/src.hpp.
#pragma once

#ifndef PARTITA_CORE
#error "partita/core/src.hpp is for the compiled core: define PARTITA_CORE in all files of the program"
#endif

#include <partita/core/impl/config.ipp>
