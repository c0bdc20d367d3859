// Defines the functions that comm/detail/node/push.hpp declares.
#pragma once

#include <partita/comm/detail/node/push.hpp>

namespace partita::detail {

PARTITA_DEF push_list::push_list(std::size_t rank) : rank_(rank) {}

PARTITA_DEF void push_list::add(std::size_t place, const listed_box& b, std::ptrdiff_t offset,
                                const std::ptrdiff_t* strides) {
  boxes_.push_back({place, b.staging_offset, offset, shapes_and_starts_.size(), strides_.size()});
  shapes_and_starts_.resize(shapes_and_starts_.size() + 2 * rank_);
  std::size_t* const shape = shapes_and_starts_.data() + shapes_and_starts_.size() - 2 * rank_;
  std::copy(b.shape, b.shape + rank_, shape);
  std::copy(b.at, b.at + rank_, shape + rank_);
  strides_.insert(strides_.end(), strides, strides + rank_);
}

PARTITA_DEF void push_list::add(const push_list& more, std::size_t first, std::size_t last) {
  for (std::size_t k = first; k < last; ++k) {
    const entry& e = more.boxes_[k];
    const std::size_t* const shape = more.shapes_and_starts_.data() + e.shape_index;
    add(e.place, {0, e.staging_offset, shape, shape + rank_}, e.offset, more.strides_.data() + e.strides_index);
  }
}

PARTITA_DEF void push_list::sort() {
  std::sort(boxes_.begin(), boxes_.end(), [this](const entry& a, const entry& b) {
    return std::lexicographical_compare(start_of(a), start_of(a) + rank_, start_of(b), start_of(b) + rank_);
  });
}

PARTITA_DEF void push_list::push(std::size_t first, std::size_t last, const element_kind& kind,
                                 const std::size_t* shape, const block_memory& from, const std::vector<char*>& blocks,
                                 bool streaming) const {
  constexpr std::size_t slab_bytes = std::size_t{32} << 10, most_boxes = 64;
  const stores mode = streaming ? stores::streaming : stores::cached;
  const std::size_t n = last - first;
  if (!streaming || shape == nullptr || n < 2 || n > most_boxes || rank_ == 0 || is_transposed(first, last)) {
    for (std::size_t k = first; k < last; ++k)
      copy_box(kind, boxes_[k], shapes_and_starts_.data() + boxes_[k].shape_index, nullptr, from, blocks, mode);
    return;
  }
  // a slab is a range of dimension `cut`, at one index of each dimension outside of `cut`
  std::size_t cut = 0, row = kind.bytes;
  for (std::size_t d = 1; d < rank_; ++d) row *= shape[d];
  while (cut + 1 < rank_ && (row > slab_bytes || shape[cut] == 1)) row /= shape[++cut];
  const std::size_t slab = row < slab_bytes ? slab_bytes / row : 1;
  std::size_t i[most_dimensions] = {};
  for (bool more = element_count_of_shape(shape, rank_) > 0; more;) {
    for (std::size_t k = first; k < last; ++k) {
      const entry& e = boxes_[k];
      const std::size_t* const size = shapes_and_starts_.data() + e.shape_index;
      std::size_t part[most_dimensions], skipped_extents[most_dimensions] = {};
      bool meets = true;
      for (std::size_t d = 0; d < rank_; ++d) {
        part[d] = size[d];
        if (d > cut) continue;
        const std::size_t begin = start_of(e)[d], end = begin + size[d], reach = i[d] + (d == cut ? slab : 1);
        const std::size_t start = begin > i[d] ? begin : i[d], stop = end < reach ? end : reach;
        meets = meets && start < stop;
        part[d] = stop - start;
        skipped_extents[d] = start - begin;
      }
      if (meets) copy_box(kind, e, part, skipped_extents, from, blocks, mode);
    }
    more = false;
    i[cut] += slab;
    for (std::size_t d = cut; !more; --d) {
      more = i[d] < shape[d];
      if (more || d == 0) break;
      i[d] = 0;
      ++i[d - 1];
    }
  }
}

PARTITA_DEF bool push_list::is_transposed(std::size_t first, std::size_t last) const {
  for (std::size_t k = first; k < last; ++k)
    if (shapes_and_starts_[boxes_[k].shape_index + rank_ - 1] > 1 && strides_[boxes_[k].strides_index + rank_ - 1] != 1)
      return true;
  return false;
}

PARTITA_DEF void push_list::copy_box(const element_kind& kind, const entry& e, const std::size_t* part,
                                     const std::size_t* skipped_extents, const block_memory& from,
                                     const std::vector<char*>& blocks, stores mode) const {
  const std::ptrdiff_t* const strides = strides_.data() + e.strides_index;
  if (from.writer != nullptr) {
    const std::size_t* const shape = shapes_and_starts_.data() + e.shape_index;
    return from.writer->write(shape, start_of(e), blocks[e.place] + e.offset);
  }
  if (from.strides == nullptr) {
    std::size_t rank = rank_;
    const std::size_t first = drop_unit_extents(part, rank);
    std::ptrdiff_t dense[most_dimensions] = {};
    dense_strides(part + first, rank, dense);
    return kind.copy(blocks[e.place] + e.offset, strides + first, from.data + e.staging_offset, dense, part + first,
                     rank, kind.bytes, mode);
  }
  std::ptrdiff_t source = 0, target = 0;
  for (std::size_t d = 0; d < rank_; ++d) source += static_cast<std::ptrdiff_t>(start_of(e)[d]) * from.strides[d];
  for (std::size_t d = 0; skipped_extents != nullptr && d < rank_; ++d) {
    source += static_cast<std::ptrdiff_t>(skipped_extents[d]) * from.strides[d];
    target += static_cast<std::ptrdiff_t>(skipped_extents[d]) * strides[d];
  }
  const auto bytes = static_cast<std::ptrdiff_t>(kind.bytes);
  kind.copy(blocks[e.place] + e.offset + target * bytes, strides, from.data + source * bytes, from.strides, part, rank_,
            kind.bytes, mode);
}

}  // namespace partita::detail
