// Defines the functions that sharded/detail/tape_blocks.hpp declares.
#pragma once

#include <algorithm>
#include <partita/sharded/detail/tape_blocks.hpp>

namespace partita::detail {

PARTITA_DEF const std::shared_ptr<tape_ledger>& on_tape() {
  static thread_local const std::shared_ptr<tape_ledger> it = std::make_shared<tape_ledger>();
  return it;
}

PARTITA_DEF void tape_blocks::record() {
  if (ledger_) return;
  ledger_ = on_tape();
  ++ledger_->now.records;
}

PARTITA_DEF void tape_blocks::hold(const void* memory, std::size_t bytes) {
  if (memory == nullptr || bytes == 0) return;
  tape_block& one = ledger_->blocks[memory];
  mine_.push_back(memory);
  if (one.times++ > 0) return;
  one.bytes = bytes;
  tape_contents& now = ledger_->now;
  now.bytes += bytes;
  now.most_bytes = std::max(now.most_bytes, now.bytes);
}

PARTITA_DEF void tape_blocks::release() {
  if (!ledger_) return;
  for (const void* memory : mine_) {
    const auto found = ledger_->blocks.find(memory);
    if (--found->second.times > 0) continue;
    ledger_->now.bytes -= found->second.bytes;
    ledger_->blocks.erase(found);
  }
  mine_.clear();
  --ledger_->now.records;
  ledger_ = nullptr;
}

}  // namespace partita::detail
