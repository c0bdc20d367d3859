// A block of a tensor whose rank is known only at run time, and a loop over its rows.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <partita/comm/pooled.hpp>
#include <partita/core/config.hpp>
#include <partita/core/short_list.hpp>
#include <partita/plan/cut.hpp>

namespace partita::detail {

PARTITA_DECL std::size_t shape_size(const shape_list& shape);  ///< the number of elements of a block of this shape
PARTITA_DECL shape_list shape_of_box(const short_list<interval>& box);  ///< the sizes of its intervals
/// The strides of the dimensions of a dense array in C order.
PARTITA_DECL short_list<std::ptrdiff_t> strides_of(const shape_list& shape);

/// A block of dense elements in C order. Copies share their memory: check `is_unique` before changing elements.
template <class T>
struct tensor_block {
  shape_list shape{};           ///< the extents of the block
  std::shared_ptr<T> memory{};  ///< null for a block without memory, as in a dry run

  tensor_block() = default;
  /// Allocates uninitialised elements, in the arena `from` if it is not null.
  explicit tensor_block(const shape_list& of, arena* from = nullptr) : shape(of) {
    const std::size_t n = size() == 0 ? 1 : size();
    struct arena_scope {  ///< lets allocations use an arena until the end of the scope
      explicit arena_scope(arena* chosen) { pool_allocator<T>::arena_in_use = chosen; }
      ~arena_scope() { pool_allocator<T>::arena_in_use = nullptr; }
    } const use(from);
    memory = std::shared_ptr<T>(pool_allocator<T>().allocate(n), [n](T* p) { pool_allocator<T>().deallocate(p, n); });
    if (shape.empty()) *memory = T();  // a worker that is not on the mesh has a block of a scalar, too
  }

  std::size_t size() const { return shape_size(shape); }      ///< the number of elements
  T* data() const { return memory.get(); }                    ///< the first element, or null without memory
  bool is_unique() const { return memory.use_count() <= 1; }  ///< whether no other block shares the memory
  tensor_block copy() const {                                 ///< a block that has its own memory
    tensor_block other(shape);
    const std::size_t n = size();
    for (std::size_t k = 0; k < n; ++k) other.data()[k] = data()[k];
    return other;
  }
  void fill(const T& value) const {  ///< sets all elements
    const std::size_t n = size();
    for (std::size_t k = 0; k < n; ++k) data()[k] = value;
  }
};

/// Calls row(offsets, n) for every row along the last dimension of `shape`. `offsets[k]` is the offset of the row in
/// array k, whose strides are `steps[k]`. A shape of rank 0 has one row of one element.
template <std::size_t Arrays, class Row>
void for_each_row(const shape_list& shape, const std::array<short_list<std::ptrdiff_t>, Arrays>& steps, Row row) {
  const std::size_t rank = shape.size();
  for (const std::size_t extent : shape)
    if (extent == 0) return;
  std::ptrdiff_t at[Arrays] = {};
  if (rank == 0) return row(at, std::size_t{1});
  std::size_t index[most_dimensions] = {};
  for (;;) {
    row(at, shape[rank - 1]);
    std::size_t d = rank - 1;
    for (;;) {
      if (d == 0) return;
      --d;
      for (std::size_t k = 0; k < Arrays; ++k) at[k] += steps[k][d];
      if (++index[d] < shape[d]) break;
      for (std::size_t k = 0; k < Arrays; ++k) at[k] -= steps[k][d] * static_cast<std::ptrdiff_t>(shape[d]);
      index[d] = 0;
    }
  }
}

#define PARTITA_INSTANTIATE_TENSOR_BLOCK(EXTERN, T) EXTERN template struct tensor_block<T>;
PARTITA_FOR_EACH_USUAL_ELEMENT(PARTITA_INSTANTIATE_TENSOR_BLOCK, extern)

}  // namespace partita::detail

#ifndef PARTITA_CORE
#include <partita/sharded/detail/impl/tensor_block.ipp>
#endif
