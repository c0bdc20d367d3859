// The exchange plan: which boxes one worker sends, keeps and receives, and the position of each box in the blocks of
// both workers. The same plan can be printed, simulated and executed; a plan holds no data and needs no MPI.
#pragma once

#include <array>
#include <cstddef>
#include <partita/core/box.hpp>
#include <partita/plan/stable_sort.hpp>
#include <partita/rule/permute.hpp>
#include <vector>

namespace partita {
namespace detail {

/// A number for each dimension: an array, or a list if the rank is known at run time only.
template <std::size_t Rank>
struct numbers_per_dimension {
  using type = std::array<std::size_t, Rank>;                     ///< one number for each dimension
  static constexpr type in_order() { return same_axes<Rank>(); }  ///< The dimensions in their order.
};
template <>
struct numbers_per_dimension<dynamic> {
  using type = shape_list;  ///< one number for each dimension
  static constexpr type in_order() { return {}; }
};

}  // namespace detail

/// The position of a box in a contiguous block of another worker: the offset of its first element, and the strides
/// along the block's dimensions; the stride along the last dimension is 1.
template <std::size_t Rank>
struct place_in_block {
  std::size_t offset = 0;  ///< the distance of the box's first element from the start of the block, in elements
  std::array<std::size_t, Rank == 0 ? 0 : Rank - 1> steps{};  ///< the strides but the last, in elements

  /// The position of a box that starts at index `at` of a block of this shape.
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
  constexpr std::array<std::ptrdiff_t, Rank> strides() const {  ///< in elements; the last is 1
    std::array<std::ptrdiff_t, Rank> all{};
    for (std::size_t d = 0; d < Rank; ++d) all[d] = d + 1 < Rank ? static_cast<std::ptrdiff_t>(steps[d]) : 1;
    return all;
  }
  friend constexpr bool operator==(const place_in_block&, const place_in_block&) = default;
};
/// The position of a box in another worker's block whose rank is known at run time only; all strides are listed.
template <>
struct place_in_block<dynamic> {
  std::size_t offset = 0;              ///< the distance of the box's first element from the block's start, in elements
  short_list<std::ptrdiff_t> steps{};  ///< the strides, in elements

  static constexpr place_in_block of(const shape_list& at, const shape_list& shape) {
    place_in_block place{0, short_list<std::ptrdiff_t>::filled(shape.size(), 1)};
    std::size_t step = 1;
    for (std::size_t d = shape.size(); d-- > 0;) {
      place.steps[d] = static_cast<std::ptrdiff_t>(step);
      if (d < at.size()) place.offset += at[d] * step;
      step *= shape[d];
    }
    return place;
  }
  constexpr const short_list<std::ptrdiff_t>& strides() const { return steps; }  ///< in elements
  friend constexpr bool operator==(const place_in_block&, const place_in_block&) = default;
};

/// One box that moves between this worker and another worker, the peer.
template <std::size_t Rank>
struct transfer {
  std::size_t worker = 0;  ///< the peer's worker id
  box<Rank> where{};       ///< the global indices of the box: of the source if sent, of the result if received
  typename detail::numbers_per_dimension<Rank>::type at{};  ///< the position of the box in this worker's own block
  place_in_block<Rank> at_peer{};  ///< the position of the box in the peer's block, in the peer's dimensions

  friend constexpr bool operator==(const transfer&, const transfer&) = default;
};

/// The part of a block that stays on its worker.
template <std::size_t Rank>
struct kept_box {
  box<Rank> where{};  ///< the indices of the global tensor, in the order of the source's dimensions
  typename detail::numbers_per_dimension<Rank>::type source_start{};  ///< the position of the box in the source block
  /// The position of the box in the destination block.
  typename detail::numbers_per_dimension<Rank>::type destination_start{};

  friend constexpr bool operator==(const kept_box&, const kept_box&) = default;
};

/// The exchange plan of one worker. `sends` and `receives` are in ascending order of the peers; both workers of a pair
/// list their boxes in the same order. If dimensions are permuted, the boxes of `sends` are in the source's dimensions,
/// and those of `receives` in the result's. Rank is `dynamic` if it is known at run time only; then no dimensions are
/// permuted.
template <std::size_t Rank>
struct exchange_plan {
  using numbers_by_dimension = typename detail::numbers_per_dimension<Rank>::type;  ///< one number for each dimension

  std::size_t worker = 0;               ///< the worker whose plan this is
  numbers_by_dimension extents{};       ///< the extents of the global tensor; of the source, if dimensions are permuted
  bool gives = false;                   ///< whether this worker is active on the source partition
  bool takes = false;                   ///< whether this worker is active on the destination partition
  numbers_by_dimension source_shape{};  ///< the shape of this worker's block of the source
  numbers_by_dimension destination_shape{};  ///< the shape of this worker's block of the result
  std::vector<transfer<Rank>> sends;         ///< the boxes that this worker sends to other workers
  std::vector<transfer<Rank>> receives;      ///< the boxes that this worker receives from other workers
  std::vector<kept_box<Rank>> kept;          ///< the boxes that this worker copies to its own block of the result
  /// Dimension k of the result is dimension axes[k] of the source. If axes is empty, the order stays.
  numbers_by_dimension axes = detail::numbers_per_dimension<Rank>::in_order();
  /// Whether each element is copied to exactly one position. If an element is copied to several positions (on all
  /// members of a group, or on replicas), the reversed plan adds up the values at these positions.
  bool one_to_one = true;
  /// Whether the elements of received boxes are added up. The order of a sum depends only on the plan: it is the order
  /// of the source workers in `order` (ascending ids if empty), which includes this worker's own boxes.
  bool accumulate = false;
  std::vector<std::size_t> order;  ///< the source workers in the order of a sum

  /// A number by which source workers are sorted in a sum: the index in `order`; for a worker not listed, its id.
  std::size_t position_in_sum(std::size_t from) const {
    for (std::size_t k = 0; k < order.size(); ++k)
      if (order[k] == from) return k;
    return from;
  }

  /// The number of peers that this worker sends to, each in one message. Joint messages between nodes are counted in
  /// node_messages.
  std::size_t messages_sent() const { return peers(sends); }
  std::size_t messages_received() const { return peers(receives); }  ///< the number of peers that send to it
  /// The number of elements that this worker sends to other workers.
  std::size_t elements_sent() const { return elements(sends); }
  std::size_t elements_received() const { return elements(receives); }  ///< the number from other workers
  std::size_t elements_kept() const { return elements(kept); }          ///< the number that stays on this worker
  /// Whether no element leaves or arrives and no dimensions are permuted, so that the worker only copies its own block.
  bool identity() const {
    return sends.empty() && receives.empty() && axes == detail::numbers_per_dimension<Rank>::in_order() &&
           (!gives || !takes || source_shape == destination_shape);
  }

  friend bool operator==(const exchange_plan&, const exchange_plan&) = default;

 private:
  static std::size_t peers(const std::vector<transfer<Rank>>& moves) {  ///< the number of peers; grouped by peer
    std::size_t n = 0;
    for (std::size_t k = 0; k < moves.size(); ++k) n += k == 0 || moves[k].worker != moves[k - 1].worker ? 1U : 0U;
    return n;
  }
  template <class Moves>
  static std::size_t elements(const Moves& moves) {  ///< the elements of all boxes
    std::size_t n = 0;
    for (const auto& move : moves) n += move.where.volume();
    return n;
  }
};

/// The plan in the opposite direction: boxes that `plan` sends are received, and are added up if `plan` copies elements
/// to several positions and does not add up itself. The result takes over the memory of the plan `back`.
template <std::size_t Rank>
exchange_plan<Rank> reversed(const exchange_plan<Rank>& plan, exchange_plan<Rank>&& back = {}) {
  back.worker = plan.worker;
  back.extents = in_result_order(plan.extents, plan.axes);
  back.gives = plan.takes, back.takes = plan.gives;
  back.source_shape = plan.destination_shape;
  back.destination_shape = plan.source_shape;
  back.sends = plan.receives;
  back.receives = plan.sends;
  back.axes = inverse_axes(plan.axes);
  back.one_to_one = plan.one_to_one;
  back.accumulate = !plan.one_to_one && !plan.accumulate;
  back.order = plan.order;
  back.kept.clear(), back.kept.reserve(plan.kept.size());
  for (const kept_box<Rank>& k : plan.kept)
    back.kept.push_back({in_result_order(k.where, plan.axes), k.destination_start, k.source_start});
  return static_cast<exchange_plan<Rank>&&>(back);
}

namespace detail {

/// Groups transfers by peer, and keeps the order of the transfers of each peer.
template <std::size_t Rank>
void group_by_peer(std::vector<transfer<Rank>>& moves) {
  stable_sort(moves, [](const transfer<Rank>& t) { return t.worker; });
}

}  // namespace detail
}  // namespace partita
