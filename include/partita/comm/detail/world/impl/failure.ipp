// Defines the functions that comm/detail/world/failure.hpp declares.
#pragma once

#include <partita/comm/detail/world/failure.hpp>

namespace partita::detail {

PARTITA_DEF failure failure_kind_of_error(const error& thrown_error) {
  if (dynamic_cast<const shape_error*>(&thrown_error) != nullptr) return failure::shape;
  if (dynamic_cast<const partition_error*>(&thrown_error) != nullptr) return failure::partition;
  if (dynamic_cast<const disagreement_error*>(&thrown_error) != nullptr) return failure::disagreement;
  if (dynamic_cast<const io_error*>(&thrown_error) != nullptr) return failure::io;
  return failure::other;
}

PARTITA_DEF void raise(failure kind, const text& sentence) {
  if (kind == failure::shape) throw shape_error(sentence);
  if (kind == failure::partition) throw partition_error(sentence);
  if (kind == failure::memory) throw communication_error(sentence);
  if (kind == failure::io) throw io_error(sentence);
  if (kind == failure::other) throw error(sentence);
  throw disagreement_error(sentence);
}

}  // namespace partita::detail
