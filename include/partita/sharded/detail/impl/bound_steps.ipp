// Defines the functions that sharded/detail/bound_steps.hpp declares.
#pragma once

#include <algorithm>
#include <chrono>
#include <partita/comm/facts.hpp>
#include <partita/sharded/detail/bound_steps.hpp>
#include <partita/sharded/detail/joined_exchange.hpp>
#include <utility>

namespace partita::detail {

PARTITA_DEF box_exchange* bound_steps::step::opened_exchange() const {
  return joined ? joined->opened_exchange() : exchange->opened_exchange();
}

PARTITA_DEF std::uint32_t bound_steps::add_outside_block(const step_block& one) {
  const std::uint32_t k = block_number_of(one, false);
  blocks_[k].is_outside = true;
  return k;
}

PARTITA_DEF bool bound_steps::is_set_by_step(const step_block& one) {
  const block& known = blocks_[block_number_of(one, false)];
  return known.is_set && !known.is_outside;
}

PARTITA_DEF void bound_steps::estimate_step_times(const link_cost& link, const step_model& model) {
  for (std::size_t k = 0; k < steps_.size(); ++k) {
    step_use& use = step_uses_[k];
    if (const auto& exchange = steps_[k].exchange) {
      const auto most = static_cast<double>(exchange->max_received_elements() * exchange->kind().bytes);
      const double once = most == 0 ? 0 : link.latency;
      use.seconds = once + most * link.seconds_per_byte;
      use.shared_seconds = joined_exchange::can_join(*exchange) ? once : 0;
    } else {
      auto touched = static_cast<double>(use.bytes);
      for (const std::uint32_t x : use.reads)
        touched += x == nothing ? 0.0 : static_cast<double>(blocks_[x].recorded_block.bytes);
      use.seconds = std::max(touched / model.memory_bytes, steps_[k].work->multiply_adds / model.multiply_adds);
    }
  }
}

PARTITA_DEF std::size_t bound_steps::place_blocks() {
  const block_lives lives = lives_of(step_uses_, order_.events);
  std::size_t bytes = 0;
  for (const std::size_t moved : {0U, 1U}) {
    lifetimes_[moved].clear(), block_numbers_[moved].clear();
    for (std::size_t k = 0; k < blocks_.size(); ++k) {
      const block& one = blocks_[k];
      if (one.is_outside || !one.is_set || one.is_exchanged != (moved == 1)) continue;
      lifetimes_[moved].push_back(
          {one.recorded_block.bytes > 0 ? one.recorded_block.bytes : 1, lives.first_set[k], lives.last_use[k], 0});
      block_numbers_[moved].push_back(k);
    }
    bytes += assign_storage_offsets(lifetimes_[moved]);
  }
  return bytes;
}

PARTITA_DEF void bound_steps::open_exchanges(bound_mesh& on, bool uses_own_channels) {
  std::vector<std::uint32_t> lanes(steps_.size(), 0);
  std::vector<std::vector<std::shared_ptr<planned_exchange>>> parts(steps_.size());
  for (const ordered_step& one : order_.events) {
    lanes[one.step] = one.channel;
    if (one.action != ordered_step::what::start) continue;
    const std::uint32_t first =
        step_uses_[one.step].message_leader == nothing ? one.step : step_uses_[one.step].message_leader;
    parts[first].push_back(steps_[one.step].exchange);
  }
  struct opened {                                     ///< an exchange that this program has copied, to open the copy
    std::shared_ptr<planned_exchange> planned, copy;  ///< the cached exchange, and the copy of this program
    std::uint32_t lane;                               ///< the lane of the channels that the copy opens
  };
  std::vector<opened> known;
  for (std::size_t k = 0; k < steps_.size(); ++k) {
    std::shared_ptr<planned_exchange>& exchange = steps_[k].exchange;
    if (!exchange) continue;
    steps_[k].takes_part = exchange->takes_part() && step_uses_[k].message_leader == nothing;
    if (step_uses_[k].message_leader != nothing) continue;
    if (parts[k].size() > 1) {
      steps_[k].joined = std::make_shared<joined_exchange>(parts[k]);
      steps_[k].takes_part = on.open(*steps_[k].joined, lanes[k]);
      continue;
    }
    if (lanes[k] > 0 || uses_own_channels) {
      const auto is_same = [&](const opened& one) { return one.planned == exchange && one.lane == lanes[k]; };
      const auto found = std::find_if(known.begin(), known.end(), is_same);
      if (found == known.end()) exchange = known.emplace_back(opened{exchange, exchange->copy_plan(), lanes[k]}).copy;
      else exchange = found->copy;
    }
    on.open(*exchange, lanes[k]);
    max_pending_sends_ = on.channels(lanes[k]).members().size() == 1 ? most_pending_per_node : any_number;
  }
}

PARTITA_DEF void bound_steps::drop_unread_blocks() {
  std::vector<bool> is_read(blocks_.size(), false), is_kept(steps_.size(), true);
  for (std::size_t k = steps_.size(); k-- > 0;) {
    const step_use& one = step_uses_[k];
    is_kept[k] = one.moves || one.sets == nothing || blocks_[one.sets].is_outside || is_read[one.sets];
    if (!is_kept[k]) continue;
    if (one.sets != nothing) is_read[one.sets] = true;  // earlier steps may have set other elements of the block
    for (const std::uint32_t x : one.reads)
      if (x != nothing) is_read[x] = true;
  }
  for (std::size_t k = 0; k < steps_.size(); ++k)
    if (!is_kept[k] && !is_read[step_uses_[k].sets])
      blocks_[step_uses_[k].sets].is_set = false, blocks_[step_uses_[k].sets].recorded_block = {};
  std::size_t kept = 0, kept_forward = 0;
  for (std::size_t k = 0; k < steps_.size(); ++k) {
    if (!is_kept[k]) continue;
    if (kept != k) steps_[kept] = std::move(steps_[k]), step_uses_[kept] = std::move(step_uses_[k]);
    ++kept, kept_forward += k < forward_step_count_ ? 1U : 0U;
  }
  steps_.resize(kept), step_uses_.resize(kept);
  forward_step_count_ = kept_forward;
}

PARTITA_DEF void bound_steps::plan_steps(bound_mesh& on, const schedule_options& options) {
  forward_step_count_ = std::min(forward_step_count_, steps_.size());
  drop_unread_blocks();
  bool moves = false;
  for (const step_use& one : step_uses_) moves = moves || one.moves;  // the result is the same on all workers
  const bool may_overlap = moves && options.pending > 1;
  const bool overlap =
      options.overlap.value_or(may_overlap && on.channels().members().has_other_nodes()) && may_overlap;
  // Try orders of the steps until one keeps the memory limit: first orders that start movements early, by fewer steps
  // each time, then the program's order with movements that share messages, then the program's order without sharing.
  estimate_step_times(moves ? on.movement_link(options.model.memory_bytes) : link_cost{}, options.model);
  bool join = moves;
  std::size_t least = schedule_options::unlimited;
  for (std::size_t ahead = overlap ? steps_.size() : 0;;) {
    std::optional<program_order> agreed;
    if (ahead > 0 || join)
      agreed = agree_on_program_order(on, step_uses_, forward_step_count_, blocks_.size(),
                                      {ahead > 0 ? options.pending : 1, ahead}, join);
    if (!agreed) {
      ahead = 0, join = false;
      agreed = order_program(step_uses_, forward_step_count_, order_limits::in_program_order(), false);
    }
    order_ = std::move(*agreed);
    bytes_held_ = place_blocks();
    if (options.memory == schedule_options::unlimited) break;
    const std::size_t most = maximum_over_workers<1>(*on.everyone().state(), {bytes_held_})[0];
    if (most <= options.memory) break;
    least = std::min(least, most);
    if (ahead == 0 && !join)
      throw error(text("partita::traced_function::bind: requires .memory for the intermediate values of a worker, of "
                       "which the least that is possible is ")
                  << least << " bytes, got " << options.memory
                  << "; give that much, recompute segments, or shard the values further");
    if (ahead == 0) join = false;
    ahead /= 4;
  }
  make_room(on, false);
}

PARTITA_DEF void bound_steps::plan_steps(bound_mesh& on, std::vector<ordered_step> order) {
  estimate_step_times(on.movement_link(), {});
  forward_step_count_ = steps_.size();
  order_ = {std::move(order), 0};
  order_.backward_begin = order_.events.size();
  bytes_held_ = place_blocks();
  make_room(on, true);
}

PARTITA_DEF std::size_t bound_steps::max_storage_bytes(bound_mesh& on, std::vector<ordered_step> order) {
  order_.events = std::move(order);
  return maximum_over_workers<1>(*on.everyone().state(), {place_blocks()})[0];
}

PARTITA_DEF void bound_steps::make_room(bound_mesh& on, bool uses_own_channels) {
  constexpr std::size_t word = sizeof(std::uint64_t);
  for (const bool moved : {false, true}) {
    std::size_t bytes = 0;
    for (const block_lifetime& one : lifetimes_[moved]) {
      bytes = std::max(bytes, one.offset + one.bytes);
      unshared_bytes_ += one.bytes;
    }
    if (bytes == 0) continue;
    storage_[moved] = tensor_block<std::uint64_t>(shape_list{bytes / word + 1}, moved ? on.memory() : nullptr);
    for (std::size_t k = 0; k < block_numbers_[moved].size(); ++k)
      blocks_[block_numbers_[moved][k]].address = storage_[moved].data() + lifetimes_[moved][k].offset / word;
  }
  for (block& one : blocks_)
    if (!one.is_outside && !one.is_set) one.address = one.recorded_block.memory.get();
    else one.recorded_block = {};
  open_exchanges(on, uses_own_channels);
  if (program_trace::is_trace_enabled()) begin_trace();
}

PARTITA_DEF void bound_steps::begin_trace() {
  using what = ordered_step::what;  ///< the action of an event
  event_begins_and_ends_.resize(2 * order_.events.size(), 0);
  std::vector<std::uint32_t> lanes;
  std::size_t forward = 0;
  for (std::size_t k = 0; k < order_.events.size(); ++k) {
    const ordered_step& one = order_.events[k];
    const auto leader = step_uses_[one.step].message_leader;
    if (one.action != what::post_receive && one.action != what::finish && leader == nothing)
      lanes.push_back(one.channel);
    if (k < order_.backward_begin) forward = lanes.size();
  }
  trace_.begin(estimated_times(), std::move(lanes), forward);
}

PARTITA_DEF void bound_steps::run(bool backward) const {
  const scoped_value<const step_list*> no_pending_program(run_state.pending, nullptr);
  pending_.clear(), waiting_steps_.clear();
  void* x[max_step_operands] = {};
  const std::size_t end = backward ? order_.events.size() : order_.backward_begin;
  for (std::size_t k = backward ? order_.backward_begin : 0; k < end; ++k) {
    const ordered_step& now = order_.events[k];
    const step& one = steps_[now.step];
    const step_use& use = step_uses_[now.step];
    if (!event_begins_and_ends_.empty())
      event_begins_and_ends_[2 * k] = event_begins_and_ends_[2 * k + 1] = seconds_now();
    if (!one.takes_part) continue;
    switch (now.action) {
      case ordered_step::what::compute:
        for (std::size_t i = 0; i < use.reads.size(); ++i) x[i] = address(use.reads[i]);
        (*one.work)(x, address(use.sets));
        break;
      case ordered_step::what::start:
        waiting_steps_.push_back(k);
        if (pending_.empty()) start_next_movement();  // if movements are pending, advance() starts this one later
        break;
      case ordered_step::what::post_receive:
        one.exchange->post_receives(address(use.sets));
        break;
      case ordered_step::what::post_send:
        one.exchange->post_sends(address(use.reads[0]));
        add_pending_movement(one);
        break;
      case ordered_step::what::finish:
        finish(one);
        break;
    }
    if (!event_begins_and_ends_.empty()) event_begins_and_ends_[2 * k + 1] = seconds_now();
    if (!pending_.empty() && k + 1 < end) advance();
    run_state.pending = pending_.empty() ? nullptr : this;
  }
  if (trace_.has_recorded_program())
    trace_.add_run(timetable_of(step_uses_, order_.events, event_begins_and_ends_), backward);
}

PARTITA_DEF double bound_steps::seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

PARTITA_DEF timetable bound_steps::estimated_times() const { return timetable_of(step_uses_, order_.events); }

PARTITA_DEF timetable bound_steps::measured_timetable() {
  event_begins_and_ends_.resize(2 * order_.events.size(), 0);
  // Subtract the time that has passed between the forward and the backward pass.
  std::vector<double> times = event_begins_and_ends_;
  double begin = 0, earlier = 0;
  for (std::size_t k = 0; k < order_.events.size(); ++k) {
    if (k == 0 || k == order_.backward_begin) begin = times[2 * k] - earlier;
    times[2 * k] -= begin, times[2 * k + 1] -= begin;
    earlier = std::max(earlier, times[2 * k + 1]);
  }
  return timetable_of(step_uses_, order_.events, times);
}

void bound_steps::advance() const {
  std::size_t sent_count = 0;
  for (const pending_movement& one : pending_) sent_count += !one.exchange->advance() && one.sends_messages ? 1U : 0U;
  while (!waiting_steps_.empty() && sent_count < max_pending_sends_) sent_count += start_next_movement() ? 1U : 0U;
}

PARTITA_DEF void bound_steps::add_pending_movement(const step& one) const {
  pending_.push_back({one.opened_exchange(), one.opened_exchange()->counts().messages > 0});
}

PARTITA_DEF bool bound_steps::start_next_movement() const {
  const std::size_t k = waiting_steps_.front();
  waiting_steps_.erase(waiting_steps_.begin());
  const step& one = steps_[order_.events[k].step];
  if (one.joined) {
    for (std::size_t i = 0; i < one.joined->movement_count(); ++i) {
      const step_use& part = step_uses_[order_.events[k + i].step];
      one.joined->set_memory(i, address(part.reads[0]), address(part.sets));
    }
    one.joined->start();
  } else {
    const step_use& use = step_uses_[order_.events[k].step];
    one.exchange->start(address(use.reads[0]), address(use.sets));
  }
  add_pending_movement(one);
  return pending_.back().sends_messages;
}

PARTITA_DEF void bound_steps::finish(const step& one) const {
  const auto is_same_exchange = [&](const pending_movement& other) { return other.exchange == one.opened_exchange(); };
  while (std::none_of(pending_.begin(), pending_.end(), is_same_exchange)) start_next_movement();
  // Advance other movements while waiting, because other workers may wait for them before they start this movement.
  one.opened_exchange()->wait([this] { advance(); });
  if (one.joined) one.joined->finish();
  else one.exchange->finish();
  pending_.erase(std::find_if(pending_.begin(), pending_.end(), is_same_exchange));
}

void bound_steps::add(const std::vector<step_block>& x, const step_block& y, std::unique_ptr<step_work> work,
                      const std::shared_ptr<planned_exchange>& exchange) {
  step_use& use = step_uses_.emplace_back();
  for (const step_block& operand : x) use.reads.push_back(block_number_of(operand, exchange != nullptr));
  use.sets = block_number_of(y, exchange != nullptr);
  use.task = task_;
  use.moves = exchange != nullptr;
  use.is_backward = run_state.is_backward;
  if (use.sets != nothing) use.bytes = y.bytes;
  if (exchange) use.received = exchange->counts().bytes;
  if (run_state.operation != nullptr) use.name << run_state.operation;
  if (use.sets != nothing) blocks_[use.sets].is_set = true;
  steps_.push_back({std::move(work), exchange});
}

PARTITA_DEF std::uint32_t bound_steps::block_number_of(const step_block& one, bool is_exchanged) {
  if (!one.memory) return nothing;
  std::size_t k = blocks_.size();  // search from the end, as most steps read blocks that were made shortly before
  while (k > 0 && blocks_[k - 1].recorded_block.memory != one.memory) --k;
  if (k == 0) blocks_.push_back({one}), k = blocks_.size();
  --k;
  blocks_[k].is_exchanged = blocks_[k].is_exchanged || is_exchanged;
  return static_cast<std::uint32_t>(k);
}

}  // namespace partita::detail
