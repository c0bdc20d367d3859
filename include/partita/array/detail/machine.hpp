// Properties of the machine at run time: its vector instructions and the true size of its last-level cache.
#pragma once

#include <cstddef>
#include <partita/core/config.hpp>

namespace partita::detail {

/// The instruction sets for which the loops over bytes are compiled; a program needs no -march for any of them.
enum class instruction_set { baseline, avx2, avx512 };

/// The best instruction set of this processor. AVX-512 is used only if the processor also has VBMI, because processors
/// without VBMI lower their clock frequency for AVX-512.
PARTITA_DECL instruction_set best_instruction_set();

/// The size of the last-level cache in bytes, read from sysfs, or 32 MB if sysfs does not give a size.
/// sysconf(_SC_LEVEL3_CACHE_SIZE) is not used, because it adds up caches that one core cannot use (320 MB instead of 32
/// MB on one virtual machine).
PARTITA_DECL std::size_t last_level_cache_bytes();

}  // namespace partita::detail

#ifndef PARTITA_CORE
#include <partita/array/detail/impl/machine.ipp>
#endif
