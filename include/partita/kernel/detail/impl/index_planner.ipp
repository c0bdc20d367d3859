// Defines the functions that kernel/detail/index_planner.hpp declares.
#pragma once

#include <partita/kernel/detail/index_planner.hpp>

namespace partita::detail {

PARTITA_DEF index_planner::index_planner(const partita::world& everyone, const index_list& owned,
                                         const index_list& wanted, const index_call_texts& texts)
    : world_(everyone.state()), call_texts_(texts) {
  one_call(*world_, [&] {
    pattern_ = std::make_shared<const index_pattern>(
        make_pattern_by_index(*world_, transport_, owned, wanted, name(), texts.wanted));
  });
}

PARTITA_DEF text index_planner::describe(const char* direction, const std::array<std::size_t, 2>&, const text&) const {
  text all(name());
  all << direction << " with ";
  for (std::size_t k = 0; k < described_block_count_; ++k) {
    const described_block& block = described_blocks_[k];
    all << (k == 0 ? "a block of shape [" : ", a block of shape [");
    for (std::size_t d = 0; d < block.rank; ++d) all << (d == 0 ? "" : ", ") << block.shape[d];
    all << "] of " << block.type();
  }
  return all;
}

/// Makes a worker's plan to send rows of a block of `sent` rows and receive rows into a block of `received` rows.
template <class Part>
exchange_plan<2> make_parts_plan(std::size_t worker, const std::vector<Part>& to, const std::vector<Part>& from,
                                 std::size_t sent, std::size_t received, std::size_t row_elements) {
  exchange_plan<2> plan;
  plan.worker = worker;
  plan.gives = plan.takes = true;
  plan.source_shape = plan.extents = {sent, row_elements};
  plan.destination_shape = {received, row_elements};
  if (row_elements == 0) return plan;
  const auto rows = [&](std::size_t first, std::size_t count) {
    return box<2>{{first, 0}, {first + count, row_elements}};
  };
  const auto there = [&](std::size_t first) { return place_in_block<2>{first * row_elements, {row_elements}}; };
  for (const Part& p : to)
    plan.sends.push_back({p.worker, rows(p.first_row, p.rows), {p.first_row, 0}, there(p.first_row_at_peer)});
  for (const Part& p : from)
    plan.receives.push_back(
        {p.worker, rows(p.first_row_at_peer, p.rows), {p.first_row, 0}, there(p.first_row_at_peer)});
  return plan;
}

PARTITA_DEF index_structure index_planner::learn(const box_call<2>& call, std::shared_ptr<transport>&,
                                                 local_error&) const {
  structure s;
  s.there = plan(call.shape[1]);
  s.back = reversed(s.there);
  if (transport_->shares_one_memory())
    s.unpacked_rows =
        std::make_shared<rows_to_gather>(std::shared_ptr<const row_moves>(pattern_, &pattern_->transfers.packed));
  return s;
}

PARTITA_DEF std::shared_ptr<box_exchange> index_planner::exchange(
    const structure& s, bool forward, const element_kind& kind,
    const std::shared_ptr<transport>& shared_transport) const {
  auto made = lasting_exchange(shared_transport, world_, lowered(s.plan(forward)), kind);
  const row_transfers& t = pattern_->transfers;
  if (forward && s.unpacked_rows) made->set_source_writer(s.unpacked_rows);
  if (forward && t.has_two_steps)
    made->append_exchange(shared_transport->exchange(
        lowered(make_parts_plan(world_->id(), t.forwarded_to_peers, t.forwarded_by_peers, t.received_count,
                                t.received_count, s.there.source_shape[1])),
        kind));
  return made;
}

PARTITA_DEF const std::shared_ptr<box_exchange>& index_planner::find_return_exchange(structure& s,
                                                                                     const element_kind& kind) const {
  return s.exchanges_that_return_rows.find_or_make(kind, [&] {
    const row_transfers& t = pattern_->transfers;
    std::vector<row_transfers::part> to(t.forwarded_by_peers.begin(), t.forwarded_by_peers.end());
    std::vector<row_transfers::part> from(t.forwarded_to_peers.begin(), t.forwarded_to_peers.end());
    for (std::size_t k = 0; k < to.size(); ++k) to[k].first_row_at_peer = t.forwarded_by_peers[k].first_return_row;
    for (std::size_t k = 0; k < from.size(); ++k) from[k].first_row = t.forwarded_to_peers[k].first_return_row;
    return lasting_exchange(
        transport_, world_,
        lowered(make_parts_plan(world_->id(), to, from, t.received_count, t.returned_count, s.there.source_shape[1])),
        kind);
  });
}

PARTITA_DEF exchange_plan<2> index_planner::plan(std::size_t row_elements) const {
  const row_transfers& t = pattern_->transfers;
  return make_parts_plan(world_->id(), t.sent_parts, t.received_parts, t.sent_count, t.received_count, row_elements);
}

#ifdef PARTITA_CORE
PARTITA_INSTANTIATE_BOX_MOVEMENT(, index_planner)
#endif

}  // namespace partita::detail
