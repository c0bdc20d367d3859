// Writes the file of a trace, in the format that chrome://tracing, Perfetto and partita-explain read. In MPI_Finalize
// each worker adds its calls, and the steps of its bound programs, to the file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <partita/core/config.hpp>
#include <partita/plan/timetable.hpp>
#include <string>
#include <unordered_map>
#include <vector>

namespace partita::detail {

/// A call in the trace: its begin and end in nanoseconds since 1970, and the nanoseconds that the worker waited in it.
struct traced_call {
  std::uint64_t fingerprint = 0, world = 0;  ///< world: the number of the world whose workers make the call
  std::int64_t begin = 0, end = 0, waiting = 0;
  std::size_t messages = 0, bytes_by_message = 0, bytes_shared = 0;  ///< what this worker sent
};

/// A bound program. `fingerprint` and `occurrence`, the number of earlier programs with the same fingerprint, are the
/// same on all workers.
struct traced_timetable {
  std::uint64_t fingerprint = 0;
  std::size_t occurrence = 0, calls = 0;  ///< calls: the number of calls of the program so far
  timetable estimated_times{};
  std::vector<std::uint32_t> lanes{};  ///< the lanes of the entries
  std::size_t forward = 0;             ///< the number of entries of the forward pass
};

/// A step in one call of a bound program, and the entry of the program's timetable to which the step belongs.
struct measured_step {
  std::uint32_t program = 0, entry = 0;          ///< indices in recorded_trace::programs and in the timetable
  std::size_t call = 0;                          ///< the number of the program's call, from 0 on
  std::int64_t begin = 0, end = 0, waiting = 0;  ///< as in traced_call
};

/// The calls, programs and steps that one worker has recorded in its trace.
struct recorded_trace {
  std::vector<traced_call> calls{};
  std::unordered_map<std::uint64_t, std::string> names{};  ///< descriptions of calls by their fingerprints
  std::vector<traced_timetable> programs{};
  std::vector<measured_step> steps{};
  std::size_t dropped_count = 0;  ///< the calls, and the runs of programs, for which there was no room
};

/// Adds what one worker has recorded to a file, which is valid JSON after each worker. Prints an error if the trace
/// cannot be written.
PARTITA_DECL void write_trace(const std::string& path, std::size_t worker, const recorded_trace& all);

}  // namespace partita::detail

#ifndef PARTITA_CORE
#include <partita/comm/detail/diagnostics/impl/trace_file.ipp>
#endif
