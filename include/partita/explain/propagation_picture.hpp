// One sharded operation as a drawing: its operands, its results, and the communication before and after the operation.
#pragma once

#include <cstddef>
#include <partita/core/config.hpp>
#include <partita/explain/listing.hpp>
#include <partita/explain/propagation_text.hpp>
#include <partita/plan/plan_reshard.hpp>
#include <partita/rule/sharding/spec.hpp>
#include <vector>

namespace partita {
namespace detail {

/// Writes the steps of a reshard in one line, such as "reduce_scatter model, all_gather data".
PARTITA_DECL long_text steps_text(const reshard_plan& plan);

}  // namespace detail

/// The reshard of one tensor of an operation: of an operand before the operation, or of a result after it.
struct tensor_move {
  std::size_t tensor = 0;  ///< the number of the tensor: operands first, then results
  sharding from{}, to{};   ///< the shardings before and after the reshard
  reshard_plan plan{};     ///< the steps of the reshard and their costs
};

/// An operation on tensors with given layouts, the decisions of propagation, and the reshards of its tensors.
struct propagation_picture {
  rule of;                           ///< the rule of the operation
  std::vector<spec> operands;        ///< the operands with the layouts that were given
  propagation decided;               ///< the result of propagation
  std::vector<tensor_move> moves{};  ///< the reshards of operands, then those of results

  /// `p` is the result of propagate(m, r, given, results, ...); `mesh_costs` determines the cost of reshards.
  PARTITA_DECL propagation_picture(const rule& r, const std::vector<spec>& given, const std::vector<spec>& results,
                                   const propagation& p, const mesh_links& mesh_costs = {});
  /// Whether a reshard takes place before the operation: that of an operand.
  bool is_before(const tensor_move& move) const { return move.tensor < operands.size(); }
  /// The name of a tensor of the operation, "operand 0" or "result 0".
  PARTITA_DECL long_text name(std::size_t tensor) const;

 private:
  /// Adds the reshard of a tensor, unless `from` and `to` are the same layout, or the layout of `given` is unknown.
  PARTITA_DECL void add(const mesh& m, std::size_t tensor, const spec& given, const sharding& from, const sharding& to,
                        const mesh_links& mesh_costs);
};

/// Writes the reshards of an operation: for each tensor that is resharded a line with its name, and below it a line for
/// each step. If propagation estimated a different number of bytes for a reshard, both numbers are written.
PARTITA_DECL long_text to_text(const propagation_picture& picture);

/// Draws from top to bottom the mesh, the operands, the communication before the operation (red), the operation with
/// its results, and the communication after the operation (red).
PARTITA_DECL long_text to_svg(const propagation_picture& picture);

}  // namespace partita

#ifndef PARTITA_CORE
#include <partita/explain/impl/propagation_picture.ipp>
#endif
