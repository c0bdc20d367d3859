// The workers that compute together, what they share, and how they agree before anything moves.
//
// All messages of the library travel on one private duplicate of the world's communicator, so making kernels makes no
// communicators: a program may make and drop as many as it likes.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <partita/comm/checks.hpp>
#include <partita/comm/detail/mpi_call.hpp>
#include <partita/comm/detail/node/shared_flags.hpp>
#include <partita/comm/detail/process.hpp>
#include <partita/comm/detail/roll_call.hpp>
#include <partita/comm/detail/trace.hpp>
#include <partita/comm/mpi.hpp>
#include <partita/comm/pending_operation.hpp>
#include <partita/core/error.hpp>
#include <partita/plan/workers.hpp>
#include <thread>
#include <utility>
#include <vector>

namespace partita::detail {

/// The kinds of error that workers tell each other about.
enum class failure : std::uint64_t { none, shape, partition, disagreement, memory, io, other };

inline failure failure_of(const error& thrown) {
  if (dynamic_cast<const shape_error*>(&thrown) != nullptr) return failure::shape;
  if (dynamic_cast<const partition_error*>(&thrown) != nullptr) return failure::partition;
  if (dynamic_cast<const disagreement_error*>(&thrown) != nullptr) return failure::disagreement;
  if (dynamic_cast<const io_error*>(&thrown) != nullptr) return failure::io;
  return failure::other;
}

[[noreturn]] inline void raise(failure kind, const text& sentence) {
  if (kind == failure::shape) throw shape_error(sentence);
  if (kind == failure::partition) throw partition_error(sentence);
  if (kind == failure::memory) throw communication_error(sentence);
  if (kind == failure::io) throw io_error(sentence);
  if (kind == failure::other) throw error(sentence);
  throw disagreement_error(sentence);
}

/// One private communicator and the buffers that calls reuse.
class world_state {
 public:
  /// Collective. Requires: the same level on all workers [disagreement_error, on all of them].
  world_state(MPI_Comm given, checks level, bool takes_over = false)
      : level_(level), maker_(std::this_thread::get_id()) {
    process::expect_worker("partita::world");
    int size = 0, id = 0;
    MPI_Comm_size(given, &size);
    MPI_Comm_rank(given, &id);
    size_ = static_cast<std::size_t>(size);
    id_ = static_cast<std::size_t>(id);
    int provided = 0;
    MPI_Query_thread(&provided);
    any_thread_ = provided == MPI_THREAD_MULTIPLE;
    roll_ = std::make_unique<roll_call>(id_, size_, given);
    watcher = roll_.get();
    communicator_ = takes_over ? given : duplicate(given);
    MPI_Comm_set_errhandler(communicator_, MPI_ERRORS_RETURN);
    introduce();
  }
  world_state(const world_state&) = delete;
  world_state& operator=(const world_state&) = delete;
  /// Tells the others that this worker has left: whoever still waits for it in a call is told so instead of hanging.
  ~world_state() {
    trace::leave();
    watcher = nullptr;  // whose sentences nobody would catch here
    if (process::is_worker() && !lost_ && (level_ == checks::local || taken_leave()) && !has_unread_messages())
      MPI_Comm_free(&communicator_);
    else static_cast<void>(flags_.release());  // somebody may still come and look
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

  /// The workers agree on `fingerprint` (what is called, with what), on having no failure, and on a set of choices of
  /// which the common ones are returned. `describe()` is called only if there is something to tell. Throws the same
  /// error on all workers. Cost: on one node a look at one cache line of each worker; between N nodes besides log2 N
  /// messages of 32 bytes from each; at the first call, and where nodes do not share memory, one MPI_Iallreduce of 32
  /// bytes. What is under way ends first.
  template <class Describe>
  std::uint64_t agree(std::uint64_t fingerprint, std::uint64_t choices, failure kind, Describe describe) {
    const only_thread here(*this, describe);
    begin_call(fingerprint, describe);
    if (lost_)
      throw communication_error(text("partita: a worker has left the world or was lost in an earlier call, and ")
                                << describe() << " needs all; make a new world of the workers that are there");
    wait();
    const words mine{fingerprint, ~fingerprint, choices, kind == failure::none ? ~std::uint64_t{0} : 0};
    words all{};
    try {
      meet(mine, all);
    } catch (const communication_error&) {
      lost_ = true;  // an operation that nobody ended is still on its way
      throw;
    }
    roll_->was_heard();
    const bool same = (all[0] | all[1]) == ~std::uint64_t{0};
    if (trace::on()) trace::end_call();
    if (!same || all[3] == 0) report(fingerprint, same, kind, describe());
    if (!sought_shared_flags_) seek_shared_flags();
    return all[2];
  }

  /// A communicator of the workers of this one that are chosen, in that order, for a world_state to take over. Only
  /// they come here. Cost: one message from each of them and back, and what MPI_Comm_create_group costs.
  MPI_Comm communicator_of(const partita::workers& chosen) {
    std::uint64_t fingerprint = 0x70617274ULL;  // FNV of the ids
    for (std::size_t k = 0; k < chosen.size(); ++k) fingerprint = (fingerprint ^ (chosen[k] + 1)) * 1099511628211ULL;
    const auto describe = [&] {
      text all("partita::world::part(workers) of ");
      if (chosen.is_range()) return all << "workers(" << chosen[0] << ", " << chosen[0] + chosen.size() << ")";
      return all << chosen.size() << " workers from " << chosen[0] << " to " << chosen[chosen.size() - 1];
    };
    const only_thread here(*this, describe);
    begin_call(fingerprint, describe);
    if (!all_come(chosen, fingerprint))
      throw disagreement_error(text("partita: workers make different calls: worker ")
                               << id_ << " makes " << describe()
                               << ", another makes a part of other workers; all workers of a part name the same, in "
                                  "the same order");
    std::vector<int> ids(chosen.size());
    for (std::size_t k = 0; k < ids.size(); ++k) ids[k] = static_cast<int>(chosen[k]);
    MPI_Group all = MPI_GROUP_NULL, part = MPI_GROUP_NULL;
    check(MPI_Comm_group(communicator_, &all), "MPI_Comm_group");
    check(MPI_Group_incl(all, static_cast<int>(ids.size()), ids.data(), &part), "MPI_Group_incl");
    MPI_Comm made = MPI_COMM_NULL;
    const int result = MPI_Comm_create_group(communicator_, part, tag_of_parts, &made);
    MPI_Group_free(&part);
    MPI_Group_free(&all);
    check(result, "MPI_Comm_create_group");
    return made;
  }
  /// The workers that give the same colour, in ascending order. Collective.
  std::vector<std::size_t> of_colour(std::uint64_t colour) {
    agree(0x73706c6974ULL, 0, failure::none, [] { return text("partita::world::split(colour)"); });
    std::vector<std::uint64_t> all(size_);
    check(MPI_Allgather(&colour, 1, MPI_UINT64_T, all.data(), 1, MPI_UINT64_T, communicator_), "MPI_Allgather");
    std::vector<std::size_t> same;
    for (std::size_t k = 0; k < size_; ++k)
      if (all[k] == colour) same.push_back(k);
    return same;
  }

  /// What every call begins with, whether workers agree on it or not: it may be made here and now, and is noted.
  template <class Describe>
  void begin_call(std::uint64_t fingerprint, Describe describe) {
    if (!process::is_worker()) process::expect_worker(text(describe()).c_str());
    if (!any_thread_ && std::this_thread::get_id() != maker_)
      throw communication_error(text(describe())
                                << ": requires MPI_THREAD_MULTIPLE, because another thread than this one made the "
                                   "world; ask for it: boost::mpi::environment(argc, argv, "
                                   "boost::mpi::threading::multiple)");
    watcher = roll_.get();
    roll_->note(fingerprint, describe);
  }
  roll_call& roll() { return *roll_; }

  /// This worker stops in the middle of a call. What the others have sent it is never received: MPI would give
  /// it to the next communicator of that number, which then waits for ever, so this one is kept until the process ends.
  void leave_messages_unread() { leaves_messages_ = true; }

  /// One thread at a time makes calls of a world, from their beginning to their end: two would mix up their messages
  /// and buffers. Without MPI_THREAD_MULTIPLE no other thread gets as far as here.
  class only_thread {
   public:
    template <class Describe>
    only_thread(world_state& world, Describe describe) : world_(world) {
      if (!world.any_thread_) return;
      const std::thread::id own = std::this_thread::get_id();
      if (world.caller_.load(std::memory_order_relaxed) == own) return;  // a part of a call
      std::thread::id nobody;
      if (!world.caller_.compare_exchange_strong(nobody, own, std::memory_order_acquire))
        throw communication_error(text("partita: two threads make calls of one world at once, one of them ")
                                  << describe() << "; make a world for each thread, in the same order on all workers");
      whole_ = true;
    }
    ~only_thread() {
      if (whole_) world_.caller_.store(std::thread::id(), std::memory_order_release);
    }
    only_thread(const only_thread&) = delete;
    only_thread& operator=(const only_thread&) = delete;

   private:
    world_state& world_;
    bool whole_ = false;
  };

  /// What a kernel leaves under way. If the workers agree on calls, the next agreement ends it first: a worker that
  /// ends it sooner, or in another place than the others, would else wait for those that wait for it in a later call.
  void leave_under_way(const std::shared_ptr<pending_operation>& left) {
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
  using words = shared_flags::words;
  static constexpr int tag_of_parts = 31000;  // above those of kernels, below what MPI promises (32767)
  static constexpr std::uint64_t gone = 0x7061727469746121ULL;

  /// All workers learn who the others are, and that they mean the same level of checks.
  void introduce() {
    using introduction = roll_call::introduction;
    auto said = std::make_unique<std::vector<introduction>>(size_ + 1);
    said->back() = roll_->own_introduction(static_cast<std::uint64_t>(level_));
    constexpr auto bytes = static_cast<int>(sizeof(introduction));
    MPI_Request request = MPI_REQUEST_NULL;
    check(MPI_Iallgather(&said->back(), bytes, MPI_BYTE, said->data(), bytes, MPI_BYTE, communicator_, &request),
          "MPI_Iallgather");
    finish(request, said);
    std::vector<introduction>& all = *said;
    all.pop_back();
    roll_->meet(all);
    for (std::size_t k = 1; k < size_; ++k) {
      if (all[k].level == all[0].level) continue;
      MPI_Comm_free(&communicator_);
      const auto name = [](std::uint64_t level) {
        return static_cast<checks>(level) == checks::local ? "checks::local" : "checks::agree";
      };
      throw disagreement_error(text("partita::world: requires one level of checks on all workers, got ")
                               << name(all[0].level) << " on worker 0 and " << name(all[k].level) << " on worker " << k
                               << "; give every worker of a world the same");
    }
  }
  /// Waits for a collective, and says so if it takes long. What MPI reads and writes is lost if the wait is given up:
  /// better than overwritten later.
  template <class Held>
  static void finish(MPI_Request& request, std::unique_ptr<Held>& held) {
    try {
      int done = 0;
      for (backoff p(false);; p.pause()) {
        check(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
        if (done != 0) return;
      }
    } catch (...) {
      static_cast<void>(held.release());
      throw;
    }
  }
  static MPI_Comm duplicate(MPI_Comm given) {
    MPI_Request request = MPI_REQUEST_NULL;
    auto made = std::make_unique<MPI_Comm>(MPI_COMM_NULL);
    check(MPI_Comm_idup(given, made.get(), &request), "MPI_Comm_idup");
    finish(request, made);
    return *made;
  }
  /// Whether the workers chosen all come and choose alike: what MPI_Comm_create_group would hang without.
  bool all_come(const partita::workers& chosen, std::uint64_t fingerprint) {
    struct exchange {
      std::uint64_t mine, theirs = 0;
    };
    const auto swap_words = [&](bool receives, std::size_t with, std::uint64_t word) {
      auto swapped = std::make_unique<exchange>(exchange{word});
      MPI_Request request = MPI_REQUEST_NULL;
      const auto other = static_cast<int>(with);
      if (receives)
        check(MPI_Irecv(&swapped->theirs, 1, MPI_UINT64_T, other, tag_of_parts, communicator_, &request), "MPI_Irecv");
      else check(MPI_Isend(&swapped->mine, 1, MPI_UINT64_T, other, tag_of_parts, communicator_, &request), "MPI_Isend");
      finish(request, swapped);
      return swapped->theirs;
    };
    constexpr std::uint64_t yes = 1, no = 2;
    std::size_t lowest = chosen[0];  // also if they were named in another order elsewhere
    for (std::size_t k = 1; k < chosen.size(); ++k) lowest = chosen[k] < lowest ? chosen[k] : lowest;
    if (id_ != lowest) {
      swap_words(false, lowest, fingerprint);
      return swap_words(true, lowest, 0) == yes;
    }
    bool alike = true;
    for (std::size_t k = 0; k < chosen.size(); ++k)
      if (chosen[k] != id_) alike = swap_words(true, chosen[k], 0) == fingerprint && alike;
    for (std::size_t k = 0; k < chosen.size(); ++k)
      if (chosen[k] != id_) swap_words(false, chosen[k], alike ? yes : no);
    return alike;
  }
  /// How long others are waited for who may never come, where nobody would be there to be told.
  static double longest_wait() {
    const double said = roll_call::seconds_to_an_error();
    return said > 0 ? said : roll_call::patience.load();
  }

  bool has_unread_messages() const { return leaves_messages_ || roll_->gave_up(); }

  void wait() {
    if (under_way_) std::exchange(under_way_, nullptr)->wait();
  }

  struct letter {
    std::uint64_t fingerprint = 0, kind = 0;
    text sentence;
  };

  /// Gives every worker the bitwise and of the words of all.
  void meet(const words& mine, words& all) {
    if (size_ == 1) {
      all = mine;
    } else if (flags_) {
      flags_->all_and(mine, all);
    } else {
      MPI_Request request = MPI_REQUEST_NULL;
      if (!said_) said_ = std::make_unique<std::array<words, 2>>();  // kept: steady calls allocate nothing
      (*said_)[0] = mine;
      check(begin_to_meet((*said_)[0], (*said_)[1], request), "MPI_Iallreduce");
      finish(request, said_);
      all = (*said_)[1];
    }
  }
  int begin_to_meet(const words& mine, words& all, MPI_Request& request) {
    return MPI_Iallreduce(mine.data(), all.data(), static_cast<int>(mine.size()), MPI_UINT64_T, MPI_BAND, communicator_,
                          &request);
  }

  /// Once the workers have agreed for the first time, so that all of them come here.
  void seek_shared_flags() {
    sought_shared_flags_ = true;
    if (size_ == 1) return;
    const node& members = node::of(communicator_);
    flags_ = std::make_unique<shared_flags>(communicator_, members, arena::of_environment(members));
    if (!flags_->shared()) flags_.reset();
  }

  /// Tells the others; whether all have left, so that they free together what they share.
  bool taken_leave() {
    if (size_ == 1) return true;
    // on the heap: if the others do not come in time, MPI may still read and write there
    auto said =
        std::make_unique<std::array<words, 2>>(std::array<words, 2>{words{gone, ~gone, 0, ~std::uint64_t{0}}, words{}});
    words& all = (*said)[1];
    if (flags_) {
      lost_ = !flags_->all_and((*said)[0], all, longest_wait());
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
    // all have read what this worker put up before another thread finds the place again
    if (same && flags_) MPI_Barrier(communicator_);
    return same;
  }

  /// Waits for a collective that the others may never enter; false if they did not in time.
  bool completed(MPI_Request& request) {
    const double start = MPI_Wtime();
    int done = 0;
    while (done == 0 && MPI_Wtime() - start < longest_wait())
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
      throw disagreement_error(difference(letters));
    }
    for (const letter& l : letters)
      if (l.kind != static_cast<std::uint64_t>(failure::none)) raise(static_cast<failure>(l.kind), l.sentence);
    throw communication_error("partita: an agreement failed for a reason that no worker gave");
  }

  /// The calls that are made, each with the workers that make it; where two of them read alike, what else differs.
  text difference(const std::vector<letter>& letters) const {
    text all("partita: workers make different calls: ");
    std::vector<std::size_t> first;  // of those that make the same
    for (std::size_t k = 0; k < size_; ++k) {
      bool known = false;
      for (std::size_t other : first) known = known || letters[other].fingerprint == letters[k].fingerprint;
      if (!known) first.push_back(k);
    }
    constexpr std::size_t most_told = 3;  // what a sentence holds; the others differ in the same way, as a rule
    bool alike = false;
    for (std::size_t n = 0; n < first.size() && n < most_told; ++n) {
      const letter& told = letters[first[n]];
      std::size_t as_well = 0;
      for (const letter& l : letters) as_well += l.fingerprint == told.fingerprint ? 1 : 0;
      all << (n == 0 ? "worker " : ", worker ") << first[n];
      if (as_well > 1) all << " and " << as_well - 1 << (as_well > 2 ? " others make " : " other make ");
      else all << " makes ";
      all << told.sentence;
      for (std::size_t before = 0; before < n; ++before)
        alike = alike || letters[first[before]].sentence == told.sentence;
    }
    if (first.size() > most_told) all << ", and " << first.size() - most_told << " other calls are made";
    if (alike)
      all << "; where they read alike, the order of the workers, the element types or the policies differ, or they are "
             "calls of two kernels that were made alike (numbers "
          << letters[first[0]].fingerprint << " and " << letters[first[1]].fingerprint << ")";
    return all << "; every worker of a world makes every call with the same arguments";
  }

  MPI_Comm communicator_ = MPI_COMM_NULL;
  std::unique_ptr<roll_call> roll_;
  bool any_thread_ = false;              // MPI gives MPI_THREAD_MULTIPLE
  std::atomic<std::thread::id> caller_;  // who is in a call
  std::size_t size_ = 0;
  std::size_t id_ = 0;
  checks level_;
  std::thread::id maker_;
  bool lost_ = false;  // a worker did not answer or has left: nothing more is agreed on
  bool leaves_messages_ = false;
  bool sought_shared_flags_ = false;
  std::unique_ptr<shared_flags> flags_;
  std::unique_ptr<std::array<words, 2>> said_;    // where agreements by message read and write
  std::shared_ptr<pending_operation> under_way_;  // the last; those before it have ended
  std::vector<std::vector<std::max_align_t>> buffers_;
};

}  // namespace partita::detail
