// Records what the calls of this worker did and how long they took, for up to a million calls, if
// PARTITA_TRACE=file.json is set in the environment. The trace file is written when MPI is finalised. When the trace is
// off, it costs a call at most tests of a flag.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <partita/comm/detail/diagnostics/call_description.hpp>
#include <partita/core/config.hpp>
#include <utility>
#include <vector>

namespace partita {
struct timetable;
}

namespace partita::detail {

/// The trace of this process: functions that record calls, if the trace is on.
class [[gnu::visibility("default")]] trace {
 public:
  static bool is_on() { return is_enabled_.load(std::memory_order_relaxed); }  ///< Whether calls are recorded.
  /// Starts the trace if the environment asks for one. Called when a world is made; only the first call has an effect.
  PARTITA_DECL static void begin();

  /// Records the beginning of a call, to which this thread's next records belong. `describe()` is called only if the
  /// trace has no call with this fingerprint yet.
  PARTITA_DECL [[gnu::noinline]] static void begin_call(std::uint64_t world, std::uint64_t fingerprint,
                                                        const call_description& describe);
  static void leave_call() { current_call_ = none; }  ///< Records that the next work of this thread belongs to no call.
  /// The index of this thread's current call in the trace, for code that records the end of the call later.
  static std::size_t current_call() { return current_call_; }
  /// Records the present time as the end of the current call; a later end_call() may record a later end.
  PARTITA_DECL [[gnu::noinline]] static void end_call();
  /// Records the end of an exchange of the call with index `number`, and adds its messages and bytes to the call.
  PARTITA_DECL [[gnu::noinline]] static void end_call(std::size_t number, std::size_t messages,
                                                      std::size_t bytes_by_message, std::size_t bytes_shared);
  /// Makes the next agreement part of the current call's record, if the workers agree on the same call again.
  static void continue_call() { continues_call_ = true; }
  /// Records the beginning of a wait. Returns false for a wait inside another wait, which already counts the time.
  static bool begin_wait() { return !std::exchange(is_waiting_, true); }
  /// Ends a wait, and adds its length to the waiting time of the current call.
  PARTITA_DECL static void end_wait(std::chrono::nanoseconds added_to_call);

  static constexpr std::uint32_t no_program = ~std::uint32_t{0};  ///< the index where no program is recorded
  /// Records a bound program, for the class program_trace, and returns the index of the program; if the current call is
  /// not recorded, records nothing and returns no_program.
  PARTITA_DECL static std::uint32_t add_program(const timetable& estimated_times, std::vector<std::uint32_t> lanes,
                                                std::size_t forward);
  /// Records the measured times of one run of the forward or the backward pass of a program.
  PARTITA_DECL static void add_run(std::uint32_t program, const timetable& measured, bool backward);

 private:
  static constexpr std::size_t none = ~std::size_t{0};  ///< the index where no call is recorded

  static inline std::atomic<bool> is_enabled_{false};           ///< see is_on()
  static inline thread_local std::size_t current_call_ = none;  ///< the index of this thread's call in the trace
  static inline thread_local bool continues_call_ = false;      ///< whether the next agreement belongs to that call
  static inline thread_local bool is_waiting_ = false;          ///< whether this thread is in a wait
};

}  // namespace partita::detail

#ifndef PARTITA_CORE
#include <partita/comm/detail/diagnostics/impl/trace.ipp>
#endif
