// Moves blocks of several tensors together: combines the plans of the tensors, so that boxes of different tensors from
// one worker to another can travel in one message.
//
// The combined plan has the dimensions of all tensors in sequence. A box of one tensor has extent 1 in the dimensions
// of the other tensors. For each tensor but the first the plan has one more dimension, whose stride leads to the start
// of the tensor's block.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <partita/array/strided.hpp>
#include <partita/comm/detail/exchange/lowered_plan.hpp>
#include <partita/core/config.hpp>
#include <vector>

namespace partita::detail {

/// The number of dimensions of a combined plan: the sum of the ranks of the blocks, and one for each block but the
/// first.
template <std::size_t... Rank>
inline constexpr std::size_t joint_dimension_count = (Rank + ...) + sizeof...(Rank) - 1;

/// Combines `plans`, which are the plans of one worker for one kind of elements, into one plan. The boxes between two
/// workers are in the order of the tensors. Cost: O(boxes × tensors).
PARTITA_DECL lowered_plan join_plans(const std::vector<lowered_plan>& plans);

/// Whether blocks can be moved side by side: whether the distances between them are multiples of the size of an
/// element. Blocks of complex numbers may have other distances, because a complex number may have any address that a
/// real number may have.
template <class T, std::size_t Rank, std::size_t N>
bool are_whole_elements_apart(const std::array<strided<T, Rank>, N>& blocks) {
  const auto offset = [](const T* block) { return reinterpret_cast<std::uintptr_t>(block) % sizeof(T); };
  bool all = true;
  for (const auto& block : blocks) all = all && offset(block.data) == offset(blocks[0].data);
  return all;
}

/// The addresses of several blocks of one element type: the address of the first block that is not null, the shapes and
/// strides of all blocks in sequence, and the distances from the first block to the others.
template <class T, std::size_t... Rank>
struct blocks_side_by_side {
  static constexpr std::size_t dimensions = joint_dimension_count<Rank...>;  ///< the length of shape and strides
  T* data = nullptr;                                                         ///< the first block that is not null
  std::array<std::size_t, dimensions> shape{};                               ///< of all blocks in sequence; then zeros
  std::array<std::ptrdiff_t, dimensions> strides{};                          ///< of all blocks; then their distances

  blocks_side_by_side() = default;
  explicit blocks_side_by_side(const strided<T, Rank>&... blocks) {
    ((data = data == nullptr ? blocks.data : data), ...);
    std::size_t d = 0, block = 0;
    const auto add = [&](const auto& b) {
      for (std::size_t e = 0; e < b.shape.size(); ++e, ++d) shape[d] = b.shape[e], strides[d] = b.strides[e];
      if (block > 0 && b.data != nullptr)
        strides[dimensions - sizeof...(Rank) + block] = steps_from_first_block(b.data);
      ++block;
    };
    (add(blocks), ...);
  }

 private:
  /// The distance from `data` to another block, in elements. Requires: a distance of whole elements.
  std::ptrdiff_t steps_from_first_block(const T* block) const {
    const auto bytes = reinterpret_cast<std::intptr_t>(block) - reinterpret_cast<std::intptr_t>(data);
    return static_cast<std::ptrdiff_t>(bytes) / static_cast<std::ptrdiff_t>(sizeof(T));
  }
};

}  // namespace partita::detail

#ifndef PARTITA_CORE
#include <partita/comm/impl/side_by_side.ipp>
#endif
