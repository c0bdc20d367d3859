// One word from every worker to every worker, at the price of a look at shared memory: how workers find out, call by
// call, that all of them do what they did before.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <partita/comm/arena.hpp>
#include <partita/comm/check.hpp>
#include <partita/comm/signal.hpp>
#include <vector>

namespace partita {

/// Gathers a word of each worker of a communicator, again and again.
///
/// On one node every worker writes its own word, in two places in turn, and reads all others: whoever writes a place
/// for the second time knows that all have read the first, because all have written the one in between. Between nodes
/// it is one MPI_Allgather.
class board {
 public:
  /// Collective over the communicator.
  board(MPI_Comm everyone, const node& members, arena& memory)
      : everyone_(everyone), arena_(&memory), oversubscribed_(members.oversubscribed()) {
    int size = 0;
    MPI_Comm_size(everyone, &size);
    words_.resize(static_cast<std::size_t>(size));
    mine_ = static_cast<signal*>(arena_->allocate_signals(2 * sizeof(signal)));
    detail::check(MPI_Barrier(everyone), "MPI_Barrier");  // what was here before has been read for the last time
    std::memset(static_cast<void*>(mine_), 0, 2 * sizeof(signal));
    const bool together = members.size() == words_.size() && arena_->holds(mine_);
    std::vector<unsigned long long> offsets(words_.size());
    const unsigned long long offset = together ? arena_->offset(mine_) : ~0ULL;
    detail::check(
        MPI_Allgather(&offset, 1, MPI_UNSIGNED_LONG_LONG, offsets.data(), 1, MPI_UNSIGNED_LONG_LONG, everyone),
        "MPI_Allgather");
    for (unsigned long long other : offsets) shared_ = shared_ && other != ~0ULL;
    if (shared_)
      for (std::size_t k = 0; k < offsets.size(); ++k)
        places_.push_back(reinterpret_cast<const signal*>(arena_->at(k, offsets[k])));
  }
  board(const board&) = delete;
  board& operator=(const board&) = delete;
  ~board() { arena_->release_signals(mine_, 2 * sizeof(signal)); }

  /// The words of all workers, in their order. Every worker of the communicator takes part; valid until the next call.
  const std::vector<std::uint64_t>& gather(std::uint64_t word) {
    if (!shared_) {
      detail::check(MPI_Allgather(&word, 1, MPI_UINT64_T, words_.data(), 1, MPI_UINT64_T, everyone_), "MPI_Allgather");
      return words_;
    }
    ++epoch_;
    mine_[epoch_ % 2].post(epoch_, word);
    for (std::size_t k = 0; k < words_.size(); ++k) words_[k] = places_[k][epoch_ % 2].wait(epoch_, oversubscribed_);
    return words_;
  }

  bool shared() const { return shared_; }

 private:
  MPI_Comm everyone_;
  arena* arena_;
  bool oversubscribed_, shared_ = true;
  signal* mine_ = nullptr;
  std::vector<const signal*> places_;
  std::vector<std::uint64_t> words_;
  std::uint64_t epoch_ = 0;
};

}  // namespace partita
