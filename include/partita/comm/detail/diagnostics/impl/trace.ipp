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

/// What this process has recorded so far.
class trace_record {
 public:
  static constexpr std::size_t none = ~std::size_t{0};
  static constexpr std::size_t most = 1'000'000;  // chosen: 72 MB; further calls are only counted

  static trace_record& instance() {
    static trace_record& it = *new trace_record;
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
    trace_record& it = instance();
    const std::lock_guard<spin_lock> only(it.lock);
    edit(it.calls[number]);
  }
  void write() {
    int worker = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &worker);
    const std::lock_guard<spin_lock> only(lock);
    write_trace(path, static_cast<std::size_t>(worker), calls, names, dropped);
  }

  spin_lock lock;
  std::string path;
  std::vector<traced_call> calls;
  std::unordered_map<std::uint64_t, std::string> names;
  std::size_t dropped = 0;
};

PARTITA_DEF void trace::begin() {
  [[maybe_unused]] static const bool once = [] {
    const char* const path = std::getenv("PARTITA_TRACE");
    if (path == nullptr || *path == '\0') return false;
    trace_record::instance().path = path;
    int key = MPI_KEYVAL_INVALID;  // MPI_Finalize first deletes the attributes of MPI_COMM_SELF
    check(MPI_Comm_create_keyval(
              MPI_COMM_NULL_COPY_FN,
              [](MPI_Comm, int, void*, void*) -> int {
                trace_record::instance().write();
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

PARTITA_DEF void trace::begin_call(std::uint64_t world, std::uint64_t fingerprint, const call_description& describe) {
  trace_record& it = trace_record::instance();
  const std::int64_t start = trace_record::now();
  const traced_call call{fingerprint, world, start, start};
  const std::lock_guard<spin_lock> only(it.lock);
  if (std::exchange(goes_on_, false) && current_ != none && it.calls[current_].fingerprint == fingerprint) return;
  if (!it.names.contains(fingerprint)) it.names.emplace(fingerprint, std::string(describe().c_str()));
  if (it.calls.size() < trace_record::most) {
    current_ = it.calls.size();
    it.calls.push_back(call);
  } else {
    current_ = none;
    ++it.dropped;
  }
}

PARTITA_DEF void trace::end_call() {
  trace_record::edit(current_, [](traced_call& call) { call.end = trace_record::now(); });
}

PARTITA_DEF void trace::end_call(std::size_t number, std::size_t messages, std::size_t by_message, std::size_t shared) {
  trace_record::edit(number, [&](traced_call& call) {
    call.end = trace_record::now();
    call.messages += messages, call.by_message += by_message, call.shared += shared;
  });
}

PARTITA_DEF void trace::end_wait(std::chrono::nanoseconds length) {
  waits_ = false;
  trace_record::edit(current_, [&](traced_call& call) { call.waiting += length.count(); });
}

}  // namespace partita::detail
