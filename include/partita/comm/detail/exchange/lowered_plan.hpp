// An exchange plan in the form that channels read: the rank and the element size are run-time numbers, and all boxes
// are given in the order of the source's dimensions.
#pragma once

#include <array>
#include <cstddef>
#include <partita/comm/detail/exchange/box_list.hpp>
#include <partita/core/config.hpp>
#include <partita/plan/exchange_plan.hpp>
#include <vector>

namespace partita::detail {

/// The boxes that one worker sends, receives and keeps. The lists `sends` and `receives` are sorted by worker; the
/// boxes from one worker to another have the same order on both.
struct lowered_plan {
  std::size_t rank = 0, worker = 0;  ///< the number of dimensions of each box; the worker whose plan this is
  std::vector<std::size_t> source_shape, received_shape;  ///< of this worker's source block, and of its result block
  std::vector<std::ptrdiff_t> received_strides;           ///< strides of the destination block, if it is dense
  box_list sends, receives;                               ///< boxes of this worker's source block; boxes of its result
  std::vector<std::ptrdiff_t> peer_positions;  ///< of each send: offset and strides, in elements, at the receiver
  box_list kept, kept_destinations;  ///< the positions, in source and destination, of boxes that stay on this worker
  bool accumulate = false;           ///< whether received boxes are staged and then added
  /// whether post_send() does not wait for receivers, and advance() sends to each when it is ready
  bool is_polled = false;
  bool is_agreed_between_calls = false;  ///< whether all workers agree on a call between any two exchanges of this plan
  /// whether source and destination are several blocks each, at any addresses; then their shapes have no meaning
  bool has_several_blocks = false;
  box_list blocks;  ///< if `has_several_blocks`: the received blocks
  /// if `accumulate`: for each receive, and last for the kept boxes, the position in the order in which boxes are added
  std::vector<std::size_t> sum_positions;

  explicit lowered_plan(std::size_t tensor_rank = 0)
      : rank(tensor_rank), sends(rank), receives(rank), kept(rank), kept_destinations(rank) {}

  /// Adds a box to `sends`; `offset` and `strides` are its offset and strides at the receiver, see `peer_positions`.
  PARTITA_DECL void add_send(std::size_t to, const std::size_t* shape, const std::size_t* at, std::ptrdiff_t offset,
                             const std::ptrdiff_t* strides, std::size_t staging_offset = 0);
  PARTITA_DECL void add_kept_box(const std::size_t* shape, const std::size_t* source_position,
                                 const std::size_t* destination_start);  ///< Adds a box that stays on this worker.
  /// The offset, in the receiver's block, of the box of the k-th send, in elements.
  std::ptrdiff_t peer_offset(std::size_t k) const { return peer_positions[k * (1 + rank)]; }
  /// The strides of the receiver's block for the box of the k-th send, in the order of the source's dimensions.
  const std::ptrdiff_t* peer_strides(std::size_t k) const { return peer_positions.data() + k * (1 + rank) + 1; }

  bool has_boxes() const { return !sends.empty() || !receives.empty() || !kept.empty(); }  ///< sent, received or kept
  PARTITA_DECL void clear_boxes();                    ///< Removes all sent, received and kept boxes.
  PARTITA_DECL lowered_plan make_empty_copy() const;  ///< Makes a copy of this plan that has no boxes.
  /// Removes the boxes of this plan, and copies the properties of another plan, without its boxes. Frees no memory.
  PARTITA_DECL void copy_properties(const lowered_plan& other);
};

/// Converts an exchange plan to a lowered_plan, in the memory of `low`.
template <std::size_t Rank>
void lower_plan(const exchange_plan<Rank>& plan, lowered_plan& low) {
  static_assert(Rank == dynamic || Rank <= most_dimensions,
                "partita: requires blocks of rank 0 to 16; reshape the block to fewer dimensions");
  low.clear_boxes();
  const auto assign = [](auto& to, const auto& from) { to.assign(from.begin(), from.end()); };
  low.worker = plan.worker;
  low.accumulate = plan.accumulate;
  assign(low.source_shape, plan.source_shape);
  assign(low.received_shape, in_source_order(plan.destination_shape, plan.axes));
  const auto dense = place_in_block<Rank>::of({}, plan.destination_shape).strides();
  assign(low.received_strides, in_source_order(dense, plan.axes));
  low.sends.reserve(plan.sends.size());
  low.peer_positions.reserve(plan.sends.size() * (1 + low.rank));
  low.receives.reserve(plan.receives.size());
  for (const transfer<Rank>& t : plan.sends) {
    const auto strides = in_source_order(t.at_peer.strides(), plan.axes);
    low.add_send(t.worker, t.where.shape().data(), t.at.data(), static_cast<std::ptrdiff_t>(t.at_peer.offset),
                 strides.data());
  }
  for (const transfer<Rank>& t : plan.receives)
    low.receives.add(t.worker, in_source_order(t.where.shape(), plan.axes).data(),
                     in_source_order(t.at, plan.axes).data());
  if (plan.accumulate) {
    for (const transfer<Rank>& t : plan.receives) low.sum_positions.push_back(plan.position_in_sum(t.worker));
    low.sum_positions.push_back(plan.position_in_sum(plan.worker));
  }
  for (const kept_box<Rank>& k : plan.kept)
    low.add_kept_box(k.where.shape().data(), k.source_start.data(),
                     in_source_order(k.destination_start, plan.axes).data());
}
/// Returns an exchange plan as a lowered_plan.
template <std::size_t Rank>
lowered_plan lowered(const exchange_plan<Rank>& plan) {
  lowered_plan low(plan.source_shape.size());
  lower_plan(plan, low);
  return low;
}

}  // namespace partita::detail

#ifndef PARTITA_CORE
#include <partita/comm/detail/exchange/impl/lowered_plan.ipp>
#endif
