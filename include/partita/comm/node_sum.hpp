// How the members of a group on one node sum their blocks through the memory they share, in two steps that leave room in
// between: each shows its block, then each adds up a slice of all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <partita/array/copy.hpp>
#include <partita/comm/arena.hpp>
#include <partita/comm/group_meeting.hpp>
#include <partita/comm/summation.hpp>
#include <utility>
#include <vector>

namespace partita::detail {

/// A sum as one member sees it. All members of the group name the same n, root_gives and to_all.
template <class T>
struct block_sum {
  const T* x;       ///< what it gives
  T* y;             ///< where the sum goes, if it gets it
  std::size_t n;
  bool root_gives;  ///< the root is one of those whose blocks are summed
  bool to_all;      ///< all get the sum, not only the root

  std::size_t bytes() const { return n * sizeof(T); }
  bool is_small() const { return bytes() <= group_page::small; }
};

/// A group that adds up: in the order of Sum, whoever comes first and however the blocks are passed. Every sum that is started
/// is finished, before the group's next call.
class node_sum : protected group_meeting {
 public:
  node_sum(arena& memory, std::vector<std::size_t> places, std::vector<group_page*> pages, std::size_t me, bool oversubscribed)
      : group_meeting(memory, std::move(places), std::move(pages), me, oversubscribed), sources_(size()), results_(size()) {}

  /// Shows the others what this member gives, and waits for none of them. From here to the end x must stay as it is and the
  /// group makes no other call. Where the sum goes may be left open (nullptr) if it is not in shared memory.
  template <class T>
  void start(const block_sum<T>& s) {
    const std::uint64_t e = ++call_;
    if (s.n == 0) {
      end(true);
    } else if (!s.is_small()) {
      start_large(s, e);
    } else if (me_ != 0 || s.to_all) {
      fill_slot(s.x, s.bytes(), e);
      if (!s.to_all) end(true);
    }
  }

  /// Waits for the others and adds up, as Sum does. False, on all members alike and with nothing moved, if no block could be
  /// had that all can reach.
  /// Cost: each member copies what the others add up of its block, a chunk at a time and only if it is not in shared
  /// memory, and sums one slice; where all get the sum it writes its slice to all.
  template <class Sum, class T>
  bool finish(const block_sum<T>& s) {
    if (s.n == 0) return true;
    if (!s.is_small()) return finish_large<Sum>(s, call_);
    return (me_ != 0 && !s.to_all) || finish_small<Sum>(s, call_);
  }

 private:
  static constexpr std::size_t chunk_bytes = std::size_t{256} << 10;
  template <class T>
  static constexpr std::size_t chunk = chunk_bytes / sizeof(T);

  /// Where the elements of a member are, as seen here.
  struct source {
    const char* data = nullptr;
    bool still = false;  ///< the whole block where it is, not chunks of it in two slots
  };
  /// A chunk, and the slice of it that this worker adds up.
  struct range {
    std::size_t at, length, first, last;
  };

  template <class T>
  bool gives(const block_sum<T>& s) const { return me_ != 0 || s.root_gives; }
  template <class T>
  bool gets(const block_sum<T>& s) const { return me_ == 0 || s.to_all; }
  template <class T>
  bool still(const block_sum<T>& s) const { return !gives(s) || reachable(s.x); }

  /// Whoever gets the sum adds up all.
  template <class Sum, class T>
  bool finish_small(const block_sum<T>& s, std::uint64_t e) {
    for (std::size_t k = 0; k < size(); ++k) {
      if (k != me_) wait(ready(k, e), e);
      if (k != me_) judge(k, e, s.bytes());
      sources_[k].data = k == me_ ? reinterpret_cast<const char*>(s.x) : slot(k, e);
    }
    if (all_done_ < e - 1) all_done_ = e - 1;  // who has shown something in this call has done with the last
    results_[0] = reinterpret_cast<char*>(s.y);
    sum_range<Sum, T>([&](std::size_t k) { return reinterpret_cast<const T*>(sources_[k].data); }, 0, s.n, s.root_gives, 1, 0, false, false);
    return end(true);
  }

  /// What is not in shared memory passes through two slots of a chunk in turn: while the others still add up one, the next is
  /// copied. The first is there when the call is announced, so that a block of one chunk takes two meetings.
  template <class T>
  void start_large(const block_sum<T>& s, std::uint64_t e) {
    staging_.emplace(*arena_, still(s) ? 0 : 2 * chunk_bytes);
    landing_.emplace(*arena_, gets(s) && !reachable(s.y) ? s.bytes() : 0);  // where the others can write
    const T* const result = result_of(s);
    const bool within_reach = (still(s) || reachable(staging_->data())) && (!gets(s) || reachable(result));
    make_room(e);
    if (measures(e, s.bytes())) own().distance.write();
    if (!still(s) && within_reach) show(s, 0, far(), e);
    announce(e, !within_reach ? nowhere : still(s) ? (gives(s) ? 4 * arena_->offset(s.x) + 1 : 1) : 4 * arena_->offset(staging_->data()),
             gets(s) && within_reach ? arena_->offset(result) : nowhere);
  }

  /// Each member adds up a slice of each chunk, and writes it where the sum goes.
  template <class Sum, class T>
  bool finish_large(const block_sum<T>& s, std::uint64_t e) {
    bool all_still = true, reached = true;
    for (std::size_t k = 0; k < size(); ++k) {
      const group_page::notice& shown = ready(k, e);
      if (k != me_) wait(shown, e);
      if (k != me_) judge(k, e, s.bytes());
      reached = reached && shown.block != nowhere;
      sources_[k].still = shown.block % 4 == 1;
      all_still = all_still && sources_[k].still;
      if (!reached) continue;
      sources_[k].data = k == me_ && gives(s) ? reinterpret_cast<const char*>(s.x) : arena_->at(places_[k], shown.block / 4);
      if (s.to_all || k == 0) results_[k] = arena_->at(places_[k], shown.result);
    }
    if (reached) add_up<Sum>(s, all_still, e);
    staging_.reset();
    landing_.reset();
    return end(reached);
  }

  template <class Sum, class T>
  void add_up(const block_sum<T>& s, bool all_still, std::uint64_t e) {
    const bool distant = far(), streaming = leaves_cache(size() * s.bytes());
    // in one piece if nobody has to copy, but that all of a group that copies see the same chunks
    const std::size_t step = all_still ? s.n : chunk<T>, rounds = (s.n + step - 1) / step;
    for (std::size_t round = 0; round < rounds; ++round) {
      if (!still(s) && round + 1 < rounds) show(s, round + 1, distant, e);
      for (std::size_t k = 0; k < size(); ++k)
        if (k != me_ && !sources_[k].still) wait(pages_[k]->progress, stamp(e, round + 1));
      const range r = piece<T>(s.n, round, step);
      // element at + i of a block is element i of a chunk in a slot, or of what starts at `at` in the whole block
      const auto block = [&](std::size_t k) {
        return reinterpret_cast<const T*>(sources_[k].data) + (sources_[k].still || k == me_ ? r.at : round % 2 * chunk<T>);
      };
      sum_range<Sum, T>(block, r.first, r.last, s.root_gives, s.to_all ? size() : 1, r.at, streaming, streaming || distant);
      own().summed.post(stamp(e, round + 1));
    }
    wait_for_all(&group_page::summed, stamp(e, rounds));
    const T* const result = result_of(s);
    if (gets(s) && result != s.y) move(s.y, result, s.bytes(), false);
  }

  /// Where the others write this member's sum.
  template <class T>
  T* result_of(const block_sum<T>& s) const {
    return landing_->data() == nullptr ? s.y : reinterpret_cast<T*>(landing_->data());
  }
  template <class T>
  range piece(std::size_t n, std::size_t round, std::size_t step) const {
    constexpr std::size_t line = sizeof(T) < 64 ? 64 / sizeof(T) : 1;
    range r{round * step, n - round * step < step ? n - round * step : step, 0, 0};
    const std::size_t share = ((r.length + size() - 1) / size() + line - 1) / line * line;
    r.first = share * me_ < r.length ? share * me_ : r.length;
    r.last = r.length - r.first < share ? r.length : r.first + share;
    return r;
  }
  /// Copies what the others add up of a chunk into its slot.
  template <class T>
  void show(const block_sum<T>& s, std::size_t round, bool distant, std::uint64_t e) {
    const range r = piece<T>(s.n, round, chunk<T>);
    T* const to = reinterpret_cast<T*>(staging_->data()) + round % 2 * chunk<T>;
    if (round >= 2) wait_for_all(&group_page::summed, stamp(e, round - 1));
    move(to, s.x + r.at, r.first * sizeof(T), distant);
    move(to + r.last, s.x + r.at + r.last, (r.length - r.last) * sizeof(T), distant);
    if (distant) finish_streaming();
    own().progress.post(stamp(e, round + 1));
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
  std::optional<arena_block> staging_, landing_;  // of the sum under way
};

}  // namespace partita::detail
