// Finds operations of a program that should compute wider boxes than their blocks, so that the next operation, which
// reads windows of their results, needs no communication.
#pragma once

#include <cstddef>
#include <partita/core/config.hpp>
#include <partita/plan/graph.hpp>
#include <partita/plan/operation_window.hpp>
#include <partita/sharded/detail/bound_mesh.hpp>
#include <vector>

namespace partita::detail {

/// The interface of an operation that can compute any box of its result from a window of its first operand.
struct any_box_operation {
  virtual ~any_box_operation() = default;
  virtual bool can_compute_boxes() const = 0;  ///< whether the operation can compute any box
  /// The box of operand 0 that the box `result` of the result reads. In dimensions without windows this box is `block`.
  virtual short_list<interval> operand_box(const short_list<interval>& result, const short_list<interval>& block,
                                           const shape_list* shapes) const = 0;
};

/// The layouts in which an operation reads its operands (operand_layouts) and computes its result (computed_layout),
/// and to which the result is resharded afterwards (final_layout).
struct placed_operation {
  std::vector<sharding> operand_layouts{};     ///< one for each operand
  sharding computed_layout{}, final_layout{};  ///< before, and after, the reshard of the result
  /// Whether each element of the result is computed from the element of operand 0 at the same index, and from operands
  /// that do not vary along dimensions with windows, all of them without a reshard.
  bool is_elementwise = false;
};

/// The boxes that each worker computes and reads in an operation.
struct wider_result {
  std::vector<worker_box> computed_boxes{};  ///< the box that each worker computes; empty if it is the block
  bool reads_wider_box = false;              ///< whether operand 0 is read in the boxes in which it was computed
};

/// Decides which box of each operation's result each worker computes. The boxes are wider than blocks if the next
/// operation reads windows of the result, and the exchange that is saved takes longer than computing the additional
/// elements and receiving the wider window of the operand. Elementwise operations may be between the computing and the
/// reading operation. Collective over the world; the result is the same on all workers.
PARTITA_DECL std::vector<wider_result> wider_results(const graph& of,
                                                     const std::vector<placed_operation>& placed_operations,
                                                     bound_mesh& on, std::size_t element_bytes,
                                                     double multiply_adds_per_second);

}  // namespace partita::detail

#ifndef PARTITA_CORE
#include <partita/sharded/detail/impl/wider_windows.ipp>
#endif
