// Lists the movements of elements between workers that a function of tensors makes: predicted by a dry run, or logged
// while the function is executed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <partita/core/version.hpp>
#include <partita/sharded/detail/run_backward.hpp>
#include <partita/sharded/value_and_gradient.hpp>
#include <tuple>
#include <utility>
#include <vector>

namespace partita {

/// The layout of the cotangent of a value, which depends only on the layout of the value.
inline sharding layout_of_cotangent(const sharding& layout) { return detail::cotangent_sharding(layout); }

/// Predicts all movements of `f(x...)` and then of its backward pass for the gradients with respect to all of x. Each
/// entry of the result has the operation, the old and the new layout, and the bytes that this worker would receive. f
/// is a function of tensors, or a traced program.
/// Requires: the function f does not read elements of tensors [error].
/// Cost:     the time to plan the movements of f. No operation of f is computed, and no message is sent.
template <class F, class... X>
  requires(detail::tensor_value<X> && ...)
std::vector<movement> movements_of(const F& f, const X&... x) {
  std::vector<movement> log;
  const detail::scoped_log now(log, true);
  const std::uint64_t tape_nodes_before = detail::run_state.tape_nodes;
  const auto y = detail::as_run_time(f(detail::parameter_of(x)...));
  detail::run_backward(y, detail::dry_run_cotangent(y), tape_nodes_before);
  return log;
}
/// Calls f(), and returns all movements of tensors that f made (in a dry run, would make), with the bytes that this
/// worker received.
template <class F>
std::vector<movement> record_movements(const F& f) {
  std::vector<movement> log;
  const detail::scoped_log now(log, detail::run_state.is_dry_run);
  f();
  return log;
}
template <class F>
PARTITA_FORMER_NAME("use record_movements")
std::vector<movement> movements_while(const F& f) {  ///< the former name of record_movements
  return record_movements(f);
}

template <>
inline constexpr bool is_writable_to_streams<movement> = true;
/// Writes a movement in the form "matmul, back: [8, 4] from (a, ) to (, a), 64 bytes".
template <std::size_t Capacity>
basic_text<Capacity>& operator<<(basic_text<Capacity>& out, const movement& m) {
  return out << m.operation.c_str() << (m.backward ? ", back: " : ": ") << m.extents << " from " << m.from << " to "
             << m.to << ", " << m.bytes << " bytes";
}

}  // namespace partita
