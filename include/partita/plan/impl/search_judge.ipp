// Defines the functions that plan/search_judge.hpp declares.
#pragma once

#include <partita/plan/search_judge.hpp>

namespace partita::detail {

PARTITA_DEF const move_price& move_prices::operator()(const sharding& from, const sharding& to, const shape_list& shape,
                                                      std::size_t element_bytes) {
  hasher number(element_bytes);
  for (std::size_t d = 0; d < shape.size(); ++d) number.mix(shape[d]).mix(from.cuts[d].packed).mix(to.cuts[d].packed);
  for (std::size_t a = 0; a < m_.rank(); ++a) number.mix(from.pending[a]).mix(to.pending[a]);
  if (2 * (used_ + 1) > table_.size()) {
    std::vector<entry> all(4 * table_.size());
    all.swap(table_);
    for (const entry& entries : all)
      if (entries.number != 0) slot_of(entries.number) = entries;
  }
  entry& one = slot_of(number.value());
  if (one.number != 0) return one.price;
  ++used_;
  return (one = {number.value(), plan_reshard(m_, from, to, shape, model_.links, element_bytes)}).price;
}

PARTITA_DEF move_prices::entry& move_prices::slot_of(std::uint64_t number) {
  std::size_t k = number % table_.size();
  while (table_[k].number != 0 && table_[k].number != number) k = (k + 1) % table_.size();
  return table_[k];
}

}  // namespace partita::detail
