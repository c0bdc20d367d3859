// The hang report: a line that a worker prints after a long wait, with what the workers of its world on its machine do.
//
// A worker that computes for an hour looks the same as a worker that hangs. So a long wait is not an error: on each
// machine the waiting worker with the lowest id prints the report, once for a wait. PARTITA_PATIENCE=seconds in the
// environment turns a longer wait into an error. If the process of a worker of this world on the same machine has
// ended, a worker that waits throws an error at once.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <partita/comm/detail/diagnostics/call_description.hpp>
#include <partita/comm/detail/diagnostics/call_log.hpp>
#include <partita/comm/detail/diagnostics/trace.hpp>
#include <partita/comm/detail/node/flag.hpp>
#include <partita/comm/detail/node/status_slot.hpp>
#include <partita/comm/detail/world/end_job.hpp>
#include <partita/comm/detail/world/environment.hpp>
#include <partita/core/config.hpp>
#include <partita/core/error.hpp>
#include <partita/plan/workers.hpp>
#include <vector>

namespace partita::detail {

/// The workers of one world, as far as this worker can read their status slots, and the report about them.
class hang_report final : public wait_watcher {
 public:
  /// The data about itself that each worker sends to the others when a world is made.
  struct setup_record {
    /// Hashes of the settings with which the worker's program was compiled; the hash is 0 for a setting that no file of
    /// the program gave. The hashes come first, and a setup_record has the same size, in all versions, so that
    /// different versions can compare settings.
    std::array<std::uint64_t, 2> settings{};
    std::uint64_t level = 0, highest_world_number = 0;  ///< the level of checks; see highest_world_number()
    slot_address address;                               ///< the address of the worker's status slot
  };

  /// The seconds after which a waiting worker prints the hang report. Below 10 s the report would often be a false
  /// alarm while workers read files; after a longer time users would have given up. Only tests change this number.
  static inline std::atomic<double> seconds_until_report = 10;
  /// The seconds after which a wait is an error: the value of PARTITA_PATIENCE in the environment, or 0 for never.
  static double seconds_until_error() { return parse_patience(std::getenv("PARTITA_PATIENCE")); }
  /// The seconds for which this worker waits for workers that may never come, where it cannot throw an error.
  PARTITA_DECL static double max_wait_seconds();
  /// The highest number of a world that this process knows. A new world gets the next number after the highest number
  /// that any of its workers knows.
  PARTITA_DECL static std::atomic<std::uint64_t>& highest_world_number();

  /// For the worker `id` of the `size` workers of a world that is made from the communicator `given`.
  PARTITA_DECL hang_report(std::size_t id, std::size_t size, MPI_Comm given);
  PARTITA_DECL static setup_record own_setup_record(std::uint64_t level);  ///< The record that this worker sends.
  /// Called when a world is made: gives the world a number, and finds the status slots of the other workers on this
  /// machine.
  PARTITA_DECL void set_up_world(const std::vector<setup_record>& all);

  /// Notes a call of this world; a later wait is reported as a wait in this call.
  void note_call(std::uint64_t fingerprint, const call_description& describe) {
    fingerprint_ = fingerprint;
    own_slot_->note(world_number_, ++call_count_, fingerprint, describe);
  }
  /// Records the start of a call, if a trace is wanted.
  void trace_call(std::uint64_t fingerprint, const call_description& describe) const {
    if (trace::is_on()) trace::begin_call(world_number_, fingerprint, describe);
  }
  /// The description of the call that this worker makes, or made last.
  text call_name() const { return own_slot_->find_description(fingerprint_); }
  void set_is_preparing_call(bool now) { is_preparing_call_ = now; }  ///< Called as prepare_call begins and ends.
  /// Whether this worker is in a call of all workers (see one_call), before or after the agreement on the call. After
  /// the agreement the other workers depend on this worker.
  enum class progress { outside, before_agreement, after_agreement };
  progress call_progress() const { return progress_; }   ///< of this worker in its current call
  void call_progress(progress now) { progress_ = now; }  ///< Called as a call begins and ends.
  /// Notes that the workers have agreed on the current call.
  void note_agreement() {
    if (progress_ == progress::before_agreement) progress_ = progress::after_agreement;
  }
  /// Whether this worker gave up a wait: the message for which it waited may still arrive.
  bool has_given_up_wait() const { return has_given_up_wait_; }
  /// Notes a call of the chosen workers only, which does not count as a call of the world.
  void note_call_of_some_workers(const workers& chosen, std::uint64_t fingerprint, const call_description& describe) {
    note_call(fingerprint, describe);
    --call_count_;
    calling_workers_ = &chosen;
  }
  void end_call_of_some_workers() { calling_workers_ = nullptr; }  ///< Ends the call of note_call_of_some_workers.
  /// Notes that this worker stops in the middle of the current call, so that the call does not count as finished.
  void record_failed_call() { failed_call_ = call_count_; }
  /// Notes in the status slot of this worker that it has destroyed this world.
  void note_world_destroyed() {
    if (world_number_ == 0) return;
    const bool has_failed = failed_call_ == call_count_ && call_count_ != 0;
    own_slot_->note_departure(world_number_, call_count_ - (has_failed ? 1 : 0));
  }
  /// Stores the message of an error of this worker. The job ends with this message if this worker then waits for 10 s
  /// because the others enter no agreement in which they get the error.
  void set_final_message(const text& sentence) { final_message_ = sentence, has_final_message_ = true; }
  void clear_final_message() { has_final_message_ = false; }  ///< Drops that message, which is not needed any more.

  PARTITA_INLINE void on_long_wait(double seconds) override;  ///< Prints the report, or throws, when it is time.
  PARTITA_INLINE void on_wait_end() noexcept override;        ///< Shows in the status slot that the wait is over.
  PARTITA_INLINE void on_memory_lack(std::size_t bytes) noexcept override;  ///< Ends the job if others need this call.
  PARTITA_INLINE void on_memory_lack_midcall() noexcept override;  ///< Ends the job if there are other workers.

 private:
  /// The end of messages about missing memory.
  static constexpr const char* waiting_workers_text =
      "; the others have agreed to this call and wait for its end, so the job is ended; give each worker smaller "
      "blocks, or more memory";

  PARTITA_DECL [[noreturn]] void give_up_wait(const text& sentence);  ///< Ends the wait by a communication_error.
  /// Gives up the wait if a worker for which this worker waits has left the world or, while the world is being made,
  /// has called MPI_Finalize. The error is delayed, because a message that the other worker sent may still arrive.
  PARTITA_DECL void require_no_worker_has_left();
  PARTITA_DECL void require_all_can_make_world();  ///< Gives up if a worker of the new world has called MPI_Finalize.

  /// Another worker of the world, whose status slot this worker can read.
  struct visible_worker {
    std::size_t id;             ///< the worker's id in the world
    std::uint64_t process;      ///< the worker's process id
    const status_slot* status;  ///< the worker's status slot
  };
  using standing = status_slot::standing;  ///< the state of a worker

  /// Workers in the same state and the same last call, which are reported together.
  struct group {
    const visible_worker* first_worker;             ///< the worker with the lowest id
    standing state;                                 ///< the state of each of these workers
    std::uint64_t world, call_number, fingerprint;  ///< their last call: its world's number, its number there, its hash
    std::vector<std::size_t> other_ids;             ///< the workers but the first

    bool is_same_state(const group& o) const {  ///< whether the state and the last call are the same
      return state == o.state && world == o.world && call_number == o.call_number && fingerprint == o.fingerprint;
    }
  };

  /// The state that this worker shows in its status slot while it waits.
  standing own_standing() const { return world_number_ == 0 ? standing::is_making_world : standing::is_waiting; }

  /// Whether this worker prints the hang report: of the workers of its machine that wait in a call, the one with the
  /// lowest id; a worker that makes a world prints only if no worker of its machine waits in a call.
  PARTITA_DECL bool has_lowest_waiting_id() const;
  /// The call that a worker noted last, in any of its worlds. Requires that the worker has noted a call.
  static const status_slot::call& newest_call(const status_slot& of) {
    return of.last_calls[(of.call_count - 1) % status_slot::kept_call_count];
  }
  PARTITA_DECL static text describe_last_call(const visible_worker& w);  ///< As "made call 3 of world 1 last, f(x)".

  PARTITA_DECL text report_text(double seconds) const;  ///< The report: which workers wait where, and for whom.

  /// Prints `sentence` and ends the MPI job.
  [[noreturn]] void end_job(const text& sentence) const noexcept { partita::detail::end_job(communicator_, sentence); }

  status_slot* own_slot_;                                ///< where this worker shows its state and its calls
  MPI_Comm communicator_;                                ///< the communicator from which the world was made
  std::size_t id_, size_;                                ///< this worker's id in the world; the number of workers
  std::uint64_t world_number_ = 0;                       ///< the number of the world; 0 until the world is made
  std::uint64_t call_count_ = 0;                         ///< the calls of the world that this worker has begun
  std::uint64_t fingerprint_ = 0;                        ///< the hash of the call that this worker began last
  std::vector<visible_worker> visible_workers_;          ///< the other workers whose status slots can be read, by id
  standing reported_standing_ = standing::is_computing;  ///< the state in this worker's status slot
  /// whether the report of this wait is printed; whether prepare_call() runs; whether there is a final_message_
  bool has_printed_report_ = false, is_preparing_call_ = false, has_final_message_ = false;
  bool has_given_up_wait_ = false;            ///< see has_given_up_wait()
  progress progress_ = progress::outside;     ///< of this worker in its current call
  const workers* calling_workers_ = nullptr;  ///< the workers of the current call, if only some workers make it
  std::uint64_t failed_call_ = 0;             ///< the call_count_ of the last call that failed in its middle
  text final_message_;                        ///< an error of this worker that may end the job: set_final_message()
};

}  // namespace partita::detail

#ifndef PARTITA_CORE
#include <partita/comm/detail/diagnostics/impl/hang_report.ipp>
#endif
