// Defines the functions that kernel/detail/pending.hpp declares.
#pragma once

#include <partita/kernel/detail/pending.hpp>

namespace partita::detail {

PARTITA_DEF box_exchange* exchanges_by_kind::find_existing(const element_kind& kind) const {
  for (const entry& e : entries_)
    if (e.kind == kind) return e.exchange.get();
  return nullptr;
}

PARTITA_DEF std::shared_ptr<box_exchange> lasting_exchange(const std::shared_ptr<transport>& shared_transport,
                                                           std::shared_ptr<world_state> world, lowered_plan plan,
                                                           const element_kind& kind,
                                                           std::vector<lowered_plan> plans_of_node) {
  return {shared_transport->exchange(std::move(plan), kind, std::move(plans_of_node)).release(),
          [shared_transport, world = std::move(world)](box_exchange* it) { delete it; }};
}

PARTITA_DEF std::uint64_t exchange_operation::continue_exchange(const std::shared_ptr<box_exchange>& exchange,
                                                                const void* x, const std::ptrdiff_t* x_strides) {
  const std::uint64_t number = start(exchange);
  exchange->post_send(x, x_strides);
  return number;
}

PARTITA_DEF void require_valid_kernel(bool is_valid, const char* kernel) {
  if (!is_valid)
    throw error(text(kernel) << ": requires a kernel that was not moved from; use the one that it was moved to");
}

}  // namespace partita::detail
