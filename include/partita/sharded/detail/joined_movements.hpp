// Chooses which small movements of a program share their messages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <partita/core/config.hpp>
#include <partita/plan/step_order.hpp>
#include <vector>

namespace partita::detail {

/// Small movements of the same level, in the order of the program. The level of a movement is the number of movements
/// on the longest chain of steps before it.
struct movements_of_level {
  std::size_t level = 0;               ///< the number of movements on the longest chain of steps before these
  std::vector<std::uint32_t> steps{};  ///< the numbers of the movements among all steps
};

/// Finds the small movements of each level among the steps `first` to `end`. A movement is small if
/// `shared_seconds`, the time that does not depend on its bytes, is not 0 and at least half of its time.
PARTITA_DECL std::vector<movements_of_level> find_small_movements(const std::vector<step_use>& steps, std::size_t first,
                                                                  std::size_t end);

/// Orders the steps as `order_steps` does, and lets small movements share their messages if the estimated time does not
/// become longer; sets `message_leader` of the steps `first` to `end`.
///
/// Only movements of the same level share messages: they do not depend on each other, and groups of movements that
/// share messages never wait for each other in a cycle. Cost: at most 65 calls of `order_steps`.
PARTITA_DECL std::vector<ordered_step> order_and_join_steps(std::vector<step_use>& steps, std::size_t first,
                                                            std::size_t end, const order_limits& limits,
                                                            double now = 0);

}  // namespace partita::detail

#ifndef PARTITA_CORE
#include <partita/sharded/detail/impl/joined_movements.ipp>
#endif
