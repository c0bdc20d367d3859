// Defines the functions that plan/node_messages.hpp declares.
#pragma once

#include <partita/plan/node_messages.hpp>

namespace partita {

PARTITA_DEF node_messages::posted node_messages::posted_by(std::size_t worker) const {
  posted sum;
  for (const node_message& m : messages)
    if (m.from == worker) ++sum.messages, sum.boxes += m.last - m.first, sum.elements += m.elements;
  return sum;
}

PARTITA_DEF std::vector<std::size_t> node_messages::workers_of(std::size_t first, std::size_t last,
                                                               std::size_t crossing_box::*side) const {
  std::vector<std::size_t> workers;
  for (std::size_t k = first; k < last; ++k) {
    std::size_t worker = boxes[k].*side, low = workers.size();
    while (low > 0 && workers[low - 1] > worker) --low;
    if (low > 0 && workers[low - 1] == worker) continue;
    workers.push_back(worker);
    for (std::size_t at = workers.size() - 1; at > low; --at) workers[at] = workers[at - 1];
    workers[low] = worker;
  }
  return workers;
}

PARTITA_DEF std::size_t node_messages::owner(const node_message& m, std::size_t crossing_box::*side, std::size_t other,
                                             std::size_t lane) const {
  const auto workers = workers_of(m.first, m.last, side);
  return workers[node_traffic::owner(workers.size(), other, lane)];
}

}  // namespace partita
