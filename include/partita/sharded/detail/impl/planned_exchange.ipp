// Defines the functions that sharded/detail/planned_exchange.hpp declares.
#pragma once

#include <partita/sharded/detail/planned_exchange.hpp>
#include <utility>

namespace partita::detail {

PARTITA_DEF std::shared_ptr<planned_exchange> planned_exchange::again() const {
  return std::shared_ptr<planned_exchange>(new planned_exchange(plan_, kind_, most_taken_));
}

PARTITA_DEF bool planned_exchange::open(transport& ways) {
  if (!has_part()) return false;
  if (exchange_) return true;
  const auto dense = [](const shape_list& shape) { return place_in_block<dynamic>::of({}, shape).strides(); };
  x_steps_ = dense(plan_.source_shape), y_steps_ = dense(plan_.destination_shape);
  counts_ = counts();
  exchange_ = ways.exchange(lowered(plan_), kind_);
  return true;
}

PARTITA_DEF void planned_exchange::operator()(const void* x, void* y) const {
  start(x, y);
  finish();
}

PARTITA_DEF void planned_exchange::start(const void* x, void* y) const {
  expect(y);
  give(x);
}

PARTITA_DEF void planned_exchange::expect(void* y) const { exchange_->expect(y, y_steps_.data()); }

PARTITA_DEF void planned_exchange::give(const void* x) const {
  executing.moved += counts_;
  exchange_->give(x, x_steps_.data());
}

}  // namespace partita::detail
