// What every worker has to say in four words, and-ed for all of them at the price of a look at shared memory: how workers
// find out, call by call, that all of them do the same.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <partita/comm/arena.hpp>
#include <partita/comm/check.hpp>
#include <partita/comm/signal.hpp>
#include <vector>

namespace partita {

/// Shared by all workers of a communicator that live on one node.
///
/// Every worker writes its own notice, in two places in turn, and reads all others: whoever writes a place for the second
/// time knows that all have read the first, because all have written the one in between. Nobody holds a lock and nothing is
/// ever reset, so a worker that leaves can put up a last notice and go.
class board {
 public:
  using words = std::array<std::uint64_t, 4>;

  /// Collective over the communicator.
  board(MPI_Comm everyone, const node& members, arena& memory)
      : arena_(&memory), oversubscribed_(members.oversubscribed()) {
    int size = 0;
    MPI_Comm_size(everyone, &size);
    mine_ = static_cast<notice*>(arena_->allocate_signals(2 * sizeof(notice)));
    detail::check(MPI_Barrier(everyone), "MPI_Barrier");  // what was here before has been read for the last time
    std::memset(static_cast<void*>(mine_), 0, 2 * sizeof(notice));
    const bool together = members.size() == static_cast<std::size_t>(size) && arena_->holds(mine_);
    std::vector<unsigned long long> offsets(static_cast<std::size_t>(size));
    const unsigned long long offset = together ? arena_->offset(mine_) : ~0ULL;
    detail::check(
        MPI_Allgather(&offset, 1, MPI_UNSIGNED_LONG_LONG, offsets.data(), 1, MPI_UNSIGNED_LONG_LONG, everyone),
        "MPI_Allgather");
    for (unsigned long long other : offsets) shared_ = shared_ && other != ~0ULL;
    for (std::size_t k = 0; shared_ && k < offsets.size(); ++k)
      notices_.push_back(reinterpret_cast<const notice*>(arena_->at(k, offsets[k])));
  }
  board(const board&) = delete;
  board& operator=(const board&) = delete;
  ~board() { arena_->release_signals(mine_, 2 * sizeof(notice)); }

  /// Whether all workers see each other's notices; the same on all of them. Else there is no board to look at.
  bool shared() const { return shared_; }

  /// The bitwise and of the words of all workers into `all`. False if one of them has not put up its words in time; then the
  /// board is of no further use. Requires shared(). Cost: one cache line from each worker.
  bool all_and(const words& own, words& all, double most_seconds = 1e300) {
    notice& n = mine_[++epoch_ % 2];
    n.said = own;
    n.epoch.store(epoch_, std::memory_order_release);
    all = own;
    const double start = most_seconds < 1e300 ? MPI_Wtime() : 0;
    for (const notice* both : notices_) {
      const notice& other = both[epoch_ % 2];
      for (patience p(oversubscribed_); other.epoch.load(std::memory_order_acquire) < epoch_; p.pause())
        if (most_seconds < 1e300 && MPI_Wtime() - start > most_seconds) return false;
      for (std::size_t k = 0; k < all.size(); ++k) all[k] &= other.said[k];
    }
    return true;
  }

 private:
  struct alignas(64) notice {
    std::atomic<std::uint64_t> epoch;
    words said;
  };
  static_assert(sizeof(notice) == 64);

  arena* arena_;
  bool oversubscribed_, shared_ = true;
  notice* mine_ = nullptr;
  std::vector<const notice*> notices_;
  std::uint64_t epoch_ = 0;
};

}  // namespace partita
