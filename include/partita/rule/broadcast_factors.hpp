// Broadcasting for sharding: the factors, as in Shardy, of the dimensions of operand and result. Dimensions with the
// same factor are sharded by the same mesh axes.
#pragma once

#include <cstddef>
#include <partita/core/short_list.hpp>
#include <partita/rule/dimension_map.hpp>

namespace partita {

/// The factor number of each dimension of operand and result; dimensions with equal numbers share a factor.
struct broadcast_factors {
  short_list<std::size_t> operand;  ///< the factor number of each dimension of the operand
  short_list<std::size_t> result;   ///< the factor number of each dimension of the result
  short_list<std::size_t> sizes;    ///< the size of each factor, indexed by factor number
};

/// Result dimension d has factor d. An operand dimension has the factor of its result dimension. An expanded extent of
/// 1 has a factor of its own, because sharding the result along that dimension does not shard the operand.
constexpr broadcast_factors factors_of(const dimension_map& map, const shape_list& operand, const shape_list& result) {
  broadcast_factors factors;
  for (std::size_t d = 0; d < result.size(); ++d) {
    factors.result.push_back(d);
    factors.sizes.push_back(result[d]);
  }
  for (std::size_t j = 0; j < operand.size(); ++j) {
    if (map.equals_result(map.target(j), operand, result)) {
      factors.operand.push_back(map.target(j));
    } else {
      factors.operand.push_back(factors.sizes.size());
      factors.sizes.push_back(operand[j]);
    }
  }
  return factors;
}

}  // namespace partita
