// Seconds, bytes and fractions in readable form: three digits and a unit.
#pragma once

#include <cstddef>
#include <partita/core/config.hpp>
#include <partita/explain/long_text.hpp>

namespace partita::detail {

/// Writes a number below 1000 with three significant digits: 1.93, 25.7, 320.
PARTITA_DECL long_text three_figures(double number);

PARTITA_DECL long_text in_seconds(double seconds);
PARTITA_DECL long_text in_bytes(std::size_t bytes);
inline long_text in_percent(double share) { return three_figures(share * 100) << " %"; }

}  // namespace partita::detail

#ifndef PARTITA_CORE
#include <partita/explain/impl/quantities.ipp>
#endif
