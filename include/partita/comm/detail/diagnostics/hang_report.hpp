// The hang report: a line that a worker prints after a long wait, which says where each worker of its world waits.
//
// A worker that computes for an hour looks the same as a worker that hangs. So a long wait is not an error: the waiting
// worker with the lowest id prints, once, what each worker is doing. PARTITA_PATIENCE=seconds in the environment turns
// a longer wait into an error. A worker whose process has ended is reported at once.
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
    std::uint64_t level = 0, worlds = 0;
    slot_address address;
  };

  /// The seconds after which a waiting worker prints the hang report. Below 10 s the report would be a false alarm
  /// while workers read files; after a longer time users would have given up. Only tests change it.
  static inline std::atomic<double> seconds_until_report = 10;
  /// The value of the environment variable PARTITA_PATIENCE in seconds, or 0 if it is not set or not valid.
  static double seconds_until_error() { return parse_patience(std::getenv("PARTITA_PATIENCE")); }
  /// The seconds for which this worker waits for workers that may never come, where it cannot throw an error.
  PARTITA_DECL static double max_wait_seconds();
  /// The highest number of a world that this process knows. A new world gets the next number after the highest number
  /// that any of its workers knows.
  PARTITA_DECL static std::atomic<std::uint64_t>& worlds();

  PARTITA_DECL hang_report(std::size_t id, std::size_t size, MPI_Comm given);
  PARTITA_DECL static setup_record own_setup_record(std::uint64_t level);
  /// Called when a world is made: gives the world a number, and finds the status slots of the other workers.
  PARTITA_DECL void set_up_world(const std::vector<setup_record>& all);

  /// Notes a call of this world; a later wait is reported as a wait in this call.
  void note(std::uint64_t fingerprint, const call_description& describe) {
    fingerprint_ = fingerprint;
    own_slot_->note(number_, ++calls_, fingerprint, describe);
  }
  /// Records the start of a call, if a trace is wanted.
  void trace_call(std::uint64_t fingerprint, const call_description& describe) const {
    if (trace::is_on()) trace::begin_call(number_, fingerprint, describe);
  }
  text call_name() const { return own_slot_->find_description(fingerprint_); }
  void set_is_preparing_call(bool now) { is_preparing_call_ = now; }
  /// Whether this worker is in a call of all workers (see one_call), before or after the agreement on the call. After
  /// the agreement the other workers depend on this worker.
  enum class progress { outside, before_agreement, after_agreement };
  progress call_progress() const { return progress_; }
  void call_progress(progress now) { progress_ = now; }
  void note_agreement() {
    if (progress_ == progress::before_agreement) progress_ = progress::after_agreement;
  }
  /// Whether this worker gave up a wait: the message for which it waited may still arrive.
  bool has_given_up_wait() const { return has_given_up_wait_; }
  /// Notes a call of the chosen workers only, which does not count as a call of the world.
  void note_call_of_some_workers(const workers& chosen, std::uint64_t fingerprint, const call_description& describe) {
    note(fingerprint, describe);
    --calls_;
    calling_workers_ = &chosen;
  }
  void end_call_of_some_workers() { calling_workers_ = nullptr; }
  /// Notes that this worker stops in the middle of the current call, so that the call does not count as finished.
  void record_failed_call() { failed_call_ = calls_; }
  /// Notes in the status slot of this worker that it has destroyed this world.
  void note_world_destroyed() {
    if (number_ != 0) own_slot_->note_departure(number_, calls_ - (failed_call_ == calls_ && calls_ != 0 ? 1 : 0));
  }
  /// Stores the message of an error of this worker. The job ends with this message if the other workers never enter an
  /// agreement in which they get the error.
  void set_final_message(const text& sentence) { final_message_ = sentence, has_final_message_ = true; }
  void clear_final_message() { has_final_message_ = false; }

  PARTITA_INLINE void on_long_wait(double seconds) override;
  PARTITA_INLINE void on_wait_end() noexcept override;
  PARTITA_INLINE void on_memory_lack(std::size_t bytes) noexcept override;
  PARTITA_INLINE void on_memory_lack_midcall() noexcept override;

 private:
  static constexpr const char* waiting_workers_text =
      "; the others have agreed to this call and wait for its end, so the job is ended; give each worker smaller "
      "blocks, or more memory";

  PARTITA_DECL [[noreturn]] void give_up(const text& sentence);

  /// Gives up the wait if a worker for which this worker waits has left the world or has called MPI_Finalize. The error
  /// is delayed, because a message that the other worker sent before it left may still arrive.
  PARTITA_DECL void require_no_worker_has_left();
  PARTITA_DECL void require_all_can_make_world();

  struct worker {
    std::size_t id;
    std::uint64_t process;
    const status_slot* status;
  };
  using standing = status_slot::standing;

  /// Workers in the same state, which are reported together.
  struct group {
    const worker* first;
    standing state;
    std::uint64_t world, number, fingerprint;
    std::vector<std::size_t> ids;

    bool is_same_state(const group& o) const {
      return state == o.state && world == o.world && number == o.number && fingerprint == o.fingerprint;
    }
  };

  static std::uint64_t world_size_hash(std::size_t size) {
    return 0x776f726c64ULL + 0x9e3779b97f4a7c15ULL * (size + 1);
  }
  standing own_standing() const { return number_ == 0 ? standing::is_making_world : standing::is_waiting; }

  /// Whether this worker prints the hang report. Among the workers that wait in a call, the worker with the lowest id
  /// prints; a worker that makes a world prints only if no worker waits in a call.
  PARTITA_DECL bool has_lowest_waiting_id() const;
  static const status_slot::call& newest_call(const status_slot& of) {
    return of.last_calls[(of.call_count - 1) % status_slot::kept_call_count];
  }
  PARTITA_DECL bool waits_for_same_call(const worker& w) const;
  PARTITA_DECL static text describe_last_call(const worker& w);

  /// The text of the report: which workers wait where, and for which workers.
  PARTITA_DECL text report(double seconds) const;

  [[noreturn]] void end_job(const text& sentence) const noexcept { partita::detail::end_job(communicator_, sentence); }

  status_slot* own_slot_;
  MPI_Comm communicator_;
  std::size_t id_, size_;
  std::uint64_t number_ = 0, calls_ = 0, fingerprint_ = 0;
  std::vector<worker> slots_;
  standing reported_standing_ = standing::is_computing;
  bool has_printed_report_ = false, is_preparing_call_ = false, has_final_message_ = false;
  bool has_given_up_wait_ = false;
  progress progress_ = progress::outside;
  const workers* calling_workers_ = nullptr;
  std::uint64_t failed_call_ = 0;
  text final_message_;
};

}  // namespace partita::detail

#ifndef PARTITA_CORE
#include <partita/comm/detail/diagnostics/impl/hang_report.ipp>
#endif
