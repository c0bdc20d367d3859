// How the members of a group on one node synchronise: what each member shows in a call, which members it waits for, and
// how bytes for other members are stored.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <partita/array/copy.hpp>
#include <partita/comm/detail/node/arena.hpp>
#include <partita/comm/detail/node/flag.hpp>
#include <partita/comm/detail/node/group_page.hpp>
#include <utility>
#include <vector>

namespace partita::detail {

/// One worker's view of a group of its node. All members make the same calls and count them.
class group_meeting {
 public:
  /// `pages` are those of all members, the root's first; this worker has index `me`.
  template <class = void>
  group_meeting(arena& memory, std::vector<std::size_t> places, std::vector<group_page*> pages, std::size_t me,
                bool oversubscribed)
      : arena_(&memory),
        places_(std::move(places)),
        pages_(std::move(pages)),
        me_(me),
        oversubscribed_(oversubscribed) {}

  std::size_t size() const { return pages_.size(); }

  /// Whether data that other members will read is better written past the caches.
  template <class = void>
  bool far() const {
    bool any = false;
    for (const group_page* shown : pages_) any = any || shown->distance.far();
    return any;
  }

 protected:
  static constexpr std::uint64_t nowhere = ~std::uint64_t{0};
  static constexpr std::size_t worth_streaming = 1024;

  static constexpr std::uint64_t stamp(std::uint64_t call, std::uint64_t step) { return (call << 32U) + step; }
  bool end(bool moved) {
    own().done.post(call_);
    return moved;
  }
  group_page& own() const { return *pages_[me_]; }
  template <class = void>
  void wait(const group_page::call_flag& n, std::uint64_t count) const {
    for (backoff p(oversubscribed_); !n.posted(count);) p.pause();
  }
  template <class = void>
  void wait_for_all(group_page::call_flag group_page::*which, std::uint64_t count) const {
    for (std::size_t k = 0; k < size(); ++k)
      if (k != me_) wait(pages_[k]->*which, count);
  }
  /// Waits until no member still reads what this worker showed `depth` calls ago, so that its place can be reused.
  void make_room(std::uint64_t e) {
    if (e <= all_done_ + group_page::depth) return;
    std::uint64_t least = e;
    for (std::size_t k = 0; k < size(); ++k) {
      if (k == me_) continue;
      wait(pages_[k]->done, e - group_page::depth);
      const std::uint64_t done = pages_[k]->done.count.load(std::memory_order_acquire);
      least = done < least ? done : least;
    }
    all_done_ = least;
  }
  /// Whether the place can be reused without waiting.
  bool has_room(std::uint64_t e) {
    if (e <= all_done_ + group_page::depth) return true;
    std::uint64_t least = e;
    for (std::size_t k = 0; k < size(); ++k) {
      if (k == me_) continue;
      const std::uint64_t done = pages_[k]->done.count.load(std::memory_order_acquire);
      if (done + group_page::depth < e) return false;
      least = done < least ? done : least;
    }
    all_done_ = least;
    return true;
  }
  group_page::call_flag& ready(std::size_t k, std::uint64_t e) const { return pages_[k]->ready[e % group_page::depth]; }
  char* slot(std::size_t k, std::uint64_t e) const { return pages_[k]->slot[e % group_page::depth]; }

  bool reachable(const void* block) const { return block != nullptr && arena_->holds(block); }
  void announce(std::uint64_t e, std::uint64_t block, std::uint64_t result = nowhere) {
    group_page::call_flag& n = ready(me_, e);
    n.block = block;
    n.result = result;
    n.post(e);
  }
  /// Every 16 calls the members measure how far their caches are from each other. All members count in the same way.
  bool measures(std::uint64_t e, std::size_t bytes) const { return e % 16 == 1 && bytes >= worth_streaming; }
  template <class = void>
  void judge(std::size_t k, std::uint64_t e, std::size_t bytes) const {
    if (measures(e, bytes)) own().distance.judge(pages_[k]->distance);
  }
  static void move(void* to, const void* from, std::size_t bytes, bool streaming) {
    if (streaming && bytes >= worth_streaming)
      stream_run(best_instruction_set(), static_cast<char*>(to), static_cast<const char*>(from), bytes);
    else std::memcpy(to, from, bytes);
  }
  template <class = void>
  void fill_slot(const void* x, std::size_t bytes, std::uint64_t e) {
    make_room(e);
    if (measures(e, bytes)) own().distance.write();
    const bool streaming = far();
    move(slot(me_, e), x, bytes, streaming);
    if (streaming) finish_streaming();
    ready(me_, e).post(e);
  }

  arena* arena_;
  std::vector<std::size_t> places_;
  std::vector<group_page*> pages_;
  std::size_t me_;
  bool oversubscribed_;
  std::uint64_t call_ = 0, all_done_ = 0;
};

}  // namespace partita::detail
