// The bitwise AND of four words per worker, on all workers, through shared memory and, between several nodes, by a few
// rounds of messages. With it workers check at every call that all of them make the same call.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <partita/comm/detail/mpi_call.hpp>
#include <partita/comm/detail/node/arena.hpp>
#include <partita/comm/detail/node/dissemination.hpp>
#include <partita/comm/detail/node/flag.hpp>
#include <vector>

namespace partita::detail {

/// Shared by all workers of a communicator, where the workers of each node share memory.
///
/// Every worker writes its words to two places in turn. On one small node each worker reads the words of all others.
/// When a worker writes a place again, all others have read its previous content, because all have written the call in
/// between. On a larger node, or with several nodes, the first worker of a node reads the words of its node, exchanges
/// the result with the first workers of other nodes, and writes the final result for its node: every other worker reads
/// only one line. There are no locks and nothing is ever reset, so a worker that leaves can write its final words and
/// go.
template <class = void>
class basic_shared_flags {
 public:
  using words = std::array<std::uint64_t, 4>;

  /// Gets the words of this node (hear_node) while other nodes have not answered yet. On a single node it is called
  /// when this worker has written its own words and has not read any others (hear_nobody_yet).
  class listener {
   public:
    virtual void hear_node(const words& all) = 0;
    virtual void hear_nobody_yet() = 0;

   protected:
    ~listener() = default;
  };

  /// Collective over the communicator.
  basic_shared_flags(MPI_Comm everyone, const own_node& members, arena& memory)
      : everyone_(everyone), arena_(&memory), oversubscribed_(members.oversubscribed()) {
    mine_ = static_cast<posted_words*>(arena_->allocate_signals(lines * sizeof(posted_words)));
    check(MPI_Barrier(members.communicator()), "MPI_Barrier");  // no worker still reads the old content of this memory
    std::memset(static_cast<void*>(mine_), 0, lines * sizeof(posted_words));
    const bool found = members.size() == 1 || arena_->holds(mine_);
    std::vector<unsigned long long> offsets(members.size());
    const unsigned long long offset = found ? arena_->offset(mine_) : 0;
    check(MPI_Allgather(&offset, 1, MPI_UNSIGNED_LONG_LONG, offsets.data(), 1, MPI_UNSIGNED_LONG_LONG,
                        members.communicator()),
          "MPI_Allgather");
    int own = found ? 1 : 0, all = 0;
    check(MPI_Allreduce(&own, &all, 1, MPI_INT, MPI_MIN, everyone), "MPI_Allreduce");
    shared_ = all != 0;
    if (!shared_) return;
    by_first_ = members.is_one_of_many() || members.size() > most_readers;
    const bool first = members.place() == 0;
    const auto lines_of = [&](std::size_t k) {
      return k == members.place() ? mine_ : reinterpret_cast<posted_words*>(arena_->at(k, offsets[k]));
    };
    for (std::size_t k = 0; k < members.size(); ++k)
      if (k != members.place() && (first || !by_first_)) others_.push_back(lines_of(k));
    several_ = members.is_one_of_many();
    if (by_first_ && !first) result_ = lines_of(0) + 2;
    if (!several_ || !first) return;
    const std::vector<int> firsts = members.firsts();
    std::size_t node = 0;
    while (firsts[node] != static_cast<int>(members.worker(0))) ++node;
    const auto next = [&](std::size_t distance) { return firsts[(node + distance) % firsts.size()]; };
    dissemination::over(firsts.size(), members.link().cost).for_messages([&](std::size_t k, std::size_t distance) {
      rounds_.resize(k + 1);
      rounds_[k].messages.push_back({next(distance), next(firsts.size() - distance), {}});
    });
    for (round& r : rounds_) r.requests.resize(2 * r.messages.size());
  }
  basic_shared_flags(const basic_shared_flags&) = delete;
  basic_shared_flags& operator=(const basic_shared_flags&) = delete;
  ~basic_shared_flags() { arena_->release_signals(mine_, lines * sizeof(posted_words)); }

  /// Whether the workers of every node can read each other's flags. The same on all workers. If false, the flags cannot
  /// be used.
  bool shared() const { return shared_; }
  /// Whether the workers are on several nodes. The same on all workers.
  bool several_nodes() const { return several_; }

  /// Writes the bitwise AND of the words of all workers to `all`. Returns false if a worker has not written its words
  /// in time; then the flags cannot be used any more and must not be destroyed, because MPI may still write to them.
  /// Requires shared(). `who` is called with the words of this node while other nodes have not answered yet.
  /// Cost:     a read of one cache line from each worker of the node; between nodes the rounds of a dissemination, in
  ///           messages of 32 bytes.
  bool all_and(const words& own, words& all, double most_seconds = 1e300, listener* who = nullptr) {
    post(mine_[++epoch_ % 2], own);
    all = own;
    if (who != nullptr && !several_) who->hear_nobody_yet();
    // On a large node, or with several nodes, all workers but the first read the result from the first.
    if (result_ != nullptr) {
      if (several_ && who != nullptr) {
        if (!seen(result_[2 + epoch_ % 2], all, most_seconds)) return false;
        who->hear_node(all);
      }
      return seen(result_[epoch_ % 2], all, most_seconds);
    }
    // Read the words of the workers of this node.
    for (const posted_words* both : others_)
      if (!seen(both[epoch_ % 2], all, most_seconds)) return false;
    if (several_) {
      post(mine_[4 + epoch_ % 2], all);
      if (who != nullptr) who->hear_node(all);
    }
    // Exchange them with the first workers of other nodes.
    for (round& r : rounds_)
      if (!meet_in_round(r, all, most_seconds)) return false;
    if (by_first_) post(mine_[2 + epoch_ % 2], all);
    return true;
  }

 private:
  /// With more than this many workers on a node, they do not read each other's flags: the number of cache lines that
  /// move would grow with the square. Chosen: two steps for all cost about as much as 16 lines.
  static constexpr std::size_t most_readers = 16;
  /// two places each for the own words, the final result, and the node's result
  static constexpr std::size_t lines = 6;
  static constexpr int tag_of_agreements = 31001;  ///< above the tags of kernels; part_communicator.hpp uses 31000

  struct alignas(64) posted_words {
    std::atomic<std::uint64_t> epoch;
    words said;
  };
  static_assert(sizeof(posted_words) == 64);

  void post(posted_words& place, const words& said) const {
    place.said = said;
    place.epoch.store(epoch_, std::memory_order_release);
  }
  static void keep_common(words& all, const words& said) {
    for (std::size_t k = 0; k < all.size(); ++k) all[k] &= said[k];
  }
  /// Waits for the words of another worker and combines them into `all`. Returns false if the time runs out.
  bool seen(const posted_words& there, words& all, double& seconds_left) const {
    backoff p(oversubscribed_);
    for (; there.epoch.load(std::memory_order_acquire) < epoch_; p.pause())
      if (p.seconds() > seconds_left) return false;
    seconds_left -= p.seconds();
    keep_common(all, there.said);
    return true;
  }
  /// Messages to some nodes and from as many. Words that arrive twice do not change an AND.
  struct round {
    struct message {
      int to, from;
      words in;
    };
    std::vector<message> messages{};
    std::vector<MPI_Request> requests{};
    words out{};
  };

  bool meet_in_round(round& r, words& all, double& seconds_left) {
    const auto count = static_cast<int>(all.size());
    MPI_Request* next = r.requests.data();
    r.out = all;
    for (auto& m : r.messages)
      check(MPI_Irecv(m.in.data(), count, MPI_UINT64_T, m.from, tag_of_agreements, everyone_, next++), "MPI_Irecv");
    for (auto& m : r.messages)
      check(MPI_Isend(r.out.data(), count, MPI_UINT64_T, m.to, tag_of_agreements, everyone_, next++), "MPI_Isend");
    backoff p(oversubscribed_);
    for (int done = 0;; p.pause()) {
      check(MPI_Testall(static_cast<int>(r.requests.size()), r.requests.data(), &done, MPI_STATUSES_IGNORE),
            "MPI_Testall");
      if (done != 0) break;
      if (p.seconds() > seconds_left) return false;
    }
    seconds_left -= p.seconds();
    for (const auto& m : r.messages) keep_common(all, m.in);
    return true;
  }

  MPI_Comm everyone_;
  arena* arena_;
  bool oversubscribed_, shared_ = true, by_first_ = false, several_ = false;
  posted_words* mine_ = nullptr;
  std::vector<const posted_words*> others_;  // the words that this worker reads
  const posted_words* result_ = nullptr;     // or the result that it reads
  std::vector<round> rounds_;                // on the first worker of a node: the rounds with other nodes
  std::uint64_t epoch_ = 0;
};
using shared_flags = basic_shared_flags<>;

}  // namespace partita::detail
