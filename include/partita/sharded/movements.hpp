// Which movements a function of tensors makes, forward and back: foretold, or recorded while they are made.
#pragma once

#include <cstddef>
#include <cstdint>
#include <partita/sharded/detail/dry_run.hpp>
#include <partita/sharded/value_and_gradient.hpp>
#include <tuple>
#include <utility>
#include <vector>

namespace partita {

/// How the cotangent of a value lies: it follows from how the value lies, and from nothing else.
inline sharding layout_of_cotangent(const sharding& layout) { return detail::place_of_cotangent(layout); }

/// All movements that `f(x...)` will make, and then its way back for gradients by all of x, before any is made: for
/// each the operation, whence, where to, and the bytes that this worker will receive. f is a function of tensors, or a
/// traced program.
/// Requires: a function that reads no elements [error].
/// Cost:     that of planning: no operation is computed, nothing moves, nobody is asked.
template <class F, class... X>
  requires(detail::tensor_value<X> && ...)
std::vector<movement> movements_of(const F& f, const X&... x) {
  detail::movement_log log;
  log.is_dry = true;
  const detail::logging now(log);
  const std::uint64_t nodes_before = detail::tape_nodes;
  const auto y = detail::as_run_time(f(detail::parameter_of(x)...));
  detail::run_backward(y, detail::cotangent_of(y), nodes_before);
  return log.all;
}
/// All movements that are made while f() runs, with the bytes that this worker received.
template <class F>
std::vector<movement> movements_while(const F& f) {
  detail::movement_log log;
  const detail::logging now(log);
  f();
  return log.all;
}

template <>
inline constexpr bool is_written_as_text<movement> = true;
/// Writes a movement as: matmul, back: [8, 4] from (a, ) to (, a), 64 bytes.
template <std::size_t Capacity>
basic_text<Capacity>& operator<<(basic_text<Capacity>& out, const movement& m) {
  return out << m.operation.c_str() << (m.backward ? ", back: " : ": ") << m.extents << " from " << m.from << " to "
             << m.to << ", " << m.bytes << " bytes";
}

}  // namespace partita
