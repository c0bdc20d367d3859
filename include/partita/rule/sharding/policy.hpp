// What propagation does where the rules of the tensors leave a choice: a value, so that a choice can be named and
// compared.
#pragma once

#include <cstdint>

namespace partita {

/// Which shardings are given; all others follow from them.
enum class direction : std::uint8_t { forward, backward, mixed };

/// Every choice of `propagate`. The default moves the fewest bytes, cuts unevenly where a tensor is cut unevenly, and
/// never claims more than the workers hold; `paddle_classic` and `paddle_coshard` choose as PaddlePaddle's two
/// generations do.
struct policy {
  /// Who keeps a mesh axis that several want. Ties go to the first in the order of tensors and dimensions.
  enum class conflict : std::uint8_t {
    first_wins,       ///< the first in the order of tensors and dimensions
    larger_dim_wins,  ///< the largest dimension
    most_shards,      ///< the dimension that is cut into most blocks
    cost,             ///< whoever makes the operands move the fewest bytes
    error,            ///< nobody: a partition_error
    join,   ///< tensors that cut one dimension differently: all their axes, longer lists first; else as larger_dim_wins
    align,  ///< one mesh axis after the other goes to the dimension that costs the operands least
  };
  /// Blocks of different sizes: not at all, all but the last equal, or sizes that differ by one at most.
  enum class uneven : std::uint8_t { forbid, chunk, balanced };
  /// Whether operands may have to be moved before the operation.
  enum class reshard : std::uint8_t { allow, forbid };
  /// A dimension that is cut, and that the operation needs whole: it is made whole by a move, or refused.
  enum class whole : std::uint8_t { gather, refuse };
  /// How the axes of merged and split dimensions pass.
  enum class compound : std::uint8_t {
    exact,     ///< wherever the blocks stay the same blocks
    leading,   ///< the leading dimension of a group alone
    gathered,  ///< axes of the dimensions that follow move onto the leading one
  };

  conflict contest = conflict::cost;       ///< several dimensions want one axis
  conflict disagreement = conflict::cost;  ///< several tensors cut one dimension in different ways
  conflict alike = conflict::cost;         ///< either, among operands that are alike (concatenate, stack)
  uneven blocks = uneven::balanced;
  reshard moves = reshard::allow;
  whole needed = whole::gather;
  compound merged = compound::exact;
  bool by_precedence = false;         ///< batch dimensions choose first, then rows and columns, then what is summed
  bool new_dimensions = true;         ///< a dimension that only results have may be cut
  bool leaders_decide = false;        ///< operands that a rule marks as followers propose nothing
  bool uneven_if_alone = false;       ///< what only one tensor proposes may be uneven, though others' cuts may not
  bool keep_result_partials = false;  ///< a result said to be partial stays so where its axis is free

  constexpr policy with(conflict everywhere) const {
    policy p = *this;
    p.contest = p.disagreement = p.alike = everywhere;
    return p;
  }
  constexpr policy with(uneven how) const {
    policy p = *this;
    p.blocks = how;
    return p;
  }
  constexpr policy with(reshard how) const {
    policy p = *this;
    p.moves = how;
    return p;
  }
  constexpr policy with(whole how) const {
    policy p = *this;
    p.needed = how;
    return p;
  }
  friend constexpr bool operator==(const policy&, const policy&) = default;

  static const policy paddle_classic;
  static const policy paddle_coshard;
};

/// One mesh axis for a dimension at most, the first operand wins, differing cuts of one dimension are refused.
inline constexpr policy policy::paddle_classic = [] {
  policy p;
  p.contest = conflict::first_wins;
  p.disagreement = conflict::error;
  p.alike = conflict::align;
  p.blocks = uneven::chunk;
  p.merged = compound::leading;
  p.new_dimensions = false;
  p.leaders_decide = true;
  p.keep_result_partials = true;
  return p;
}();
/// Several axes for a dimension, joined, cut back until they divide it (not those of an only operand); the largest
/// dimension wins.
inline constexpr policy policy::paddle_coshard = [] {
  policy p = policy::paddle_classic;
  p.contest = conflict::larger_dim_wins;
  p.disagreement = conflict::join;
  p.blocks = uneven::forbid;
  p.merged = compound::gathered;
  p.by_precedence = true;
  p.uneven_if_alone = true;
  return p;
}();

}  // namespace partita
