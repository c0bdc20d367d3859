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
  std::uint64_t fingerprint = 0, world = 0;      ///< the hash of the call; the number of the world whose call it is
  std::int64_t begin = 0, end = 0, waiting = 0;  ///< in ns since 1970; waiting: the ns that the worker waited in it
  std::size_t messages = 0, bytes_by_message = 0, bytes_shared = 0;  ///< what this worker sent in the call
};

/// A bound program. `fingerprint` and `occurrence`, the number of earlier programs with the same fingerprint, are the
/// same on all workers.
struct traced_timetable {
  std::uint64_t fingerprint = 0;          ///< the hash of the call that binds the program
  std::size_t occurrence = 0, calls = 0;  ///< earlier programs with this fingerprint; forward runs of this one
  timetable estimated_times{};            ///< when each entry of the program should begin and end
  std::vector<std::uint32_t> lanes{};     ///< for each entry that moves data: its row in the trace
  std::size_t forward = 0;                ///< the number of entries of the forward pass
};

/// A step in one call of a bound program, and the entry of the program's timetable to which the step belongs.
struct measured_step {
  std::uint32_t program = 0, entry = 0;          ///< indices in recorded_trace::programs and in the timetable
  std::size_t call = 0;                          ///< the number of the program's call, from 0 on
  std::int64_t begin = 0, end = 0, waiting = 0;  ///< of the step: ns since 1970; waiting: the ns that the worker waited
};

/// The calls, programs and steps that one worker has recorded in its trace.
struct recorded_trace {
  std::vector<traced_call> calls{};                        ///< in the order in which the calls began
  std::unordered_map<std::uint64_t, std::string> names{};  ///< descriptions of calls by their fingerprints
  std::vector<traced_timetable> programs{};                ///< in the order in which the programs were bound
  std::vector<measured_step> steps{};                      ///< of all runs of all programs, in their order
  std::size_t dropped_count = 0;  ///< the calls, and the runs of programs, for which there was no room
};

/// Adds the records of one worker to a file, which is valid JSON after each worker. Prints an error if writing fails.
PARTITA_DECL void write_trace(const std::string& path, std::size_t worker, const recorded_trace& all);

}  // namespace partita::detail

#ifndef PARTITA_CORE
#include <partita/comm/detail/diagnostics/impl/trace_file.ipp>
#endif
