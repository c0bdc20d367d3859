// The compiled core: all functions that depend on no type of a program. libpartita is compiled from this header. A
// program without an installed library defines PARTITA_CORE in all its files and includes this header in one of them.
#pragma once

#include <partita/array/src.hpp>
#include <partita/comm/src.hpp>
#include <partita/core/src.hpp>
#include <partita/explain/src.hpp>
#include <partita/io/src.hpp>
#include <partita/kernel/src.hpp>
#include <partita/nn/src.hpp>
#include <partita/plan/src.hpp>
#include <partita/sharded/src.hpp>
