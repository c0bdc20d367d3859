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

/// One worker's view of a group on its node. All members make the same calls and count the calls.
class group_meeting {
 public:
  /// `pages` are the pages of all members, the root's first; this worker has index `me`.
  group_meeting(arena& memory, std::vector<std::size_t> places, std::vector<group_page*> pages, std::size_t me,
                bool oversubscribed)
      : arena_(&memory),
        places_(std::move(places)),
        pages_(std::move(pages)),
        me_(me),
        oversubscribed_(oversubscribed) {}

  std::size_t size() const { return pages_.size(); }

  /// Whether data that other members will read should be written past the caches.
  PARTITA_DECL bool far() const;

 protected:
  static constexpr std::uint64_t nowhere = ~std::uint64_t{0};
  static constexpr std::size_t worth_streaming = 1024;

  static constexpr std::uint64_t stamp(std::uint64_t call, std::uint64_t step) { return (call << 32U) + step; }
  PARTITA_DECL bool end(bool moved);
  group_page& own() const { return *pages_[me_]; }
  PARTITA_DECL void wait(const group_page::call_flag& n, std::uint64_t count) const;
  PARTITA_DECL void wait_for_all(group_page::call_flag group_page::*which, std::uint64_t count) const;
  /// Waits until no member still reads what this worker showed `depth` calls ago, so that the place can be reused.
  PARTITA_DECL void make_room(std::uint64_t e);
  /// Whether the place for the next call can be reused without waiting.
  PARTITA_DECL bool has_room(std::uint64_t e);
  group_page::call_flag& ready(std::size_t k, std::uint64_t e) const { return pages_[k]->ready[e % group_page::depth]; }
  char* slot(std::size_t k, std::uint64_t e) const { return pages_[k]->slot[e % group_page::depth]; }

  bool reachable(const void* block) const { return block != nullptr && arena_->holds(block); }
  PARTITA_DECL void announce(std::uint64_t e, std::uint64_t block, std::uint64_t result = nowhere);
  /// Whether the members measure in this call how far their caches are from each other: in every 16th large call.
  bool measures(std::uint64_t e, std::size_t bytes) const { return e % 16 == 1 && bytes >= worth_streaming; }
  void measure_distance(std::size_t k, std::uint64_t e, std::size_t bytes) const {
    if (measures(e, bytes)) own().distance.measure_distance(pages_[k]->distance);
  }
  PARTITA_DECL static void move(void* to, const void* from, std::size_t bytes, bool streaming);
  PARTITA_DECL void fill_slot(const void* x, std::size_t bytes, std::uint64_t e);

  arena* arena_;
  std::vector<std::size_t> places_;
  std::vector<group_page*> pages_;
  std::size_t me_;
  bool oversubscribed_;
  std::uint64_t call_ = 0, all_done_ = 0;
};

}  // namespace partita::detail

#ifndef PARTITA_CORE
#include <partita/comm/detail/node/impl/group_meeting.ipp>
#endif
