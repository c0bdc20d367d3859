// How the members of a group on one node synchronise: what each member shows in a call, which members it waits for, and
// how a member stores bytes for other members.
#pragma once

#include <cstddef>
#include <cstdint>
#include <partita/array/copy.hpp>
#include <partita/comm/detail/node/arena.hpp>
#include <partita/comm/detail/node/flag.hpp>
#include <partita/comm/detail/node/group_page.hpp>
#include <partita/core/config.hpp>
#include <utility>
#include <vector>

namespace partita::detail {

/// One member's part in the synchronisation of a group on one node, by the pages of its members in shared memory. All
/// members make the same calls, and each counts its calls.
class group_meeting {
 public:
  /// `member_pages` are the pages of all members, the root's first; this worker has index `own_index`.
  group_meeting(arena& memory, std::vector<std::size_t> member_places, std::vector<group_page*> member_pages,
                std::size_t own_index, bool oversubscribed)
      : arena_(&memory),
        member_places_(std::move(member_places)),
        member_pages_(std::move(member_pages)),
        own_index_(own_index),
        oversubscribed_(oversubscribed) {}

  std::size_t size() const { return member_pages_.size(); }  ///< the number of members

  /// Whether data that other members will read should be written with streaming stores, which bypass the caches.
  PARTITA_DECL bool far() const;

 protected:
  static constexpr std::uint64_t nowhere = ~std::uint64_t{0};  ///< the offset of a block that others cannot reach
  static constexpr std::size_t min_measured_bytes = 1024;      ///< smaller blocks are not measured or streamed

  /// The value of a counter of steps after this step of this call.
  static constexpr std::uint64_t progress_count(std::uint64_t call, std::uint64_t step) { return (call << 32U) + step; }
  /// Posts that this worker has finished its current call, and returns `moved`.
  PARTITA_DECL bool end_call(bool moved);
  group_page& own_page() const { return *member_pages_[own_index_]; }  ///< the page that this worker writes
  /// Waits until a counter has at least this value.
  PARTITA_DECL void wait(const group_page::call_flag& n, std::uint64_t count) const;
  /// Waits until this counter of each other member has at least this value.
  PARTITA_DECL void wait_for_members(group_page::call_flag group_page::*flag_member, std::uint64_t count) const;
  /// Waits until no member still reads what this worker showed `slot_count` calls before this call, so that the call
  /// can reuse the flag and the slot.
  PARTITA_DECL void make_room(std::uint64_t call);
  /// Whether the call can reuse its flag and its slot without waiting.
  PARTITA_DECL bool has_room(std::uint64_t call);
  /// The flag by which member k shows that its data of a call can be read.
  group_page::call_flag& ready_flag(std::size_t k, std::uint64_t call) const {
    return member_pages_[k]->ready[call % group_page::slot_count];
  }
  /// The memory in which member k passes a small block in a call.
  char* slot_of_call(std::size_t k, std::uint64_t call) const {
    return member_pages_[k]->slot[call % group_page::slot_count];
  }

  /// Whether the other members can reach a block of this worker.
  bool is_reachable(const void* block) const { return block != nullptr && arena_->is_in_own_part(block); }
  /// Posts the arena offsets of this worker's block and of its result in a call. Some callers add flags to `block`.
  PARTITA_DECL void announce(std::uint64_t call, std::uint64_t block, std::uint64_t result = nowhere);
  /// Whether the members measure in this call how far their caches are from each other: in every 16th call, if its
  /// blocks have at least 1024 bytes.
  bool measures_distance(std::uint64_t call, std::size_t bytes) const {
    return call % 16 == 1 && bytes >= min_measured_bytes;
  }
  /// Measures the distance to the core of member k, if this call measures.
  void measure_distance(std::size_t k, std::uint64_t call, std::size_t bytes) const {
    if (measures_distance(call, bytes)) own_page().distance.measure_distance(member_pages_[k]->distance);
  }
  /// Copies bytes, by streaming stores if `streaming` and if there are at least min_measured_bytes of them.
  PARTITA_DECL static void copy_bytes(void* to, const void* from, std::size_t bytes, bool streaming);
  /// Copies a small block to this worker's slot of a call, and posts that the slot can be read.
  PARTITA_DECL void fill_slot(const void* x, std::size_t bytes, std::uint64_t call);

  arena* arena_;                                     ///< the arena of this node's workers
  std::vector<std::size_t> member_places_;           ///< the members' places on the node, the root's first
  std::vector<group_page*> member_pages_;            ///< the members' pages, the root's first
  std::size_t own_index_;                            ///< this worker's index among the members
  bool oversubscribed_;                              ///< whether this machine has more workers than cores
  std::uint64_t call_ = 0, last_finished_call_ = 0;  ///< how many calls it made; how many all have finished
};

}  // namespace partita::detail

#ifndef PARTITA_CORE
#include <partita/comm/detail/node/impl/group_meeting.ipp>
#endif
