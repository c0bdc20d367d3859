// A group of workers of one node that moves blocks through the memory they share: copied out of the root's block, or
// summed slice by slice into one block or all, without a message.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <partita/array/copy.hpp>
#include <partita/comm/arena.hpp>
#include <partita/comm/group_meeting.hpp>
#include <partita/comm/summation.hpp>
#include <vector>

namespace partita::detail {

/// One worker's part in a group of its node. The members make the same calls with the same number of bytes.
class node_group : private group_meeting {
 public:
  /// `pages` are those of all members, the root's first; this worker is number `me`.
  node_group(arena& memory, std::vector<std::size_t> places, std::vector<group_page*> pages, std::size_t me, bool oversubscribed)
      : group_meeting(memory, std::move(places), std::move(pages), me, oversubscribed), sources_(size()), results_(size()) {}

  using group_meeting::far;
  using group_meeting::size;

  /// Brings the root's bytes x to all members. `y` is where they go, at the root nullptr or x if they need not go anywhere
  /// else. False, on all members alike and with nothing moved, if no block could be had that all can reach.
  /// Cost: one copy for each member that takes the bytes, all of them at once; no staging if x, or the block of whoever
  /// takes it first, is in shared memory.
  bool spread(const char* x, char* y, std::size_t bytes) {
    const std::uint64_t e = ++call_;
    if (bytes == 0) return end(true);
    return bytes <= group_page::small ? spread_small(x, y, bytes, e) : me_ == 0 ? give(x, y, bytes, e) : take(y, bytes, e);
  }

  /// Shows a block of the root's to all members: where it is for each of them, nullptr for all if they cannot reach it.
  char* show(void* block) {
    const std::uint64_t e = ++call_;
    if (me_ == 0) {
      make_room(e);
      if (measures(e, page)) own().distance.write();
      announce(e, reachable(block) ? arena_->offset(block) : nowhere);
    } else {
      wait(ready(0, e), e);
      judge(0, e, page);
    }
    const std::uint64_t shown = ready(0, e).block;
    end(true);
    return shown == nowhere ? nullptr : arena_->at(places_[0], shown);
  }

  /// Sums n elements of every member that contributes (the root, too, if `root_gives`) into the root's y, added up as Sum
  /// does. False as for spread.
  /// Cost: each member copies what the others add up of its block, a chunk at a time and only if it is not in shared
  /// memory, and sums one slice.
  template <class Sum, class T>
  bool collect(const T* x, T* y, std::size_t n, bool root_gives) {
    return sum<Sum>(x, y, n, root_gives, false);
  }

  /// Sums n elements of every member into every member's y. False as for spread.
  /// Cost: as collect; each member writes its slice of the sum to all.
  template <class Sum, class T>
  bool collect_to_all(const T* x, T* y, std::size_t n) {
    return sum<Sum>(x, y, n, true, true);
  }

 private:
  static constexpr std::uint64_t whole = 0xffffffffULL;
  static constexpr std::size_t sum_chunk = std::size_t{256} << 10;
  /// What is copied at once: the others copy the last piece meanwhile.
  static constexpr std::size_t spread_chunk(std::size_t bytes) {
    const std::size_t quarter = (bytes / 4 + page - 1) / page * page;
    return quarter < 4 * page ? 4 * page : quarter < 32 * page ? quarter : 32 * page;
  }
  enum where : std::uint64_t { at_root, at_first, by_message };

  /// Where the elements of a member are, as seen here.
  struct source {
    const char* data = nullptr;
    bool still = false;  ///< the whole block where it is, not chunks of it in two slots
  };

  bool spread_small(const char* x, char* y, std::size_t bytes, std::uint64_t e) {
    if (me_ == 0) {
      fill_slot(x, bytes, e);
      if (y != nullptr && y != x) std::memcpy(y, x, bytes);
    } else {
      wait(ready(0, e), e);
      judge(0, e, bytes);
      std::memcpy(y, slot(0, e), bytes);
    }
    return end(true);
  }

  /// The root's part. The others copy from x where it can be reached, else from the block of the first that takes it,
  /// into which the root writes while they read.
  bool give(const char* x, char* y, std::size_t bytes, std::uint64_t e) {
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
  void pour(const char* x, char* through, std::size_t bytes, std::uint64_t e, std::uint64_t block) {
    announce(e, block);
    const std::size_t chunk = spread_chunk(bytes);
    if (through != x) {
      // what the others read next stays in the cache if theirs is near
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

  bool take(char* y, std::size_t bytes, std::uint64_t e) {
    if (me_ == 1) {
      make_room(e);
      announce(e, reachable(y) ? arena_->offset(y) : nowhere);
    }
    const group_page& root = *pages_[0];
    wait(ready(0, e), e);
    judge(0, e, bytes);
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

  template <class Sum, class T>
  bool sum(const T* x, T* y, std::size_t n, bool root_gives, bool to_all) {
    const std::uint64_t e = ++call_;
    if (n == 0) return end(true);
    return n * sizeof(T) <= group_page::small ? sum_small<Sum>(x, y, n, root_gives, to_all, e)
                                              : sum_large<Sum>(x, y, n, root_gives, to_all, e);
  }

  /// Whoever gets the sum adds up all.
  template <class Sum, class T>
  bool sum_small(const T* x, T* y, std::size_t n, bool root_gives, bool to_all, std::uint64_t e) {
    if (me_ != 0 || to_all) {
      fill_slot(x, n * sizeof(T), e);
      if (!to_all) return end(true);
    }
    for (std::size_t k = 0; k < size(); ++k) {
      if (k != me_) wait(ready(k, e), e);
      if (k != me_) judge(k, e, n * sizeof(T));
      sources_[k].data = k == me_ ? reinterpret_cast<const char*>(x) : slot(k, e);
    }
    if (all_done_ < e - 1) all_done_ = e - 1;  // who has shown something in this call has done with the last
    results_[0] = reinterpret_cast<char*>(y);
    sum_range<Sum, T>([&](std::size_t k) { return reinterpret_cast<const T*>(sources_[k].data); }, 0, n, root_gives, 1, 0, false, false);
    return end(true);
  }

  /// Each member adds up a slice of each chunk, and writes it where the sum goes. What is not in shared memory passes
  /// through two slots of a chunk in turn: while the others still add up one, the next is copied. The first is there when
  /// the call is announced, so that a block of one chunk takes two meetings.
  template <class Sum, class T>
  bool sum_large(const T* x, T* y, std::size_t n, bool root_gives, bool to_all, std::uint64_t e) {
    constexpr std::size_t chunk = sum_chunk / sizeof(T), line = sizeof(T) < 64 ? 64 / sizeof(T) : 1;
    const bool gives = me_ != 0 || root_gives, still = !gives || reachable(x), gets = to_all || me_ == 0;
    const arena_block staging(*arena_, still ? 0 : 2 * chunk * sizeof(T));
    const arena_block landing(*arena_, gets && !reachable(y) ? n * sizeof(T) : 0);  // where the others can write
    T* const result = landing.data() == nullptr ? y : reinterpret_cast<T*>(landing.data());
    const bool within_reach = (still || reachable(staging.data())) && (!gets || reachable(result));
    make_room(e);
    if (measures(e, n * sizeof(T))) own().distance.write();
    struct range {
      std::size_t at, length, first, last;  // a chunk, and the slice of it that this worker adds up
    };
    const auto piece = [&](std::size_t round, std::size_t step) {
      range r{round * step, n - round * step < step ? n - round * step : step, 0, 0};
      const std::size_t share = ((r.length + size() - 1) / size() + line - 1) / line * line;
      r.first = share * me_ < r.length ? share * me_ : r.length;
      r.last = r.length - r.first < share ? r.length : r.first + share;
      return r;
    };
    const auto show = [&](std::size_t round, bool distant) {
      const range r = piece(round, chunk);
      T* const to = reinterpret_cast<T*>(staging.data()) + round % 2 * chunk;
      if (round >= 2) wait_for_all(&group_page::summed, stamp(e, round - 1));
      move(to, x + r.at, r.first * sizeof(T), distant);
      move(to + r.last, x + r.at + r.last, (r.length - r.last) * sizeof(T), distant);
      if (distant) finish_streaming();
      own().progress.post(stamp(e, round + 1));
    };
    if (!still && within_reach) show(0, far());
    announce(e, !within_reach ? nowhere : still ? (gives ? 4 * arena_->offset(x) + 1 : 1) : 4 * arena_->offset(staging.data()),
             gets && within_reach ? arena_->offset(result) : nowhere);
    bool all_still = true, reached = true;
    for (std::size_t k = 0; k < size(); ++k) {
      const group_page::notice& shown = ready(k, e);
      if (k != me_) wait(shown, e);
      if (k != me_) judge(k, e, n * sizeof(T));
      reached = reached && shown.block != nowhere;
      sources_[k].still = shown.block % 4 == 1;
      all_still = all_still && sources_[k].still;
      if (!reached) continue;
      sources_[k].data = k == me_ && gives ? reinterpret_cast<const char*>(x) : arena_->at(places_[k], shown.block / 4);
      if (to_all || k == 0) results_[k] = arena_->at(places_[k], shown.result);
    }
    if (!reached) return end(false);
    const bool distant = far(), streaming = leaves_cache(size() * n * sizeof(T));
    // in one piece if nobody has to copy, but that all of a group that copies see the same chunks
    const std::size_t step = all_still ? n : chunk, rounds = (n + step - 1) / step;
    for (std::size_t round = 0; round < rounds; ++round) {
      if (!still && round + 1 < rounds) show(round + 1, distant);
      for (std::size_t k = 0; k < size(); ++k)
        if (k != me_ && !sources_[k].still) wait(pages_[k]->progress, stamp(e, round + 1));
      const range r = piece(round, step);
      // element at + i of a block is element i of a chunk in a slot, or of what starts at `at` in the whole block
      const auto block = [&](std::size_t k) {
        return reinterpret_cast<const T*>(sources_[k].data) + (sources_[k].still || k == me_ ? r.at : round % 2 * chunk);
      };
      sum_range<Sum, T>(block, r.first, r.last, root_gives, to_all ? size() : 1, r.at, streaming, streaming || distant);
      own().summed.post(stamp(e, round + 1));
    }
    wait_for_all(&group_page::summed, stamp(e, rounds));
    if (gets && result != y) move(y, result, n * sizeof(T), false);
    return end(true);
  }

  /// Adds up elements [first, last), block(k) being where those of member k begin, and writes them to the results, where
  /// they begin at `at`.
  template <class Sum, class T, class Block>
  void sum_range(const Block& block, std::size_t first, std::size_t last, bool root_gives, std::size_t results, std::size_t at,
                 bool stream_own, bool stream_others) {
    sum_buffer<T> part;
    const auto streams = [&](std::size_t k) { return k == me_ ? stream_own : stream_others; };
    const bool direct = results == 1 && !streams(0);
    for (; first < last; first += part.size) {
      const std::size_t length = last - first < part.size ? last - first : part.size;
      const auto here = [&](std::size_t k) { return block(k) + first; };
      T* const into = direct ? reinterpret_cast<T*>(results_[0]) + at + first : part.data();
      const T* const sum = Sum::template sum<T>(here, root_gives ? 0 : 1, size(), length, into);
      for (std::size_t k = 0; k < results; ++k) {
        T* const to = reinterpret_cast<T*>(results_[k]) + at + first;
        if (to != sum) move(to, sum, length * sizeof(T), streams(k));
      }
    }
    if (stream_own || stream_others) finish_streaming();
  }

  std::vector<source> sources_;  // of the call that is made
  std::vector<char*> results_;
};

}  // namespace partita::detail
