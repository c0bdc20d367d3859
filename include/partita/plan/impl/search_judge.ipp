// Defines the functions that plan/search_judge.hpp declares.
#pragma once

#include <partita/plan/search_judge.hpp>

namespace partita::detail {

PARTITA_DEF const move_price& move_prices::operator()(const sharding& from, const sharding& to, const shape_list& shape,
                                                      std::size_t element_bytes) {
  hasher number(element_bytes);
  for (std::size_t d = 0; d < shape.size(); ++d) number.mix(shape[d]).mix(from.cuts[d].packed).mix(to.cuts[d].packed);
  for (std::size_t a = 0; a < m_.rank(); ++a) number.mix(from.pending[a]).mix(to.pending[a]);
  if (2 * (entry_count_ + 1) > price_table_.size()) {
    std::vector<price_entry> all(4 * price_table_.size());
    all.swap(price_table_);
    for (const price_entry& entries : all)
      if (entries.number != 0) find_hash_slot(entries.number) = entries;
  }
  price_entry& one = find_hash_slot(number.value());
  if (one.number != 0) return one.price;
  ++entry_count_;
  return (one = {number.value(), plan_reshard(m_, from, to, shape, model_.links, element_bytes)}).price;
}

PARTITA_DEF move_prices::price_entry& move_prices::find_hash_slot(std::uint64_t number) {
  std::size_t k = number % price_table_.size();
  while (price_table_[k].number != 0 && price_table_[k].number != number) k = (k + 1) % price_table_.size();
  return price_table_[k];
}

}  // namespace partita::detail
