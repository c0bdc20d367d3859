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
#include <partita/plan/repartition_plan.hpp>
#include <vector>

namespace partita {

/// Where each dimension of the result comes from: dimension k of the result is dimension axes[k] of the source.
template <std::size_t Rank>
using axes_order = std::array<std::size_t, Rank>;

template <std::size_t Rank>
constexpr axes_order<Rank> same_axes() {
  axes_order<Rank> axes{};
  for (std::size_t d = 0; d < Rank; ++d) axes[d] = d;
  return axes;
}

namespace detail {

/// A value for each dimension of the result, given in the order of the source's dimensions.
template <class T, std::size_t Rank>
constexpr std::array<T, Rank> in_source_order(const std::array<T, Rank>& of_result, const axes_order<Rank>& axes) {
  std::array<T, Rank> of_source{};
  for (std::size_t k = 0; k < Rank; ++k) of_source[axes[k]] = of_result[k];
  return of_source;
}

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
/// result: dimension k of the result is dimension axes[k] of the source. Cost: O(own overlaps) for any number of
/// workers.
template <class Src, class Dst, std::size_t Rank>
exchange_schedule<Rank> schedule_repartition(const grid<Src>& src, const decomposition<Rank>& from,
                                             const grid<Dst>& dst, const decomposition<Rank>& to,
                                             const axes_order<Rank>& axes, std::size_t worker) {
  axes_order<Rank> back{};
  for (std::size_t k = 0; k < Rank; ++k) back[axes[k]] = k;
  const auto wanted = decomposition<Rank>::make([&](std::size_t d) { return to.cuts[back[d]]; });
  const auto place_of = [&](const index<Rank>& in_source) {  // position in the destination's own grid
    index<Rank> i{};
    for (std::size_t k = 0; k < Rank; ++k) i[k] = in_source[axes[k]];
    return i;
  };
  exchange_schedule<Rank> schedule;
  schedule.worker = worker;
  const std::size_t as_source = src.place(worker), as_destination = dst.place(worker);
  if (as_destination < dst.size()) {
    const auto shape = to.shape(dst.index(as_destination));
    schedule.received_shape = detail::in_source_order(shape, axes);
    schedule.received_strides = detail::in_source_order(detail::dense_strides(shape), axes);
    index<Rank> j = detail::in_source_order(dst.index(as_destination), axes);
    detail::for_each_overlap(
        wanted, j, from, [&](const index<Rank>& i, const box<Rank>& where, const index<Rank>& at, const index<Rank>&) {
          const std::size_t peer = src.worker(i);
          if (peer != worker) schedule.receives.push_back({peer, where.shape(), at, 0, {}});
        });
  }
  if (as_source < src.size()) {
    const index<Rank> i = src.index(as_source);
    schedule.source_shape = from.shape(i);
    detail::for_each_overlap(
        from, i, wanted,
        [&](const index<Rank>& j, const box<Rank>& where, const index<Rank>& at, const index<Rank>& at_other) {
          const index<Rank> place = place_of(j);
          const std::size_t peer = dst.worker(place);
          if (peer == worker) {
            schedule.kept.push_back({where.shape(), at, at_other});
            return;
          }
          const auto strides = detail::in_source_order(detail::dense_strides(to.shape(place)), axes);
          schedule.sends.push_back(
              {peer, where.shape(), at, detail::offset_of<Rank>({peer, where.shape(), at_other}, strides), strides});
        });
  }
  detail::group_boxes_by_worker(schedule.sends);
  detail::group_boxes_by_worker(schedule.receives);
  return schedule;
}

/// The same for blocks that are staggered on either side: one box of the tensor for each place of the grid, those of
/// `to` in the order of the result's dimensions. Turned round, it is the way back. Cost: O(source + destination
/// workers).
template <class Src, class Dst, std::size_t Rank>
exchange_schedule<Rank> schedule_repartition(const grid<Src>& src, const std::vector<box<Rank>>& from,
                                             const grid<Dst>& dst, const std::vector<box<Rank>>& to,
                                             const axes_order<Rank>& axes, std::size_t worker) {
  const auto in_source = [&](const box<Rank>& b) {
    return box<Rank>{detail::in_source_order(b.start, axes), detail::in_source_order(b.stop, axes)};
  };
  exchange_schedule<Rank> schedule;
  schedule.worker = worker;
  const std::size_t as_source = src.place(worker), as_destination = dst.place(worker);
  if (as_destination < dst.size()) {
    const box<Rank> own = in_source(to[as_destination]);
    schedule.received_shape = own.shape();
    schedule.received_strides = detail::in_source_order(detail::dense_strides(to[as_destination].shape()), axes);
    for (std::size_t place = 0; place < from.size(); ++place) {
      const box<Rank> common = intersection(from[place], own);
      const std::size_t peer = src.workers()[place];
      if (!common.empty() && peer != worker)
        schedule.receives.push_back({peer, common.shape(), relative_to(common, own.start).start, 0, {}});
    }
  }
  if (as_source < src.size()) {
    const box<Rank>& own = from[as_source];
    schedule.source_shape = own.shape();
    for (std::size_t place = 0; place < to.size(); ++place) {
      const box<Rank> other = in_source(to[place]), common = intersection(own, other);
      if (common.empty()) continue;
      const index<Rank> at = relative_to(common, own.start).start, at_other = relative_to(common, other.start).start;
      const std::size_t peer = dst.workers()[place];
      if (peer == worker) {
        schedule.kept.push_back({common.shape(), at, at_other});
        continue;
      }
      const auto strides = detail::in_source_order(detail::dense_strides(to[place].shape()), axes);
      schedule.sends.push_back(
          {peer, common.shape(), at, detail::offset_of<Rank>({peer, common.shape(), at_other}, strides), strides});
    }
  }
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
