// A factor of a rule: one loop of the operation, which cuts the dimensions that share it together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <partita/core/extents.hpp>
#include <partita/rule/sharding/owed_reduction.hpp>

namespace partita {

/// What may be done with the axes that cut a factor.
enum class factor_kind : std::uint8_t {
  pass,        ///< every result has it: what cuts the operands cuts the results
  reduce,      ///< some result lacks it, and is partial over the axes that cut it
  replicate,   ///< the operation needs it whole: it is never cut
  collective,  ///< it may be cut; the operation itself communicates, and results without it are whole
};

/// One loop of the operation. Dimensions that share a factor are cut by the same axes.
struct factor {
  std::size_t size = dynamic;  ///< until it is bound by a shape
  factor_kind kind = factor_kind::pass;
  owed_reduction how = owed_reduction::sum;  ///< what a result without it owes
  std::uint8_t precedence = 1;               ///< 0 for batch, 1 for rows and columns, 2 for what is summed
  std::uint8_t group = 0;                    ///< of factors that share merged dimensions; 0 for none
  char letter = '_';
  bool broadcasts = false;  ///< a dimension of 1 stands for it, too
  bool loose = false;       ///< only the axes must agree, not the extents
  bool implied = false;     ///< that it is whole follows from where it stands and is not written (Shardy's rules)
  friend constexpr bool operator==(const factor&, const factor&) = default;
};

inline constexpr std::size_t most_factors = 32;

}  // namespace partita
