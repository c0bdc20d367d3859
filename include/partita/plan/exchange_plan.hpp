// The exchange plan: which boxes one worker sends, keeps and receives, and where each of them lies in both blocks. What
// is shown, simulated and executed is this one object; it holds no data and knows no MPI.
#pragma once

#include <array>
#include <cstddef>
#include <partita/core/box.hpp>
#include <partita/plan/stable_sort.hpp>
#include <partita/rule/permute.hpp>
#include <vector>

namespace partita {

/// Where a box lies in a dense block of another worker: the number of its first element, and how far apart elements are
/// along the block's dimensions; along the last they are neighbours.
template <std::size_t Rank>
struct place_in_block {
  std::size_t offset = 0;
  std::array<std::size_t, Rank == 0 ? 0 : Rank - 1> steps{};

  static constexpr place_in_block of(const index<Rank>& at, const std::array<std::size_t, Rank>& shape) {
    place_in_block place;
    std::size_t step = 1;
    for (std::size_t d = Rank; d-- > 0;) {
      if (d + 1 < Rank) place.steps[d] = step;
      place.offset += at[d] * step;
      step *= shape[d];
    }
    return place;
  }
  constexpr std::array<std::ptrdiff_t, Rank> strides() const {
    std::array<std::ptrdiff_t, Rank> all{};
    for (std::size_t d = 0; d < Rank; ++d) all[d] = d + 1 < Rank ? static_cast<std::ptrdiff_t>(steps[d]) : 1;
    return all;
  }
  friend constexpr bool operator==(const place_in_block&, const place_in_block&) = default;
};

/// One box that moves between this worker and a peer.
template <std::size_t Rank>
struct transfer {
  std::size_t worker = 0;        ///< the peer's worker id
  box<Rank> where{};             ///< the indices of the global tensor that move; of the result, where they are received
  index<Rank> at{};              ///< where they start in this worker's own block
  place_in_block<Rank> there{};  ///< where they lie in the peer's block, in the dimensions of the peer's tensor

  friend constexpr bool operator==(const transfer&, const transfer&) = default;
};

/// The part of a box that stays with its worker.
template <std::size_t Rank>
struct kept_box {
  box<Rank> where{};             ///< the indices of the global tensor, in the order of the source's dimensions
  index<Rank> at_source{};       ///< where it starts in the block given
  index<Rank> at_destination{};  ///< where it starts in the block received

  friend constexpr bool operator==(const kept_box&, const kept_box&) = default;
};

/// The plan of one worker. `sends` and `receives` ascend by peer; both sides list a pair's boxes in the same order.
/// Where dimensions are permuted, each side names its boxes in the dimensions of its own tensor.
template <std::size_t Rank>
struct exchange_plan {
  std::size_t worker = 0;
  std::array<std::size_t, Rank> extents{};  ///< of the global tensor; of the source, where dimensions are permuted
  bool gives = false;                       ///< active on the source partition
  bool takes = false;                       ///< active on the destination partition
  std::array<std::size_t, Rank> source_shape{};
  std::array<std::size_t, Rank> destination_shape{};
  std::vector<transfer<Rank>> sends;
  std::vector<transfer<Rank>> receives;
  std::vector<kept_box<Rank>> kept;
  axes_order<Rank> axes = same_axes<Rank>();  ///< dimension k of the result is dimension axes[k] of the source
  /// Whether each element goes to exactly one place. If it does not (wholes for all of a group, sources with replicas),
  /// the reversed plan sums.
  bool one_to_one = true;
  /// Arriving boxes are added to zeros instead of written: in this order of the workers that they come from, own boxes
  /// in their place (none said: ascending), so that the order of a sum depends on the plan alone.
  bool accumulate = false;
  std::vector<std::size_t> order;

  /// Where what comes from a worker stands in a sum.
  std::size_t turn_of(std::size_t from) const {
    for (std::size_t k = 0; k < order.size(); ++k)
      if (order[k] == from) return k;
    return from;
  }

  /// How many peers this worker sends to (receives from): one message for each. What nodes share: node_messages.
  std::size_t messages_sent() const { return peers(sends); }
  std::size_t messages_received() const { return peers(receives); }
  /// How many elements leave this worker (arrive from others, stay).
  std::size_t elements_sent() const { return elements(sends); }
  std::size_t elements_received() const { return elements(receives); }
  std::size_t elements_kept() const { return elements(kept); }
  /// Whether no element leaves or arrives: the block is copied as it stands.
  bool identity() const {
    return sends.empty() && receives.empty() && axes == same_axes<Rank>() &&
           (!gives || !takes || source_shape == destination_shape);
  }

  friend bool operator==(const exchange_plan&, const exchange_plan&) = default;

 private:
  static std::size_t peers(const std::vector<transfer<Rank>>& moves) {
    std::size_t n = 0;
    for (std::size_t k = 0; k < moves.size(); ++k) n += k == 0 || moves[k].worker != moves[k - 1].worker ? 1U : 0U;
    return n;
  }
  template <class Moves>
  static std::size_t elements(const Moves& moves) {
    std::size_t n = 0;
    for (const auto& move : moves) n += move.where.volume();
    return n;
  }
};

/// The same plan for the way back: what was sent is received, and added up where that is the adjoint.
template <std::size_t Rank>
exchange_plan<Rank> reversed(const exchange_plan<Rank>& plan) {
  exchange_plan<Rank> back;
  back.worker = plan.worker;
  back.extents = in_result_order(plan.extents, plan.axes);
  back.gives = plan.takes;
  back.takes = plan.gives;
  back.source_shape = plan.destination_shape;
  back.destination_shape = plan.source_shape;
  back.sends = plan.receives;
  back.receives = plan.sends;
  back.axes = inverse_axes(plan.axes);
  back.one_to_one = plan.one_to_one;
  back.accumulate = !plan.one_to_one && !plan.accumulate;
  back.order = plan.order;
  back.kept.reserve(plan.kept.size());
  for (const kept_box<Rank>& k : plan.kept)
    back.kept.push_back({in_result_order(k.where, plan.axes), k.at_destination, k.at_source});
  return back;
}

namespace detail {

/// Brings the transfers of each peer together and keeps their order.
template <std::size_t Rank>
void group_by_peer(std::vector<transfer<Rank>>& moves) {
  stable_sort(moves, [](const transfer<Rank>& t) { return t.worker; });
}

}  // namespace detail
}  // namespace partita
