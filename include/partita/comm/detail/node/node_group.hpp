// A group of workers of one node that moves blocks through their shared memory, without messages: it sums them, and
// broadcasts the root's block.
#pragma once

#include <cstddef>
#include <cstdint>
#include <partita/array/copy.hpp>
#include <partita/comm/detail/node/arena.hpp>
#include <partita/comm/detail/node/node_sum.hpp>
#include <partita/core/config.hpp>

namespace partita::detail {

/// One worker's part in a group of its node. All members make the same calls with the same number of bytes.
class node_group : private node_sum {
 public:
  /// `pages` are those of all members, the root's first; this worker has index `me`.
  using node_sum::node_sum;

  using group_meeting::far;
  using group_meeting::size;
  using node_sum::finish;
  using node_sum::start;

  /// Broadcasts the root's bytes x to all members. `y` is the destination; at the root it is nullptr or x if no copy is
  /// needed. Returns false, on all members, with nothing moved, if there was no block that all members can reach.
  /// Cost:     one copy for each member that gets the bytes, all at the same time. No staging if x, or the block of the
  ///           first member that gets it, is in shared memory.
  PARTITA_DECL bool spread(const char* x, char* y, std::size_t bytes);

  /// The root's part of a broadcast, left pending. It does not wait; x must not change before finish_spread. The other
  /// members call spread.
  PARTITA_DECL void start_spread(const char* x, char* y, std::size_t bytes);
  /// The same before any worker has agreed to the call: no member reads it before all have agreed. False if it would
  /// have to wait.
  PARTITA_DECL bool show_ahead(const char* x, std::size_t bytes);
  /// The agreement failed: undoes show_ahead.
  PARTITA_DECL void roll_back();
  /// Waits until all members have taken the bytes that start_spread shows. Returns false in the same case as spread.
  PARTITA_DECL bool finish_spread(std::size_t bytes);

  /// Shows a block of the root to all members. Returns its address on each of them; nullptr on all if they cannot reach
  /// it.
  PARTITA_DECL char* show(void* block);

 private:
  static constexpr std::uint64_t whole = 0xffffffffULL;
  /// The bytes that are copied at a time; meanwhile the other members copy the piece before.
  static constexpr std::size_t spread_chunk(std::size_t bytes) {
    const std::size_t quarter = (bytes / 4 + page - 1) / page * page;
    return quarter < 4 * page ? 4 * page : quarter < 32 * page ? quarter : 32 * page;
  }
  enum where : std::uint64_t { at_root, at_first, by_message };

  PARTITA_DECL bool spread_small(const char* x, char* y, std::size_t bytes, std::uint64_t e);

  /// The root's part. The other members copy from x if it can be reached; if not, from the block of the first of them,
  /// into which the root writes while they read.
  PARTITA_DECL bool give(const char* x, char* y, std::size_t bytes, std::uint64_t e);
  PARTITA_DECL void pour(const char* x, char* through, std::size_t bytes, std::uint64_t e, std::uint64_t block);

  PARTITA_DECL bool take(char* y, std::size_t bytes, std::uint64_t e);
};

}  // namespace partita::detail

#ifndef PARTITA_CORE
#include <partita/comm/detail/node/impl/node_group.ipp>
#endif
