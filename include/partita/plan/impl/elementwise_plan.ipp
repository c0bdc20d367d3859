// Defines the functions that plan/elementwise_plan.hpp declares.
#pragma once

#include <partita/plan/elementwise_plan.hpp>

namespace partita {

PARTITA_DEF shape_list induced_partition(const dimension_map& map, const shape_list& operand, const shape_list& result,
                                         const shape_list& partition) {
  shape_list induced;
  for (std::size_t j = 0; j < operand.size(); ++j)
    induced.push_back(map.equals_result(map.target(j), operand, result) ? partition[map.target(j)] : 1);
  return induced;
}

PARTITA_DEF const shape_list* finer_partition(const shape_list& lhs, const shape_list& rhs) {
  const auto covers = [](const shape_list& a, const shape_list& b) {
    for (std::size_t d = 0; d < a.size(); ++d)
      if (a[d] < b[d]) return false;
    return true;
  };
  if (covers(lhs, rhs)) return &lhs;
  return covers(rhs, lhs) ? &rhs : nullptr;
}

}  // namespace partita
