// Reduces the blocks of the members of a group on one node through shared memory, in two steps with room for other work
// between them: first each member shows its block, then each combines one slice of all blocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <partita/array/copy.hpp>
#include <partita/comm/detail/node/arena.hpp>
#include <partita/comm/detail/node/group_meeting.hpp>
#include <partita/comm/element_operation.hpp>
#include <utility>
#include <vector>

namespace partita::detail {

/// A reduction as one member sees it. All members of the group pass the same n, operation, root_gives and to_all.
struct block_sum {
  const char* x;  ///< the block that this member contributes
  char* y;        ///< where the sum goes, if this member gets it
  std::size_t n;  ///< elements
  const element_operation* how;
  bool root_gives;  ///< whether the root's block is part of the sum
  bool to_all;      ///< whether all members get the sum, not only the root

  std::size_t element() const { return how->of->bytes; }
  std::size_t bytes() const { return n * element(); }
  std::size_t bytes_of_result() const { return how->width * bytes(); }
  bool is_small() const { return bytes() <= group_page::small; }
};

/// A group that reduces blocks. The order of the operations depends only on the group, not on which member comes first
/// or how blocks are passed. Every sum that is started is finished before the group's next call.
template <class = void>
class basic_node_sum : protected group_meeting {
 public:
  basic_node_sum(arena& memory, std::vector<std::size_t> places, std::vector<group_page*> pages, std::size_t me,
                 bool oversubscribed)
      : group_meeting(memory, std::move(places), std::move(pages), me, oversubscribed),
        sources_(size()),
        results_(size()),
        blocks_(size()) {}

  /// Shows the other members this member's block, and does not wait. Until the sum is finished x must not change and
  /// the group must make no other call. The destination may still be unknown (nullptr) if it is not in shared memory.
  void start(const block_sum& s) {
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

  /// Waits for the others and combines the blocks. Returns false, on all members, with nothing moved, if there was no
  /// block that all members can reach.
  /// Cost:     each member copies the part of its block that the others combine, a chunk at a time, and only if the
  ///           block is not in shared memory. It combines one slice; if all members get the sum, it writes its slice to
  ///           all of them.
  bool finish(const block_sum& s) {
    if (s.n == 0) return true;
    if (!s.is_small()) return finish_large(s, call_);
    return (me_ != 0 && !s.to_all) || finish_small(s, call_);
  }

 protected:
  std::optional<arena_block> staging_;  // of the pending operation

 private:
  static constexpr std::size_t chunk_bytes = std::size_t{256} << 10;
  static std::size_t chunk(const block_sum& s) { return chunk_bytes / s.element(); }

  /// The elements of another member, as seen by this worker.
  struct source {
    const char* data = nullptr;
    bool still = false;  ///< the whole block is at `data`; if false, chunks of it pass through two slots
  };
  /// A chunk, and the slice of it that this worker combines.
  struct range {
    std::size_t at, length, first, last;
  };
  /// How results are written.
  struct result_stores {
    std::size_t results;             ///< the number of members that get the sum
    bool stream_own, stream_others;  ///< write past the caches
  };

  bool gives(const block_sum& s) const { return me_ != 0 || s.root_gives; }
  bool gets(const block_sum& s) const { return me_ == 0 || s.to_all; }
  bool still(const block_sum& s) const { return !gives(s) || reachable(s.x); }

  /// Every member that gets the sum combines all blocks.
  bool finish_small(const block_sum& s, std::uint64_t e) {
    for (std::size_t k = 0; k < size(); ++k) {
      if (k != me_) wait(ready(k, e), e);
      if (k != me_) judge(k, e, s.bytes());
      sources_[k] = {k == me_ ? s.x : slot(k, e), true};
    }
    // a member that shows something in this call has finished the previous one
    if (all_done_ < e - 1) all_done_ = e - 1;
    results_[0] = s.y;
    combine_range(s, {0, s.n, 0, s.n}, 0, {1, false, false});
    return end(true);
  }

  /// A block that is not in shared memory passes through two slots, each for one chunk: the next chunk is copied while
  /// the others still combine the previous one. The first chunk is copied before the call is announced, so that a block
  /// of one chunk needs only two synchronisations.
  void start_large(const block_sum& s, std::uint64_t e) {
    staging_.emplace(*arena_, still(s) ? 0 : 2 * chunk_bytes);
    // where the other members can write
    landing_.emplace(*arena_, gets(s) && !reachable(s.y) ? s.bytes_of_result() : 0);
    const char* const result = result_of(s);
    const bool within_reach = (still(s) || reachable(staging_->data())) && (!gets(s) || reachable(result));
    make_room(e);
    if (measures(e, s.bytes())) own().distance.write();
    if (!still(s) && within_reach) show(s, 0, far(), e);
    announce(e,
             !within_reach ? nowhere
             : still(s)    ? (gives(s) ? 4 * arena_->offset(s.x) + 1 : 1)
                           : 4 * arena_->offset(staging_->data()),
             gets(s) && within_reach ? arena_->offset(result) : nowhere);
  }

  /// Each member combines one slice of each chunk, and writes it to the members that get the sum.
  bool finish_large(const block_sum& s, std::uint64_t e) {
    bool all_still = true, reached = true;
    for (std::size_t k = 0; k < size(); ++k) {
      const group_page::call_flag& shown = ready(k, e);
      if (k != me_) wait(shown, e);
      if (k != me_) judge(k, e, s.bytes());
      reached = reached && shown.block != nowhere;
      sources_[k].still = shown.block % 4 == 1;
      all_still = all_still && sources_[k].still;
      if (!reached) continue;
      sources_[k].data = k == me_ && gives(s) ? s.x : arena_->at(places_[k], shown.block / 4);
      if (s.to_all || k == 0) results_[k] = arena_->at(places_[k], shown.result);
    }
    if (reached) combine_chunks(s, all_still, e);
    staging_.reset();
    landing_.reset();
    return end(reached);
  }

  void combine_chunks(const block_sum& s, bool all_still, std::uint64_t e) {
    const bool distant = far(), streaming = leaves_cache(size() * s.bytes());
    // in one piece if no member has to copy; if one has to, all members use the same chunks
    const std::size_t step = all_still ? s.n : chunk(s), rounds = (s.n + step - 1) / step;
    for (std::size_t round = 0; round < rounds; ++round) {
      if (!still(s) && round + 1 < rounds) show(s, round + 1, distant, e);
      for (std::size_t k = 0; k < size(); ++k)
        if (k != me_ && !sources_[k].still) wait(pages_[k]->progress, stamp(e, round + 1));
      combine_range(s, slice(s, round, step), round % 2 * chunk(s),
                    {s.to_all ? size() : 1, streaming, streaming || distant});
      own().summed.post(stamp(e, round + 1));
    }
    wait_for_all(&group_page::summed, stamp(e, rounds));
    const char* const result = result_of(s);
    if (gets(s) && result != s.y) move(s.y, result, s.bytes_of_result(), false);
  }

  /// Where the other members write this member's sum.
  char* result_of(const block_sum& s) const { return landing_->data() == nullptr ? s.y : landing_->data(); }
  range slice(const block_sum& s, std::size_t round, std::size_t step) const {
    const std::size_t in_line = s.element() < 64 ? 64 / s.element() : 1;
    range r{round * step, s.n - round * step < step ? s.n - round * step : step, 0, 0};
    const std::size_t share = ((r.length + size() - 1) / size() + in_line - 1) / in_line * in_line;
    r.first = share * me_ < r.length ? share * me_ : r.length;
    r.last = r.length - r.first < share ? r.length : r.first + share;
    return r;
  }
  /// Copies the part of a chunk that the other members combine into this member's slot.
  void show(const block_sum& s, std::size_t round, bool distant, std::uint64_t e) {
    const range r = slice(s, round, chunk(s));
    const std::size_t element = s.element();
    char* const to = staging_->data() + round % 2 * chunk(s) * element;
    const char* const from = s.x + r.at * element;
    if (round >= 2) wait_for_all(&group_page::summed, stamp(e, round - 1));
    move(to, from, r.first * element, distant);
    move(to + r.last * element, from + r.last * element, (r.length - r.last) * element, distant);
    if (distant) finish_streaming();
    own().progress.post(stamp(e, round + 1));
  }

  /// Combines this member's slice of a chunk and writes it to the results. The chunk begins `at` elements after the
  /// start of the results and of whole blocks, and `in_slot` elements after the start of the slots.
  void combine_range(const block_sum& s, range r, std::size_t in_slot, const result_stores& writes) {
    const std::size_t element = s.element(), width = s.how->width, most = piece_bytes / (element * width);
    const auto streams = [&](std::size_t k) { return k == me_ ? writes.stream_own : writes.stream_others; };
    const bool direct = writes.results == 1 && !streams(0) && width == 1;
    piece_buffer part;
    while (r.first < r.last) {
      const std::size_t length = r.last - r.first < most ? r.last - r.first : most;
      for (std::size_t k = 0; k < size(); ++k)
        blocks_[k] = sources_[k].data == nullptr  // a root that contributes nothing
                         ? nullptr
                         : sources_[k].data + (r.first + (sources_[k].still || k == me_ ? r.at : in_slot)) * element;
      char* const into = direct ? results_[0] + (r.at + r.first) * element : part.bytes;
      const char* const together = combine_blocks(*s.how, blocks_.data(), s.root_gives ? 0 : 1, size(), length, into);
      for (std::size_t k = 0; k < writes.results; ++k) {
        char* const to = results_[k] + (r.at + r.first) * element;
        if (to == together) continue;
        for (std::size_t w = 0; w < width; ++w)
          move(to + w * s.bytes(), together + w * length * element, length * element, streams(k));
      }
      r.first += length;
    }
    if (writes.stream_own || writes.stream_others) finish_streaming();
  }

  std::vector<source> sources_;  // of the current call
  std::vector<char*> results_;
  std::vector<const char*> blocks_;
  std::optional<arena_block> landing_;  // of the pending sum
};
using node_sum = basic_node_sum<>;

}  // namespace partita::detail
