// Writes the workers of a partition, and a call on its blocks, for error messages.
#pragma once

#include <array>
#include <cstddef>
#include <partita/core/config.hpp>
#include <partita/core/text.hpp>
#include <partita/plan/workers.hpp>

namespace partita::detail {

/// Writes workers as "workers 4-7" or "workers 5, 2, 0, 1"; of a long list only the first eight are written.
PARTITA_DECL text workers_text(const workers& all);

/// Describes a call of a kernel on one partition, with a block of the given shape and element type.
template <class Partition, std::size_t Rank>
text describe_call(const char* name, const char* direction, const Partition& p,
                   const std::array<std::size_t, Rank>& shape, const text& type) {
  return text(name) << direction << " with p = " << p.grid().shape() << " on " << workers_text(p.workers())
                    << " and a block of shape " << shape << " of " << type;
}

}  // namespace partita::detail

#ifndef PARTITA_CORE
#include <partita/kernel/detail/impl/described.ipp>
#endif
