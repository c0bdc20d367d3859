// The state that all copies of a `world` share: its communicator and buffers, and the agreement of its workers before
// each call.
//
// All messages of the library use one private duplicate of the world's communicator, so kernels create no
// communicators: a program may create and destroy any number of kernels.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <partita/comm/checks.hpp>
#include <partita/comm/detail/and_allreduce.hpp>
#include <partita/comm/detail/call_description.hpp>
#include <partita/comm/detail/disagreement.hpp>
#include <partita/comm/detail/failure.hpp>
#include <partita/comm/detail/finish_collective.hpp>
#include <partita/comm/detail/hang_report.hpp>
#include <partita/comm/detail/kept_buffers.hpp>
#include <partita/comm/detail/leak_on_purpose.hpp>
#include <partita/comm/detail/local_operations.hpp>
#include <partita/comm/detail/mpi_call.hpp>
#include <partita/comm/detail/one_thread.hpp>
#include <partita/comm/detail/part_communicator.hpp>
#include <partita/comm/detail/process.hpp>
#include <partita/comm/detail/recorded_agreements.hpp>
#include <partita/comm/detail/speculative_send.hpp>
#include <partita/comm/detail/trace.hpp>
#include <partita/comm/mpi.hpp>
#include <partita/comm/pending_operation.hpp>
#include <partita/core/error.hpp>
#include <partita/plan/workers.hpp>
#include <thread>
#include <utility>
#include <vector>

namespace partita::detail {

/// One private communicator and the buffers that calls reuse.
template <class = void>
class basic_world_state {
 public:
  /// Collective. Requires: the same level on all workers [disagreement_error, on all of them].
  basic_world_state(MPI_Comm given, checks level, bool takes_over = false)
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
    hang_report_ = std::make_unique<hang_report>(id_, size_, given);
    watcher = hang_report_.get();
    communicator_ = takes_over ? given : private_duplicate(given);
    MPI_Comm_set_errhandler(communicator_, MPI_ERRORS_RETURN);
    common_ = and_allreduce(communicator_, size_);
    introduce();
  }
  basic_world_state(const basic_world_state&) = delete;
  basic_world_state& operator=(const basic_world_state&) = delete;
  /// Reports to the other workers that this worker has left. A worker that still waits for it in a call gets an error
  /// instead of hanging.
  ~basic_world_state() {
    trace::leave();
    watcher = nullptr;  // it could throw, and nothing catches exceptions of a destructor
    const bool kept = !process::is_worker() || lost_ || (level_ != checks::local && !taken_leave());
    hang_report_->leave();
    if (kept) common_.keep_flags();
    else if (!has_unread_messages()) MPI_Comm_free(&communicator_);
  }

  MPI_Comm communicator() const { return communicator_; }
  std::size_t size() const { return size_; }
  std::size_t id() const { return id_; }
  checks level() const { return level_; }

  /// A buffer of at least n elements. It is valid until the next call for the same slot; repeated calls allocate
  /// nothing.
  template <class T>
  T* buffer_of(std::size_t slot, std::size_t n) {
    return static_cast<T*>(buffers_.buffer(slot, n * sizeof(T)));
  }

  /// The workers agree on `fingerprint` (the call and its arguments), on the absence of errors, and on a set of at most
  /// 63 choices; returns the choices that all workers have in common. `describe()` is called only if its text is
  /// needed. Throws the same error on all workers. Finishes a pending operation first.
  /// Cost:     on one node a read of one cache line of each worker; between N nodes in addition one to log2 N rounds of
  ///           messages of 32 bytes; at the first call, and where nodes do not share memory, one MPI_Iallreduce of 32
  ///           bytes.
  /// `ahead` may start to send before the agreement is complete: with several nodes, if no worker of this node has an
  /// error and its workers have a choice in common; on one node, only what this worker can roll back alone.
  template <class Describe>
  std::uint64_t agree(std::uint64_t fingerprint, std::uint64_t choices, failure kind, const Describe& describe,
                      speculative_send* ahead = nullptr) {
    return agree_on(fingerprint, choices, kind, call_description(describe), ahead);
  }
  /// Notes an operation that needs no messages and that all workers make. The next agreement compares what the workers
  /// noted. `fingerprint` covers everything that must be equal on all workers. Returns a number for the result. Cost:
  /// no message.
  std::uint64_t note_local(std::uint64_t fingerprint, const char* name, const shape_list& extents = {}) {
    return level_ == checks::agree ? local_.note(fingerprint, name, extents) : 0;
  }
  std::uint64_t local_history() const { return local_.history(); }
  /// From now on agreements are recorded in, or replayed from, `steps`, the steps of a chain of calls. nullptr ends
  /// that.
  void follow_steps(recorded_agreements* steps) { steps_ = steps; }
  bool follows_steps() const { return steps_ != nullptr; }
  /// The tag of blocks that may be sent before all workers agree. It changes after each call whose speculative messages
  /// were discarded, so that no later call receives these messages.
  int tag_of_blocks() const { return tags_ == nullptr ? 2 : tags_->tag_in_this_round(2); }
  /// The agreement found no choice in common: discards what was sent speculatively, which depended on a choice.
  void discard_without_choice() {
    if (std::exchange(began_before_, false)) discard_sent();
  }

  /// A communicator of the chosen workers of this world, in the given order, which a new world_state takes over. Only
  /// the chosen workers call this.
  MPI_Comm communicator_of(const workers& chosen) {
    const auto describe = [&] { return making_of_part(chosen); };
    const one_thread here(caller(), describe);
    begin_call(fingerprint_of_part(chosen), describe, &chosen);
    struct scope {
      hang_report& report;
      ~scope() { report.no_longer_among(); }
    } const now{*hang_report_};
    return part_communicator(communicator_, id_, chosen);
  }

  /// The start of every call, with or without an agreement: checks that this process and thread may make the call, and
  /// notes it. Made by all workers of the world, or by the `chosen` ones.
  template <class Describe>
  void begin_call(std::uint64_t fingerprint, Describe describe, const workers* chosen = nullptr) {
    if (!process::is_untraced_worker()) {
      process::expect_worker(text(describe()).c_str());
      hang_report_->trace_call(fingerprint, describe);
    }
    if (!any_thread_ && std::this_thread::get_id() != maker_)
      throw communication_error(text(describe())
                                << ": requires MPI_THREAD_MULTIPLE, because another thread than this one made the "
                                   "world; ask for it: boost::mpi::environment(argc, argv, "
                                   "boost::mpi::threading::multiple)");
    watcher = hang_report_.get();
    if (chosen != nullptr) hang_report_->note_among(*chosen, fingerprint, describe);
    else hang_report_->note(fingerprint, describe);
  }
  hang_report& report() { return *hang_report_; }
  /// Handles missing memory in a call of all workers, see one_call. Returns only if there is no other worker or the
  /// world is lost.
  [[gnu::noinline]] void lacks_memory() {
    if (size_ == 1 || lost_) return;
    if (level_ == checks::local || hang_report_->in_call() == hang_report::progress::committed)
      hang_report_->lacks_memory_amid_call();
    fail_at_next_agreement(text("partita: worker ")
                           << id_ << " has no memory for a call that begins after " << hang_report_->name()
                           << "; give each worker smaller blocks, or more memory");
  }

  /// This worker stops in the middle of a call and will not receive what the others have sent it. MPI would deliver
  /// those messages to the next communicator with the same number, which would then hang. So this communicator is kept
  /// until the process ends.
  void leave_messages_unread() {
    leaves_messages_ = true;
    hang_report_->fails_in_call();
  }

  /// For one_thread: the thread that is in a call; null where MPI allows only one thread.
  std::atomic<std::thread::id>* caller() { return any_thread_ ? &caller_ : nullptr; }

  /// Registers an operation that a kernel leaves pending. At checks::agree the next agreement finishes it first.
  /// Without that there could be a deadlock: a worker that finishes the operation earlier or later than the others
  /// would wait for workers that wait for it in another call. If other workers need this one to finish it (`needed`),
  /// the next call finishes it at any level.
  void leave_under_way(const std::shared_ptr<pending_operation>& left, bool needed = false) {
    if (needed || level_ == checks::agree) under_way_ = left;
  }
  void end_under_way() {
    if (under_way_) std::exchange(under_way_, nullptr)->wait();
  }

  /// Every worker gets the bitwise AND of the four words of all workers.
  void all_and(const std::uint64_t* mine, std::uint64_t* all) {
    words own{}, common{};
    for (std::size_t k = 0; k < own.size(); ++k) own[k] = mine[k];
    common_.all_and(own, common);
    for (std::size_t k = 0; k < own.size(); ++k) all[k] = common[k];
  }

  /// Whether something holds on every worker. Collective. If a worker takes part with an error instead, all workers
  /// throw that error. Cost: that of an agreement.
  bool on_all(bool here) {
    constexpr std::uint64_t fingerprint = 0x6f6e20616c6cULL, any = ~std::uint64_t{0};
    const words all = meet({fingerprint, ~fingerprint, (here ? 1U : 0U) | speculative_send::nothing, any}, nullptr);
    if (agree(all)) return (all[2] & 1U) != 0;
    if (began_ahead(all)) discard_sent();
    report(fingerprint, have_one_call(all), failure::none, "a comparison of blocks");
  }

 private:
  using words = and_allreduce::words;

  std::uint64_t agree_on(std::uint64_t fingerprint, std::uint64_t choices, failure kind,
                         const call_description& describe, speculative_send* ahead) {
    const one_thread here(caller(), describe);
    begin_call(fingerprint, describe);
    if (lost_)
      throw communication_error(text("partita: a worker has left the world or was lost in an earlier call, and ")
                                << describe() << " needs all; make a new world of the workers that are there");
    end_under_way();
    if (steps_ != nullptr && steps_->answers()) return next_step(fingerprint, choices, kind, describe);
    const bool several_nodes = common_.by_flags_of_several_nodes();
    if (!several_nodes && (choices == 0 || kind != failure::none)) ahead = nullptr;
    if (several_nodes && tags_->is_last_round()) ahead = nullptr;
    const bool begins_for_all = several_nodes && ahead != nullptr;
    const std::uint64_t history = local_.history(), compared = hasher(fingerprint).mix(history).value();
    const words mine{compared, ~compared, begins_for_all ? choices : choices | speculative_send::nothing,
                     kind == failure::none ? ~std::uint64_t{0} : 0};
    try {
      const words all = meet(mine, ahead);
      const std::uint64_t common = all[2] & ~speculative_send::nothing;
      const bool began = began_ahead(all);
      if (!agree(all)) {
        if (trace::on()) trace::end_call();
        if (began) discard_sent();
        report(fingerprint, have_one_call(all), kind, describe());
      }
      hang_report_->have_agreed();
      local_.were_agreed_on();
      if (!ends_plainly_) end_agreement();
      began_before_ = began && common == 0;  // the workers now gather what they do not know, and agree once more
      if (steps_ != nullptr) steps_->write_down(fingerprint, common);
      return common;
    } catch (const std::bad_alloc&) {  // the other workers continue the call
      hang_report_->lacks_memory_amid_call();
      throw;
    }
  }
  words meet(const words& mine, speculative_send* ahead) {
    words all{};
    try {
      common_.all_and(mine, all, ahead);
    } catch (const communication_error&) {
      lost_ = true;  // an operation that was never completed is still pending
      if (trace::on()) trace::end_call();
      throw;
    }
    hang_report_->was_heard();
    return all;
  }
  static bool have_one_call(const words& all) { return (all[0] | all[1]) == ~std::uint64_t{0}; }
  static bool agree(const words& all) { return have_one_call(all) && all[3] != 0; }
  bool began_ahead(const words& all) {
    const bool before = std::exchange(began_before_, false);
    return common_.by_flags() && ((all[2] & speculative_send::nothing) == 0 || before);
  }
  /// Takes part in the next agreement of the other workers, for whatever call, with an error that all workers throw.
  [[noreturn]] void fail_at_next_agreement(const text& sentence) {
    hang_report_->note(0x6d656d6f7279ULL,
                       // noted because the others count this call
                       [] { return text("a call for which memory is missing"); });
    end_under_way();
    constexpr std::uint64_t any = ~std::uint64_t{0};
    const words all = meet({any, any, any, 0}, nullptr);
    if (began_ahead(all)) discard_sent();
    report(0, have_one_call(all), failure::memory, sentence);
  }
  void discard_sent() {
    tags_->next_round();
    leave_messages_unread();
  }
  static constexpr std::uint64_t gone = 0x7061727469746121ULL;

  /// All workers get information about all others, and check that they use the same level of checks.
  void introduce() {
    using introduction = hang_report::introduction;
    auto said = std::make_unique<std::vector<introduction>>(size_ + 1);
    said->back() = hang_report_->own_introduction(static_cast<std::uint64_t>(level_));
    constexpr auto bytes = static_cast<int>(sizeof(introduction));
    MPI_Request request = MPI_REQUEST_NULL;
    check(MPI_Iallgather(&said->back(), bytes, MPI_BYTE, said->data(), bytes, MPI_BYTE, communicator_, &request),
          "MPI_Iallgather");
    finish_collective(request, said);
    std::vector<introduction>& all = *said;
    all.pop_back();
    hang_report_->meet(all);
    for (std::size_t k = 1; k < size_; ++k) {
      if (all[k].level == all[0].level) continue;
      MPI_Comm_free(&communicator_);
      throw disagreement_error(two_levels(all[0].level, k, all[k].level));
    }
  }
  bool has_unread_messages() const { return leaves_messages_ || hang_report_->gave_up(); }

  /// Answers an agreement from the recorded steps of a chain.
  std::uint64_t next_step(std::uint64_t fingerprint, std::uint64_t choices, failure kind,
                          const call_description& describe) {
    hang_report_->was_heard();
    if (trace::on()) trace::end_call();
    const std::uint64_t common = steps_->next(fingerprint, choices, kind);
    if (common != 0) return common;
    lost_ = true;  // the other workers continue
    throw communication_error(text("partita: a step of a chain is another one than all agreed to, ") << describe());
  }

  /// Runs after the first agreement, when all workers come here, and makes the flags; with a trace it runs after each
  /// one.
  [[gnu::noinline]] void end_agreement() {
    if (trace::on()) trace::end_call();
    ends_plainly_ = !trace::on();
    if (std::exchange(sought_flags_, true) || size_ == 1) return;
    common_.make_flags();
    tags_ = &own_node::of(communicator_);
  }

  /// Reports to the other workers that this worker leaves. Returns whether all workers leave, so that they may free
  /// shared resources together.
  bool taken_leave() {
    if (size_ == 1) return true;
    words all{};
    if (!common_.all_and_within({gone, ~gone, 0, ~std::uint64_t{0}}, all, hang_report::longest_wait())) {
      lost_ = true;
      return false;
    }
    const bool same = agree(all);
    if (!same) try {
        gather({gone, 0, text("no call: it has left the world (its world object was destroyed)"), 0, {}});
      } catch (const std::bad_alloc&) {  // the other workers get no message, and report that
      }
    lost_ = !same;  // freeing is collective, and the other workers have not come to it
    // all workers must have read this worker's words before another thread reuses the memory
    if (same && common_.by_flags()) MPI_Barrier(communicator_);
    return same;
  }

  letter letter_of(std::uint64_t fingerprint, failure kind, const text& mine) const {
    letter own{fingerprint, static_cast<std::uint64_t>(kind), mine, local_.history(), {}};
    for (std::size_t k = 0; k < own.operations.size(); ++k) own.operations[k] = local_.fingerprint(k);
    return own;
  }
  /// Gathers the letters of all workers; empty if a worker does not answer.
  std::vector<letter> gather(const letter& own) {
    auto letters = std::make_unique<std::vector<letter>>(size_);
    MPI_Request request = MPI_REQUEST_NULL;
    const auto bytes = static_cast<int>(sizeof(letter));
    if (MPI_Iallgather(&own, bytes, MPI_BYTE, letters->data(), bytes, MPI_BYTE, communicator_, &request) != MPI_SUCCESS)
      return {};
    const ending how = finish_in_time(request, hang_report::longest_wait());
    if (how == ending::in_time) return std::move(*letters);
    lost_ = lost_ || how == ending::late;
    leak_on_purpose(std::move(letters));  // MPI may still write there
    return {};
  }

  /// All workers exchange their letters and throw the same error. Called only after an agreement has failed.
  [[noreturn]] void report(std::uint64_t fingerprint, bool same, failure kind, const text& mine) {
    const std::vector<letter> letters = letters_of_all(letter_of(fingerprint, kind, mine), mine);
    // Note whether a worker has left. If a worker has no memory, all workers throw its error.
    for (const letter& l : letters) lost_ = lost_ || l.fingerprint == gone;
    for (const letter& l : letters)
      if (l.kind == static_cast<std::uint64_t>(failure::memory)) {
        local_.forget();  // that worker may have noted fewer operations than the others
        raise(failure::memory, l.sentence);
      }
    // All workers make the same call, so one of them has an error.
    if (same) {
      local_.were_agreed_on();
      raise_first(letters);
    }
    // They make different calls, or have executed different local operations before.
    const std::size_t k = first_difference(letters).operation;
    if (lost_ || k == first_difference::none) throw disagreement_error(difference(letters));
    const letter own{k < local_operations::most_named ? local_.fingerprint(k) : local_.history(), 0,
                     local_.description(k)};
    local_.forget();
    throw disagreement_error(difference(letters_of_all(own, mine)));
  }
  std::vector<letter> letters_of_all(const letter& own, const text& call) {
    const std::vector<letter> letters = gather(own);
    if (letters.empty())
      throw communication_error(text("partita: worker ") << id_ << " waits in vain for the others in " << call
                                                         << "; a worker of this world has ended or hangs");
    return letters;
  }

  MPI_Comm communicator_ = MPI_COMM_NULL;
  std::unique_ptr<hang_report> hang_report_;
  bool any_thread_ = false;              // MPI provides MPI_THREAD_MULTIPLE
  std::atomic<std::thread::id> caller_;  // the thread that is in a call
  std::size_t size_ = 0;
  std::size_t id_ = 0;
  checks level_;
  std::thread::id maker_;
  bool lost_ = false;  // a worker did not answer or has left: no further agreement is possible
  bool leaves_messages_ = false;
  bool began_before_ = false;  // the last agreement started a speculative send, and the call needs another agreement
  own_node* tags_ = nullptr;
  bool sought_flags_ = false, ends_plainly_ = false;  // ends_plainly_: there is nothing to do after an agreement
  and_allreduce common_;
  recorded_agreements* steps_ = nullptr;
  local_operations local_;
  std::shared_ptr<pending_operation> under_way_;  // the last one; earlier ones are finished
  kept_buffers buffers_;
};
using world_state = basic_world_state<>;

}  // namespace partita::detail
