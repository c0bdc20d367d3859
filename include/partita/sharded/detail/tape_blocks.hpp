// Counts the memory that the tape of a thread keeps alive: the blocks that the backward pass reads, each counted once.
#pragma once

#include <cstddef>
#include <memory>
#include <partita/core/config.hpp>
#include <vector>

namespace partita {

/// What the tape of this thread keeps for the backward pass: tape nodes, and the blocks that they read. A block that
/// several nodes read counts once; a block that the program also holds counts, too.
struct tape_contents {
  std::size_t records = 0;     ///< tape nodes, and states that scans keep as checkpoints
  std::size_t bytes = 0;       ///< the bytes of the blocks that the tape nodes read
  std::size_t most_bytes = 0;  ///< the maximum of `bytes` since this thread's last value_and_gradient began
};

namespace detail {

struct tape_statistics;
PARTITA_DECL tape_contents& current_tape_contents();  ///< of the tape of this thread; may be changed

/// The blocks that one tape node keeps alive during its lifetime.
class tape_blocks {
 public:
  tape_blocks() = default;
  tape_blocks(const tape_blocks&) = delete;
  tape_blocks& operator=(const tape_blocks&) = delete;
  PARTITA_INLINE ~tape_blocks();

  /// Counts the tape node, and the blocks that hold_block() adds, in the tape of this thread until release().
  PARTITA_DECL void record();
  /// Adds a block to those that the tape node keeps alive. Requires an earlier call of record(). Does nothing for a
  /// block without memory or without elements.
  PARTITA_DECL void hold_block(const void* memory, std::size_t bytes);
  PARTITA_DECL void release();  ///< ends the lifetime of the tape node and its blocks

 private:
  std::shared_ptr<tape_statistics> statistics_;   ///< of the thread of record(); null before, and after release()
  std::vector<const void*> blocks_of_tape_node_;  ///< one entry for each block that hold_block() has added
};

}  // namespace detail

/// Returns what the tape of this thread keeps now, and the maximum since the last value_and_gradient began.
PARTITA_DECL tape_contents tape_holds();

}  // namespace partita

#ifndef PARTITA_CORE
#include <partita/sharded/detail/impl/tape_blocks.ipp>
#endif
