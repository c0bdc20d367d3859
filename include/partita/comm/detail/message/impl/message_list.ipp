// Defines the functions that comm/detail/message/message_list.hpp declares.
#pragma once

#include <partita/comm/detail/message/message_list.hpp>

namespace partita::detail {

PARTITA_DEF std::vector<pair_volume> pair_volumes(const box_list& boxes, std::size_t element) {
  std::vector<pair_volume> all;
  for (std::size_t k = 0; k < boxes.size(); ++k) {
    const std::size_t worker = boxes[k].worker;
    if (all.empty() || all.back().worker != worker) all.push_back({worker, 0, 0});
    all.back().bytes += boxes.volume(k) * element;
    ++all.back().boxes;
  }
  return all;
}

PARTITA_DEF void message_list::interleave_workers() {
  std::vector<message> mixed;
  mixed.reserve(all.size());
  std::vector<std::size_t> heads;
  for (std::size_t k = 0; k < all.size(); ++k)
    if (k == 0 || all[k].worker != all[k - 1].worker) heads.push_back(k);
  for (std::size_t turn = 0; mixed.size() < all.size(); ++turn)
    for (std::size_t h = 0; h < heads.size(); ++h) {
      const std::size_t k = heads[h] + turn;
      if (k < (h + 1 < heads.size() ? heads[h + 1] : all.size())) mixed.push_back(all[k]);
    }
  all.swap(mixed);
}

}  // namespace partita::detail
