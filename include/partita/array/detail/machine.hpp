// Properties of the machine at run time: its vector instructions and the true size of its last-level cache.
#pragma once

#include <cstddef>
#include <partita/core/config.hpp>

namespace partita::detail {

/// The instruction sets for which the loops over bytes are compiled; a program needs no -march for any of them.
enum class instruction_set { baseline, avx2, avx512 };

/// The best instruction set of this processor. AVX-512 is used only together with VBMI: processors without VBMI lower
/// their clock.
PARTITA_DECL instruction_set best_instruction_set();

/// The size of the last-level cache in bytes, from sysfs. sysconf(_SC_LEVEL3_CACHE_SIZE) adds up caches that one core
/// cannot use (320 MB instead of 32 MB on one virtual machine). The default is 32 MB.
PARTITA_DECL std::size_t last_cache_bytes();

}  // namespace partita::detail

#ifndef PARTITA_CORE
#include <partita/array/detail/impl/machine.ipp>
#endif
