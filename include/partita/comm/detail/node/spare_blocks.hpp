// Blocks of a pool that are free for reuse, and a count of the bytes in use.
#pragma once

#include <cstddef>
#include <new>
#include <partita/comm/detail/node/shared_mapping.hpp>
#include <vector>

namespace partita::detail {

/// Released blocks, by size. Sizes are whole pages, four sizes per power of two, so that a pool for changing shapes
/// wastes less than a quarter.
template <class = void>
class basic_spare_blocks {
 public:
  static constexpr std::size_t rounded(std::size_t bytes) {
    const std::size_t pages = bytes / page + (bytes % page != 0 || bytes == 0 ? 1 : 0);
    const std::size_t k = octave(pages), step = k < 2 ? 1 : std::size_t{1} << (k - 2);
    return (pages + step - 1) / step * step * page;
  }
  void* take(std::size_t bytes) {
    const std::size_t c = class_of(bytes);
    if (c >= blocks_.size() || blocks_[c].empty()) return nullptr;
    void* const block = blocks_[c].back();
    blocks_[c].pop_back();
    return block;
  }
  /// Adds a block. Returns false, and leaves the block to the caller, if there is no memory for the list.
  [[nodiscard]] bool give(void* block, std::size_t bytes) noexcept {
    const std::size_t c = class_of(bytes);
    try {
      if (blocks_.size() <= c) blocks_.resize(c + 1);
      blocks_[c].push_back(block);
    } catch (const std::bad_alloc&) {
      return false;
    }
    return true;
  }
  /// The number of blocks.
  std::size_t size() const {
    std::size_t all = 0;
    for (const auto& of_class : blocks_) all += of_class.size();
    return all;
  }
  /// Calls f(block, bytes) for every block, then removes all of them.
  template <class F>
  void drain(F f) {
    for (std::size_t c = 0; c < blocks_.size(); ++c) {
      const std::size_t size = c / 4 < 2 ? (std::size_t{1} << (c / 4)) + c % 4 : (4 + c % 4) << (c / 4 - 2);
      for (void* const block : blocks_[c]) f(block, size * page);
      blocks_[c].clear();
    }
  }

 private:
  static constexpr std::size_t octave(std::size_t pages) {
    std::size_t k = 0;
    while (pages >> (k + 1) != 0) ++k;
    return k;
  }
  static constexpr std::size_t class_of(std::size_t bytes) {
    const std::size_t pages = rounded(bytes) / page, k = octave(pages);
    return 4 * k + (k < 2 ? pages - (std::size_t{1} << k) : (pages >> (k - 2)) - 4);
  }

  std::vector<std::vector<void*>> blocks_;
};
using spare_blocks = basic_spare_blocks<>;

/// The bytes in use and their peak, in whole pages, like the sizes they are compared with.
class memory_use {
 public:
  void add(std::size_t bytes) {
    now_ += in_pages(bytes);
    most_ = now_ > most_ ? now_ : most_;
  }
  void remove(std::size_t bytes) { now_ -= in_pages(bytes); }
  std::size_t most() const { return most_; }
  /// The bytes that a pool may occupy when `more` further bytes are used: 1.5 times the peak, and at least 1 MiB, so
  /// that small blocks are not returned to the system again and again.
  std::size_t bound(std::size_t more) const {
    const std::size_t then = now_ + in_pages(more), most = then > most_ ? then : most_;
    return most + most / 2 > least ? most + most / 2 : least;
  }

 private:
  static constexpr std::size_t least = std::size_t{1} << 20;
  static constexpr std::size_t in_pages(std::size_t bytes) {
    return bytes == 0 ? page : (bytes + page - 1) / page * page;
  }
  std::size_t now_ = 0, most_ = 0;
};

}  // namespace partita::detail
