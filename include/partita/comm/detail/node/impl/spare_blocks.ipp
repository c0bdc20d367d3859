// Defines the functions that comm/detail/node/spare_blocks.hpp declares.
#pragma once

#include <new>
#include <partita/comm/detail/node/spare_blocks.hpp>

namespace partita::detail {

PARTITA_DEF void* spare_blocks::take(std::size_t bytes) {
  const std::size_t c = size_class(bytes);
  if (c >= blocks_.size() || blocks_[c].empty()) return nullptr;
  void* const block = blocks_[c].back();
  blocks_[c].pop_back();
  return block;
}

PARTITA_DEF bool spare_blocks::give(void* block, std::size_t bytes) noexcept {
  const std::size_t c = size_class(bytes);
  try {
    if (blocks_.size() <= c) blocks_.resize(c + 1);
    blocks_[c].push_back(block);
  } catch (const std::bad_alloc&) {
    return false;
  }
  return true;
}

PARTITA_DEF std::size_t spare_blocks::size() const {
  std::size_t all = 0;
  for (const auto& of_class : blocks_) all += of_class.size();
  return all;
}

PARTITA_DEF void memory_use::add(std::size_t bytes) {
  used_bytes_ += round_up_to_pages(bytes);
  peak_bytes_ = used_bytes_ > peak_bytes_ ? used_bytes_ : peak_bytes_;
}

PARTITA_DEF std::size_t memory_use::allowed_bytes(std::size_t added_bytes) const {
  const std::size_t then = used_bytes_ + round_up_to_pages(added_bytes), most = then > peak_bytes_ ? then : peak_bytes_;
  return most + most / 2 > min_allowed_bytes ? most + most / 2 : min_allowed_bytes;
}

}  // namespace partita::detail
