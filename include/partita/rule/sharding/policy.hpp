// The choices of propagation that the rules leave open. A policy is a value, so that choices can be named and compared.
#pragma once

#include <cstdint>
#include <partita/core/version.hpp>

namespace partita {

/// Which tensors have given shardings: operands, results or both; propagation infers the other shardings.
enum class direction : std::uint8_t { forward, backward, mixed };

/// Every choice of `propagate`. The default decides conflicts by the fewest bytes to communicate, shards unevenly only
/// where a tensor is sharded unevenly already, and never claims a layout that the workers do not have; `paddle_classic`
/// and `paddle_coshard` choose as the two generations of PaddlePaddle do.
struct policy {
  /// Which factor gets a mesh axis that several dimensions or tensors request. Of equal requests, the first in the
  /// order of tensors and dimensions wins.
  enum class conflict : std::uint8_t {
    first_wins,       ///< the first request in the order of tensors and dimensions
    larger_dim_wins,  ///< the largest dimension
    most_shards,      ///< the dimension that is split into most blocks
    cost,             ///< the choice with the fewest bytes of operands to communicate
    error,            ///< no request is accepted: a partition_error
    join,             ///< one dimension gets all tensors' axes, longer lists first; for one axis, larger_dim_wins
    align,            ///< each mesh axis in turn goes to the dimension that costs the operands least
  };
  /// Which blocks of different sizes are allowed: none; a smaller last block; or sizes that differ by at most one.
  enum class uneven : std::uint8_t { forbid, smaller_last_block, balanced };
  /// Whether propagation may choose shardings for which operands have to be resharded.
  enum class reshard : std::uint8_t { allow, forbid };
  /// What happens to a dimension that is sharded although the operation needs it unsharded: a gather, or an error.
  enum class unshard : std::uint8_t { gather, refuse };
  using whole PARTITA_FORMER_NAME("use unshard") = unshard;
  /// How the axes of merged and split dimensions are propagated.
  enum class merged_axes : std::uint8_t {
    same_blocks_only,  ///< axes are propagated wherever the blocks stay the same
    leading_only,      ///< only the axes of the leading dimension of a group are propagated
    move_to_leading,   ///< axes of the following dimensions move to the leading dimension
  };

  conflict axis_conflict = conflict::cost;        ///< how a mesh axis is assigned that several dimensions request
  conflict disagreement = conflict::cost;         ///< how a dimension is sharded that several tensors shard differently
  conflict equivalent_operands = conflict::cost;  ///< for equivalent operands, replaces axis_conflict and disagreement
  uneven blocks = uneven::balanced;               ///< which blocks of different sizes are allowed
  reshard moves = reshard::allow;                 ///< whether operands may be resharded
  unshard needed = unshard::gather;               ///< what is done if an operation needs a dimension unsharded
  merged_axes merged_dimensions = merged_axes::same_blocks_only;  ///< which axes of merged dimensions are propagated
  bool by_precedence = false;  ///< batch dimensions choose first, then rows and columns, then summed dimensions
  bool new_dimensions = true;  ///< a dimension that only results have may be sharded
  bool ignores_low_priority_operands = false;  ///< operands to which a rule gives low priority propose nothing
  bool uneven_if_only_proposal = false;        ///< a sharding that only one tensor proposes may be uneven
  /// Whether a result that was given as partial over an axis stays partial, if the axis shards none of its dimensions.
  bool keep_result_partials = false;

 private:
  /// A copy of the policy with another value of one member. (clang requires this definition before its callers.)
  template <class Choice>
  constexpr policy copy_with(Choice policy::*member, Choice value) const {
    policy p = *this;
    p.*member = value;
    return p;
  }

 public:
  /// The functions `with` return a copy of the policy in which one choice (for a conflict: all three) is replaced.
  constexpr policy with(conflict choice_for_all_conflicts) const {
    policy p = *this;
    p.axis_conflict = p.disagreement = p.equivalent_operands = choice_for_all_conflicts;
    return p;
  }
  constexpr policy with(uneven how) const { return copy_with(&policy::blocks, how); }
  constexpr policy with(reshard how) const { return copy_with(&policy::moves, how); }
  constexpr policy with(unshard how) const { return copy_with(&policy::needed, how); }
  friend constexpr bool operator==(const policy&, const policy&) = default;

  static const policy paddle_classic;  ///< the choices of PaddlePaddle's older generation
  static const policy paddle_coshard;  ///< the choices of PaddlePaddle's newer generation
};

/// PaddlePaddle's older policy, made for one mesh axis per dimension: an axis that several dimensions request goes to
/// the first operand; tensors that shard one dimension differently are an error.
inline constexpr policy policy::paddle_classic = [] {
  policy p;
  p.axis_conflict = conflict::first_wins;
  p.disagreement = conflict::error;
  p.equivalent_operands = conflict::align;
  p.blocks = uneven::smaller_last_block;
  p.merged_dimensions = merged_axes::leading_only;
  p.new_dimensions = false;
  p.ignores_low_priority_operands = true;
  p.keep_result_partials = true;
  return p;
}();
/// PaddlePaddle's newer policy: several axes per dimension are joined, and dropped until they divide the dimension
/// (except for a single operand); an axis that several dimensions request goes to the largest.
inline constexpr policy policy::paddle_coshard = [] {
  policy p = policy::paddle_classic;
  p.axis_conflict = conflict::larger_dim_wins;
  p.disagreement = conflict::join;
  p.blocks = uneven::forbid;
  p.merged_dimensions = merged_axes::move_to_leading;
  p.by_precedence = true;
  p.uneven_if_only_proposal = true;
  return p;
}();

}  // namespace partita
