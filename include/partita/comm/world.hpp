// The workers that compute together, what they share, and how they agree before anything moves.
//
// All messages of the library travel on one private duplicate of the world's communicator, so making kernels makes no
// communicators: a program may make and drop as many as it likes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <partita/comm/board.hpp>
#include <partita/comm/check.hpp>
#include <partita/comm/flight.hpp>
#include <partita/comm/mpi.hpp>
#include <partita/core/error.hpp>
#include <utility>
#include <vector>

namespace partita {

/// How much is checked at each call of a kernel.
enum class checks {
  local,  ///< a worker checks what it can see; workers must make the same calls, and change block shapes together
  agree   ///< the workers agree first, by a look at shared memory or one message of 32 bytes: no wrong call hangs (the default)
};

namespace detail {

/// The kinds of error that workers tell each other about.
enum class failure : std::uint64_t { none, shape, partition, disagreement };

[[noreturn]] inline void raise(failure kind, const text& sentence) {
  if (kind == failure::shape) throw shape_error(sentence);
  if (kind == failure::partition) throw partition_error(sentence);
  throw disagreement_error(sentence);
}

/// One private communicator and the buffers that calls reuse.
class world_state {
 public:
  explicit world_state(MPI_Comm given, checks level) : level_(level) {
    check(MPI_Comm_dup(given, &communicator_), "MPI_Comm_dup");
    MPI_Comm_set_errhandler(communicator_, MPI_ERRORS_RETURN);
    int size = 0, id = 0;
    MPI_Comm_size(communicator_, &size);
    MPI_Comm_rank(communicator_, &id);
    size_ = static_cast<std::size_t>(size);
    id_ = static_cast<std::size_t>(id);
  }
  world_state(const world_state&) = delete;
  world_state& operator=(const world_state&) = delete;
  /// Tells the others that this worker has left: whoever still waits for it in a call is told so instead of hanging.
  ~world_state() {
    int finalized = 0;
    MPI_Finalized(&finalized);
    if (finalized != 0) return;
    if (!lost_ && (level_ == checks::local || taken_leave()))
      MPI_Comm_free(&communicator_);
    else
      static_cast<void>(board_.release());  // somebody may still come and look
  }

  MPI_Comm communicator() const { return communicator_; }
  std::size_t size() const { return size_; }
  std::size_t id() const { return id_; }
  checks level() const { return level_; }

  /// A buffer of at least n bytes that lives until the next call for the same slot: steady calls allocate nothing.
  void* buffer(std::size_t slot, std::size_t bytes) {
    if (slot >= buffers_.size()) buffers_.resize(slot + 1);
    std::vector<std::max_align_t>& b = buffers_[slot];
    const std::size_t n = bytes / sizeof(std::max_align_t) + 1;
    if (b.size() < n) {
      b.clear();
      b.resize(n);
    }
    return b.data();
  }
  template <class T>
  T* buffer_of(std::size_t slot, std::size_t n) {
    return static_cast<T*>(buffer(slot, n * sizeof(T)));
  }

  /// The workers agree on `fingerprint` (what is called, with what), on having no failure, and on a set of choices of which
  /// the common ones are returned. `describe()` is called only if there is something to tell.
  /// Throws the same error on all workers. Cost: on one node a look at one cache line of each worker, else (and at the first
  /// call) one MPI_Iallreduce of 32 bytes. What is under way ends first.
  template <class Describe>
  std::uint64_t agree(std::uint64_t fingerprint, std::uint64_t choices, failure kind, Describe describe) {
    if (lost_)
      throw communication_error(text("partita: a worker has left the world or was lost in an earlier call, and ")
                                << describe() << " needs all; make a new world of the workers that are there");
    land();
    const words mine{fingerprint, ~fingerprint, choices, kind == failure::none ? ~std::uint64_t{0} : 0};
    words all{};
    meet(mine, all);
    const bool same = (all[0] | all[1]) == ~std::uint64_t{0};
    if (!same || all[3] == 0) report(fingerprint, same, kind, describe());
    if (!sought_board_) seek_board();
    return all[2];
  }

  /// What a kernel leaves under way. If the workers agree on calls, the next agreement ends it first: a worker that ends it sooner,
  /// or in another place than the others, would else wait for those that wait for it in a later call.
  void leave_under_way(const std::shared_ptr<flight>& left) {
    if (level_ == checks::agree) under_way_ = left;
  }

  /// Gives every worker the bitwise and of the four words of all.
  void all_and(const std::uint64_t* mine, std::uint64_t* all) {
    words own{}, common{};
    for (std::size_t k = 0; k < own.size(); ++k) own[k] = mine[k];
    meet(own, common);
    for (std::size_t k = 0; k < own.size(); ++k) all[k] = common[k];
  }

 private:
  using words = board::words;
  static constexpr std::uint64_t gone = 0x7061727469746121ULL;
  static constexpr double patience_seconds = 10;

  void land() {
    if (under_way_) std::exchange(under_way_, nullptr)->land();
  }

  struct letter {
    std::uint64_t fingerprint = 0, kind = 0;
    text sentence;
  };

  /// Gives every worker the bitwise and of the words of all.
  void meet(const words& mine, words& all) {
    if (size_ == 1) {
      all = mine;
    } else if (board_) {
      board_->all_and(mine, all);
    } else {
      MPI_Request request = MPI_REQUEST_NULL;
      check(begin_to_meet(mine, all, request), "MPI_Iallreduce");
      check(MPI_Wait(&request, MPI_STATUS_IGNORE), "MPI_Wait");
    }
  }
  int begin_to_meet(const words& mine, words& all, MPI_Request& request) {
    return MPI_Iallreduce(mine.data(), all.data(), static_cast<int>(mine.size()), MPI_UINT64_T, MPI_BAND, communicator_, &request);
  }

  /// Once the workers have agreed for the first time, so that all of them come here.
  void seek_board() {
    sought_board_ = true;
    if (size_ == 1) return;
    const node& members = node::of(communicator_);
    if (members.size() != size_) return;  // somebody lives elsewhere: so everybody finds
    board_ = std::make_unique<board>(communicator_, members, arena::of_environment(members));
    if (!board_->shared()) board_.reset();
  }

  /// Tells the others; whether all have left, so that they free together what they share.
  bool taken_leave() {
    if (size_ == 1) return true;
    // on the heap: if the others do not come in time, MPI may still read and write there
    auto said = std::make_unique<std::array<words, 2>>(std::array<words, 2>{words{gone, ~gone, 0, ~std::uint64_t{0}}, words{}});
    words& all = (*said)[1];
    if (board_) {
      lost_ = !board_->all_and((*said)[0], all, patience_seconds);
    } else {
      MPI_Request request = MPI_REQUEST_NULL;
      if (begin_to_meet((*said)[0], all, request) != MPI_SUCCESS || !completed(request)) lost_ = true;
    }
    if (lost_) {
      static_cast<void>(said.release());
      return false;
    }
    const bool same = (all[0] | all[1]) == ~std::uint64_t{0};
    if (!same) gather({gone, 0, text("no call: it has left the world (its world object was destroyed)")});
    lost_ = !same;  // freeing is for all workers together, and the others have not come to it
    return same;
  }

  /// Waits for a collective that the others may never enter; false if they did not in time.
  bool completed(MPI_Request& request) {
    const double start = MPI_Wtime();
    int done = 0;
    while (done == 0 && MPI_Wtime() - start < patience_seconds)
      if (MPI_Test(&request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS) return false;
    lost_ = lost_ || done == 0;
    return done != 0;
  }
  /// What every worker has to say; empty if somebody says nothing.
  std::vector<letter> gather(const letter& own) {
    auto letters = std::make_unique<std::vector<letter>>(size_);
    MPI_Request request = MPI_REQUEST_NULL;
    const auto bytes = static_cast<int>(sizeof(letter));
    if (MPI_Iallgather(&own, bytes, MPI_BYTE, letters->data(), bytes, MPI_BYTE, communicator_, &request) != MPI_SUCCESS)
      return {};
    if (completed(request)) return std::move(*letters);
    letters.release();  // MPI may still write there: better lost than overwritten
    return {};
  }

  /// All workers look at what each has to say and throw the same error. Only after an agreement failed.
  [[noreturn]] void report(std::uint64_t fingerprint, bool same, failure kind, const text& mine) {
    const std::vector<letter> letters = gather({fingerprint, static_cast<std::uint64_t>(kind), mine});
    if (letters.empty())
      throw communication_error(text("partita: worker ") << id_ << " waits in vain for the others in " << mine
                                << "; a worker of this world has ended or hangs");
    if (!same) {
      for (const letter& l : letters) lost_ = lost_ || l.fingerprint == gone;
      std::size_t other = 0;
      while (other + 1 < size_ && letters[other].fingerprint == letters[0].fingerprint) ++other;
      throw disagreement_error(text("partita: workers make different calls: worker 0 makes ")
                               << letters[0].sentence << ", worker " << other << " makes " << letters[other].sentence
                               << "; every worker of a world makes every call with the same arguments");
    }
    for (const letter& l : letters)
      if (l.kind != static_cast<std::uint64_t>(failure::none)) raise(static_cast<failure>(l.kind), l.sentence);
    throw communication_error("partita: an agreement failed for a reason that no worker gave");
  }

  MPI_Comm communicator_ = MPI_COMM_NULL;
  std::size_t size_ = 0;
  std::size_t id_ = 0;
  checks level_;
  bool lost_ = false;  // a worker did not answer or has left: nothing more is agreed on
  bool sought_board_ = false;
  std::unique_ptr<board> board_;
  std::shared_ptr<flight> under_way_;  // the last; those before it have ended
  std::vector<std::vector<std::max_align_t>> buffers_;
};

}  // namespace detail

}  // namespace partita
