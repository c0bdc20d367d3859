// Defines the functions that comm/detail/exchange/lowered_plan.hpp declares.
#pragma once

#include <partita/comm/detail/exchange/lowered_plan.hpp>

namespace partita::detail {

PARTITA_DEF void lowered_plan::add_send(std::size_t to, const std::size_t* shape, const std::size_t* at,
                                        std::ptrdiff_t offset, const std::ptrdiff_t* strides,
                                        std::size_t staging_offset) {
  sends.add(to, shape, at, staging_offset);
  peer_positions.push_back(offset);
  peer_positions.insert(peer_positions.end(), strides, strides + rank);
}

PARTITA_DEF void lowered_plan::add_kept_box(const std::size_t* shape, const std::size_t* source_position,
                                            const std::size_t* destination_start) {
  kept.add(worker, shape, source_position);
  kept_destinations.add(worker, shape, destination_start);
}

PARTITA_DEF void lowered_plan::clear_boxes() {
  for (box_list* const list : {&sends, &receives, &kept, &kept_destinations}) list->clear();
  peer_positions.clear(), sum_positions.clear();
}

PARTITA_DEF lowered_plan lowered_plan::make_empty_copy() const {
  lowered_plan none(rank);
  none.copy_properties(*this);
  return none;
}

PARTITA_DEF void lowered_plan::copy_properties(const lowered_plan& other) {
  clear_boxes();
  worker = other.worker, accumulate = other.accumulate, has_several_blocks = other.has_several_blocks,
  is_polled = other.is_polled;
  is_agreed_between_calls = other.is_agreed_between_calls;
  source_shape = other.source_shape, received_shape = other.received_shape, received_strides = other.received_strides;
}

}  // namespace partita::detail
