// Defines the functions that comm/detail/node/node_group.hpp declares.
#pragma once

#include <cstring>
#include <partita/comm/detail/node/node_group.hpp>

namespace partita::detail {

bool node_group::spread(const char* x, char* y, std::size_t bytes) {
  const std::uint64_t call = ++call_;
  if (bytes == 0) return end_call(true);
  return bytes <= group_page::slot_bytes ? broadcast_small_block(x, y, bytes, call)
         : own_index_ == 0               ? broadcast_as_root(x, y, bytes, call)
                                         : copy_from_root(y, bytes, call);
}

void node_group::start_spread(const char* x, char* y, std::size_t bytes) {
  const std::uint64_t call = ++call_;
  if (bytes == 0) return;
  if (bytes <= group_page::slot_bytes) {
    fill_slot(x, bytes, call);
    if (y != nullptr && y != x) std::memcpy(y, x, bytes);
    return;
  }
  make_room(call);
  if (measures_distance(call, bytes)) own_page().distance.write_lines();
  if (!is_reachable(x) && !is_reachable(y)) staging_block_.emplace(*arena_, bytes);
  const char* const written_block = is_reachable(x) ? x : is_reachable(y) ? y : staging_block_->data();
  if (!is_reachable(written_block)) {
    staging_block_.reset();
    return announce(call, in_message);
  }
  write_block_in_chunks(x, const_cast<char*>(written_block), bytes, call,
                        4 * arena_->offset(written_block) + in_root_block);
  if (y != nullptr && y != written_block) std::memcpy(y, x, bytes);
}

bool node_group::show_block_early(const char* x, std::size_t bytes) {
  if (bytes == 0 || bytes > group_page::slot_bytes || !has_room(call_ + 1)) return false;
  fill_slot(x, bytes, ++call_);
  return true;
}

void node_group::roll_back() {
  ready_flag(own_index_, call_).post(call_ - 1);
  --call_;
}

bool node_group::finish_spread(std::size_t bytes) {
  const std::uint64_t call = call_;
  if (bytes <= group_page::slot_bytes) return end_call(true);
  if (ready_flag(0, call).block == in_message) return end_call(false);
  wait_for_members(&group_page::done_flag, call);
  staging_block_.reset();
  return end_call(true);
}

char* node_group::show_root_block(void* block) {
  const std::uint64_t call = ++call_;
  if (own_index_ == 0) {
    make_room(call);
    if (measures_distance(call, page)) own_page().distance.write_lines();
    announce(call, is_reachable(block) ? arena_->offset(block) : nowhere);
  } else {
    wait(ready_flag(0, call), call);
    measure_distance(0, call, page);
  }
  const std::uint64_t shown = ready_flag(0, call).block;
  end_call(true);
  return shown == nowhere ? nullptr : arena_->at(member_places_[0], shown);
}

PARTITA_DEF bool node_group::broadcast_small_block(const char* x, char* y, std::size_t bytes, std::uint64_t call) {
  if (own_index_ == 0) {
    fill_slot(x, bytes, call);
    if (y != nullptr && y != x) std::memcpy(y, x, bytes);
  } else {
    wait(ready_flag(0, call), call);
    measure_distance(0, call, bytes);
    std::memcpy(y, slot_of_call(0, call), bytes);
  }
  return end_call(true);
}

PARTITA_DEF bool node_group::broadcast_as_root(const char* x, char* y, std::size_t bytes, std::uint64_t call) {
  make_room(call);
  if (measures_distance(call, bytes)) own_page().distance.write_lines();
  char* written_block = nullptr;
  std::uint64_t held = in_root_block;
  if (y == x) y = nullptr;
  if (is_reachable(x)) {
    written_block = const_cast<char*>(x);
  } else if (is_reachable(y)) {
    written_block = y;
  } else if (y == nullptr) {
    wait(ready_flag(1, call), call);
    const std::uint64_t there = ready_flag(1, call).block;
    if (there != nowhere) {
      held = in_first_member_block;
      written_block = arena_->at(member_places_[1], there);
    }
  }
  if (written_block != nullptr) {
    const std::uint64_t offset =
        held == in_first_member_block ? ready_flag(1, call).block : arena_->offset(written_block);
    write_block_in_chunks(x, written_block, bytes, call, 4 * offset + held);
    if (y != nullptr && y != written_block) std::memcpy(y, x, bytes);
    if (held == in_root_block) wait_for_members(&group_page::done_flag, call);
    return end_call(true);
  }
  const arena_block staging(*arena_, bytes);
  if (!is_reachable(staging.data())) {
    announce(call, in_message);
    return end_call(false);
  }
  write_block_in_chunks(x, staging.data(), bytes, call, 4 * arena_->offset(staging.data()) + in_root_block);
  if (y != nullptr) std::memcpy(y, x, bytes);
  wait_for_members(&group_page::done_flag, call);
  return end_call(true);
}

PARTITA_DEF void node_group::write_block_in_chunks(const char* x, char* written_block, std::size_t bytes,
                                                   std::uint64_t call, std::uint64_t block) {
  announce(call, block);
  const std::size_t chunk = spread_chunk(bytes);
  if (written_block != x) {
    // if the other members' cores are near, the data that they read next should stay in the cache
    const bool read = size() > 2 || block % 4 == in_root_block, streaming = read ? far() : exceeds_cache(2 * bytes);
    std::uint64_t chunks = 0;
    for (std::size_t at = 0; at < bytes; at += chunk) {
      copy_bytes(written_block + at, x + at, bytes - at < chunk ? bytes - at : chunk, streaming);
      if (streaming) finish_streaming_stores();
      own_page().progress_flag.post(progress_count(call, ++chunks));
    }
  }
  own_page().progress_flag.post(progress_count(call, whole));
}

PARTITA_DEF bool node_group::copy_from_root(char* y, std::size_t bytes, std::uint64_t call) {
  if (own_index_ == 1) {
    make_room(call);
    announce(call, is_reachable(y) ? arena_->offset(y) : nowhere);
  }
  const group_page& root = *member_pages_[0];
  wait(ready_flag(0, call), call);
  measure_distance(0, call, bytes);
  const std::uint64_t block = ready_flag(0, call).block, held = block % 4;
  if (held == in_message) return end_call(false);
  if (held == in_first_member_block && own_index_ == 1) {
    wait(root.progress_flag, progress_count(call, whole));
    for (std::size_t k = 2; k < size(); ++k) wait(member_pages_[k]->done_flag, call);
    return end_call(true);
  }
  const char* const from = arena_->at(member_places_[held == in_root_block ? 0 : 1], block / 4);
  const std::size_t chunk = spread_chunk(bytes);
  const bool streaming = exceeds_cache(2 * bytes);
  std::uint64_t chunks = 0;
  for (std::size_t at = 0; at < bytes; at += chunk) {
    wait(root.progress_flag, progress_count(call, ++chunks));
    copy_bytes(y + at, from + at, bytes - at < chunk ? bytes - at : chunk, streaming);
  }
  if (streaming) finish_streaming_stores();
  return end_call(true);
}

}  // namespace partita::detail
