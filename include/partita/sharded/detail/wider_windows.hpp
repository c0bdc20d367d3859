// Where operations of a program that read windows of each other's results compute more than their blocks, so that only
// the first of them moves anything.
#pragma once

#include <cstddef>
#include <partita/core/config.hpp>
#include <partita/plan/graph.hpp>
#include <partita/plan/operation_window.hpp>
#include <partita/sharded/detail/bound_mesh.hpp>
#include <vector>

namespace partita::detail {

/// An operation that can compute any box of its result from a window of its first operand.
struct computes_any_box {
  virtual ~computes_any_box() = default;
  virtual bool can() const = 0;
  /// The box of operand 0 that this box of the result reads; of its other dimensions it is `block`.
  virtual short_list<interval> read_by(const short_list<interval>& result, const short_list<interval>& block,
                                       const shape_list* shapes) const = 0;
};

/// The layouts in which an operation reads its operands and leaves its result, and to which the result is brought.
struct laid_operation {
  std::vector<sharding> needs{};
  sharding made{}, after{};
  /// Whether each element of the result is computed from that of operand 0 at the same place, and from operands that
  /// are the same at all places along dimensions of windows; all operands are read as they are.
  bool is_of_elements = false;
};

/// What an operation does for wider windows.
struct wider_result {
  std::vector<worker_box> computed{};  ///< what each worker computes, if it is more than its block
  bool reads_wider = false;            ///< operand 0 is such a result, of which this operation reads all
};

/// For each operation, whether its result is wider because the next operation reads a window of it: where the exchange
/// that is saved takes longer than computing the frame and than moving the wider window of its operand. Operations on
/// elements may lie between the two. Collective over the world; the result is the same on all workers.
PARTITA_DECL std::vector<wider_result> wider_results(const graph& of, const std::vector<laid_operation>& laid,
                                                     bound_mesh& on, std::size_t element_bytes, double multiply_adds);

}  // namespace partita::detail

#ifndef PARTITA_CORE
#include <partita/sharded/detail/impl/wider_windows.ipp>
#endif
