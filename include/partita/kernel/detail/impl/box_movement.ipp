// Defines the functions that kernel/detail/box_movement.hpp declares.
#pragma once

#include <partita/kernel/detail/box_movement.hpp>

namespace partita::detail {

PARTITA_DEF kernel_counts box_movement::counts(std::size_t plans_made) const {
  const carried last = last_ ? last_->counts() : carried{};
  return {plans_made, last.messages, last.bytes_by_message, last.bytes_shared};
}

PARTITA_DEF transport& opened(std::shared_ptr<transport>& ways, world_state& world) {
  if (!ways) ways = std::make_shared<transport>(world.communicator());
  return *ways;
}

}  // namespace partita::detail
