// What every worker has to say in four words, and-ed for all of them at the price of a look at shared memory: how
// workers find out, call by call, that all of them do the same.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <partita/comm/detail/mpi_call.hpp>
#include <partita/comm/detail/node/arena.hpp>
#include <partita/comm/detail/node/flag.hpp>
#include <vector>

namespace partita::detail {

/// Shared by all workers of a communicator that live on one node.
///
/// Every worker writes words of its own, in two places in turn, and reads all others: whoever writes a place for the
/// second time knows that all have read the first, because all have written the one in between. Nobody holds a lock and
/// nothing is ever reset, so a worker that leaves can put up last words and go.
class shared_flags {
 public:
  using words = std::array<std::uint64_t, 4>;

  /// Collective over the communicator.
  shared_flags(MPI_Comm everyone, const node& members, arena& memory)
      : arena_(&memory), oversubscribed_(members.oversubscribed()) {
    int size = 0;
    MPI_Comm_size(everyone, &size);
    mine_ = static_cast<posted_words*>(arena_->allocate_signals(2 * sizeof(posted_words)));
    check(MPI_Barrier(everyone), "MPI_Barrier");  // what was here before has been read for the last time
    std::memset(static_cast<void*>(mine_), 0, 2 * sizeof(posted_words));
    const bool together = members.size() == static_cast<std::size_t>(size) && arena_->holds(mine_);
    std::vector<unsigned long long> offsets(static_cast<std::size_t>(size));
    const unsigned long long offset = together ? arena_->offset(mine_) : ~0ULL;
    check(MPI_Allgather(&offset, 1, MPI_UNSIGNED_LONG_LONG, offsets.data(), 1, MPI_UNSIGNED_LONG_LONG, everyone),
          "MPI_Allgather");
    for (unsigned long long other : offsets) shared_ = shared_ && other != ~0ULL;
    for (std::size_t k = 0; shared_ && k < offsets.size(); ++k)
      flag_pairs_.push_back(reinterpret_cast<const posted_words*>(arena_->at(k, offsets[k])));
  }
  shared_flags(const shared_flags&) = delete;
  shared_flags& operator=(const shared_flags&) = delete;
  ~shared_flags() { arena_->release_signals(mine_, 2 * sizeof(posted_words)); }

  /// Whether all workers see each other's flags; the same on all of them. Else there are none to look at.
  bool shared() const { return shared_; }

  /// The bitwise and of the words of all workers into `all`. False if one of them has not put up its words in time;
  /// then the flags are of no further use. Requires shared(). Cost: one cache line from each worker.
  bool all_and(const words& own, words& all, double most_seconds = 1e300) {
    posted_words& n = mine_[++epoch_ % 2];
    n.said = own;
    n.epoch.store(epoch_, std::memory_order_release);
    all = own;
    double waited = 0;
    for (const posted_words* both : flag_pairs_) {
      const posted_words& other = both[epoch_ % 2];
      backoff p(oversubscribed_);
      for (; other.epoch.load(std::memory_order_acquire) < epoch_; p.pause())
        if (waited + p.seconds() > most_seconds) return false;
      waited += p.seconds();
      for (std::size_t k = 0; k < all.size(); ++k) all[k] &= other.said[k];
    }
    return true;
  }

 private:
  struct alignas(64) posted_words {
    std::atomic<std::uint64_t> epoch;
    words said;
  };
  static_assert(sizeof(posted_words) == 64);

  arena* arena_;
  bool oversubscribed_, shared_ = true;
  posted_words* mine_ = nullptr;
  std::vector<const posted_words*> flag_pairs_;
  std::uint64_t epoch_ = 0;
};

}  // namespace partita::detail
