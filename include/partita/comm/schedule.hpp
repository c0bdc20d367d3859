// From two decompositions to the boxes that one worker exchanges: the executable form of a repartition's plan, with the
// places and strides of the blocks on the other side, and with the dimensions in another order there if that is wanted.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <partita/comm/box_exchange.hpp>
#include <partita/core/box.hpp>
#include <partita/plan/decomposition.hpp>
#include <partita/plan/grid.hpp>
#include <partita/plan/overlap.hpp>
#include <partita/rule/permute.hpp>
#include <vector>

namespace partita {

namespace detail {

template <std::size_t Rank>
constexpr std::array<std::ptrdiff_t, Rank> dense_strides(const std::array<std::size_t, Rank>& shape) {
  std::array<std::ptrdiff_t, Rank> strides{};
  std::ptrdiff_t next = 1;
  for (std::size_t d = Rank; d-- > 0;) {
    strides[d] = next;
    next *= static_cast<std::ptrdiff_t>(shape[d]);
  }
  return strides;
}

/// Peers ascend; the boxes of a pair keep the order in which both sides walk through the tensor.
template <class Boxes>
void group_boxes_by_worker(Boxes& boxes) {
  std::stable_sort(boxes.begin(), boxes.end(), [](const auto& a, const auto& b) { return a.worker < b.worker; });
}

}  // namespace detail

/// What `worker` exchanges to bring a tensor from `from` on `src` to `to` on `dst`, whose dimensions are those of the
/// result: dimension k of the result is dimension axes[k] of the source. Turned round, it is the way back. Each side is a
/// decomposition, or, where blocks are staggered, one box of the tensor for each place of its grid.
/// Cost: O(own overlaps) for any number of workers; O(workers of the other side) where that is staggered.
template <class Src, class From, class Dst, class To, std::size_t Rank>
exchange_schedule<Rank> schedule_repartition(const grid<Src>& src, const From& from, const grid<Dst>& dst, const To& to,
                                             const axes_order<Rank>& axes, std::size_t worker) {
  const axes_order<Rank> same = same_axes<Rank>(), back = inverse_axes(axes);
  const auto nothing_expected = [](std::size_t) {};
  exchange_schedule<Rank> schedule;
  schedule.worker = worker;
  const std::size_t as_source = src.place(worker), as_destination = dst.place(worker);
  if (as_destination < dst.size())
    detail::as_part(dst, to, as_destination, back, [&](const auto& cuts, const index<Rank>& j, const auto& shape) {
      schedule.received_shape = in_source_order(shape, axes);
      schedule.received_strides = in_source_order(detail::dense_strides(shape), axes);
      detail::for_each_meeting(cuts, j, src, from, same, [&](std::size_t place, const box<Rank>& where, const index<Rank>& at, const index<Rank>&) {
        const std::size_t peer = src.workers()[place];
        if (peer != worker) schedule.receives.push_back({peer, where.shape(), at, 0, {}});
      }, nothing_expected);
    });
  if (as_source < src.size())
    detail::as_part(src, from, as_source, same, [&](const auto& cuts, const index<Rank>& i, const auto& shape) {
      schedule.source_shape = shape;
      detail::for_each_meeting(cuts, i, dst, to, back, [&](std::size_t place, const box<Rank>& where, const index<Rank>& at, const index<Rank>& at_other) {
        const std::size_t peer = dst.workers()[place];
        if (peer == worker) {
          schedule.kept.push_back({where.shape(), at, at_other});
          return;
        }
        const auto strides = in_source_order(detail::dense_strides(detail::shape_at(dst, to, place)), axes);
        schedule.sends.push_back(
            {peer, where.shape(), at, detail::offset_of<Rank>({peer, where.shape(), at_other}, strides), strides});
      }, nothing_expected);
    });
  detail::group_boxes_by_worker(schedule.sends);
  detail::group_boxes_by_worker(schedule.receives);
  return schedule;
}

/// The boxes of all blocks of a decomposition. Requires that no cut is block-cyclic.
template <class Extents, std::size_t Rank>
std::vector<box<Rank>> boxes_of(const decomposition<Rank>& cuts, const grid<Extents>& places) {
  std::vector<box<Rank>> boxes(places.size());
  for (std::size_t k = 0; k < boxes.size(); ++k) boxes[k] = cuts.block(places.index(k));
  return boxes;
}

}  // namespace partita
