// Which small movements of a program share their messages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <partita/core/config.hpp>
#include <partita/plan/step_order.hpp>
#include <vector>

namespace partita::detail {

/// Small movements with equally many movements before them, in the order of the program.
struct alike_movements {
  std::size_t level = 0;
  std::vector<std::uint32_t> steps{};
};

/// Finds them among the steps `first` to `end`. A movement is small if `once`, which is not 0, is at least half of its
/// seconds.
PARTITA_DECL std::vector<alike_movements> find_alike(const std::vector<step_use>& steps, std::size_t first,
                                                     std::size_t end);

/// Orders the steps as `order_steps` does, and lets small movements share their messages where that does not lengthen
/// the estimated time; sets `joins` of the steps `first` to `end`.
///
/// Only movements with equally many movements on the longest chain before them are joined: these do not need each
/// other, and no two groups of them wait for each other. Cost: at most 65 orders.
PARTITA_DECL std::vector<ordered_step> order_joined(std::vector<step_use>& steps, std::size_t first, std::size_t end,
                                                    const order_limits& limits, double now = 0);

}  // namespace partita::detail

#ifndef PARTITA_CORE
#include <partita/sharded/detail/impl/joined_movements.ipp>
#endif
