// Defines the functions that sharded/detail/bound_steps.hpp declares.
#pragma once

#include <partita/sharded/detail/bound_steps.hpp>
#include <utility>

namespace partita::detail {

PARTITA_DEF std::uint32_t bound_steps::held_outside(const step_block& one) {
  const std::uint32_t k = number_of(one, false);
  blocks_[k].outside = true;
  return k;
}

PARTITA_DEF bool bound_steps::is_made_inside(const step_block& one) {
  const block& known = blocks_[number_of(one, false)];
  return known.first != none && !known.outside;
}

PARTITA_DEF void bound_steps::settle(arena* reached_by_others) {
  constexpr std::size_t word = sizeof(std::uint64_t);
  for (const bool moved : {false, true}) {
    std::vector<block_lifetime> lives;
    std::vector<std::size_t> whose;
    for (std::size_t k = 0; k < blocks_.size(); ++k) {
      const block& one = blocks_[k];
      if (one.outside || one.first == none || one.moved != moved) continue;
      lives.push_back({one.made.bytes > 0 ? one.made.bytes : 1, one.first, one.last, 0});
      whose.push_back(k);
      bytes_apart_ += lives.back().bytes;
    }
    const std::size_t bytes = place_in_storage(lives);
    if (bytes == 0) continue;
    storage_[moved] = tensor_block<std::uint64_t>(shape_list{bytes / word + 1}, moved ? reached_by_others : nullptr);
    bytes_held_ += bytes;
    for (std::size_t k = 0; k < whose.size(); ++k)
      blocks_[whose[k]].at = storage_[moved].data() + lives[k].offset / word;
  }
  for (block& one : blocks_) {
    const bool constant = !one.outside && one.first == none;
    if (constant) one.at = one.made.memory.get();
    else one.made = {};
  }
}

PARTITA_DEF void bound_steps::run(std::size_t first, std::size_t end) const {
  void* x[32] = {};  // operate() allows fewer operands
  for (std::size_t k = first; k < end; ++k) {
    const step& one = steps_[k];
    for (std::size_t i = 0; i < one.x.size(); ++i) x[i] = one.x[i] == nothing ? nullptr : blocks_[one.x[i]].at;
    void* const y = one.y == nothing ? nullptr : blocks_[one.y].at;
    if (one.exchange) (*one.exchange)(x[0], y);
    else (*one.done)(x, y);
  }
}

void bound_steps::put(const std::vector<step_block>& x, const step_block& y, std::unique_ptr<block_step> done,
                      const std::shared_ptr<planned_exchange>& exchange) {
  step one{{}, nothing, std::move(done), exchange};
  for (const step_block& operand : x) one.x.push_back(number_of(operand, exchange != nullptr));
  one.y = number_of(y, exchange != nullptr);
  if (one.y != nothing && blocks_[one.y].first == none) blocks_[one.y].first = steps_.size();
  steps_.push_back(std::move(one));
}

PARTITA_DEF std::uint32_t bound_steps::number_of(const step_block& one, bool moved) {
  if (!one.memory) return nothing;
  std::size_t k = 0;
  while (k < blocks_.size() && blocks_[k].made.memory != one.memory) ++k;
  if (k == blocks_.size()) blocks_.push_back({one});
  blocks_[k].moved = blocks_[k].moved || moved;
  blocks_[k].last = steps_.size();
  return static_cast<std::uint32_t>(k);
}

}  // namespace partita::detail
