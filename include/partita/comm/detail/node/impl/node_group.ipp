// Defines the functions that comm/detail/node/node_group.hpp declares.
#pragma once

#include <cstring>
#include <partita/comm/detail/node/node_group.hpp>

namespace partita::detail {

bool node_group::spread(const char* x, char* y, std::size_t bytes) {
  const std::uint64_t e = ++call_;
  if (bytes == 0) return end(true);
  return bytes <= group_page::small ? spread_small(x, y, bytes, e)
         : me_ == 0                 ? give(x, y, bytes, e)
                                    : take(y, bytes, e);
}

void node_group::start_spread(const char* x, char* y, std::size_t bytes) {
  const std::uint64_t e = ++call_;
  if (bytes == 0) return;
  if (bytes <= group_page::small) {
    fill_slot(x, bytes, e);
    if (y != nullptr && y != x) std::memcpy(y, x, bytes);
    return;
  }
  make_room(e);
  if (measures(e, bytes)) own().distance.write();
  if (!reachable(x) && !reachable(y)) staging_.emplace(*arena_, bytes);
  const char* const through = reachable(x) ? x : reachable(y) ? y : staging_->data();
  if (!reachable(through)) {
    staging_.reset();
    return announce(e, by_message);
  }
  pour(x, const_cast<char*>(through), bytes, e, 4 * arena_->offset(through) + at_root);
  if (y != nullptr && y != through) std::memcpy(y, x, bytes);
}

bool node_group::show_ahead(const char* x, std::size_t bytes) {
  if (bytes == 0 || bytes > group_page::small || !has_room(call_ + 1)) return false;
  fill_slot(x, bytes, ++call_);
  return true;
}

void node_group::roll_back() {
  ready(me_, call_).post(call_ - 1);
  --call_;
}

bool node_group::finish_spread(std::size_t bytes) {
  const std::uint64_t e = call_;
  if (bytes <= group_page::small) return end(true);
  if (ready(0, e).block == by_message) return end(false);
  wait_for_all(&group_page::done, e);
  staging_.reset();
  return end(true);
}

char* node_group::show(void* block) {
  const std::uint64_t e = ++call_;
  if (me_ == 0) {
    make_room(e);
    if (measures(e, page)) own().distance.write();
    announce(e, reachable(block) ? arena_->offset(block) : nowhere);
  } else {
    wait(ready(0, e), e);
    measure_distance(0, e, page);
  }
  const std::uint64_t shown = ready(0, e).block;
  end(true);
  return shown == nowhere ? nullptr : arena_->at(places_[0], shown);
}

PARTITA_DEF bool node_group::spread_small(const char* x, char* y, std::size_t bytes, std::uint64_t e) {
  if (me_ == 0) {
    fill_slot(x, bytes, e);
    if (y != nullptr && y != x) std::memcpy(y, x, bytes);
  } else {
    wait(ready(0, e), e);
    measure_distance(0, e, bytes);
    std::memcpy(y, slot(0, e), bytes);
  }
  return end(true);
}

PARTITA_DEF bool node_group::give(const char* x, char* y, std::size_t bytes, std::uint64_t e) {
  make_room(e);
  if (measures(e, bytes)) own().distance.write();
  char* through = nullptr;
  std::uint64_t held = at_root;
  if (y == x) y = nullptr;
  if (reachable(x)) {
    through = const_cast<char*>(x);
  } else if (reachable(y)) {
    through = y;
  } else if (y == nullptr) {
    wait(ready(1, e), e);
    const std::uint64_t there = ready(1, e).block;
    if (there != nowhere) {
      held = at_first;
      through = arena_->at(places_[1], there);
    }
  }
  if (through != nullptr) {
    const std::uint64_t offset = held == at_first ? ready(1, e).block : arena_->offset(through);
    pour(x, through, bytes, e, 4 * offset + held);
    if (y != nullptr && y != through) std::memcpy(y, x, bytes);
    if (held == at_root) wait_for_all(&group_page::done, e);
    return end(true);
  }
  const arena_block staging(*arena_, bytes);
  if (!reachable(staging.data())) {
    announce(e, by_message);
    return end(false);
  }
  pour(x, staging.data(), bytes, e, 4 * arena_->offset(staging.data()) + at_root);
  if (y != nullptr) std::memcpy(y, x, bytes);
  wait_for_all(&group_page::done, e);
  return end(true);
}

PARTITA_DEF void node_group::pour(const char* x, char* through, std::size_t bytes, std::uint64_t e,
                                  std::uint64_t block) {
  announce(e, block);
  const std::size_t chunk = spread_chunk(bytes);
  if (through != x) {
    // if the other members' cores are near, the data that they read next should stay in the cache
    const bool read = size() > 2 || block % 4 == at_root, streaming = read ? far() : leaves_cache(2 * bytes);
    std::uint64_t chunks = 0;
    for (std::size_t at = 0; at < bytes; at += chunk) {
      move(through + at, x + at, bytes - at < chunk ? bytes - at : chunk, streaming);
      if (streaming) finish_streaming();
      own().progress.post(stamp(e, ++chunks));
    }
  }
  own().progress.post(stamp(e, whole));
}

PARTITA_DEF bool node_group::take(char* y, std::size_t bytes, std::uint64_t e) {
  if (me_ == 1) {
    make_room(e);
    announce(e, reachable(y) ? arena_->offset(y) : nowhere);
  }
  const group_page& root = *pages_[0];
  wait(ready(0, e), e);
  measure_distance(0, e, bytes);
  const std::uint64_t block = ready(0, e).block, held = block % 4;
  if (held == by_message) return end(false);
  if (held == at_first && me_ == 1) {
    wait(root.progress, stamp(e, whole));
    for (std::size_t k = 2; k < size(); ++k) wait(pages_[k]->done, e);
    return end(true);
  }
  const char* const from = arena_->at(places_[held == at_root ? 0 : 1], block / 4);
  const std::size_t chunk = spread_chunk(bytes);
  const bool streaming = leaves_cache(2 * bytes);
  std::uint64_t chunks = 0;
  for (std::size_t at = 0; at < bytes; at += chunk) {
    wait(root.progress, stamp(e, ++chunks));
    move(y + at, from + at, bytes - at < chunk ? bytes - at : chunk, streaming);
  }
  if (streaming) finish_streaming();
  return end(true);
}

}  // namespace partita::detail
