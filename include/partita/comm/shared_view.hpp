// Blocks of shared memory that one worker fills and several workers read, as read-only tensors that a program may keep.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>
#include <partita/array/xtensor.hpp>
#include <partita/comm/detail/node/arena.hpp>
#include <partita/comm/detail/node/spin_lock.hpp>
#include <partita/comm/detail/world/process.hpp>
#include <partita/core/config.hpp>
#include <partita/core/index.hpp>
#include <utility>
#include <vector>

namespace partita {

namespace detail {

/// The header in front of the elements of a lent block: the number of views of the block, on all workers together.
struct alignas(64) lent_header {
  std::atomic<std::uint32_t> view_count;  ///< the views of the block on all workers
};
static_assert(sizeof(lent_header) == 64);

/// The blocks that this worker has lent. The memory pool of a block belongs to the lender, so the worker that drops the
/// last view cannot release the block. The lender therefore releases blocks without views when it lends the next block;
/// a loop that lends one block in each iteration soon needs no new memory.
class lent_blocks {
 public:
  /// Lends a block with room for `bytes` bytes of elements to `views` views. The elements begin on a cache line.
  PARTITA_DECL static lent_header* lend_block(arena& memory, std::size_t bytes, std::uint32_t views);
  static char* elements(lent_header* header) { return reinterpret_cast<char*>(header + 1); }  ///< The block's elements.

 private:
  struct lent_block {     ///< a block that this process has lent
    arena* memory;        ///< the arena from which the block was allocated
    lent_header* header;  ///< the start of the block
    std::size_t bytes;    ///< the size of the header and the elements
  };
  PARTITA_DECL static std::vector<lent_block>& lent_list();  ///< The lent blocks that are not released yet.
  PARTITA_DECL static spin_lock& lent_list_lock();           ///< Guards lent_list().
  PARTITA_DECL static void reclaim_returned_blocks();        ///< Releases the blocks that have no view any more.
};

/// One view of a lent block. The block counts its views, copies of views included.
class lent_block_lease {
 public:
  lent_block_lease() = default;
  /// Makes a view of a lent block; the lender has already counted this view.
  explicit lent_block_lease(lent_header* header) : header_(header) {}
  PARTITA_INLINE lent_block_lease(const lent_block_lease& other);
  lent_block_lease(lent_block_lease&& other) noexcept : header_(std::exchange(other.header_, nullptr)) {}
  lent_block_lease& operator=(lent_block_lease other) noexcept {
    std::swap(header_, other.header_);
    return *this;
  }
  PARTITA_INLINE ~lent_block_lease();
  /// Whether this view has a lent block. The operator marks the type as an owner for xt::xbuffer_adaptor (0.24).
  bool operator()() const { return header_ != nullptr; }

 private:
  lent_header* header_ = nullptr;  ///< of the lent block; null for no block
};

/// The elements of a lent block, as the read-only buffer of an xt::xtensor_adaptor.
template <class T>
using lent_elements = xt::xbuffer_adaptor<const T*, xt::no_ownership, lent_block_lease>;

}  // namespace detail

/// The result of a kernel with the policy `shared_view`: a read-only tensor, of which all workers of a node that shares
/// memory view one copy. The memory is kept as long as a view of it exists; the kernel and the input may be destroyed.
template <class T, std::size_t Rank>
using shared_view_of = xt::xtensor_adaptor<detail::lent_elements<T>, Rank, xt::layout_type::row_major>;

namespace detail {

/// A tensor of this shape that views a lent block; a null header stands for no elements.
template <class T, std::size_t Rank>
shared_view_of<T, Rank> make_shared_view(lent_header* header, const std::array<std::size_t, Rank>& shape) {
  const T* const data = header == nullptr ? nullptr : reinterpret_cast<const T*>(lent_blocks::elements(header));
  return shared_view_of<T, Rank>(lent_elements<T>(data, volume_of(shape), lent_block_lease(header)),
                                 typename shared_view_of<T, Rank>::shape_type(shape));
}

}  // namespace detail
}  // namespace partita

#ifndef PARTITA_CORE
#include <partita/comm/impl/shared_view.ipp>
#endif
