// Blocks of a pool that are free for reuse, and a count of the bytes in use.
#pragma once

#include <bit>
#include <cstddef>
#include <partita/comm/detail/node/shared_mapping.hpp>
#include <partita/core/config.hpp>
#include <vector>

namespace partita::detail {

/// Released blocks of a pool, by size. Sizes are whole pages. From four pages on there are four sizes per power of two,
/// so that a block of more than three pages wastes less than a quarter of its memory.
class spare_blocks {
 public:
  /// The size of the block that is allocated for this number of bytes.
  static constexpr std::size_t round_up_block_bytes(std::size_t bytes) {
    const std::size_t pages = bytes / page + (bytes % page != 0 || bytes == 0 ? 1 : 0);
    const std::size_t k = static_cast<std::size_t>(std::bit_width(pages)) - 1,
                      step = k < 2 ? 1 : std::size_t{1} << (k - 2);
    return (pages + step - 1) / step * step * page;
  }
  /// Takes a released block that is large enough from the list of its size; null if the list is empty.
  PARTITA_DECL void* take(std::size_t bytes);
  /// Adds a released block. Returns false, and leaves the block to the caller, if there is no memory for the list.
  PARTITA_DECL [[nodiscard]] bool give(void* block, std::size_t bytes) noexcept;
  /// The number of released blocks.
  PARTITA_DECL std::size_t size() const;
  /// Calls f(block, bytes) for every released block, then removes all blocks from the lists.
  template <class F>
  void drain_all(F f) {
    for (std::size_t c = 0; c < blocks_.size(); ++c) {
      const std::size_t size = c / 4 < 2 ? (std::size_t{1} << (c / 4)) + c % 4 : (4 + c % 4) << (c / 4 - 2);
      for (void* const block : blocks_[c]) f(block, size * page);
      blocks_[c].clear();
    }
  }

 private:
  /// The index in blocks_ of the blocks that are allocated for this number of bytes.
  static constexpr std::size_t size_class(std::size_t bytes) {
    const std::size_t pages = round_up_block_bytes(bytes) / page,
                      k = static_cast<std::size_t>(std::bit_width(pages)) - 1;
    return 4 * k + (k < 2 ? pages - (std::size_t{1} << k) : (pages >> (k - 2)) - 4);
  }

  std::vector<std::vector<void*>> blocks_;  ///< the released blocks by size class
};

/// The bytes in use and their peak; each allocation counts as whole pages.
class memory_use {
 public:
  /// Counts an allocation of this number of bytes.
  PARTITA_DECL void add(std::size_t bytes);
  void subtract_bytes(std::size_t bytes) { used_bytes_ -= round_up_to_pages(bytes); }  ///< Counts a release.
  std::size_t peak_bytes() const { return peak_bytes_; }  ///< the most bytes that were in use at one time
  /// The bytes that a pool may occupy when `added_bytes` further bytes are used: 1.5 times the peak, and at least 1
  /// MiB, so that small blocks are not returned to the system again and again.
  PARTITA_DECL std::size_t allowed_bytes(std::size_t added_bytes) const;

 private:
  static constexpr std::size_t min_allowed_bytes = std::size_t{1} << 20;  ///< see allowed_bytes()
  static constexpr std::size_t round_up_to_pages(std::size_t bytes) {     ///< in bytes; at least one page
    return bytes == 0 ? page : (bytes + page - 1) / page * page;
  }
  std::size_t used_bytes_ = 0, peak_bytes_ = 0;  ///< in use now, and at most so far
};

}  // namespace partita::detail

#ifndef PARTITA_CORE
#include <partita/comm/detail/node/impl/spare_blocks.ipp>
#endif
