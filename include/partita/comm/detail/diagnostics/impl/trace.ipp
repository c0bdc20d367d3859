// Defines the functions that comm/detail/diagnostics/trace.hpp declares.
#pragma once

#include <cstdlib>
#include <mutex>
#include <partita/comm/detail/diagnostics/trace.hpp>
#include <partita/comm/detail/diagnostics/trace_file.hpp>
#include <partita/comm/detail/node/spin_lock.hpp>
#include <partita/comm/detail/world/mpi_call.hpp>
#include <partita/comm/detail/world/process.hpp>
#include <partita/comm/mpi.hpp>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace partita::detail {

/// What this process has recorded in its trace.
class trace_record : public recorded_trace {
 public:
  static constexpr std::size_t none = ~std::size_t{0};   ///< the index where no call is recorded
  static constexpr std::size_t max_records = 1'000'000;  ///< the most calls, and the most steps (chosen: 64 + 40 MB)

  static trace_record& instance() {  ///< the record of this process, which is never destroyed
    static trace_record& it = *new trace_record;
    return it;
  }
  /// Nanoseconds since 1970, by a clock that never jumps.
  static std::int64_t now() { return clock_offset() + nanoseconds_of(std::chrono::steady_clock::now()); }
  /// Converts a time of the steady clock, in seconds, to nanoseconds since 1970.
  static std::int64_t trace_time(double seconds) { return clock_offset() + static_cast<std::int64_t>(seconds * 1e9); }
  /// Calls edit(call) for the call with this index, while no other thread accesses the trace.
  template <class Edit>
  static void edit_call(std::size_t number, Edit edit) {
    if (number == none) return;
    trace_record& it = instance();
    const std::lock_guard<spin_lock> guard(it.lock);
    edit(it.calls[number]);
  }
  /// Adds the records of this worker to the trace file; called when MPI_Finalize begins.
  void write_file() {
    int worker = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &worker);
    const std::lock_guard<spin_lock> guard(lock);
    write_trace(path, static_cast<std::size_t>(worker), *this);
  }

  spin_lock lock;    ///< guards the records
  std::string path;  ///< of the trace file

 private:
  template <class Time>
  static std::int64_t nanoseconds_of(Time time) {  ///< the nanoseconds since the epoch of the clock of `time`
    return std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count();
  }
  /// The time since 1970, by the system clock, less the time of the steady clock; measured once.
  static std::int64_t clock_offset() {
    static const std::int64_t once =
        nanoseconds_of(std::chrono::system_clock::now()) - nanoseconds_of(std::chrono::steady_clock::now());
    return once;
  }
};

PARTITA_DEF void trace::begin() {
  [[maybe_unused]] static const bool once = [] {
    const char* const path = std::getenv("PARTITA_TRACE");
    if (path == nullptr || *path == '\0') return false;
    trace_record::instance().path = path;
    int key = MPI_KEYVAL_INVALID;  // MPI_Finalize first deletes the attributes of MPI_COMM_SELF, which writes the file
    check(MPI_Comm_create_keyval(
              MPI_COMM_NULL_COPY_FN,
              [](MPI_Comm, int, void*, void*) -> int {
                trace_record::instance().write_file();
                return MPI_SUCCESS;
              },
              &key, nullptr),
          "MPI_Comm_create_keyval");
    check(MPI_Comm_set_attr(MPI_COMM_SELF, key, nullptr), "MPI_Comm_set_attr");
    is_enabled_ = true;
    process::mark_as_traced();
    return true;
  }();
}

PARTITA_DEF void trace::begin_call(std::uint64_t world, std::uint64_t fingerprint, const call_description& describe) {
  trace_record& it = trace_record::instance();
  const std::int64_t start = trace_record::now();
  const traced_call call{fingerprint, world, start, start};
  const std::lock_guard<spin_lock> guard(it.lock);
  if (std::exchange(continues_call_, false) && current_call_ != none &&
      it.calls[current_call_].fingerprint == fingerprint)
    return;
  if (!it.names.contains(fingerprint)) it.names.emplace(fingerprint, std::string(describe().c_str()));
  if (it.calls.size() < trace_record::max_records) {
    current_call_ = it.calls.size();
    it.calls.push_back(call);
  } else {
    current_call_ = none;
    ++it.dropped_count;
  }
}

PARTITA_DEF void trace::end_call() {
  trace_record::edit_call(current_call_, [](traced_call& call) { call.end = trace_record::now(); });
}

PARTITA_DEF void trace::end_call(std::size_t number, std::size_t messages, std::size_t bytes_by_message,
                                 std::size_t bytes_shared) {
  trace_record::edit_call(number, [&](traced_call& call) {
    call.end = trace_record::now();
    call.messages += messages, call.bytes_by_message += bytes_by_message, call.bytes_shared += bytes_shared;
  });
}

PARTITA_DEF void trace::end_wait(std::chrono::nanoseconds added_to_call) {
  is_waiting_ = false;
  trace_record::edit_call(current_call_, [&](traced_call& call) { call.waiting += added_to_call.count(); });
}

PARTITA_DEF std::uint32_t trace::add_program(const timetable& estimated_times, std::vector<std::uint32_t> lanes,
                                             std::size_t forward) {
  trace_record& it = trace_record::instance();
  const std::lock_guard<spin_lock> guard(it.lock);
  if (current_call_ == none) return no_program;
  traced_timetable added{it.calls[current_call_].fingerprint, 0, 0, estimated_times, std::move(lanes), forward};
  for (const traced_timetable& one : it.programs) added.occurrence += one.fingerprint == added.fingerprint ? 1U : 0U;
  it.programs.push_back(std::move(added));
  return static_cast<std::uint32_t>(it.programs.size() - 1);
}

PARTITA_DEF void trace::add_run(std::uint32_t program, const timetable& measured, bool backward) {
  trace_record& it = trace_record::instance();
  const std::lock_guard<spin_lock> guard(it.lock);
  traced_timetable& of = it.programs[program];
  of.calls += backward ? 0U : 1U;
  const std::size_t first = backward ? of.forward : 0, end = backward ? measured.entries.size() : of.forward;
  if (it.steps.size() + (end - first) > trace_record::max_records) {
    ++it.dropped_count;
    return;
  }
  for (std::size_t k = first; k < end; ++k) {
    const timetable::entry& one = measured.entries[k];
    it.steps.push_back({program, static_cast<std::uint32_t>(k), of.calls - 1, trace_record::trace_time(one.from),
                        trace_record::trace_time(one.until), static_cast<std::int64_t>(one.waited_seconds * 1e9)});
  }
}

}  // namespace partita::detail
