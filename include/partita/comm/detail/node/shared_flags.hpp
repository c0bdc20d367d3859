// What every worker has to say in four words, and-ed for all of them at the price of a look at shared memory, and of
// a few messages one after another where they live on several nodes: how workers find out, call by call, that all of
// them do the same.
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

/// Shared by all workers of a communicator, where those of each node share memory.
///
/// Every worker writes words of its own, in two places in turn. On one small node each reads those of all others:
/// whoever writes a place for the second time knows that all have read the first, because all have written the one in
/// between. Else the first worker of a node reads those of the node, exchanges what it has with the first workers of
/// other nodes, and puts up what came out for the others: nobody reads more than one line but he. Nobody holds a lock
/// and nothing is ever reset, so a worker that leaves can put up last words and go.
template <class = void>
class basic_shared_flags {
 public:
  using words = std::array<std::uint64_t, 4>;

  /// Who wants to know what the workers of this node have said before those of other nodes are heard. Where there is
  /// one node only: when this worker has said its own words, and nobody is heard yet.
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
    check(MPI_Barrier(members.communicator()), "MPI_Barrier");  // what was here before has been read for the last time
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

  /// Whether the workers of every node see each other's flags; the same on all of them. Else there are none to look at.
  bool shared() const { return shared_; }
  /// Whether the workers live on several nodes; the same on all of them.
  bool several_nodes() const { return several_; }

  /// The bitwise and of the words of all workers into `all`. False if one of them has not put up its words in time;
  /// then the flags are of no further use, and must not be destroyed: MPI may still write there. Requires shared().
  /// Cost: one cache line from each worker of the node; between nodes the rounds of a dissemination, in messages of 32
  /// bytes.
  /// `who` hears those of this node while the others are still asked.
  bool all_and(const words& own, words& all, double most_seconds = 1e300, listener* who = nullptr) {
    post(mine_[++epoch_ % 2], own);
    all = own;
    if (who != nullptr && !several_) who->hear_nobody_yet();
    if (result_ != nullptr) {
      if (several_ && who != nullptr) {
        if (!seen(result_[2 + epoch_ % 2], all, most_seconds)) return false;
        who->hear_node(all);
      }
      return seen(result_[epoch_ % 2], all, most_seconds);
    }
    for (const posted_words* both : others_)
      if (!seen(both[epoch_ % 2], all, most_seconds)) return false;
    if (several_) {
      post(mine_[4 + epoch_ % 2], all);
      if (who != nullptr) who->hear_node(all);
    }
    for (round& r : rounds_)
      if (!meet_in_round(r, all, most_seconds)) return false;
    if (by_first_) post(mine_[2 + epoch_ % 2], all);
    return true;
  }

 private:
  /// More than so many workers do not read each other's flags: the lines that move in a call would grow with their
  /// square. Chosen: two steps for all cost about what 16 lines do.
  static constexpr std::size_t most_readers = 16;
  static constexpr std::size_t lines = 6;          ///< own words in two places, what came out in two, the node's in two
  static constexpr int tag_of_agreements = 31001;  ///< beside that of parts

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
  /// Waits for the words there, and ands them to `all`. False if they do not come before there are no seconds left.
  bool seen(const posted_words& there, words& all, double& seconds_left) const {
    backoff p(oversubscribed_);
    for (; there.epoch.load(std::memory_order_acquire) < epoch_; p.pause())
      if (p.seconds() > seconds_left) return false;
    seconds_left -= p.seconds();
    keep_common(all, there.said);
    return true;
  }
  /// To some nodes, and from as many: that some are heard of twice does not change an and.
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
  std::vector<const posted_words*> others_;  // whose words this worker reads
  const posted_words* result_ = nullptr;     // or where it reads what came out
  std::vector<round> rounds_;                // with those of other nodes, of the first of a node
  std::uint64_t epoch_ = 0;
};
using shared_flags = basic_shared_flags<>;

}  // namespace partita::detail
