// Defines the functions that kernel/detail/untyped_block.hpp declares.
#pragma once

#include <cstring>
#include <functional>
#include <partita/kernel/detail/untyped_block.hpp>

namespace partita::detail {

PARTITA_DEF std::size_t element_count_of_shape(const block_shape& shape, std::size_t rank) {
  std::size_t product = 1;
  for (std::size_t d = 0; d < rank; ++d) product *= shape[d];
  return product;
}

PARTITA_DEF text shape_text(const block_shape& shape, std::size_t rank) {
  text all("[");
  for (std::size_t d = 0; d < rank; ++d) all << (d == 0 ? "" : ", ") << shape[d];
  return all << "]";
}

PARTITA_DEF bool untyped_block::is_dense() const {
  std::ptrdiff_t next = 1;
  for (std::size_t d = rank; d-- > 0;) {
    if (shape[d] != 1 && strides[d] != next) return size() == 0;
    next *= static_cast<std::ptrdiff_t>(shape[d]);
  }
  return true;
}

PARTITA_DEF untyped_block untyped_block::dense_block_at(const char* where) const {
  untyped_block other = *this;
  other.data = const_cast<char*>(where);
  std::ptrdiff_t next = 1;
  for (std::size_t d = rank; d-- > 0;) {
    other.strides[d] = next;
    next *= static_cast<std::ptrdiff_t>(shape[d]);
  }
  return other;
}

PARTITA_DEF void copy(const element_kind& of, const untyped_block& to, const untyped_block& from) {
  constexpr std::size_t small = 4096;  // up to this many bytes, memmove is faster than choosing the best loop
  const std::size_t bytes = from.size() * of.bytes;
  if (bytes == 0 || (to.data == from.data && to.strides == from.strides)) return;
  if (bytes <= small && of.in_shared_memory && to.is_dense() && from.is_dense()) {
    std::memmove(to.data, from.data, bytes);
    return;
  }
  of.copy(to.data, to.strides.data(), from.data, from.strides.data(), from.shape.data(), from.rank, of.bytes,
          stores::by_size);
}

PARTITA_DEF bool blocks_share_memory(const untyped_block& a, const untyped_block& b) {
  if (a.size() == 0 || b.size() == 0) return false;
  const auto range = [](const untyped_block& block) {
    std::ptrdiff_t low = 0, high = 1;
    for (std::size_t d = 0; d < block.rank; ++d) {
      const std::ptrdiff_t reach =
          block.shape[d] == 1 ? 0 : block.strides[d] * static_cast<std::ptrdiff_t>(block.shape[d] - 1);
      (reach < 0 ? low : high) += reach;
    }
    const auto bytes = static_cast<std::ptrdiff_t>(block.element_bytes);
    return std::array<const char*, 2>{block.data + low * bytes, block.data + high * bytes};
  };
  const std::less<const char*> before;
  const auto [a_low, a_high] = range(a);
  const auto [b_low, b_high] = range(b);
  return before(a_low, b_high) && before(b_low, a_high);
}

}  // namespace partita::detail
