// Records the estimated and the measured times of the steps of a bound program in the trace.
#pragma once

#include <cstddef>
#include <cstdint>
#include <partita/comm/detail/diagnostics/trace.hpp>
#include <utility>
#include <vector>

namespace partita::detail {

/// One bound program in the trace of this worker.
class program_trace {
 public:
  static bool is_trace_enabled() { return trace::is_on(); }  ///< Whether this process records a trace.
  /// Records the estimated times of the program that the current call binds, the lanes of its entries, and the number
  /// of entries of the forward pass.
  void begin(const timetable& estimated_times, std::vector<std::uint32_t> lanes, std::size_t forward) {
    number_ = trace::add_program(estimated_times, std::move(lanes), forward);
  }
  bool has_recorded_program() const { return number_ != trace::no_program; }  ///< Whether begin() has recorded it.
  /// Records one run of the forward or the backward pass. Times are seconds of std::chrono::steady_clock.
  void add_run(const timetable& measured, bool backward) const { trace::add_run(number_, measured, backward); }

 private:
  std::uint32_t number_ = trace::no_program;  ///< the index of the program in the trace
};

}  // namespace partita::detail
