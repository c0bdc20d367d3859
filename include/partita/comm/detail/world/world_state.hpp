// The state that all copies of a `world` share: its communicator and buffers, and the agreement of its workers before
// each call.
//
// Kernels use one private duplicate of the world's communicator, and the communicators of its nodes, and create none of
// their own: a program may create and destroy any number of kernels.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <partita/comm/checks.hpp>
#include <partita/comm/detail/diagnostics/call_description.hpp>
#include <partita/comm/detail/diagnostics/disagreement.hpp>
#include <partita/comm/detail/diagnostics/hang_report.hpp>
#include <partita/comm/detail/diagnostics/trace.hpp>
#include <partita/comm/detail/world/and_allreduce.hpp>
#include <partita/comm/detail/world/failure.hpp>
#include <partita/comm/detail/world/finish_collective.hpp>
#include <partita/comm/detail/world/kept_buffers.hpp>
#include <partita/comm/detail/world/leak_on_purpose.hpp>
#include <partita/comm/detail/world/local_operations.hpp>
#include <partita/comm/detail/world/mpi_call.hpp>
#include <partita/comm/detail/world/part_communicator.hpp>
#include <partita/comm/detail/world/process.hpp>
#include <partita/comm/detail/world/recorded_agreements.hpp>
#include <partita/comm/detail/world/speculative_send.hpp>
#include <partita/comm/detail/world/thread_guard.hpp>
#include <partita/comm/mpi.hpp>
#include <partita/comm/pending_operation.hpp>
#include <partita/core/config.hpp>
#include <partita/core/error.hpp>
#include <partita/plan/workers.hpp>
#include <thread>
#include <utility>
#include <vector>

namespace partita::detail {

/// The private communicator of a world, and the buffers that its calls reuse.
class world_state {
 public:
  /// Makes the state of a world. Collective. Requires: the same level of checks, and programs that were compiled with
  /// the same settings, on all workers [disagreement_error, on all of them].
  PARTITA_DECL world_state(MPI_Comm given, checks level, bool owns_communicator = false);
  world_state(const world_state&) = delete;
  world_state& operator=(const world_state&) = delete;
  /// Reports to the other workers that this worker has left. A worker that still waits for this worker in a call gets
  /// an error instead of hanging (at checks::local only on the same machine).
  PARTITA_INLINE ~world_state();

  /// The private communicator, on which only this library sends messages.
  MPI_Comm communicator() const { return communicator_; }
  std::size_t size() const { return size_; }  ///< the number of workers
  std::size_t id() const { return id_; }      ///< the id of this worker, from 0 on
  /// How much the calls of this world check.
  checks level() const { return check_level_; }

  /// A buffer of at least n elements, valid until the next call for the same slot; repeated calls allocate nothing.
  template <class T>
  T* buffer_in_slot(std::size_t slot, std::size_t n) {
    return static_cast<T*>(buffers_.buffer(slot, n * sizeof(T)));
  }

  /// The workers agree on `fingerprint` (the call and its arguments), on the absence of errors, and on a set of at most
  /// 63 choices; returns the choices that all workers have in common. `describe()` is called only if its text is
  /// needed. An error of one worker is thrown by all workers. A pending operation of a kernel is finished before the
  /// agreement.
  /// Cost:     on one node a read of one cache line of each worker (of more than 16, in two steps); between N nodes in
  ///           addition one to log2 N rounds of messages of 32 bytes; at the first call, and where nodes do not share
  ///           memory, one MPI_Iallreduce of 32 bytes.
  /// `ahead` may start to send before the agreement is complete: with several nodes, if no worker of this node has an
  /// error and its workers have a choice in common; on one node, only a send that this worker can roll back alone.
  PARTITA_DECL std::uint64_t agree(std::uint64_t fingerprint, std::uint64_t choices, failure kind,
                                   const call_description& describe, speculative_send* ahead = nullptr);
  /// Passes a few numbers to all workers with the next agreement, at the cost of writing them. Returns whether all
  /// workers may call published_numbers afterwards: if they are on one node and share flags already.
  bool publish_numbers(const std::uint64_t* numbers, std::size_t count) {
    return and_allreduce_.publish_numbers(numbers, count);
  }
  /// The numbers that a worker passed with the last agreement; valid until the next agreement.
  const std::uint64_t* published_numbers(std::size_t worker) const { return and_allreduce_.published_numbers(worker); }
  /// The number of errors for missing memory that all workers have thrown so far, the same on all workers. The calls
  /// before such an error may have succeeded on some workers only.
  std::uint64_t failure_count() const { return failure_count_; }
  /// Notes an operation that all workers make without messages. The next agreement compares the operations that the
  /// workers noted. The hash `fingerprint` covers what must be equal on all workers. Returns a hash of all operations
  /// so far, which identifies the result of the operation. At checks::local nothing is noted, and the result is 0.
  /// Cost: no message.
  std::uint64_t log_local_operation(std::uint64_t fingerprint, const char* name, const shape_list& extents = {}) {
    return check_level_ == checks::agree ? local_operations_.note(fingerprint, name, extents) : 0;
  }
  /// From now on agreements are recorded in `steps`, or replayed from `steps`; with nullptr neither.
  void use_recorded_steps(recorded_agreements* steps) { steps_ = steps; }
  bool uses_recorded_steps() const { return steps_ != nullptr; }  ///< whether agreements are recorded or replayed
  /// The tag of blocks that may be sent before all workers agree. The tag changes after each call whose speculative
  /// messages were discarded, so that no later call receives these messages.
  int block_tag() const { return node_ == nullptr ? 2 : node_->tag_in_this_round(2); }
  /// Discards speculative messages, which depend on a choice, because the workers had no choice in common.
  void discard_speculative_messages() {
    if (std::exchange(needs_second_agreement_, false)) discard_messages();
  }

  /// A communicator of the chosen workers of this world, in the given order, which a new world_state takes over. Only
  /// the chosen workers call make_communicator_for. A pending operation of a kernel is finished first.
  PARTITA_DECL MPI_Comm make_communicator_for(const workers& chosen);

  /// Begins a call, with or without an agreement: checks that this process and this thread may make the call, and notes
  /// the call. All workers of the world make the call, or only the `chosen` ones.
  PARTITA_DECL void begin_call(std::uint64_t fingerprint, const call_description& describe,
                               const workers* chosen = nullptr);
  /// The report of who waits for whom, which also knows the current call of this worker.
  hang_report& report() { return *hang_report_; }
  /// Handles a failed allocation of this worker in a call of all workers, see one_call. Returns only if the world has
  /// no other worker or cannot be used any more.
  PARTITA_DECL [[gnu::noinline]] void on_memory_lack();

  /// Called if this worker stops in the middle of a call and will not receive what the others have sent to it. The
  /// communicator of the world is then kept until the process ends, because MPI would deliver those messages to the
  /// next communicator with the same number, which would hang.
  PARTITA_DECL void leave_messages_unread();

  /// The thread that is in a call, for thread_guard; null where MPI allows only one thread.
  std::atomic<std::thread::id>* calling_thread() { return allows_any_thread_ ? &calling_thread_ : nullptr; }

  /// Registers an operation that a kernel leaves pending. At checks::agree the next agreement finishes the operation
  /// first; a worker that finished the operation earlier or later than the others could cause a deadlock, because it
  /// would wait for workers that wait for it in another call. If other workers need this worker to finish the operation
  /// (`is_awaited`), the next call finishes it at any level of checks.
  void keep_call_pending(const std::shared_ptr<pending_operation>& left, bool is_awaited = false) {
    if (is_awaited || check_level_ == checks::agree) pending_operation_ = left;
  }
  /// Waits for the operation that was registered last, if it is still pending.
  void finish_pending_operation() {
    if (pending_operation_) std::exchange(pending_operation_, nullptr)->wait();
  }

  /// Gives every worker the bitwise AND of the four words of all workers.
  PARTITA_DECL void all_and(const std::uint64_t* mine, std::uint64_t* all);

  /// Whether `is_true_here` is true on every worker of the world. Collective. If a worker enters the agreement with an
  /// error, all workers throw that error. Cost: that of an agreement.
  PARTITA_DECL bool is_true_on_all(bool is_true_here);

 private:
  using words = and_allreduce::words;  ///< fingerprint, its complement, choices, and all bits if there is no error

  /// The AND of the words of all workers. If a worker does not answer, the world cannot be used any more.
  PARTITA_DECL words combine_words_of_workers(const words& mine, speculative_send* ahead);
  /// Whether all workers make the same call, by the AND of their words.
  static bool have_same_call(const words& all) { return (all[0] | all[1]) == ~std::uint64_t{0}; }
  /// Whether the workers make the same call and none has an error, by the AND of their words.
  static bool have_agreed(const words& all) { return have_same_call(all) && all[3] != 0; }
  /// Whether a worker may have sent messages before the workers agreed, in this call.
  PARTITA_DECL bool has_begun_speculation(const words& all);
  /// Takes part, in any call, in the next agreement of the other workers with an error, which all workers throw.
  PARTITA_DECL [[noreturn]] void fail_at_next_agreement(const text& sentence);
  /// Makes later calls ignore the speculative messages that were sent so far.
  PARTITA_DECL void discard_messages();
  static constexpr std::uint64_t departure_code = 0x7061727469746121ULL;  ///< the fingerprint of leaving a world

  /// Exchanges the setup records of all workers, and throws on all of them if their programs were compiled with
  /// different settings or use different levels of checks.
  PARTITA_DECL void exchange_setup_data();
  /// Throws on all workers if their programs were compiled with different settings.
  PARTITA_DECL void expect_one_setting(const std::vector<hang_report::setup_record>& all);
  /// Whether messages to this worker may arrive that no call will receive.
  bool has_unread_messages() const { return leaves_messages_unread_ || hang_report_->has_given_up_wait(); }

  /// Returns the result of an agreement that was recorded when the chain of kernels ran before, without messages.
  PARTITA_DECL std::uint64_t replay_agreement(std::uint64_t fingerprint, std::uint64_t choices, failure kind,
                                              const call_description& describe);

  /// Makes the shared flags after the first agreement, on all workers. If calls are traced, this function is
  /// called after each agreement.
  PARTITA_DECL [[gnu::noinline]] void do_work_after_agreement();

  /// Reports to the other workers that this worker leaves. Returns whether all workers leave, so that they may free
  /// shared resources together.
  PARTITA_DECL bool announce_departure();

  /// What this worker reports to the others when an agreement has failed.
  PARTITA_DECL call_report make_error_report(std::uint64_t fingerprint, failure kind, const text& mine) const;
  /// Gathers the call and the error (`call_report`) of every worker; empty if a worker does not answer.
  PARTITA_DECL std::vector<call_report> try_gather(const call_report& own);

  /// Exchanges the errors of all workers, which then throw the same error. Called when an agreement has failed.
  PARTITA_DECL [[noreturn]] void throw_on_all(std::uint64_t fingerprint, bool is_same_call, failure kind,
                                              const text& mine);
  /// Gathers the reports of all workers; throws communication_error if a worker does not answer.
  PARTITA_DECL std::vector<call_report> gather_call_reports(const call_report& own, const text& call);

  MPI_Comm communicator_ = MPI_COMM_NULL;        // see communicator()
  std::unique_ptr<hang_report> hang_report_;     // see report()
  bool allows_any_thread_ = false;               // whether MPI provides MPI_THREAD_MULTIPLE
  std::atomic<std::thread::id> calling_thread_;  // the thread that is in a call
  std::size_t size_ = 0;                         // the number of workers
  std::size_t id_ = 0;                           // the id of this worker
  checks check_level_;                           // see level()
  std::thread::id creating_thread_;              // which makes all calls unless allows_any_thread_
  bool is_world_lost_ = false;  // whether a worker did not answer or has left: no further agreement is possible
  bool leaves_messages_unread_ = false;  // see leave_messages_unread()
  bool needs_second_agreement_ = false;  // whether a speculative send has begun and the call needs one more agreement
  std::uint64_t failure_count_ = 0;      // see failure_count()
  own_node* node_ = nullptr;             // for speculative tags; null before the first agreement, and if size_ is 1
  bool has_tried_making_flags_ = false;  // whether the first agreement has tried to make the shared flags
  bool skips_work_after_agreement_ = false;               // whether agreements need no work after them
  and_allreduce and_allreduce_;                           // combines the words of all workers
  recorded_agreements* steps_ = nullptr;                  // null if agreements are neither recorded nor replayed
  local_operations local_operations_;                     // what log_local_operation() has noted
  std::shared_ptr<pending_operation> pending_operation_;  // the last pending operation; earlier ones are finished
  kept_buffers buffers_;                                  // of buffer_in_slot()
};

}  // namespace partita::detail

#ifndef PARTITA_CORE
#include <partita/comm/detail/world/impl/world_state.ipp>
#endif
