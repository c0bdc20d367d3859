// Defines the functions that comm/shared_view.hpp declares.
#pragma once

#include <mutex>
#include <partita/comm/shared_view.hpp>

namespace partita::detail {

PARTITA_DEF lent_header* lent_blocks::lend_block(arena& memory, std::size_t bytes, std::uint32_t views) {
  const std::lock_guard<spin_lock> only(lent_list_lock());
  reclaim_returned_blocks();
  const std::size_t all = sizeof(lent_header) + bytes;
  auto* const header = ::new (memory.allocate(all)) lent_header{};
  header->view_count.store(views, std::memory_order_relaxed);
  lent_list().push_back({&memory, header, all});
  return header;
}

PARTITA_DEF std::vector<lent_blocks::lent_block>& lent_blocks::lent_list() {
  // never destroyed, because views in static storage may outlive everything else
  static std::vector<lent_block>& all = *new std::vector<lent_block>;
  return all;
}

PARTITA_DEF spin_lock& lent_blocks::lent_list_lock() {
  static spin_lock lock;
  return lock;
}

PARTITA_DEF void lent_blocks::reclaim_returned_blocks() {
  std::erase_if(lent_list(), [](const lent_block& lent) {
    const bool is_returned = lent.header->view_count.load(std::memory_order_acquire) == 0;
    if (is_returned) lent.memory->release(lent.header, lent.bytes);
    return is_returned;
  });
}

// The views of a forked child, which are copies of its parent's views, are not counted.
lent_block_lease::lent_block_lease(const lent_block_lease& other) : header_(other.header_) {
  if (header_ != nullptr && !process::is_forked()) header_->view_count.fetch_add(1, std::memory_order_relaxed);
}
lent_block_lease::~lent_block_lease() {
  if (header_ != nullptr && !process::is_forked()) header_->view_count.fetch_sub(1, std::memory_order_release);
}

}  // namespace partita::detail
