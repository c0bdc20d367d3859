// Accounts for the memory that the tape keeps: the blocks of values that the backward pass reads, each counted once.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <unordered_map>
#include <vector>

namespace partita {

/// What this worker keeps for the backward pass: records of operations, and the memory of the blocks that they read. A
/// block that several records read counts once; a block that the program also holds counts, too.
struct tape_contents {
  std::size_t records = 0;
  std::size_t bytes = 0;
  std::size_t most_bytes = 0;  ///< maximum since the last value_and_gradient began, on this thread
};

namespace detail {

struct held_block {
  std::size_t times = 0, bytes = 0;
};
template <class = void>
struct basic_tape_ledger {
  tape_contents now{};
  std::unordered_map<const void*, held_block> blocks{};
};
using tape_ledger = basic_tape_ledger<>;
/// The ledger of this thread. Records that outlive the thread keep it alive.
template <class = void>
inline const std::shared_ptr<tape_ledger>& on_tape() {
  static thread_local const std::shared_ptr<tape_ledger> it = std::make_shared<tape_ledger>();
  return it;
}

/// The blocks that one record keeps alive during its lifetime.
template <class = void>
class basic_held_blocks {
 public:
  basic_held_blocks() = default;
  basic_held_blocks(const basic_held_blocks&) = delete;
  basic_held_blocks& operator=(const basic_held_blocks&) = delete;
  ~basic_held_blocks() { release(); }

  void record() {
    if (ledger_) return;
    ledger_ = on_tape();
    ++ledger_->now.records;
  }
  /// To be called after record().
  void hold(const void* memory, std::size_t bytes) {
    if (memory == nullptr || bytes == 0) return;
    held_block& one = ledger_->blocks[memory];
    mine_.push_back(memory);
    if (one.times++ > 0) return;
    one.bytes = bytes;
    tape_contents& now = ledger_->now;
    now.bytes += bytes;
    now.most_bytes = std::max(now.most_bytes, now.bytes);
  }
  void release() {
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

 private:
  std::shared_ptr<tape_ledger> ledger_;  // set by record()
  std::vector<const void*> mine_;
};
using held_blocks = basic_held_blocks<>;

}  // namespace detail

/// What the tape keeps now, and the maximum since the last value_and_gradient began.
template <class = void>
inline tape_contents tape_holds() {
  return detail::on_tape()->now;
}

}  // namespace partita
