// A tensor distributed over a partition: the partition together with the global extents.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <partita/array/expression.hpp>
#include <partita/comm/partition.hpp>
#include <partita/core/extents.hpp>
#include <partita/core/hash.hpp>
#include <partita/core/short_list.hpp>
#include <partita/plan/decomposition.hpp>

namespace partita {

/// A tensor of given global extents in the balanced decomposition over a partition.
template <class Partition, class Extents>
struct placed_tensor {
  Partition partition;  ///< whose workers have the blocks
  Extents extents;      ///< the extents of the whole tensor

  static constexpr std::size_t rank() { return Extents::rank(); }  ///< the number of dimensions of the tensor
  /// The shape of this worker's block: all zeros on an inactive worker.
  std::array<std::size_t, Extents::rank()> block_shape() const {
    if (!partition.active()) return {};
    return decomposition<Extents::rank()>::balanced(extents.array(), partition.extents().array())
        .shape(partition.index());
  }
  /// Returns an error message if a block has a wrong shape, else an empty text. Inactive workers may pass any block.
  template <array_expression X>
  text error_message_for(const X& x, const char* name) const {
    if (!partition.active() || detail::shape_of(x) == shape_list(block_shape())) return {};
    return text("requires as ") << name << " the block of the balanced cut of extents " << extents.array() << " over "
                                << partition.extents().array() << ", here of shape " << block_shape() << ", got "
                                << detail::shape_of(x) << "; repartition the tensor first";
  }
  /// A fingerprint of the placed tensor: equal for equal extents on equal partitions.
  std::uint64_t fingerprint() const { return hasher(partition.grid().fingerprint()).mix(extents.array()).value(); }
};

/// Places a tensor: `on(p_x, extents<8, 16>{})` is the partition of an operand together with its global extents.
template <class Partition, std::size_t... E>
placed_tensor<Partition, extents<E...>> on(const Partition& p, const extents<E...>& e) {
  static_assert(Partition::rank() == sizeof...(E),
                "partita::on(p_x, extents): requires a partition of the tensor's rank; reshape() it with extents of 1");
  return {p, e};
}

namespace detail {

/// Collective: at checks::agree, all workers throw the same shape_error if one of them reports a problem with its
/// blocks.
/// Cost:     one agreement at checks::agree. At checks::local there is no message, and only a worker with a problem
///           throws.
inline void agree_on_blocks(const world& everyone, const char* call, std::uint64_t fingerprint, const text& problem) {
  text sentence("partita::");
  sentence << call << ": " << (problem.empty() ? text("its blocks are as they should be") : problem);
  if (everyone.level() == checks::agree) {
    everyone.state()->agree(fingerprint, 0, problem.empty() ? failure::none : failure::shape, [&] { return sentence; });
  } else if (!problem.empty()) {
    throw shape_error(sentence);
  }
}

}  // namespace detail
}  // namespace partita
