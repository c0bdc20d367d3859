// Defines the functions that sharded/detail/tape_blocks.hpp declares.
#pragma once

#include <algorithm>
#include <partita/sharded/detail/tape_blocks.hpp>
#include <unordered_map>

namespace partita::detail {

/// A block of memory that tape nodes keep alive: the number of tape nodes that hold it, and its bytes.
struct tape_block {
  std::size_t holder_count = 0, bytes = 0;  ///< the number of tape nodes that hold it, and its size
};
/// What the tape of one thread keeps: in total, and block by block.
struct tape_statistics {
  tape_contents contents{};                              ///< the totals of tape nodes and of bytes
  std::unordered_map<const void*, tape_block> blocks{};  ///< the blocks that tape nodes hold, by address
};
/// The statistics of this thread's tape. Tape nodes that outlive the thread keep this object alive.
PARTITA_DECL const std::shared_ptr<tape_statistics>& tape_of_thread() {
  static thread_local const std::shared_ptr<tape_statistics> it = std::make_shared<tape_statistics>();
  return it;
}
PARTITA_DEF tape_contents& current_tape_contents() { return tape_of_thread()->contents; }

PARTITA_INLINE tape_blocks::~tape_blocks() { release(); }

PARTITA_DEF void tape_blocks::record() {
  if (statistics_) return;
  statistics_ = tape_of_thread();
  ++statistics_->contents.records;
}

PARTITA_DEF void tape_blocks::hold_block(const void* memory, std::size_t bytes) {
  if (memory == nullptr || bytes == 0) return;
  tape_block& one = statistics_->blocks[memory];
  blocks_of_tape_node_.push_back(memory);
  if (one.holder_count++ > 0) return;
  one.bytes = bytes;
  tape_contents& now = statistics_->contents;
  now.bytes += bytes;
  now.most_bytes = std::max(now.most_bytes, now.bytes);
}

PARTITA_DEF void tape_blocks::release() {
  if (!statistics_) return;
  for (const void* memory : blocks_of_tape_node_) {
    const auto found = statistics_->blocks.find(memory);
    if (--found->second.holder_count > 0) continue;
    statistics_->contents.bytes -= found->second.bytes;
    statistics_->blocks.erase(found);
  }
  blocks_of_tape_node_.clear();
  --statistics_->contents.records;
  statistics_ = nullptr;
}

}  // namespace partita::detail

namespace partita {
PARTITA_DEF tape_contents tape_holds() { return detail::current_tape_contents(); }
}  // namespace partita
