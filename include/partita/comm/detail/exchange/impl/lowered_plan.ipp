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

PARTITA_DEF lowered_plan lowered_plan::without_boxes() const {
  lowered_plan none(rank);
  none.worker = worker, none.accumulate = accumulate, none.several = several;
  none.agreed_between = agreed_between;
  none.source_shape = source_shape, none.received_shape = received_shape, none.received_strides = received_strides;
  return none;
}

}  // namespace partita::detail
