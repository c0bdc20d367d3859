// Defines the functions that comm/detail/exchange/lowered_plan.hpp declares.
#pragma once

#include <partita/comm/detail/exchange/lowered_plan.hpp>

namespace partita::detail {

PARTITA_DEF void lowered_plan::add_send(std::size_t to, const std::size_t* shape, const std::size_t* at,
                                        std::ptrdiff_t offset, const std::ptrdiff_t* strides, std::size_t stage) {
  sends.add(to, shape, at, stage);
  there.resize(there.size() + 1 + rank);
  std::ptrdiff_t* const place = there.data() + there.size() - (1 + rank);
  place[0] = offset;
  for (std::size_t d = 0; d < rank; ++d) place[1 + d] = strides[d];
}

PARTITA_DEF void lowered_plan::add_kept(const std::size_t* shape, const std::size_t* at_source,
                                        const std::size_t* at_destination) {
  kept.add(worker, shape, at_source);
  kept_to.add(worker, shape, at_destination);
}

PARTITA_DEF void lowered_plan::clear_boxes() {
  for (box_list* const list : {&sends, &receives, &kept, &kept_to}) list->clear();
  there.clear(), turns.clear();
}

PARTITA_DEF lowered_plan lowered_plan::without_boxes() const {
  lowered_plan none(rank);
  none.copy_without_boxes(*this);
  return none;
}

PARTITA_DEF void lowered_plan::copy_without_boxes(const lowered_plan& other) {
  clear_boxes();
  worker = other.worker, accumulate = other.accumulate, several = other.several, is_polled = other.is_polled;
  agreed_between = other.agreed_between;
  source_shape = other.source_shape, received_shape = other.received_shape, received_strides = other.received_strides;
}

}  // namespace partita::detail
