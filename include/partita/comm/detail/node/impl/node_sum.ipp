// Defines the functions that comm/detail/node/node_sum.hpp declares.
#pragma once

#include <partita/comm/detail/node/node_sum.hpp>

namespace partita::detail {

PARTITA_DEF void node_sum::start(const block_sum& s) {
  const std::uint64_t call = ++call_;
  if (s.n == 0) {
    end_call(true);
  } else if (!is_small(s)) {
    start_large_sum(s, call);
  } else if (own_index_ != 0 || s.to_all) {
    fill_slot(s.x, s.bytes(), call);
    if (!s.to_all) end_call(true);
  }
}

PARTITA_DEF bool node_sum::finish(const block_sum& s) {
  if (s.n == 0) return true;
  if (!is_small(s)) return finish_large_sum(s, call_);
  return (own_index_ != 0 && !s.to_all) || finish_small_sum(s, call_);
}

PARTITA_DEF bool node_sum::finish_small_sum(const block_sum& s, std::uint64_t call) {
  for (std::size_t k = 0; k < size(); ++k) {
    if (k != own_index_) wait(ready_flag(k, call), call);
    if (k != own_index_) measure_distance(k, call, s.bytes());
    peer_blocks_[k] = {k == own_index_ ? s.x : slot_of_call(k, call), true};
  }
  // a member that shows a block in this call has finished the previous call
  if (last_finished_call_ < call - 1) last_finished_call_ = call - 1;
  result_addresses_[0] = s.y;
  combine_range(s, {0, s.n, 0, s.n}, 0, {1, false, false});
  return end_call(true);
}

PARTITA_DEF void node_sum::start_large_sum(const block_sum& s, std::uint64_t call) {
  staging_block_.emplace(*arena_, is_in_place(s) ? 0 : 2 * chunk_bytes);
  // memory to which the other members of the group can write this member's sum
  result_memory_.emplace(*arena_, receives_sum(s) && !is_reachable(s.y) ? s.bytes_of_result() : 0);
  const char* const result = result_address(s);
  const bool within_reach =
      (is_in_place(s) || is_reachable(staging_block_->data())) && (!receives_sum(s) || is_reachable(result));
  make_room(call);
  if (measures_distance(call, s.bytes())) own_page().distance.write_lines();
  if (!is_in_place(s) && within_reach) show_chunk(s, 0, far(), call);
  announce(call,
           !within_reach    ? nowhere
           : is_in_place(s) ? (contributes_block(s) ? 4 * arena_->offset(s.x) + 1 : 1)
                            : 4 * arena_->offset(staging_block_->data()),
           receives_sum(s) && within_reach ? arena_->offset(result) : nowhere);
}

PARTITA_DEF bool node_sum::finish_large_sum(const block_sum& s, std::uint64_t call) {
  bool are_blocks_in_place = true, reached = true;
  for (std::size_t k = 0; k < size(); ++k) {
    const group_page::call_flag& shown = ready_flag(k, call);
    if (k != own_index_) wait(shown, call);
    if (k != own_index_) measure_distance(k, call, s.bytes());
    reached = reached && shown.block != nowhere;
    peer_blocks_[k].has_whole_block = shown.block % 4 == 1;
    are_blocks_in_place = are_blocks_in_place && peer_blocks_[k].has_whole_block;
    if (!reached) continue;
    peer_blocks_[k].data =
        k == own_index_ && contributes_block(s) ? s.x : arena_->at(member_places_[k], shown.block / 4);
    if (s.to_all || k == 0) result_addresses_[k] = arena_->at(member_places_[k], shown.result);
  }
  if (reached) combine_chunks(s, are_blocks_in_place, call);
  staging_block_.reset();
  result_memory_.reset();
  return end_call(reached);
}

PARTITA_DEF void node_sum::combine_chunks(const block_sum& s, bool are_blocks_in_place, std::uint64_t call) {
  const bool bypasses_cache = far(), streaming = exceeds_cache(size() * s.bytes());
  // use one piece if no member has to copy; if a member has to, all members use the same chunks
  const std::size_t step = are_blocks_in_place ? s.n : chunk_elements(s), rounds = (s.n + step - 1) / step;
  for (std::size_t round = 0; round < rounds; ++round) {
    if (!is_in_place(s) && round + 1 < rounds) show_chunk(s, round + 1, bypasses_cache, call);
    for (std::size_t k = 0; k < size(); ++k)
      if (k != own_index_ && !peer_blocks_[k].has_whole_block)
        wait(member_pages_[k]->progress_flag, progress_count(call, round + 1));
    combine_range(s, slice(s, round, step), round % 2 * chunk_elements(s),
                  {s.to_all ? size() : 1, streaming, streaming || bypasses_cache});
    own_page().summed_flag.post(progress_count(call, round + 1));
  }
  wait_for_members(&group_page::summed_flag, progress_count(call, rounds));
  const char* const result = result_address(s);
  if (receives_sum(s) && result != s.y) copy_bytes(s.y, result, s.bytes_of_result(), false);
}

PARTITA_DEF node_sum::chunk_slice node_sum::slice(const block_sum& s, std::size_t round, std::size_t step) const {
  const std::size_t in_line = s.element_bytes() < 64 ? 64 / s.element_bytes() : 1;
  chunk_slice r{round * step, s.n - round * step < step ? s.n - round * step : step, 0, 0};
  const std::size_t share = ((r.length + size() - 1) / size() + in_line - 1) / in_line * in_line;
  r.first = share * own_index_ < r.length ? share * own_index_ : r.length;
  r.last = r.length - r.first < share ? r.length : r.first + share;
  return r;
}

PARTITA_DEF void node_sum::show_chunk(const block_sum& s, std::size_t round, bool bypasses_cache, std::uint64_t call) {
  const chunk_slice r = slice(s, round, chunk_elements(s));
  const std::size_t element = s.element_bytes();
  char* const to = staging_block_->data() + round % 2 * chunk_elements(s) * element;
  const char* const from = s.x + r.at * element;
  if (round >= 2) wait_for_members(&group_page::summed_flag, progress_count(call, round - 1));
  copy_bytes(to, from, r.first * element, bypasses_cache);
  copy_bytes(to + r.last * element, from + r.last * element, (r.length - r.last) * element, bypasses_cache);
  if (bypasses_cache) finish_streaming_stores();
  own_page().progress_flag.post(progress_count(call, round + 1));
}

PARTITA_DEF void node_sum::combine_range(const block_sum& s, chunk_slice r, std::size_t offset_in_slot,
                                         const result_write_mode& write_mode) {
  const std::size_t element = s.element_bytes(), width = s.op->result_block_count,
                    most = piece_bytes / (element * width);
  const auto streams = [&](std::size_t k) {
    return k == own_index_ ? write_mode.streams_own_results : write_mode.streams_peer_results;
  };
  const bool direct = write_mode.result_count == 1 && !streams(0) && width == 1;
  piece_buffer part;
  while (r.first < r.last) {
    const std::size_t length = r.last - r.first < most ? r.last - r.first : most;
    for (std::size_t k = 0; k < size(); ++k)
      blocks_[k] =
          peer_blocks_[k].data == nullptr  // a root whose block is not part of the sum
              ? nullptr
              : peer_blocks_[k].data +
                    (r.first + (peer_blocks_[k].has_whole_block || k == own_index_ ? r.at : offset_in_slot)) * element;
    char* const into = direct ? result_addresses_[0] + (r.at + r.first) * element : part.bytes;
    const char* const together = combine_blocks(*s.op, blocks_.data(), s.root_gives ? 0 : 1, size(), length, into);
    for (std::size_t k = 0; k < write_mode.result_count; ++k) {
      char* const to = result_addresses_[k] + (r.at + r.first) * element;
      if (to == together) continue;
      for (std::size_t w = 0; w < width; ++w)
        copy_bytes(to + w * s.bytes(), together + w * length * element, length * element, streams(k));
    }
    r.first += length;
  }
  if (write_mode.streams_own_results || write_mode.streams_peer_results) finish_streaming_stores();
}

}  // namespace partita::detail
