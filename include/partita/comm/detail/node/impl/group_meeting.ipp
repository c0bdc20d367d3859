// Defines the functions that comm/detail/node/group_meeting.hpp declares.
#pragma once

#include <atomic>
#include <cstring>
#include <partita/comm/detail/node/group_meeting.hpp>

namespace partita::detail {

PARTITA_DEF bool group_meeting::far() const {
  bool any = false;
  for (const group_page* shown : member_pages_) any = any || shown->distance.is_far();
  return any;
}

PARTITA_DEF bool group_meeting::end_call(bool moved) {
  own_page().done_flag.post(call_);
  return moved;
}

PARTITA_DEF void group_meeting::wait(const group_page::call_flag& n, std::uint64_t count) const {
  for (backoff p(oversubscribed_); !n.posted(count);) p.pause();
}

PARTITA_DEF void group_meeting::wait_for_members(group_page::call_flag group_page::*flag_member,
                                                 std::uint64_t count) const {
  for (std::size_t k = 0; k < size(); ++k)
    if (k != own_index_) wait(member_pages_[k]->*flag_member, count);
}

PARTITA_DEF void group_meeting::make_room(std::uint64_t call) {
  for (backoff p(oversubscribed_); !has_room(call);) p.pause();
}

PARTITA_DEF bool group_meeting::has_room(std::uint64_t call) {
  if (call <= last_finished_call_ + group_page::slot_count) return true;
  std::uint64_t least = call;
  for (std::size_t k = 0; k < size(); ++k) {
    if (k == own_index_) continue;
    const std::uint64_t done = member_pages_[k]->done_flag.count.load(std::memory_order_acquire);
    if (done + group_page::slot_count < call) return false;
    least = done < least ? done : least;
  }
  last_finished_call_ = least;
  return true;
}

PARTITA_DEF void group_meeting::announce(std::uint64_t call, std::uint64_t block, std::uint64_t result) {
  group_page::call_flag& n = ready_flag(own_index_, call);
  n.block = block;
  n.result = result;
  n.post(call);
}

PARTITA_DEF void group_meeting::copy_bytes(void* to, const void* from, std::size_t bytes, bool streaming) {
  if (streaming && bytes >= min_measured_bytes)
    copy_run_streaming(best_instruction_set(), static_cast<char*>(to), static_cast<const char*>(from), bytes);
  else std::memcpy(to, from, bytes);
}

PARTITA_DEF void group_meeting::fill_slot(const void* x, std::size_t bytes, std::uint64_t call) {
  make_room(call);
  if (measures_distance(call, bytes)) own_page().distance.write_lines();
  const bool streaming = far();
  copy_bytes(slot_of_call(own_index_, call), x, bytes, streaming);
  if (streaming) finish_streaming_stores();
  ready_flag(own_index_, call).post(call);
}

}  // namespace partita::detail
