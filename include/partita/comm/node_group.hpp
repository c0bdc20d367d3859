// A group of workers of one node that moves blocks through the memory they share: copied out of the root's block, or
// summed slice by slice into it, without a message.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <partita/array/copy.hpp>
#include <partita/comm/arena.hpp>
#include <partita/comm/signal.hpp>
#include <partita/plan/binomial_tree.hpp>
#include <vector>

namespace partita::detail {

/// What one worker of a group shows to the others. Every counter only grows and has one writer. What comes with a call is
/// there twice, for odd and even calls: a worker may run ahead of the others by one call, never by two.
struct group_page {
  static constexpr std::size_t small = 4096;  ///< blocks of so many bytes are passed through slots; nobody waits for an answer

  struct alignas(64) notice {
    std::atomic<std::uint64_t> count;
    std::uint64_t block, result;

    void post(std::uint64_t n) { count.store(n, std::memory_order_release); }
    bool posted(std::uint64_t n) const { return count.load(std::memory_order_acquire) >= n; }
  };
  notice ready[2], progress, summed, done;
  char slot[2][small];
};

/// One worker's part in a group of its node. The members make the same calls with the same number of bytes.
class node_group {
 public:
  /// `pages` are those of all members, the root's first; this worker is number `me`.
  node_group(arena& memory, std::vector<std::size_t> places, std::vector<group_page*> pages, std::size_t me)
      : arena_(&memory), places_(std::move(places)), pages_(std::move(pages)), me_(me) {}

  std::size_t size() const { return pages_.size(); }

  /// Brings the root's bytes x to all members. `y` is where they go, at the root nullptr or x if they need not go anywhere
  /// else. False, on all members alike and with nothing moved, if no block could be had that all can reach.
  /// Cost: one copy for each member that takes the bytes, all of them at once; no staging if x, or the block of whoever
  /// takes it first, is in shared memory.
  bool spread(const char* x, char* y, std::size_t bytes) {
    const std::uint64_t e = ++call_;
    if (bytes == 0) return end(true);
    return bytes <= group_page::small ? spread_small(x, y, bytes, e) : me_ == 0 ? give(x, y, bytes, e) : take(y, bytes, e);
  }

  /// Sums n elements of every member that contributes (the root, too, if `root_gives`) into the root's y, in the order of
  /// the binomial tree that messages would take: the same bits either way. False as for spread.
  /// Cost: each member copies its block once, a chunk at a time and only if it is not in shared memory, and sums one slice.
  template <class T>
  bool collect(const T* x, T* y, std::size_t n, bool root_gives) {
    const std::uint64_t e = ++call_;
    if (n == 0) return end(true);
    return n * sizeof(T) <= group_page::small ? collect_small(x, y, n, root_gives, e) : collect_large(x, y, n, root_gives, e);
  }

 private:
  static constexpr std::uint64_t whole = 0xffffffffULL, nowhere = ~std::uint64_t{0};
  static constexpr std::size_t spread_chunk = std::size_t{128} << 10, sum_chunk = std::size_t{256} << 10, sum_block = 512;
  enum where : std::uint64_t { at_root, at_first, by_message };

  /// Memory for one call, of which the others may read.
  class scratch {
   public:
    scratch(arena& memory, std::size_t bytes) : arena_(&memory), bytes_(bytes), block_(memory.allocate(bytes)) {}
    scratch(const scratch&) = delete;
    scratch& operator=(const scratch&) = delete;
    ~scratch() { arena_->release(block_, bytes_); }
    char* data() const { return static_cast<char*>(block_); }

   private:
    arena* arena_;
    std::size_t bytes_;
    void* block_;
  };

  static constexpr std::uint64_t stamp(std::uint64_t call, std::uint64_t step) { return (call << 32U) + step; }
  bool end(bool moved) {
    own().done.post(call_);
    return moved;
  }
  group_page& own() const { return *pages_[me_]; }
  void wait(const group_page::notice& n, std::uint64_t count) const {
    for (patience p(true); !n.posted(count);) p.pause();  // yields early: a core shared with strangers costs 50 us a wait else
  }
  void wait_for_all(group_page::notice group_page::*which, std::uint64_t count) const {
    for (std::size_t k = 0; k < size(); ++k)
      if (k != me_) wait(pages_[k]->*which, count);
  }
  /// Waits until nobody looks any more at what this worker showed two calls ago.
  void make_room(std::uint64_t e) const {
    if (e > 2) wait_for_all(&group_page::done, e - 2);
  }
  bool reachable(const void* block) const { return block != nullptr && arena_->holds(block); }
  void announce(std::uint64_t e, std::uint64_t block, std::uint64_t result = nowhere) {
    group_page::notice& n = own().ready[e % 2];
    n.block = block;
    n.result = result;
    n.post(e);
  }
  /// Part of a block of `whole_bytes`; what the others read next stays in the cache.
  static void copy_part(char* to, const char* from, std::size_t bytes, std::size_t whole_bytes, bool read_next = false) {
    const std::ptrdiff_t unit = 1;
    const bool streaming = !read_next && leaves_cache(2 * whole_bytes);
    copy_block<char>(to, &unit, from, &unit, &bytes, 1, streaming ? stores::streaming : stores::cached);
  }

  bool spread_small(const char* x, char* y, std::size_t bytes, std::uint64_t e) {
    if (me_ == 0) {
      make_room(e);
      std::memcpy(own().slot[e % 2], x, bytes);
      own().ready[e % 2].post(e);
      if (y != nullptr && y != x) std::memcpy(y, x, bytes);
    } else {
      wait(pages_[0]->ready[e % 2], e);
      std::memcpy(y, pages_[0]->slot[e % 2], bytes);
    }
    return end(true);
  }

  /// The root's part. The others copy from x where it can be reached, else from the block of the first that takes it,
  /// into which the root writes while they read.
  bool give(const char* x, char* y, std::size_t bytes, std::uint64_t e) {
    make_room(e);
    char* through = nullptr;
    std::uint64_t held = at_root;
    if (y == x) y = nullptr;
    if (reachable(x)) {
      through = const_cast<char*>(x);
    } else if (reachable(y)) {
      through = y;
    } else if (y == nullptr) {
      wait(pages_[1]->ready[e % 2], e);
      const std::uint64_t there = pages_[1]->ready[e % 2].block;
      if (there != nowhere) {
        held = at_first;
        through = arena_->at(places_[1], there);
      }
    }
    if (through != nullptr) {
      const std::uint64_t offset = held == at_first ? pages_[1]->ready[e % 2].block : arena_->offset(through);
      pour(x, through, bytes, e, 4 * offset + held);
      if (y != nullptr && y != through) copy_part(y, x, bytes, bytes);
      if (held == at_root) wait_for_all(&group_page::done, e);
      return end(true);
    }
    const scratch staging(*arena_, bytes);
    if (!reachable(staging.data())) {
      announce(e, by_message);
      return end(false);
    }
    pour(x, staging.data(), bytes, e, 4 * arena_->offset(staging.data()) + at_root);
    if (y != nullptr) copy_part(y, x, bytes, bytes);
    wait_for_all(&group_page::done, e);
    return end(true);
  }
  void pour(const char* x, char* through, std::size_t bytes, std::uint64_t e, std::uint64_t block) {
    announce(e, block);
    if (through != x) {
      const bool read = size() > 2 || block % 4 == at_root;
      std::uint64_t chunks = 0;
      for (std::size_t at = 0; at < bytes; at += spread_chunk) {
        copy_part(through + at, x + at, bytes - at < spread_chunk ? bytes - at : spread_chunk, bytes, read);
        own().progress.post(stamp(e, ++chunks));
      }
    }
    own().progress.post(stamp(e, whole));
  }

  bool take(char* y, std::size_t bytes, std::uint64_t e) {
    if (me_ == 1) {
      make_room(e);
      announce(e, reachable(y) ? arena_->offset(y) : nowhere);
    }
    const group_page& root = *pages_[0];
    wait(root.ready[e % 2], e);
    const std::uint64_t block = root.ready[e % 2].block, held = block % 4;
    if (held == by_message) return end(false);
    if (held == at_first && me_ == 1) {
      wait(root.progress, stamp(e, whole));
      for (std::size_t k = 2; k < size(); ++k) wait(pages_[k]->done, e);
      return end(true);
    }
    const char* const from = arena_->at(places_[held == at_root ? 0 : 1], block / 4);
    std::uint64_t chunks = 0;
    for (std::size_t at = 0; at < bytes; at += spread_chunk) {
      wait(root.progress, stamp(e, ++chunks));
      copy_part(y + at, from + at, bytes - at < spread_chunk ? bytes - at : spread_chunk, bytes);
    }
    return end(true);
  }

  /// Adds up [first, first + n) of the blocks of a position's subtree, as messages along the tree would. Returns whether
  /// there was anything to add.
  template <class T, class Source>
  bool fold(const Source& source, std::size_t position, std::size_t first, std::size_t n, bool root_gives, T* out) const {
    bool filled = position != 0 || root_gives;
    if (filled && out != source(position) + first)  // a root may want the sum where its own block is
      std::memcpy(static_cast<void*>(out), source(position) + first, n * sizeof(T));
    const binomial_tree tree{size()};
    tree.for_below_smallest_first(position, [&](std::size_t other) {
      T part[sum_block];
      const T* sum = part;
      if ((position + 1 == other) && filled)  // a leaf, read where it is
        sum = source(other) + first;
      else
        fold(source, other, first, n, root_gives, filled ? part : out);
      if (filled)
        add_side_by_side(best_instruction_set(), out, sum, n);
      filled = true;
    });
    return filled;
  }
  template <class T, class Source>
  void fold_range(const Source& source, std::size_t first, std::size_t last, bool root_gives, T* out) const {
    for (; first < last; first += sum_block)
      fold(source, 0, first, last - first < sum_block ? last - first : sum_block, root_gives, out + first);
  }

  template <class T>
  bool collect_small(const T* x, T* y, std::size_t n, bool root_gives, std::uint64_t e) {
    if (me_ != 0) {
      make_room(e);
      std::memcpy(own().slot[e % 2], static_cast<const void*>(x), n * sizeof(T));
      own().ready[e % 2].post(e);
      return end(true);
    }
    for (std::size_t k = 1; k < size(); ++k) wait(pages_[k]->ready[e % 2], e);
    const auto source = [&](std::size_t k) { return k == 0 ? x : reinterpret_cast<const T*>(pages_[k]->slot[e % 2]); };
    fold_range(source, 0, n, root_gives, y);
    return end(true);
  }

  template <class T>
  bool collect_large(const T* x, T* y, std::size_t n, bool root_gives, std::uint64_t e) {
    const bool gives = me_ != 0 || root_gives, in_place = !gives || reachable(x);
    const std::size_t chunk = sum_chunk / sizeof(T);
    const scratch staging(*arena_, in_place ? 1 : 2 * chunk * sizeof(T));
    make_room(e);
    const std::uint64_t shown = !gives                       ? at_root
                                : in_place                   ? 4 * arena_->offset(x) + 1
                                : reachable(staging.data()) ? 4 * arena_->offset(staging.data())
                                                             : nowhere;
    announce(e, shown, me_ == 0 && reachable(y) ? arena_->offset(y) : nowhere);
    std::vector<source_of<T>>& sources = sources_for<T>();
    bool all_in_place = true, all_reachable = true;
    for (std::size_t k = 0; k < size(); ++k) {
      wait(pages_[k]->ready[e % 2], e);
      const std::uint64_t block = pages_[k]->ready[e % 2].block;
      all_reachable = all_reachable && block != nowhere;
      if (k == 0 && !root_gives) continue;
      const bool still = block % 4 == 1;
      all_in_place = all_in_place && still;
      sources[k] = {block == nowhere ? nullptr : reinterpret_cast<const T*>(arena_->at(places_[k], block / 4)), still};
    }
    const std::uint64_t result = pages_[0]->ready[e % 2].result;
    if (!all_reachable) {
      end(false);
      wait_for_all(&group_page::done, e);  // all have looked at all
      return false;
    }
    // the root's block as seen here; if the others cannot reach it, the root adds up everything
    const bool together = result != nowhere;
    T* const sum = me_ == 0 ? y : together ? reinterpret_cast<T*>(arena_->at(places_[0], result)) : nullptr;
    const std::size_t step = all_in_place ? n : chunk;
    std::uint64_t round = 0;
    for (std::size_t at = 0; at < n; at += step, ++round) {
      const std::size_t length = n - at < step ? n - at : step;
      if (!in_place) {
        if (round >= 2) wait_for_all(&group_page::summed, stamp(e, round - 1));
        std::memcpy(static_cast<void*>(staging.data() + round % 2 * chunk * sizeof(T)), x + at, length * sizeof(T));
        own().progress.post(stamp(e, round + 1));
        wait_for_all(&group_page::progress, stamp(e, round + 1));
      } else if (!all_in_place) {
        own().progress.post(stamp(e, round + 1));
        wait_for_all(&group_page::progress, stamp(e, round + 1));
      }
      // element at + i of a block is element i of a chunk in a slot, or of what starts at `at` in the whole block
      const auto source = [&](std::size_t k) {
        return sources[k].still ? sources[k].data + at : sources[k].data + round % 2 * chunk;
      };
      constexpr std::size_t line = sizeof(T) < 64 ? 64 / sizeof(T) : 1;
      const std::size_t share = (length / size() + line) / line * line;
      const std::size_t first = together ? share * me_ : 0, last = together ? first + share : length;
      if (sum != nullptr) fold_range(source, first < length ? first : length, last < length ? last : length, root_gives, sum + at);
      own().summed.post(stamp(e, round + 1));
    }
    wait_for_all(&group_page::summed, stamp(e, round));
    return end(true);
  }

  template <class T>
  struct source_of {
    const T* data = nullptr;
    bool still = false;  ///< the whole block where it is, not chunks of it in two slots
  };
  template <class T>
  std::vector<source_of<T>>& sources_for() const {
    static thread_local std::vector<source_of<T>> sources;
    if (sources.size() < size()) sources.resize(size());
    return sources;
  }

  arena* arena_;
  std::vector<std::size_t> places_;
  std::vector<group_page*> pages_;
  std::size_t me_;
  std::uint64_t call_ = 0;
};

}  // namespace partita::detail
