// Executes operations that read windows of their operands along sharded dimensions: the features of images (dimensions
// from 2 on), or dimensions that an operation names. Each worker receives the windows of the operands that its block of
// one tensor, the anchor, reads; dimensions along which windows slide are not gathered.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <partita/sharded/detail/along_cuts.hpp>
#include <utility>
#include <vector>

namespace partita::detail {

/// Operation Op reads windows of its operands. `Op::windowed` has a bit for each operand that is read in windows. The
/// windows are positioned relative to tensor number `Op::anchor`: an operand, or the result if the number equals the
/// number of operands. The rule of Op does not shard features; layouts_of_features() adds their sharding. `window(i,
/// box of the anchor, extents of the operands)` returns the box of operand i that is read, along the features only.
/// Features are the dimensions from 2 on; an operation with windows along other dimensions has a bit for each of these
/// in `Op::features`.
template <class Op>
concept reads_features = requires {
  Op::windowed;
  Op::anchor;
};

inline constexpr std::size_t max_window_operands = 8;  ///< the most operands of an operation over sharded features

/// Whether Op reads windows along sharded dimensions outside of traced programs, too: it does unless it declares
/// `Op::sharded_only_in_programs`.
template <class Op>
inline constexpr bool reads_features_of_tensors = reads_features<Op> && !requires { Op::sharded_only_in_programs; };

/// Whether dimension d is a feature: a dimension along which windows slide.
template <class Op>
constexpr bool is_feature_dimension(std::size_t d) {
  if constexpr (requires { Op::features; }) return (Op::features >> d & 1U) != 0;
  else return d >= 2;
}
template <class Op>
constexpr bool shards_features(const sharding& s) {  ///< whether s shards a feature
  for (std::size_t d = 0; d < s.rank(); ++d)
    if (is_feature_dimension<Op>(d) && !s.cuts[d].empty()) return true;
  return false;
}

/// Whether tensor i (an operand or the result) has features: it is read through windows or is the anchor.
template <class Op>
constexpr bool has_features(std::size_t i) {
  return (Op::windowed >> i & 1U) != 0 || Op::anchor == i;
}
/// Replaces the intervals of a box along the features by those of a window.
template <class Op>
constexpr short_list<interval> replace_features(short_list<interval> box, const short_list<interval>& window) {
  for (std::size_t d = 0, k = 0; d < box.size(); ++d)
    if (is_feature_dimension<Op>(d)) box[d] = window[k++];
  return box;
}

/// The layouts of the operands and the result of an operation over sharded features.
struct layouts_over_features {
  std::array<sharding, max_window_operands> operands{};  ///< the layout of each operand; the rest is unused
  sharding result{};                                     ///< the layout of the result
};

/// Finds the layouts of an operation over sharded features. All features get the sharding of the anchor (the tensor
/// whose blocks determine the windows) if it is an operand with sharded features, else of the first operand with
/// sharded features. For the mesh axes that do not shard features, the operation's rule decides. If the anchor is an
/// operand, the result is a partial sum over the axes that shard features.
template <class Op>
constexpr layouts_over_features layouts_of_features(const rule& how, const spec_list& x) {
  const std::size_t n = x.size();
  std::size_t first = 0;
  while (first + 1 < n && !(has_features<Op>(first) && shards_features<Op>(x[first].layout))) ++first;
  if (Op::anchor < n && shards_features<Op>(x[Op::anchor].layout)) first = Op::anchor;
  const sharding& lead = x[first].layout;
  std::uint32_t used = 0;
  for (std::size_t d = 0; d < lead.rank(); ++d)
    if (is_feature_dimension<Op>(d)) used |= lead.cuts[d].set();
  const auto with_features = [&](sharding s) {
    for (std::size_t d = 0; d < s.rank(); ++d)
      if (is_feature_dimension<Op>(d)) s.cuts[d] = lead.cuts[d];
    return s;
  };
  std::array<spec, max_window_operands> specs{};
  for (std::size_t i = 0; i < n; ++i) {
    sharding s = layout_of(x[i].layout);
    for (std::size_t d = 0; d < s.rank(); ++d)
      for (std::size_t a = 0; a < s.on.rank(); ++a)
        if ((used >> a & 1U) != 0 || (is_feature_dimension<Op>(d) && has_features<Op>(i)))
          s.cuts[d] = s.cuts[d].without(a);
    for (std::size_t a = 0; a < s.on.rank(); ++a)
      if ((used >> a & 1U) != 0) s.pending[a] = pending_reduction::none;
    specs[i] = spec(s, x[i].shape).with_element_bytes(x[i].element_bytes);
  }
  const propagation p = propagate(lead.on, how, spec_list(specs.data(), n));
  layouts_over_features all;
  for (std::size_t i = 0; i < n; ++i)
    all.operands[i] = has_features<Op>(i) ? with_features(layout_of(p.operands[i])) : layout_of(p.operands[i]);
  all.result = layout_of(p.results[0]);
  if (Op::anchor == n) all.result = with_features(all.result);
  else  // the result is a partial sum: each worker has only a part of the anchor
    for (std::size_t a = 0; a < lead.on.rank(); ++a)
      if ((used >> a & 1U) != 0) all.result.pending[a] = pending_reduction::sum;
  return all;
}

/// Whether an operand has sharded features, so that the operation is executed over sharded features.
template <class Op, class... Layout>
constexpr bool has_sharded_features(const Layout&... layouts) {
  if constexpr (reads_features_of_tensors<Op>) {
    std::size_t i = 0;
    return sizeof...(layouts) <= max_window_operands &&
           ((has_features<Op>(i++) && shards_features<Op>(layouts)) || ...);
  } else {
    return false;
  }
}

/// The boxes of an operation that reads or computes more than its block; see wider_windows.hpp.
template <class T>
struct wider_window {
  const block_window<T>* operand_window = nullptr;          ///< this worker's box of operand 0; null if it is the block
  const std::vector<worker_box>* computed_boxes = nullptr;  ///< the box that each worker computes; null: its block
  block_window<T> result_window{};                          ///< the box of the result that this worker computed
};
/// Copies the elements of a box from a wider box that contains it.
template <class T>
tensor_block<T> copy_part(const block_window<T>& wide, const short_list<interval>& box) {
  const tensor_block<T> y = new_block<T>(shape_of_box(box));
  const short_list<std::ptrdiff_t> from = strides_of(wide.block.shape), to = strides_of(y.shape);
  std::ptrdiff_t first = 0;
  for (std::size_t d = 0; d < box.size(); ++d)
    first += static_cast<std::ptrdiff_t>(box[d].start - wide.box[d].start) * from[d];
  run_step<T>({wide.block}, y, [from, to, first, shape = y.shape](const T* const* x, T* all) {
    for_each_row(shape, std::array{from, to}, [&](const std::ptrdiff_t* at, std::size_t n) {
      const T* const row = x[0] + first + at[0];
      std::copy(row, row + n, all + at[1]);
    });
  });
  return y;
}

/// Executes an operation over sharded features. Collective if elements move.
template <class T, class Op>
sharded_tensor<T> run_over_features(const Op& op, const applied_operation& work,
                                    const std::vector<sharded_tensor<T>>& x, const layouts_over_features* preset,
                                    wider_window<T>* wider = nullptr) {
  const auto on = common_mesh(work, x);
  const scoped_name name(work.how.name());
  const std::size_t n = x.size();
  std::array<spec, max_window_operands> specs{};
  std::array<shape_list, max_window_operands> shapes{};
  for (std::size_t i = 0; i < n; ++i) {
    specs[i] = spec(x[i].layout(), x[i].extents()).with_element_bytes(sizeof(T));
    shapes[i] = x[i].extents();
  }
  const std::uint64_t number =
      record_operation<T>(operation_fingerprint(work), work.how.name(), on.get(), result_shape(work.how, 0), x);
  // 1. Find the layouts of operands and result, and the boxes of the anchor.
  const layouts_over_features layouts =
      preset != nullptr ? *preset : layouts_of_features<Op>(work.how, spec_list(specs.data(), n));
  const shape_list extents = result_shape(work.how, 0);
  const sharding& of_anchor = Op::anchor < n ? layouts.operands[Op::anchor] : layouts.result;
  const bool is_wider = wider != nullptr && wider->computed_boxes != nullptr;
  const auto anchors =
      is_wider ? *wider->computed_boxes : on->boxes_of(of_anchor, Op::anchor < n ? shapes[Op::anchor] : extents);
  // 2. Reshard each operand, and move to each worker the windows of operands that it reads.
  std::vector<sharding> operand_layouts;
  std::vector<tensor_block<T>> blocks, read;
  std::vector<box_in_tensor> places;
  for (std::size_t i = 0; i < n; ++i) {
    const auto& s = *x[i].state();
    operand_layouts.push_back(layouts.operands[i]);
    require_no_forbidden_move(work.how, i, s.layout, operand_layouts[i], s.extents, sizeof(T));
    blocks.push_back(resharded(*on, s.block, s.layout, operand_layouts[i], s.extents));
    block_window<T> window{on->box(operand_layouts[i], shapes[i]), blocks[i]};
    if (i == 0 && wider != nullptr && wider->operand_window != nullptr) {
      window = *wider->operand_window;
    } else if ((Op::windowed >> i & 1U) != 0) {
      auto wanted = on->boxes_of(operand_layouts[i], shapes[i]);
      for (std::size_t k = 0; k < wanted.size(); ++k) {
        if (!wanted[k].has_box) continue;
        wanted[k].box = replace_features<Op>(wanted[k].box, op.window(i, anchors[k].box, shape_span(shapes.data(), n)));
      }
      window = fetch_window(*on, work.how.name(), blocks[i], operand_layouts[i], shapes[i], wanted);
    }
    read.push_back(window.block);
    places.push_back({window.box, shapes[i]});
  }
  // 3. Compute this worker's block of the result.
  const auto box = on->box(layouts.result, extents);
  const auto computed_box = is_wider && on->active() ? anchors[on->worker()].box : box;
  tensor_block<T> block =
      on->active() ? local_result(work, read, places, {computed_box, extents}) : zero_block<T>(shape_of_box(box));
  if (is_wider) {
    wider->result_window = {computed_box, block};
    if (on->active()) block = copy_part(wider->result_window, box);
  }
  return record_result(work, x, operand_layouts, blocks,
                       tensor_of<T>(on, layouts.result, extents, std::move(block), number));
}

}  // namespace partita::detail
