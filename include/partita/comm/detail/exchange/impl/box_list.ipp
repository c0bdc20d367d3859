// Defines the functions that comm/detail/exchange/box_list.hpp declares.
#pragma once

#include <algorithm>
#include <partita/comm/detail/exchange/box_list.hpp>

namespace partita::detail {

PARTITA_DEF std::size_t element_count_of_shape(const std::size_t* shape, std::size_t rank) {
  std::size_t product = 1;
  for (std::size_t d = 0; d < rank; ++d) product *= shape[d];
  return product;
}

PARTITA_DEF void dense_strides(const std::size_t* shape, std::size_t rank, std::ptrdiff_t* strides) {
  std::ptrdiff_t next = 1;
  for (std::size_t d = rank; d-- > 0;) {
    strides[d] = next;
    next *= static_cast<std::ptrdiff_t>(shape[d]);
  }
}

PARTITA_DEF std::size_t drop_unit_extents(const std::size_t* shape, std::size_t& rank) {
  std::size_t first = 0;
  if (rank <= most_dimensions) return first;
  while (rank > 0 && shape[rank - 1] == 1) --rank;
  while (rank > 0 && shape[first] == 1) ++first, --rank;
  return first;
}

PARTITA_DEF listed_box box_list::operator[](std::size_t k) const {
  const std::size_t* const n = numbers_.data() + k * numbers_per_box();
  return {n[0], n[1], n + 2, n + 2 + rank_};
}

PARTITA_DEF void box_list::add(std::size_t worker, const std::size_t* shape, const std::size_t* at,
                               std::size_t staging_offset) {
  const std::size_t end = numbers_.size();
  numbers_.resize(end + numbers_per_box());
  std::size_t* const box = numbers_.data() + end;
  box[0] = worker, box[1] = staging_offset;
  std::copy(shape, shape + rank_, box + 2);
  std::copy(at, at + rank_, box + 2 + rank_);
}

PARTITA_DEF std::size_t box_list::volume() const {
  std::size_t sum = 0;
  for (std::size_t k = 0; k < size(); ++k) sum += volume(k);
  return sum;
}

PARTITA_DEF void box_list::add_cut(const listed_box& b, std::size_t element, std::size_t most) {
  const std::size_t bytes = element_count_of_shape(b.shape, rank_) * element;
  if (bytes == 0) return;
  std::size_t d = 0;
  while (d + 1 < rank_ && b.shape[d] == 1) ++d;
  if (bytes <= most || rank_ == 0 || b.shape[d] == 1) return add(b);
  const std::size_t row = bytes / b.shape[d], rows = b.shape[d], slab = row < most ? most / row : 1;
  std::vector<std::size_t> shape(b.shape, b.shape + rank_), at(b.at, b.at + rank_);
  for (std::size_t r = 0; r < rows; r += slab) {
    at[d] = b.at[d] + r;
    shape[d] = r + slab < rows ? slab : rows - r;
    add_cut({b.worker, b.staging_offset + r * row, shape.data(), at.data()}, element, most);
  }
}

PARTITA_DEF std::ptrdiff_t box_offset(const listed_box& b, const std::ptrdiff_t* strides, std::size_t rank) {
  std::ptrdiff_t offset = 0;
  for (std::size_t d = 0; d < rank; ++d) offset += static_cast<std::ptrdiff_t>(b.at[d]) * strides[d];
  return offset;
}

PARTITA_DEF char* box_address(const listed_box& b, const block_memory& block, std::size_t rank, std::size_t element) {
  if (block.strides == nullptr) return block.data + b.staging_offset;
  return block.data + box_offset(b, block.strides, rank) * static_cast<std::ptrdiff_t>(element);
}

PARTITA_DEF bool is_contiguous(const std::size_t* shape, const std::ptrdiff_t* strides, std::size_t rank) {
  std::ptrdiff_t next = 1;
  for (std::size_t d = rank; d-- > 0;) {
    if (shape[d] != 1 && strides[d] != next) return false;
    next *= static_cast<std::ptrdiff_t>(shape[d]);
  }
  return true;
}

PARTITA_DEF char* pack_box(const element_kind& kind, const listed_box& b, std::size_t rank, const block_memory& block,
                           char* packed, bool out, stores mode) {
  const std::size_t bytes = element_count_of_shape(b.shape, rank) * kind.bytes;
  if (block.writer != nullptr) {
    block.writer->write(b.shape, b.at, packed);
    return packed + bytes;
  }
  char* const own = box_address(b, block, rank, kind.bytes);
  const std::size_t first = drop_unit_extents(b.shape, rank);
  const std::size_t* const shape = b.shape + first;
  std::ptrdiff_t dense[most_dimensions] = {};
  dense_strides(shape, rank, dense);
  const std::ptrdiff_t* const strides = block.strides != nullptr ? block.strides + first : dense;
  if (out) kind.copy(packed, dense, own, strides, shape, rank, kind.bytes, mode);
  else kind.copy(own, strides, packed, dense, shape, rank, kind.bytes, mode);
  return packed + bytes;
}

}  // namespace partita::detail
