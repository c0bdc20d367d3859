// The bitwise AND of four words per worker, on all workers, through shared memory and, between several nodes, by a few
// rounds of messages. At each agreement, workers use the AND to check that all of them make the same call. On one node
// a worker may add a few numbers, such as the shape of its block, that the others read only if they need them.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <partita/comm/detail/node/arena.hpp>
#include <partita/comm/detail/node/dissemination.hpp>
#include <partita/comm/detail/node/flag.hpp>
#include <partita/comm/detail/world/mpi_call.hpp>
#include <partita/core/config.hpp>
#include <vector>

namespace partita::detail {

/// Flags by which all workers of a communicator combine words, where the workers of each node share memory.
///
/// Every worker writes its words alternately to two places in shared memory. On one small node each worker reads the
/// words of all others. When a worker writes a place again, all others have read the place's previous content, because
/// all have written their words of the call in between. On a larger node, or with several nodes, the first worker of a
/// node reads the words of its node, exchanges the result with the first workers of other nodes, and writes the final
/// result for its node: every other worker reads only one line. The flags have no locks and nothing is ever reset, so a
/// worker that leaves can write its final words without waiting.
class shared_flags {
 public:
  using words = std::array<std::uint64_t, 4>;  ///< what one worker passes, and the AND of all of them

  /// An object that gets the AND of the words of this node (receive_and_of_node_words) while other nodes have not
  /// answered yet. On a single node the listener is called when this worker has written its own words and has not read
  /// those of any other worker (notify_own_words_written).
  class listener {
   public:
    virtual void receive_and_of_node_words(const words& all) = 0;  ///< all: the AND on this node
    virtual void notify_own_words_written() = 0;                   ///< on a single node only

   protected:
    ~listener() = default;
  };

  /// Makes the flags. Collective over the communicator.
  PARTITA_DECL shared_flags(MPI_Comm everyone, const own_node& members, arena& memory);
  shared_flags(const shared_flags&) = delete;
  shared_flags& operator=(const shared_flags&) = delete;
  PARTITA_INLINE ~shared_flags();

  /// Whether the workers of every node can read each other's flags, the same on all workers. If the result is false,
  /// the flags cannot be used.
  bool shared() const { return has_shared_memory_; }
  /// Whether the workers are on several nodes; the same on all workers.
  bool has_several_nodes() const { return has_several_nodes_; }

  /// Writes the bitwise AND of the words of all workers to `all`. Returns false if a worker has not written its words
  /// in time; then the flags cannot be used any more and must not be destroyed, because MPI may still write to them.
  /// Requires shared(). With several nodes, `observer` gets the AND of the words of this node while other nodes have
  /// not answered yet.
  /// Cost:     a read of one cache line from each worker of the node (on a large node, or with several nodes, all but
  ///           the first worker read only from the first); between nodes a dissemination in messages of 32 bytes.
  PARTITA_DECL bool all_and(const words& own, words& all, double max_seconds = 1e300, listener* observer = nullptr);

  /// At most this many numbers of a worker pass with its words; the first three numbers are in the words' cache line.
  static constexpr std::size_t max_numbers = 11;
  /// Shows these numbers to all workers together with the words of the next all_and. Returns false on all workers if
  /// they are on several nodes, because then not all workers could read the numbers. No worker still reads the numbers
  /// that are overwritten: a worker reads them before it writes its words of the next all_and.
  bool publish_numbers(const std::uint64_t* numbers, std::size_t count) {
    for (std::size_t k = 0; k < count; ++k) own_words_[(current_epoch_ + 1) % 2].numbers[k] = numbers[k];
    return !has_several_nodes_;
  }
  /// The numbers that a worker passed with its words of the last all_and; valid until the next all_and.
  const std::uint64_t* published_numbers(std::size_t worker) const {
    return words_by_worker_[worker][current_epoch_ % 2].numbers.data();
  }

 private:
  /// The largest number of workers on a node that read each other's flags directly: the number of cache lines that move
  /// grows with its square. 16 is chosen: reading 16 lines takes about as long as the two steps through a first worker.
  static constexpr std::size_t max_direct_readers = 16;
  /// the number of `posted_words` of a worker: two each for its own words, the final result, and the result of its node
  static constexpr std::size_t posted_words_count = 6;
  static constexpr int agreement_tag = 31001;  ///< above the tags of kernels; part_communicator.hpp uses 31000

  /// Words in shared memory. For each purpose a worker has two of them, one for even and one for odd calls of all_and.
  struct alignas(64) posted_words {
    std::atomic<std::uint64_t> epoch;                ///< the call of all_and for which they were written
    words posted;                                    ///< the words of one worker, or an AND of words
    std::array<std::uint64_t, max_numbers> numbers;  ///< see publish_numbers
  };
  static_assert(sizeof(posted_words) == 128);

  /// Writes words for the current call.
  PARTITA_DECL void post_words(posted_words& place, const words& posted) const;
  /// Combines words into `all` by a bitwise AND.
  PARTITA_DECL static void combine_words(words& all, const words& posted);
  /// Waits for the words of another worker and combines them into `all`. Returns false if the words come too late.
  PARTITA_DECL bool await_and_combine(const posted_words& there, words& all, double& seconds_left) const;
  /// A round of messages: this node sends to some nodes, and receives from as many nodes. Words that reach a node twice
  /// do not change an AND.
  struct round {
    /// The message to one node, and the message from another.
    struct message {
      int to, from;    // the lowest workers of two other nodes
      words received;  // from worker `from`
    };
    std::vector<message> messages{};      // at most dissemination::max_messages
    std::vector<MPI_Request> requests{};  // of all messages of the round
    words sent{};                         // the AND so far, in all messages of the round
  };

  /// Sends and receives the messages of a round. Returns false if a message comes too late.
  PARTITA_DECL bool exchange_in_round(round& r, words& all, double& seconds_left);

  MPI_Comm everyone_;  // the communicator of all workers
  arena* arena_;       // the arena of own_words_
  // whether this machine has more workers than cores; see shared(); see has_several_nodes()
  bool oversubscribed_, has_shared_memory_ = true, has_several_nodes_ = false;
  bool is_two_level_ = false;  // whether the first worker of each node reads the words of all and writes the result
  posted_words* own_words_ = nullptr;                 // the posted_words of this worker
  std::vector<const posted_words*> words_to_read_;    // the words of other workers that this worker reads
  const posted_words* result_to_read_ = nullptr;      // the result that this worker reads instead of words
  std::vector<const posted_words*> words_by_worker_;  // on one node: the words of all workers, by worker
  std::vector<round> rounds_;                         // on the first worker of a node: the rounds with other nodes
  std::uint64_t current_epoch_ = 0;                   // the number of calls of all_and so far
};

}  // namespace partita::detail

#ifndef PARTITA_CORE
#include <partita/comm/detail/node/impl/shared_flags.ipp>
#endif
