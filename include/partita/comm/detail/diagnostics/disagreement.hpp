// What workers report when they make different calls, and the error message that all of them throw.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <partita/comm/checks.hpp>
#include <partita/comm/detail/world/failure.hpp>
#include <partita/comm/detail/world/local_operations.hpp>
#include <partita/core/config.hpp>
#include <partita/core/error.hpp>
#include <vector>

namespace partita::detail {

/// What each worker sends after a failed agreement: its call and its error.
struct call_report {
  std::uint64_t fingerprint = 0, kind = 0;  ///< the hash of the call; the kind of the error, a `failure`
  text sentence;                            ///< the description of the call, or the error message
  std::uint64_t operations_hash = 0;        ///< the hash of all local operations of the worker, in their order
  /// the hashes of the worker's first local operations since the last agreement; 0 where there were fewer
  std::array<std::uint64_t, local_operations::max_operations> operations{};
};

/// The index of the first local operation since the last agreement that differs between workers; the index is `none` if
/// all workers have made the same operations.
struct first_difference {
  static constexpr std::size_t none = ~std::size_t{0};  ///< instead of an index, if nothing differs
  std::size_t operation = none;  ///< that index since the last agreement; max_operations if the difference comes later

  PARTITA_DECL explicit first_difference(const std::vector<call_report>& reports);  ///< `reports`: one for each worker
};

/// Names the calls that the workers make (the first three), with the first worker and the number of workers of each. If
/// two different calls have the same description, the text adds what else may differ.
PARTITA_DECL text describe_difference(const std::vector<call_report>& reports);

/// Throws the error of the worker with the lowest id among those that have an error. All workers throw this error,
/// because no worker can continue the call.
PARTITA_DECL [[noreturn]] void throw_first_error(const std::vector<call_report>& reports);

/// The error message for a world of which worker 0 passes the level `first` of checks, and `worker` the level `other`.
PARTITA_DECL text describe_unequal_checks(std::uint64_t first, std::size_t worker, std::uint64_t other);

/// A setting with which a worker's program was compiled.
struct compiled_setting {
  std::size_t worker;  ///< the id of the worker
  text value;          ///< the setting's value on that worker
};
/// The error message for a world whose workers run programs that were compiled with different settings.
PARTITA_DECL text describe_unequal_settings(const compiled_setting& one, const compiled_setting& other);

}  // namespace partita::detail

#ifndef PARTITA_CORE
#include <partita/comm/detail/diagnostics/impl/disagreement.ipp>
#endif
