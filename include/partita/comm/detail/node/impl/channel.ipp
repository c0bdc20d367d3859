// Defines the functions that comm/detail/node/channel.hpp declares.
#pragma once

#include <cstring>
#include <partita/comm/detail/node/channel.hpp>

namespace partita::detail {

PARTITA_DEF node_channel::node_channel(const own_node& members, arena& memory, int tag)
    : arena_(&memory),
      communicator_(members.communicator()),
      tag_(tag),
      place_(members.place()),
      oversubscribed_(members.oversubscribed()),
      pairs_(members.size()) {
  const std::size_t n = members.size();
  flags_bytes_ = n * sizeof(pair_flags);
  flags_base_ = static_cast<char*>(arena_->allocate_signals(flags_bytes_));
  check(MPI_Barrier(members.communicator()), "MPI_Barrier");  // no worker still writes to this memory's old content
  std::memset(flags_base_, 0, flags_bytes_);
  std::vector<unsigned long long> offsets(n);
  const unsigned long long offset = arena_->is_in_own_part(flags_base_) ? arena_->offset(flags_base_) : ~0ULL;
  check(MPI_Allgather(&offset, 1, MPI_UNSIGNED_LONG_LONG, offsets.data(), 1, MPI_UNSIGNED_LONG_LONG,
                      members.communicator()),
        "MPI_Allgather");
  for (unsigned long long other : offsets) is_usable_ = is_usable_ && other != ~0ULL;
  for (std::size_t k = 0; is_usable_ && k < n; ++k) {
    pairs_[k].own_flags = reinterpret_cast<pair_flags*>(flags_base_) + k;
    pairs_[k].peer_flags = reinterpret_cast<pair_flags*>(arena_->at(k, offsets[k])) + place_;
  }
}

node_channel::~node_channel() {
  for (const pair& p : pairs_)
    if (p.ring != nullptr) arena_->release(p.ring, slot_count * p.slot_bytes);
  arena_->release_signals(flags_base_, flags_bytes_);
}

PARTITA_DEF announced_memory node_channel::announce(std::size_t from, void* block, std::size_t wished_slot_bytes) {
  pair& p = pairs_[from];
  announced_memory at{static_cast<char*>(block), 0};
  if (!arena_->is_in_own_part(block)) at = make_ring(from, wished_slot_bytes);
  p.peer_flags->announced.post(++p.announced_count,
                               (at.is_by_message() ? 0 : arena_->offset(at.address)) | at.slot_bytes / page);
  return at;
}

PARTITA_DEF void node_channel::roll_back(std::size_t from) {
  pair& p = pairs_[from];
  p.peer_flags->announced.epoch.store(--p.announced_count, std::memory_order_release);
}

PARTITA_DEF announced_memory node_channel::await_destination(std::size_t to) {
  pair& p = pairs_[to];
  const std::uint64_t value = p.own_flags->announced.wait(++p.awaited_count, oversubscribed_);
  const announced_memory at{arena_->at(to, value / alignment * alignment), value % alignment * page};
  return at.is_by_message() ? announced_memory{nullptr, at.slot_bytes} : at;
}

PARTITA_DEF announced_memory node_channel::make_ring(std::size_t from, std::size_t wished_slot_bytes) {
  pair& p = pairs_[from];
  wished_slot_bytes = (wished_slot_bytes + page - 1) / page * page;
  if (p.slot_bytes < wished_slot_bytes) {
    char* const wider = static_cast<char*>(arena_->allocate(slot_count * wished_slot_bytes));
    if (arena_->is_in_own_part(wider)) {
      if (p.ring != nullptr) arena_->release(p.ring, slot_count * p.slot_bytes);
      p.ring = wider, p.slot_bytes = wished_slot_bytes;
    } else {
      arena_->release(wider, slot_count * wished_slot_bytes);
    }
  }
  if (p.ring != nullptr) return {p.ring, p.slot_bytes};
  return {nullptr, announced_memory::message_bytes};
}

}  // namespace partita::detail
