// Defines the functions that plan/search_judge.hpp declares.
#pragma once

#include <partita/plan/search_judge.hpp>

namespace partita::detail {

PARTITA_DEF const move_cost& move_costs::operator()(const sharding& from, const sharding& to, const shape_list& shape,
                                                    std::size_t element_bytes) {
  hasher number(element_bytes);
  for (std::size_t d = 0; d < shape.size(); ++d) number.mix(shape[d]).mix(from.cuts[d].packed).mix(to.cuts[d].packed);
  for (std::size_t a = 0; a < m_.rank(); ++a) number.mix(from.pending[a]).mix(to.pending[a]);
  if (2 * (entry_count_ + 1) > hash_slots_.size()) {
    std::vector<cost_entry> all(4 * hash_slots_.size());
    all.swap(hash_slots_);
    for (const cost_entry& entries : all)
      if (entries.number != 0) find_hash_slot(entries.number) = entries;
  }
  cost_entry& one = find_hash_slot(number.value());
  if (one.number != 0) return one.cost;
  ++entry_count_;
  return (one = {number.value(), plan_reshard(m_, from, to, shape, model_.links, element_bytes)}).cost;
}

PARTITA_DEF move_costs::cost_entry& move_costs::find_hash_slot(std::uint64_t number) {
  std::size_t k = number % hash_slots_.size();
  while (hash_slots_[k].number != 0 && hash_slots_[k].number != number) k = (k + 1) % hash_slots_.size();
  return hash_slots_[k];
}

}  // namespace partita::detail
