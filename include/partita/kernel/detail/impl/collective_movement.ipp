// Defines the functions that kernel/detail/collective_movement.hpp declares.
#pragma once

#include <partita/kernel/detail/collective_movement.hpp>

namespace partita::detail {

PARTITA_DEF collective_movement::collective_movement(std::shared_ptr<world_state> world, group_plan plan,
                                                     kernel_description description)
    : world_(std::move(world)), plan_(std::move(plan)), kernel_description_(std::move(description)) {}

PARTITA_DEF void collective_movement::require_world() const {
  if (!world_)
    throw error(text(kernel_description_.name)
                << ": requires a kernel that has not been moved from; call the one it was moved to");
}

PARTITA_DEF kernel_counts collective_movement::counts() const {
  if (!channels_) return {plans_made()};
  const traffic& moved = channels_->call_traffic();
  return {plans_made(), moved.messages, moved.bytes_by_message, moved.bytes_shared};
}

PARTITA_DEF block_shape collective_movement::agree(const collective_call& call) {
  const bool spreads = call.direction == group_direction::spread;
  const auto agreed = [&](const auto& before) {
    speculative_start ahead(*this, call);
    const structure& agreed_plan = spreads ? agree_on_block(call, before, ahead.useful_send_or_null())
                                           : agree_on_sum(call, before, ahead.useful_send_or_null());
    ahead.mark_as_agreed();
    if (call.direction == group_direction::to_all) return call.x.shape;
    return spreads ? result_shape(call.x, agreed_plan, plan_.large, plan_.small)
                   : result_shape(call.x, agreed_plan, plan_.small, plan_.large);
  };
  operation_->wait();
  if (call.has_error() || (writes_result(call.direction) && call.writes_what_it_reads()))
    return agreed(call.own_error(kernel_description_.name, world_->id()));
  static const local_error none;
  return agreed(none);
}

PARTITA_DEF void collective_movement::carry_out(const collective_call& call, const untyped_block& y) {
  collective_job job = make_job(call, &y);
  if (sends_blocks(call.direction)) set_dense_x(job);
  collective_transfer transfer(*world_, *channels_, job, false);
  transfer.start();
  transfer.finish();
}

PARTITA_DEF std::uint64_t collective_movement::begin(const collective_call& call, const untyped_block& y) {
  if (!pending_transfer_) pending_transfer_ = std::make_shared<started_transfer>(world_, channels_);
  pending_transfer_->start(make_job(call, &y), sends_blocks(call.direction));
  const std::uint64_t number = operation_->start(pending_transfer_);
  world_->keep_call_pending(operation_);
  return number;
}

PARTITA_DEF lent_header* collective_movement::share(const collective_call& call, std::size_t elements) {
  lent_header* block = nullptr;
  channels_->reset_traffic();
  collective_job job = make_job(call);
  if (plan_.small) set_dense_x(job);
  for (std::size_t k = 0; k < plan_.groups.size(); ++k) {
    const worker_group& g = plan_.groups[k];
    const bool root = g.position == 0;
    const std::size_t n = root ? call.x.size() : elements;
    if (n == 0) continue;
    const element_messages messages(*world_, *call.kind, tag::block, channels_->call_traffic(), channels_->link());
    lent_header* const got =
        channels_->channel(k).share(messages, channels_->memory(), root ? job.dense_x : nullptr, n, g.root_is_large);
    if (got != nullptr) block = got;
  }
  if (is_in_no_group() && call.x.size() != 0) {  // the worker copies its own input
    block = lent_blocks::lend_block(channels_->memory(), call.x.size() * call.kind->bytes, 1);
    copy(*call.kind, call.x.dense_block_at(lent_blocks::elements(block)), call.x);
  }
  channels_->add_traffic_to_trace(false);
  return block;
}

collective_movement::speculative_start::~speculative_start() {
  if (!has_begun_movement_ || movement_ == nullptr) return;
  try {
    movement_->channels_->discard_speculative_sends();
  } catch (const communication_error&) {  // an error is already being reported
  }
}

PARTITA_DEF speculative_send* collective_movement::speculative_start::useful_send_or_null() {
  if (!movement_->channels_ || !movement_->sends_blocks(call_->direction) || call_->is_non_blocking || call_->shares)
    return nullptr;
  const bool is_one_node =
      movement_->channels_->are_all_on_one_node();  // on one node other workers read the block themselves
  if (is_one_node && (call_->direction != group_direction::spread || movement_->make_job(*call_).needs_packing()))
    return nullptr;
  const measured_link& link = movement_->channels_->link();
  const std::size_t most = is_one_node                                   ? collective_channels::max_copied_bytes
                           : call_->direction == group_direction::spread ? link.max_eager_bytes()
                           : link.eager_bytes < collective_channels::max_copied_bytes
                               ? link.eager_bytes
                               : collective_channels::max_copied_bytes;
  const std::size_t bytes = call_->x.size() * call_->kind->bytes;
  return bytes != 0 && bytes <= most ? this : nullptr;
}

void collective_movement::speculative_start::begin_undoable_send() {
  has_begun_movement_ = true;
  collective_job job = movement_->make_job(*call_);
  movement_->set_dense_x(job);
  collective_transfer(*movement_->world_, *movement_->channels_, job, false).show_block_early();
}

void collective_movement::speculative_start::begin(std::uint64_t) {
  has_begun_movement_ = true;
  collective_job job = movement_->make_job(*call_);
  movement_->set_dense_x(job);
  collective_transfer(*movement_->world_, *movement_->channels_, job, false).send_speculatively();
}

PARTITA_DEF const collective_movement::structure& collective_movement::agree_on_block(const collective_call& call,
                                                                                      const local_error& before,
                                                                                      speculative_send* ahead) {
  const worker_group* joined = plan_.member_group();
  return agreed_structure(
      *world_, broadcast_plans_, {call_fingerprint(call), before, true, ahead},
      [&](const structure& known) { return call.matches_key(known.key, plan_.small); },
      [&](local_error& found_error) {
        structure fresh{call.key(plan_.small), {}};
        open_channels();
        for (const worker_group& g : plan_.groups) {
          block_shape header = call.x.shape;
          tree_broadcast(*world_, g, header.data(), call.x.rank, tag::header);
          if (&g == joined) fresh.shape = header;
        }
        call.expect_view_shape(kernel_description_.name, result_shape(call.x, fresh, plan_.large, plan_.small),
                               found_error);
        return fresh;
      },
      [&] { return call.describe(kernel_description_.call); });
}

PARTITA_DEF const collective_movement::structure& collective_movement::agree_on_sum(const collective_call& call,
                                                                                    const local_error& before,
                                                                                    speculative_send* ahead) {
  const bool to_all = call.direction == group_direction::to_all;
  const std::size_t rank = call.x.rank;
  return agreed_structure(
      *world_, reduction_plans_,
      {call_fingerprint(call), before, kernel_description_.sums_other_blocks_only && !to_all, ahead},
      [&](const structure& known) { return call.matches_key(known.key, plan_.large); },
      [&](local_error& found_error) {
        structure fresh{call.key(plan_.large), {}};
        open_channels();
        for (const worker_group& g : plan_.groups) {
          const bool contributes = g.position != 0 || g.root_is_large;
          // One reduction finds the largest and the smallest extents of the blocks: the maxima of n and of ~n.
          std::array<std::uint64_t, 2 * most_dimensions> mine{}, most{}, incoming{};
          for (std::size_t d = 0; d < rank; ++d) {
            mine[d] = call.x.shape[d];
            mine[rank + d] = ~std::uint64_t{call.x.shape[d]};
          }
          tree_reduce(*world_, g, contributes ? mine.data() : nullptr, most.data(), incoming.data(), 2 * rank,
                      tag::header, [](std::uint64_t& a, std::uint64_t b) { a = a > b ? a : b; });
          if (g.position != 0) continue;
          block_shape least{};
          for (std::size_t d = 0; d < rank; ++d) {
            fresh.shape[d] = most[d];
            least[d] = ~most[rank + d];
          }
          if (fresh.shape == least) continue;
          found_error.kind = failure::shape;
          found_error.sentence << kernel_description_.call
                               << ": requires the blocks that are summed to have one shape, got extents from "
                               << shape_text(least, rank) << " to " << shape_text(fresh.shape, rank)
                               << " among the workers " << g.members
                               << "; give every worker of a sum a block of the same shape";
        }
        call.expect_view_shape(kernel_description_.name,
                               to_all ? call.x.shape : result_shape(call.x, fresh, plan_.small, plan_.large),
                               found_error);
        return fresh;
      },
      [&] { return call.describe(kernel_description_.call); });
}

PARTITA_DEF block_shape collective_movement::result_shape(const untyped_block& x, const structure& s, bool takes,
                                                          bool gives) const {
  if (takes) return s.shape;
  if (!gives) return x.shape;
  block_shape none{};
  if (x.rank >= 2 && kernel_description_.keep_batch) none[0] = x.shape[0];
  return none;
}

PARTITA_DEF void collective_movement::open_channels() {
  if (!channels_) channels_ = std::make_shared<collective_channels>(world_->communicator(), plan_);
}

PARTITA_DEF collective_job collective_movement::make_job(const collective_call& call, const untyped_block* y) const {
  collective_job job{call.direction, call.kind, call.operation, call.steps, &call.x, y};
  if (call.direction == group_direction::spread && call.operation != nullptr && plan_.small)
    job.contributor_count = plan_.root_group()->contributors();
  return job;
}

PARTITA_DEF void collective_movement::set_dense_x(collective_job& job) {
  if (job.needs_packing()) job.pack(world_->buffer_in_slot<char>(0, job.x->size() * job.kind->bytes));
  else job.dense_x = job.x->data;
}

}  // namespace partita::detail
