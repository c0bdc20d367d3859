// The kinds of error that workers report to each other, and the exception type of each.
#pragma once

#include <cstdint>
#include <partita/core/config.hpp>
#include <partita/core/error.hpp>

namespace partita::detail {

/// The kinds of error that workers report to each other; `none` stands for no error, `other` for any other exception.
enum class failure : std::uint64_t { none, shape, partition, disagreement, memory, io, other };

/// The kind of an error that was thrown.
PARTITA_DECL failure failure_kind_of_error(const error& thrown_error);

/// Throws an error of the type that belongs to a kind.
PARTITA_DECL [[noreturn]] void raise(failure kind, const text& sentence);

}  // namespace partita::detail

#ifndef PARTITA_CORE
#include <partita/comm/detail/world/impl/failure.ipp>
#endif
