// Operations that may compute along sharded dimensions although an element of the result depends on elements in several
// blocks: each worker receives what it needs of other blocks, a window of an operand or the sums of the blocks before
// its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <partita/plan/mesh_block.hpp>
#include <partita/plan/mesh_links.hpp>
#include <partita/plan/reshard_exchange.hpp>
#include <partita/rule/sharding/rule.hpp>

namespace partita {

/// A copy of rule r in which the dimensions `dimensions` (as bits) may be sharded. Each of these dimensions has the
/// same factor in all tensors of the set `of` (operands first), so that the same axes shard it in all of them. The
/// extents of these tensors may differ; the size of the factor is the extent of the last tensor.
constexpr rule with_shardable_dimensions(rule r, tensor_set of, std::uint32_t dimensions) {
  const auto is_free = [&](char letter) {
    for (std::size_t f = 0; f < r.factor_count; ++f)
      if (r.factors[f].letter == letter) return false;
    return true;
  };
  for (std::size_t d = 0; d < most_dimensions; ++d) {
    if ((dimensions >> d & 1U) == 0) continue;
    std::size_t shared = most_factors, size = dynamic;
    for (std::size_t t = 0; t < r.tensor_count(); ++t) {
      if (!contains(of, t) || d >= r.rank(t) || r.at(t, d).count != 1) continue;
      std::uint8_t& term = r.terms[r.at(t, d).first];
      size = r.factors[term].size;
      if (shared == most_factors) {
        shared = term;
        factor& one = r.factors[shared];
        one.kind = factor_kind::pass_through, one.extents_may_differ = true;
        for (char letter = 'h'; one.letter == '_' && letter <= 'z'; ++letter)
          if (is_free(letter)) one.letter = letter;
      }
      term = static_cast<std::uint8_t>(shared);
    }
    if (shared != most_factors) r.factors[shared].size = size;
  }
  return r.complete();
}

/// The communication that an operation of a program performs itself if dimensions along which it computes are sharded.
struct operation_window {
  tensor_set of = 0;             ///< the tensors of which `dimensions` may be sharded, operands first
  std::uint32_t dimensions = 0;  ///< those that may be sharded, each by the same axes in all tensors `of`; as bits

  operation_window(tensor_set tensors, std::uint32_t along) : of(tensors), dimensions(along) {}  ///< along: as bits
  virtual ~operation_window() = default;

  /// How many elements of an operand, in how many messages, the worker at `place` of the mesh receives, for tensors of
  /// these shardings and shapes.
  virtual received_share receive_cost(std::size_t operand, std::size_t place, const sharding* layouts,
                                      const shape_list* shapes) const = 0;

  /// Whether `layout` shards one of `dimensions` of tensor t, so that the operation communicates.
  bool is_needed(std::size_t t, const sharding& layout) const {
    for (std::size_t d = 0; contains(of, t) && d < layout.rank(); ++d)
      if ((dimensions >> d & 1U) != 0 && !layout.cuts[d].empty()) return true;
    return false;
  }
};

namespace detail {

/// The number of elements and messages that a worker receives to get the indices `ranges` of a tensor, without those in
/// its own block.
constexpr received_share received_share_of_window(const short_list<interval>& ranges, const sharding& layout,
                                                  const shape_list& shape, std::size_t place) {
  std::size_t all = 1, own = 1, parts = 1;
  const short_list<interval> block = mesh_block(layout, shape, place);
  for (std::size_t d = 0; d < shape.size(); ++d) {
    all *= ranges[d].size();
    own *= overlap_length(ranges[d], block[d]);
    std::size_t overlapping = 0;  // the number of parts of the dimension that overlap the range
    for (std::size_t p = 0; p < layout.on.size(layout.cuts[d]); ++p)
      overlapping += overlap_length(part_of_dimension(layout.on, layout.cuts[d], shape[d], p), ranges[d]) != 0;
    parts *= overlapping;
  }
  received_share share;
  share.elements = all - own;
  share.messages = share.elements == 0 ? 0 : parts - (own != 0 ? 1U : 0U);
  return share;
}

}  // namespace detail

/// The cost, over all workers, of the windows of an operation with one result. A message has the cost of the slowest
/// axis that shards a tensor of the operation. Cost: time in O(workers that differ along an axis in use).
inline exchange_cost window_cost(const operation_window& window, const sharding* layouts, const shape_list* shapes,
                                 std::size_t operands, const mesh_links& over, std::size_t element_bytes) {
  const mesh& m = layouts[0].on;
  std::uint32_t used = 0;
  mesh_link slowest{0, 0};
  for (std::size_t t = 0; t <= operands; ++t) used |= layouts[t].cut_axes();
  for (std::size_t a = 0; a < m.rank(); ++a) {
    if ((used >> a & 1U) == 0) continue;
    if (over.along[a].latency > slowest.latency) slowest.latency = over.along[a].latency;
    if (over.along[a].seconds_per_byte > slowest.seconds_per_byte)
      slowest.seconds_per_byte = over.along[a].seconds_per_byte;
  }
  exchange_cost all;
  std::size_t workers = 0;
  for (std::size_t place = 0; place < m.size(); ++place) {
    bool is_copy = false;  // whether another worker with the same blocks was counted
    for (std::size_t a = 0; a < m.rank(); ++a)
      is_copy = is_copy || ((used >> a & 1U) == 0 && coordinate_of(m, place, a) != 0);
    if (is_copy) continue;
    received_share one;
    for (std::size_t i = 0; i < operands; ++i) {
      const received_share share = window.receive_cost(i, place, layouts, shapes);
      one.elements += share.elements, one.messages += share.messages;
    }
    const double latency = static_cast<double>(one.messages) * slowest.latency,
                 seconds = latency + static_cast<double>(one.elements * element_bytes) * slowest.seconds_per_byte;
    ++workers, all.mean += static_cast<double>(one.elements);
    if (one.elements > all.elements) all.elements = one.elements;
    if (one.messages > all.messages) all.messages = one.messages;
    if (seconds > all.seconds) all.seconds = seconds, all.latency_seconds = latency;
  }
  all.mean /= static_cast<double>(workers);
  return all;
}

}  // namespace partita
