// Defines the functions that comm/detail/node/staged_boxes.hpp declares.
#pragma once

#include <chrono>
#include <cstring>
#include <partita/comm/detail/node/staged_boxes.hpp>
#include <thread>

namespace partita::detail {

staged_boxes::~staged_boxes() {
  if (header_ == nullptr || arena_ == nullptr) return;
  // wait until the receiver has unpacked the boxes; if its process has ended, keep the memory
  using clock = std::chrono::steady_clock;
  for (const auto until = clock::now() + std::chrono::milliseconds(200);
       !header_->unpacked.posted(last_packed_exchange());) {
    if (clock::now() > until) return;
    std::this_thread::yield();
  }
  arena_->release(header_, size());
}

PARTITA_DEF std::uint64_t staged_boxes::make_buffers(arena& memory, std::size_t bytes) {
  arena_ = &memory, buffer_bytes_ = (bytes + alignment - 1) / alignment * alignment;
  void* const block = memory.allocate(size());
  if (!memory.is_in_own_part(block)) {
    memory.release(block, size());
    return none;
  }
  std::memset(block, 0, sizeof(buffer_header));
  header_ = static_cast<buffer_header*>(block);
  return memory.offset(block);
}

}  // namespace partita::detail
