// Operations that workers execute without messages: a running hash of them, which the next agreement compares.
#pragma once

#include <cstddef>
#include <cstdint>
#include <partita/core/config.hpp>
#include <partita/core/hash.hpp>
#include <partita/core/short_list.hpp>

namespace partita::detail {

/// A hash of all local operations of one worker since its world was made, or since the last reset(). The hash is equal
/// on all workers if they all execute the same operations in the same order. The first operations since the last
/// agreement are also kept by name, for an error message.
class local_operations {
 public:
  static constexpr std::size_t max_operations = 16;  // chosen: only the first sixteen are compared one by one

  /// One operation, as it is compared and reported.
  struct operation {
    std::uint64_t fingerprint = 0;  ///< a hash of what must be equal on all workers
    char name[32]{};                ///< the name of the operation, cut to 31 characters
    shape_list extents{};           ///< the extents of the tensor of the operation
  };

  /// Adds a local operation, and returns a number that identifies the result of the operation.
  PARTITA_DECL std::uint64_t note(std::uint64_t fingerprint, const char* name, const shape_list& extents);
  /// The hash of all operations, in their order.
  std::uint64_t history_hash() const { return history_hash_; }
  /// Called when all workers have executed the same operations: the next error message names only later operations.
  void clear_named_operations() { count_ = 0; }
  /// Called before all workers throw an error after which their operations may differ: all workers start again from an
  /// empty list.
  void reset() { history_hash_ = count_ = 0; }

  /// The fingerprint of operation k since the last agreement; it is 0 if there were fewer operations.
  std::uint64_t fingerprint(std::size_t k) const {
    return k < count_ && k < max_operations ? named_operations_[k].fingerprint : 0;
  }
  /// Operation k since the last agreement, for an error message.
  PARTITA_DECL text description(std::size_t k) const;

 private:
  std::uint64_t history_hash_ = 0;              // see history_hash()
  std::size_t count_ = 0;                       // the number of operations since the last agreement
  operation named_operations_[max_operations];  // the first operations since the last agreement
};

}  // namespace partita::detail

#ifndef PARTITA_CORE
#include <partita/comm/detail/world/impl/local_operations.ipp>
#endif
