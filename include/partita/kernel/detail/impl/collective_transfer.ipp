// Defines the functions that kernel/detail/collective_transfer.hpp declares.
#pragma once

#include <partita/kernel/detail/collective_transfer.hpp>

namespace partita::detail {

PARTITA_DEF void collective_job::pack(char* packing_memory) {
  copy(*kind, x->dense_block_at(packing_memory), *x);
  if (contributor_count != 0) operation->complete(packing_memory, x->size(), contributor_count);
  is_completed = contributor_count != 0;
  dense_x = packing_memory;
}

PARTITA_DEF void collective_job::copy_to_own_result() const {
  if (is_completed) copy(*kind, *y, x->dense_block_at(dense_x));
  else copy(*kind, *y, *x);
}

PARTITA_DEF const reduction_steps* collective_transfer::steps_of_reductions() {
  static constexpr reduction_steps all{
      [](collective_transfer& t, const worker_group& g, collective_channel& channel) { t.send_sum_early(g, channel); },
      [](collective_transfer& t, const worker_group& g, collective_channel& channel) { t.start_sum(g, channel); },
      [](collective_transfer& t, const worker_group& g, collective_channel& channel) { t.finish_sum(g, channel); }};
  return &all;
}

PARTITA_DEF void collective_transfer::send_speculatively() {
  channels_->note_speculative_start();
  for_each_group([&](const worker_group& g, collective_channel& channel) {
    if (job_->direction == group_direction::spread)
      channel.send_block_early(messages(channel), {input_data(g), nullptr, job_->x->size()});
    else job_->steps->send_speculatively(*this, g, channel);
  });
}

PARTITA_DEF void collective_transfer::show_block_early() {
  for_each_group([&](const worker_group& g, collective_channel& channel) {
    if (g.position == 0) channel.show_block_early(messages(channel), {job_->dense_x, nullptr, job_->x->size()});
  });
}

PARTITA_DEF void collective_transfer::start() {
  channels_->reset_traffic();
  for_each_group([&](const worker_group& g, collective_channel& channel) {
    if (g.members.size() == 1) return;
    if (job_->direction != group_direction::spread) return job_->steps->start(*this, g, channel);
    if (!stays_pending_ || g.position != 0) return;
    channel.start_spread(messages(channel),
                         {input_data(g), g.root_is_large && is_dense_y_ ? job_->y->data : nullptr, element_count(g)});
  });
}

PARTITA_DEF void collective_transfer::finish() {
  for_each_group([&](const worker_group& g, collective_channel& channel) {
    if (job_->direction == group_direction::spread) finish_spread(g, channel);
    else job_->steps->finish(*this, g, channel);
  });
  if (channels_->does_more_than_move()) {
    if (channels_->plan().groups.empty()) job_->copy_to_own_result();
    channels_->add_traffic_to_trace(stays_pending_);
  }
}

PARTITA_DEF element_messages collective_transfer::messages(const collective_channel& channel) {
  return {*world_, *job_->kind, stays_pending_ ? channel.pending_tag : static_cast<tag>(world_->block_tag()),
          channels_->call_traffic(), channels_->link()};
}

PARTITA_DEF void collective_transfer::finish_spread(const worker_group& g, collective_channel& channel) {
  const bool root = g.position == 0;
  if (root && g.members.size() == 1) return job_->copy_to_own_result();
  if (root) {
    char* const own = g.root_is_large && is_dense_y_ ? job_->y->data : nullptr;
    channel.spread(messages(channel), {job_->dense_x, own, job_->x->size()}, stays_pending_);
    if (g.root_is_large && own == nullptr) job_->copy_to_own_result();
  } else {
    char* const into = is_dense_y_ ? job_->y->data : buffer(1, job_->y->size());
    channel.spread(messages(channel), {nullptr, into, job_->y->size()});
    if (!is_dense_y_) copy(*job_->kind, *job_->y, job_->y->dense_block_at(into));
  }
}

PARTITA_DEF void collective_transfer::send_sum_early(const worker_group& g, collective_channel& channel) {
  if (!g.root_is_large) return;  // the root has no block, and so does not know the length of the blocks
  channel.send_node_sum_early(messages(channel), *job_->operation, {input_data(g), nullptr, job_->x->size()},
                              job_->direction == group_direction::to_all);
}

PARTITA_DEF void collective_transfer::start_sum(const worker_group& g, collective_channel& channel) {
  if (channel.has_begun_early) return;
  const group_blocks b{input_data(g), receives_result(g) && is_dense_y_ ? job_->y->data : nullptr, element_count(g)};
  const bool to_all = job_->direction == group_direction::to_all;
  channel.start_sum(*job_->operation, b, to_all);
  if (stays_pending_) channel.post_send(messages(channel), *job_->operation, b, to_all);
}

PARTITA_DEF void collective_transfer::finish_sum(const worker_group& g, collective_channel& channel) {
  const std::size_t n = element_count(g);
  const element_operation& operation = *job_->operation;
  const auto incoming = [&](std::size_t elements_at_sender) { return buffer(2, elements_at_sender); };
  const auto into = [&] { return receives_result(g) && is_dense_y_ ? job_->y->data : buffer(1, n); };
  if (g.members.size() == 1) {
    if (is_dense_y_ || operation.complete == nullptr) job_->copy_to_own_result();
    else copy(*job_->kind, job_->y->dense_block_at(into()), *job_->x);
  } else if (job_->direction == group_direction::to_all) {
    channel.finish_allreduce(messages(channel), operation, {input_data(g), into(), n}, incoming);
  } else {
    channel.finish_sum(messages(channel), operation, input_data(g), n, into, incoming);
  }
  if (!receives_result(g)) return;
  if (operation.complete != nullptr) operation.complete(into(), n, g.contributors());
  if (!is_dense_y_ && (g.members.size() > 1 || operation.complete != nullptr))
    copy(*job_->kind, *job_->y, job_->y->dense_block_at(into()));
}

PARTITA_DEF const char* collective_transfer::input_data(const worker_group& g) const {
  const bool is_root = g.position == 0, spreads = job_->direction == group_direction::spread;
  return (spreads ? is_root : !is_root || g.root_is_large) ? job_->dense_x : nullptr;
}

PARTITA_DEF std::size_t collective_transfer::element_count(const worker_group& g) const {
  const bool of_x = job_->direction == group_direction::spread ? g.position == 0 : !receives_result(g);
  return of_x ? job_->x->size() : job_->y->size();
}

PARTITA_DEF void started_transfer::start(const collective_job& job, bool gives) {
  x_ = *job.x, y_ = *job.y;
  job_ = job;
  job_.x = &x_, job_.y = &y_, job_.dense_x = x_.data;
  if (gives && job_.needs_packing()) {  // not into the world's buffers, which other calls use meanwhile
    packed_.emplace(channels_->memory(), x_.size() * job_.kind->bytes);
    job_.pack(packed_->data());
  }
  transfer_.emplace(*world_, *channels_, job_, true);
  channels_->note_pending_operation();
  transfer_->start();
}

PARTITA_DEF void started_transfer::finish() {
  transfer_->finish();
  packed_.reset();
}

}  // namespace partita::detail
