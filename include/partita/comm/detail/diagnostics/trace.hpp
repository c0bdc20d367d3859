// Records what every call of this worker did and how long it took, if PARTITA_TRACE=file.json is set in the
// environment. The file is written when MPI ends. When the trace is off it costs a call nothing: it is tested only
// behind branches that exist anyway.
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

class [[gnu::visibility("default")]] trace {
 public:
  static bool on() { return wanted_.load(std::memory_order_relaxed); }
  /// Called when the first world is made; has an effect once.
  PARTITA_DECL static void begin();

  /// A call begins; what this thread records next belongs to it. `describe()` is called only for a call that was not
  /// made before.
  PARTITA_DECL [[gnu::noinline]] static void begin_call(std::uint64_t world, std::uint64_t fingerprint,
                                                        const call_description& describe);
  /// What this thread does next belongs to no call.
  static void leave() { current_ = none; }
  /// The index of this thread's current call, for code that ends it later.
  static std::size_t current() { return current_; }
  /// The current call ends now, as far as is known; a later end_call may extend it.
  PARTITA_DECL [[gnu::noinline]] static void end_call();
  /// The same after one of the movements of a call, whose messages and bytes are added to those of the others.
  PARTITA_DECL [[gnu::noinline]] static void end_call(std::size_t number, std::size_t messages, std::size_t by_message,
                                                      std::size_t shared);
  /// The next agreement on the same call belongs to the same record: the workers agree on what they have gathered.
  static void goes_on() { goes_on_ = true; }
  /// Returns false for a wait inside another wait, which already counts its time.
  static bool begin_wait() { return !std::exchange(waits_, true); }
  PARTITA_DECL static void end_wait(std::chrono::nanoseconds length);

  static constexpr std::uint32_t no_program = ~std::uint32_t{0};
  /// See program_trace.
  PARTITA_DECL static std::uint32_t add_program(const timetable& estimated, std::vector<std::uint32_t> lanes,
                                                std::size_t forward);
  PARTITA_DECL static void add_run(std::uint32_t program, const timetable& measured, bool backward);

 private:
  static constexpr std::size_t none = ~std::size_t{0};

  static inline std::atomic<bool> wanted_{false};
  static inline thread_local std::size_t current_ = none;
  static inline thread_local bool goes_on_ = false, waits_ = false;
};

}  // namespace partita::detail

#ifndef PARTITA_CORE
#include <partita/comm/detail/diagnostics/impl/trace.ipp>
#endif
