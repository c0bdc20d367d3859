// A hash of everything that must be equal on all workers that execute an operation, at once or in a program.
#pragma once

#include <cstdint>
#include <partita/comm/fingerprint.hpp>
#include <partita/sharded/detail/applied_operation.hpp>
#include <partita/sharded/detail/custom_op.hpp>
#include <partita/sharded/detail/fingerprint_of.hpp>
#include <partita/sharded/sharded_tensor.hpp>

namespace partita::detail {

/// The hash of an operation: of its rule, of its local computation, and of its parameters.
inline std::uint64_t operation_fingerprint(const applied_operation& op) {
  hasher all(fingerprint_of(op.how));
  all.mix(op.work);
  if (op.custom) all.mix(op.custom->fingerprint);
  return all.value();
}

/// Records an operation on operands of one mesh for the next agreement. Returns the number of the result: a hash, or 0
/// without a mesh, in a dry run and at checks::local.
template <class T, class... Operand>
std::uint64_t record_operation(std::uint64_t operation, const char* name, bound_mesh* on, const shape_list& extents,
                               const Operand&... operands) {
  if (on == nullptr) return 0;
  hasher all(operation);
  all.mix(type_number<T>());
  const auto add = [&](const auto& x) {
    if constexpr (requires { x.begin(); })
      for (const auto& one : x) all.mix(one.state()->number);
    else all.mix(x.number);
  };
  (add(operands), ...);
  return on->log_operation(all.value(), name, extents);
}

}  // namespace partita::detail
