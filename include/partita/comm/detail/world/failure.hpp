// The kinds of error that workers report to each other, and the exception type of each.
#pragma once

#include <cstdint>
#include <partita/core/error.hpp>

namespace partita::detail {

/// The kinds of error that workers report to each other.
enum class failure : std::uint64_t { none, shape, partition, disagreement, memory, io, other };

/// The kind of an error that was thrown.
inline failure failure_kind_of_error(const error& thrown_error) {
  if (dynamic_cast<const shape_error*>(&thrown_error) != nullptr) return failure::shape;
  if (dynamic_cast<const partition_error*>(&thrown_error) != nullptr) return failure::partition;
  if (dynamic_cast<const disagreement_error*>(&thrown_error) != nullptr) return failure::disagreement;
  if (dynamic_cast<const io_error*>(&thrown_error) != nullptr) return failure::io;
  return failure::other;
}

/// Throws an error of the type that belongs to a kind.
[[noreturn]] inline void raise(failure kind, const text& sentence) {
  if (kind == failure::shape) throw shape_error(sentence);
  if (kind == failure::partition) throw partition_error(sentence);
  if (kind == failure::memory) throw communication_error(sentence);
  if (kind == failure::io) throw io_error(sentence);
  if (kind == failure::other) throw error(sentence);
  throw disagreement_error(sentence);
}

}  // namespace partita::detail
