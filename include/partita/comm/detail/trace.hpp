// Records what every call of this worker did and how long it took, if PARTITA_TRACE=file.json is set in the
// environment. The file is written when MPI ends. When the trace is off it costs a call nothing: it is tested only
// behind branches that exist anyway.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <partita/comm/detail/mpi_call.hpp>
#include <partita/comm/detail/process.hpp>
#include <partita/comm/detail/spin_lock.hpp>
#include <partita/comm/detail/trace_file.hpp>
#include <partita/comm/mpi.hpp>
#include <partita/core/text.hpp>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace partita::detail {

class trace {
 public:
  static bool on() { return wanted_.load(std::memory_order_relaxed); }
  /// Called when the first world is made; has an effect once.
  template <class = void>
  static void begin() {
    [[maybe_unused]] static const bool once = [] {
      const char* const path = std::getenv("PARTITA_TRACE");
      if (path == nullptr || *path == '\0') return false;
      instance().path_ = path;
      int key = MPI_KEYVAL_INVALID;  // MPI_Finalize first deletes the attributes of MPI_COMM_SELF
      check(MPI_Comm_create_keyval(
                MPI_COMM_NULL_COPY_FN,
                [](MPI_Comm, int, void*, void*) -> int {
                  instance().write();
                  return MPI_SUCCESS;
                },
                &key, nullptr),
            "MPI_Comm_create_keyval");
      check(MPI_Comm_set_attr(MPI_COMM_SELF, key, nullptr), "MPI_Comm_set_attr");
      wanted_ = true;
      process::is_traced();
      return true;
    }();
  }

  /// A call begins; what this thread records next belongs to it. `describe()` is called only for a call that was not
  /// made before.
  template <class Describe>
  [[gnu::noinline]] static void begin_call(std::uint64_t world, std::uint64_t fingerprint, Describe describe) {
    trace& it = instance();
    const std::int64_t start = now();
    const traced_call call{fingerprint, world, start, start};
    const std::lock_guard<spin_lock> only(it.lock_);
    if (std::exchange(goes_on_, false) && current_ != none && it.calls_[current_].fingerprint == fingerprint) return;
    if (!it.names_.contains(fingerprint)) it.names_.emplace(fingerprint, std::string(text(describe()).c_str()));
    if (it.calls_.size() < most) {
      current_ = it.calls_.size();
      it.calls_.push_back(call);
    } else {
      current_ = none;
      ++it.dropped_;
    }
  }
  /// What this thread does next belongs to no call.
  static void leave() { current_ = none; }
  /// The index of this thread's current call, for code that ends it later.
  static std::size_t current() { return current_; }
  /// The current call ends now, as far as is known; a later end_call may extend it.
  [[gnu::noinline]] static void end_call() {
    edit(current_, [](traced_call& call) { call.end = now(); });
  }
  [[gnu::noinline]] static void end_call(std::size_t number, std::size_t messages, std::size_t by_message,
                                         std::size_t shared) {
    edit(number, [&](traced_call& call) {
      call.end = now();
      call.messages = messages, call.by_message = by_message, call.shared = shared;
    });
  }
  /// The next agreement on the same call belongs to the same record: the workers agree on what they have gathered.
  static void goes_on() { goes_on_ = true; }
  /// Returns false for a wait inside another wait, which already counts its time.
  static bool begin_wait() { return !std::exchange(waits_, true); }
  static void end_wait(std::chrono::nanoseconds length) {
    waits_ = false;
    edit(current_, [&](traced_call& call) { call.waiting += length.count(); });
  }

 private:
  static constexpr std::size_t none = ~std::size_t{0};
  static constexpr std::size_t most = 1'000'000;  // chosen: 72 MB; further calls are only counted

  static trace& instance() {
    static trace& it = *new trace;
    return it;
  }
  /// Nanoseconds since 1970, by a clock that never jumps.
  static std::int64_t now() {
    const auto count = [](auto time) {
      return std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count();
    };
    static const std::int64_t offset =
        count(std::chrono::system_clock::now()) - count(std::chrono::steady_clock::now());
    return offset + count(std::chrono::steady_clock::now());
  }
  template <class Edit>
  static void edit(std::size_t number, Edit edit) {
    if (number == none) return;
    trace& it = instance();
    const std::lock_guard<spin_lock> only(it.lock_);
    edit(it.calls_[number]);
  }
  template <class = void>
  void write() {
    int worker = 0, workers = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &worker);
    MPI_Comm_size(MPI_COMM_WORLD, &workers);
    const std::lock_guard<spin_lock> only(lock_);
    write_trace(path_, static_cast<std::size_t>(worker), static_cast<std::size_t>(workers), calls_, names_, dropped_);
  }

  static inline std::atomic<bool> wanted_{false};
  static inline thread_local std::size_t current_ = none;
  static inline thread_local bool goes_on_ = false, waits_ = false;

  spin_lock lock_;
  std::string path_;
  std::vector<traced_call> calls_;
  std::unordered_map<std::uint64_t, std::string> names_;
  std::size_t dropped_ = 0;
};

}  // namespace partita::detail
