// Buffers that calls reuse: repeated calls allocate nothing.
#pragma once

#include <cstddef>
#include <vector>

namespace partita::detail {

/// Buffers in numbered slots. A buffer is kept for the next call that uses its slot.
class kept_buffers {
 public:
  /// Returns a buffer of at least `bytes` bytes, valid until the next call for the same slot.
  void* buffer(std::size_t slot, std::size_t bytes) {
    if (slot >= buffers_.size()) buffers_.resize(slot + 1);
    std::vector<std::max_align_t>& b = buffers_[slot];
    const std::size_t n = bytes / sizeof(std::max_align_t) + 1;
    if (b.size() < n) {
      b.clear();
      b.resize(n);
    }
    return b.data();
  }

 private:
  std::vector<std::vector<std::max_align_t>> buffers_;  // the buffer of each slot
};

}  // namespace partita::detail
