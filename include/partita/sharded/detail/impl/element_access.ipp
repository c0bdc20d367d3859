// Defines the functions that sharded/detail/element_access.hpp declares.
#pragma once

#include <partita/sharded/detail/element_access.hpp>

namespace partita::detail {

PARTITA_DEF void element_locator::find_holder(const shape_list& index, std::size_t& worker, std::size_t& offset) const {
  std::size_t n = 0;
  for_each_holder(index, [&](std::size_t, std::size_t) { ++n; });
  std::size_t wanted = n == 0 ? 0 : own_id_ % n;
  bool own = false;
  for_each_holder(index, [&](std::size_t w, std::size_t at) {
    if (w == own_id_ || (!own && wanted-- == 0)) worker = w, offset = at, own = w == own_id_;
  });
}

PARTITA_DEF std::size_t offset_of_index(const shape_list& extents, const shape_list& index) {
  std::size_t at = 0;
  for (std::size_t d = 0; d < extents.size(); ++d) at = at * extents[d] + index[d];
  return at;
}

PARTITA_DEF text index_error(const char* call, const shape_list& extents, const std::vector<shape_list>& indices) {
  for (const shape_list& one : indices) {
    bool inside = one.size() == extents.size();
    for (std::size_t d = 0; inside && d < one.size(); ++d) inside = one[d] < extents[d];
    if (!inside)
      return text("partita::sharded_tensor::")
             << call << ": requires indices of the tensor of extents " << extents << ", got " << one;
  }
  return {};
}

PARTITA_DEF std::size_t common_list_length(bound_mesh& on, const std::vector<std::vector<std::uint64_t>>& lists) {
  std::size_t longest = 0, list_length = 1;
  for (const auto& one : lists) longest = one.size() > longest ? one.size() : longest;
  for (const auto& [n] : gather_numbers<1>(*on.everyone().state(), {longest})) longest = n > longest ? n : longest;
  while (list_length < longest + 1) list_length *= 2;
  return list_length;
}

PARTITA_DEF std::vector<std::uint64_t> pad_rows(const std::vector<std::vector<std::uint64_t>>& lists,
                                                std::size_t list_length) {
  std::vector<std::uint64_t> rows(lists.size() * list_length + 1, 0);
  for (std::size_t w = 0; w < lists.size(); ++w) {
    rows[w * list_length] = lists[w].size();
    for (std::size_t k = 0; k < lists[w].size(); ++k) rows[w * list_length + 1 + k] = lists[w][k];
  }
  return rows;
}

}  // namespace partita::detail
