// Writes the file of a trace, in the format that chrome://tracing, Perfetto and partita-explain read. Each worker adds
// its calls when it ends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <partita/core/config.hpp>
#include <string>
#include <unordered_map>
#include <vector>

namespace partita::detail {

struct traced_call {
  std::uint64_t fingerprint = 0, world = 0;
  std::int64_t begin = 0, end = 0, waiting = 0;  // nanoseconds
  std::size_t messages = 0, by_message = 0, shared = 0;
};

/// Adds the calls of one worker to a file, which is valid JSON after each worker. Prints an error if the trace cannot
/// be written.
PARTITA_DECL void write_trace(const std::string& path, std::size_t worker, const std::vector<traced_call>& calls,
                              const std::unordered_map<std::uint64_t, std::string>& names, std::size_t dropped);

}  // namespace partita::detail

#ifndef PARTITA_CORE
#include <partita/comm/detail/diagnostics/impl/trace_file.ipp>
#endif
