// Defines the functions that kernel/detail/box_movement.hpp declares.
#pragma once

#include <partita/kernel/detail/box_movement.hpp>

namespace partita::detail {

PARTITA_DEF kernel_counts box_movement::counts(std::size_t plans_made) const {
  const exchange_traffic last = last_exchange_ ? last_exchange_->counts() : exchange_traffic{};
  return {plans_made, last.messages, last.bytes_by_message, last.bytes_shared};
}

PARTITA_DEF transport& open_transport(std::shared_ptr<transport>& shared_transport, world_state& world) {
  if (!shared_transport) shared_transport = std::make_shared<transport>(world.communicator());
  return *shared_transport;
}

}  // namespace partita::detail
