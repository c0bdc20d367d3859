// Operations that slide over the features of a tensor (its dimensions from 2 on) while these are sharded. Each worker
// receives the windows of the operands that its block of the anchor reads, and no dimension is gathered.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <partita/sharded/detail/along_cuts.hpp>
#include <utility>
#include <vector>

namespace partita::detail {

/// `Op::windowed` has a bit for each operand that is read through windows. The windows are positioned relative to
/// tensor `Op::anchor`: an operand, or the result if the number equals the number of operands. The rule of the
/// operation has all features whole, and is executed like that if no feature is sharded. `window(i, box of the anchor,
/// extents of the operands)` returns the features of operand i that are read, without batch and channels.
template <class Op>
concept reads_features = requires {
  Op::windowed;
  Op::anchor;
};

inline constexpr std::size_t first_feature = 2;

constexpr bool cuts_features(const sharding& s) {
  for (std::size_t d = first_feature; d < s.rank(); ++d)
    if (!s.cuts[d].empty()) return true;
  return false;
}

/// Whether operand i has the features that the windows slide over.
template <class Op>
constexpr bool has_features(std::size_t i) {
  return (Op::windowed >> i & 1U) != 0 || Op::anchor == i;
}

/// The layouts of the operands and the result of an operation over sharded features.
struct layouts_over_features {
  std::array<sharding, 3> operands{};
  sharding result{};
};

/// The features keep their sharding: that of the anchor if it is an operand with sharded features, else that of the
/// first operand. The rule decides over the axes that are left.
template <class Op>
constexpr layouts_over_features layouts_of_features(const rule& how, const spec_list& x) {
  const std::size_t n = x.size();
  sharding lead = x[0].layout;
  if (Op::anchor < n && cuts_features(x[Op::anchor].layout)) lead = x[Op::anchor].layout;
  std::uint32_t used = 0;
  for (std::size_t d = first_feature; d < lead.rank(); ++d) used |= lead.cuts[d].set();
  const auto with_features = [&](sharding s) {
    for (std::size_t d = first_feature; d < s.rank(); ++d) s.cuts[d] = lead.cuts[d];
    return s;
  };
  std::array<spec, 3> specs{};
  for (std::size_t i = 0; i < n; ++i) {
    sharding s = bare(x[i].layout);
    for (std::size_t d = 0; d < s.rank(); ++d)
      for (std::size_t a = 0; a < s.on.rank(); ++a)
        if ((used >> a & 1U) != 0 || (d >= first_feature && has_features<Op>(i))) s.cuts[d] = s.cuts[d].without(a);
    for (std::size_t a = 0; a < s.on.rank(); ++a)
      if ((used >> a & 1U) != 0) s.owed[a] = owed_reduction::none;
    specs[i] = spec(s, x[i].shape).of_bytes(x[i].element_bytes);
  }
  const propagation p = propagate(lead.on, how, spec_list(specs.data(), n));
  layouts_over_features all;
  for (std::size_t i = 0; i < n; ++i)
    all.operands[i] = has_features<Op>(i) ? with_features(bare(p.operands[i])) : bare(p.operands[i]);
  all.result = bare(p.results[0]);
  if (Op::anchor == n) all.result = with_features(all.result);
  else  // summed over places, of which each worker has only some
    for (std::size_t a = 0; a < lead.on.rank(); ++a)
      if ((used >> a & 1U) != 0) all.result.owed[a] = owed_reduction::sum;
  return all;
}

/// Whether the features of an operand that has features are sharded; then the operation runs over sharded features.
template <class Op, class... Layout>
constexpr bool is_over_cut_features(const Layout&... lies) {
  if constexpr (reads_features<Op>) {
    std::size_t i = 0;
    return ((has_features<Op>(i++) && cuts_features(lies)) || ...);
  } else {
    return false;
  }
}

/// Executes a bound operation over sharded features. Collective if anything moves.
template <class T, class Op>
sharded_tensor<T> run_over_features(const Op& op, const applied_operation& work,
                                    const std::vector<sharded_tensor<T>>& x, const layouts_over_features* settled) {
  const auto on = common_mesh(work, x);
  const naming_operation name(work.how.name());
  const std::size_t n = x.size();
  std::array<spec, 3> specs{};
  std::array<shape_list, 3> shapes{};
  for (std::size_t i = 0; i < n; ++i) {
    specs[i] = spec(x[i].layout(), x[i].extents()).of_bytes(sizeof(T));
    shapes[i] = x[i].extents();
  }
  const std::uint64_t number = noted<T>(number_of(work), work.how.name(), on.get(), result_shape(work.how, 0), x);
  // 1. Find the layouts of operands and result, and the boxes of the anchor.
  const layouts_over_features lies =
      settled != nullptr ? *settled : layouts_of_features<Op>(work.how, spec_list(specs.data(), n));
  const shape_list extents = result_shape(work.how, 0);
  const sharding& of_anchor = Op::anchor < n ? lies.operands[Op::anchor] : lies.result;
  const auto anchors = on->boxes_of(of_anchor, Op::anchor < n ? shapes[Op::anchor] : extents);
  const std::size_t me = on->everyone().id();
  // 2. Reshard each operand, then move to each worker the window that its box of the anchor reads.
  std::vector<sharding> needs;
  std::vector<tensor_block<T>> blocks, read;
  std::vector<tensor_place> places;
  for (std::size_t i = 0; i < n; ++i) {
    const auto& s = *x[i].state();
    needs.push_back(lies.operands[i]);
    require_in_place(work.how, i, s.layout, needs[i], s.extents, sizeof(T));
    blocks.push_back(resharded(*on, s.block, s.layout, needs[i], s.extents));
    read.push_back(blocks[i]);
    short_list<interval> mine = on->box(needs[i], shapes[i]);
    if ((Op::windowed >> i & 1U) != 0) {
      auto wanted = on->boxes_of(needs[i], shapes[i]);
      for (std::size_t k = 0; k < wanted.size(); ++k) {
        if (!wanted[k].there) continue;
        const auto features = op.window(i, anchors[k].box, shape_span(shapes.data(), n));
        for (std::size_t d = first_feature; d < shapes[i].size(); ++d) wanted[k].box[d] = features[d - first_feature];
      }
      const short_list<interval> window = wanted[me].box;
      auto& known = on->template known<T>(on->boxes_of(needs[i], shapes[i]), std::move(wanted));
      if (agreed_move<T>(*on, work.how.name(), known, needs[i], shapes[i])) {
        if (on->active()) mine = window;
        read[i] = is_dry_run() ? shape_alone<T>(shape_of_box(mine)) : tensor_block<T>(shape_of_box(mine), on->memory());
        if (!is_dry_run()) move_boxes(*on, known, blocks[i], read[i]);
      }
    }
    places.push_back({mine, shapes[i]});
  }
  // 3. Compute this worker's block of the result.
  const auto box = on->box(lies.result, extents);
  tensor_block<T> block;
  if (is_dry_run()) {
    block = shape_alone<T>(shape_of_box(box));
  } else if (on->active()) {
    block = local_result(work, read, places, {box, extents});
  } else {
    block = tensor_block<T>(shape_of_box(box));
    block.fill(T(0));
  }
  return recorded_result(work, x, needs, blocks, tensor_of<T>(on, lies.result, extents, std::move(block), number));
}

}  // namespace partita::detail
