// Defines the functions that plan/workers.hpp declares.
#pragma once

#include <partita/plan/workers.hpp>

namespace partita::detail {

PARTITA_DEF id_set::id_set(std::size_t count, std::size_t bound) {
  if (bound / sizeof(std::size_t) <= 2 * count) {
    has_id_.assign(bound, 0);
    return;
  }
  std::size_t slots = 2;
  while (slots / 2 < count) slots *= 2;  // at most half of the slots are full, so that searches are short
  hash_table_.assign(slots, none);
}

PARTITA_DEF bool id_set::insert(std::size_t id) {
  if (hash_table_.empty()) {
    const bool is_new = has_id_[id] == 0;
    has_id_[id] = 1;
    return is_new;
  }
  std::size_t& slot = hash_table_[find(id)];
  const bool is_new = slot == none;
  slot = id;
  return is_new;
}

PARTITA_DEF bool id_set::contains(std::size_t id) const {
  if (hash_table_.empty()) return id < has_id_.size() && has_id_[id] != 0;
  return hash_table_[find(id)] == id;
}

PARTITA_DEF std::size_t id_set::find(std::size_t id) const {
  std::size_t k = static_cast<std::size_t>(hasher().mix(id).value()) & (hash_table_.size() - 1);
  while (hash_table_[k] != none && hash_table_[k] != id) k = (k + 1) & (hash_table_.size() - 1);
  return k;
}

}  // namespace partita::detail

namespace partita {

PARTITA_DEF workers::workers(std::vector<std::size_t> ids)
    : count_(ids.size()), ids_(static_cast<std::vector<std::size_t>&&>(ids)) {
  for (std::size_t k = 0; k < count_; ++k) require_id(ids_[k], k);
  reject_duplicates();
  bool contiguous = true;
  for (std::size_t k = 1; k < count_; ++k) contiguous = contiguous && ids_[k] == ids_[0] + k;
  if (contiguous) {
    first_ = count_ == 0 ? 0 : ids_[0];
    ids_ = std::vector<std::size_t>();
  }
}

PARTITA_DEF std::size_t workers::find(std::size_t id) const {
  if (ids_.empty()) return id >= first_ && id < first_ + count_ ? id - first_ : count_;
  for (std::size_t k = 0; k < count_; ++k)
    if (ids_[k] == id) return k;
  return count_;
}

PARTITA_DEF bool workers::contain(const workers& subset) const {
  if (is_range() && subset.is_range())
    return subset.empty() || (subset.first_ >= first_ && subset.first_ + subset.count_ <= first_ + count_);
  for (std::size_t k = 0; k < subset.size(); ++k)
    if (!contains(subset[k])) return false;
  return true;
}

PARTITA_DEF std::size_t workers::id_end() const {
  if (ids_.empty()) return count_ == 0 ? 0 : first_ + count_;
  std::size_t largest = 0;
  for (std::size_t id : ids_) largest = id > largest ? id : largest;
  return largest + 1;
}

PARTITA_DEF workers workers::subset(const workers& chosen) const {
  if (chosen.id_end() > count_)
    throw partition_error(text("partita::workers::subset: requires places below ")
                          << count_ << " (this many workers are chosen from), got place " << chosen.id_end() - 1);
  if (ids_.empty() && chosen.is_range() && !chosen.empty())  // braces would construct a list of two ids
    return workers(first_ + chosen[0], first_ + chosen[0] + chosen.size());
  std::vector<std::size_t> ids(chosen.size());
  for (std::size_t k = 0; k < ids.size(); ++k) ids[k] = (*this)[chosen[k]];
  return workers(static_cast<std::vector<std::size_t>&&>(ids));
}

PARTITA_DEF void workers::reject_position(std::size_t k) const {
  throw partition_error(text("partita::workers: requires a place below the number of workers ")
                        << count_ << ", got place " << k);
}

PARTITA_DEF void workers::reject_duplicates() const {
  bool ascending = true;
  for (std::size_t k = 1; k < count_; ++k) ascending = ascending && ids_[k - 1] < ids_[k];
  if (ascending) return;
  detail::id_set listed(count_, id_end());
  for (std::size_t k = 0; k < count_; ++k)
    if (!listed.insert(ids_[k]))
      throw partition_error(text("partita::workers: requires each worker once, worker ")
                            << ids_[k] << " is listed twice (again at place " << k << "); remove one of them");
}

}  // namespace partita
