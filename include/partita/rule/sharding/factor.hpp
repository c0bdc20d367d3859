// A factor of a rule: one loop of the operation. The dimensions that share a factor are sharded together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <partita/core/extents.hpp>
#include <partita/rule/sharding/pending_reduction.hpp>

namespace partita {

/// What an operation may do with the mesh axes that shard a factor.
enum class factor_kind : std::uint8_t {
  pass_through,  ///< every result has the factor: the axes of the operands pass to the results
  reduce,        ///< some result lacks the factor, and is partial over the axes that shard it
  replicate,     ///< the operation needs the factor unsharded
  collective,    ///< may be sharded: the operation communicates itself; results that lack the factor are replicated
};

/// One loop of an operation that is written as nested loops. Dimensions that share a factor are sharded by the same
/// axes.
struct factor {
  std::size_t size = dynamic;                      ///< the number of iterations; dynamic until a shape binds it
  factor_kind kind = factor_kind::pass_through;    ///< what becomes of the axes that shard the factor
  pending_reduction how = pending_reduction::sum;  ///< the pending reduction of a result that lacks the factor
  std::uint8_t precedence = 1;                     ///< 0 for batch, 1 for rows and columns, 2 for summed dimensions
  std::uint8_t merged_group = 0;                   ///< the group of factors that share merged dimensions; 0 for none
  char letter = '_';                               ///< its letter in the notation of rules; '_' if it has none
  bool broadcasts = false;                         ///< a dimension of extent 1 may have this factor, too
  bool extents_may_differ = false;  ///< dimensions with this factor must agree in their axes, not in their extents
  bool implicit_replicate = false;  ///< whether the position of the factor implies that it is unsharded (Shardy)
  friend constexpr bool operator==(const factor&, const factor&) = default;
};

inline constexpr std::size_t most_factors = 32;  ///< The largest number of factors of a rule.

}  // namespace partita
