// Seconds, bytes and fractions in readable form: three digits and a unit.
#pragma once

#include <cstddef>
#include <partita/core/config.hpp>
#include <partita/explain/long_text.hpp>

namespace partita::detail {

/// Writes a number below 1000: below 10 with two decimals, below 100 with one, else with none: 1.93, 25.7, 320.
PARTITA_DECL long_text round_to_three_digits(double number);

PARTITA_DECL long_text seconds_text(double seconds);   ///< writes a time in ns, us, ms or s: "1.93 ms"
PARTITA_DECL long_text bytes_text(std::size_t bytes);  ///< writes a size in B, kB (1000 B), …, TB: "25.7 kB"
inline long_text percentage(double share) { return round_to_three_digits(share * 100) << " %"; }  ///< 0.257 as "25.7 %"

}  // namespace partita::detail

#ifndef PARTITA_CORE
#include <partita/explain/impl/quantities.ipp>
#endif
