// Defines the functions that plan/node_messages.hpp declares.
#pragma once

#include <partita/plan/node_messages.hpp>

namespace partita {

PARTITA_DEF node_messages::posted_counts node_messages::count_posted(std::size_t worker) const {
  posted_counts sum;
  for (const node_message& m : messages)
    if (m.from == worker) ++sum.messages, sum.boxes += m.end_box - m.first_box, sum.elements += m.elements;
  return sum;
}

PARTITA_DEF std::vector<std::size_t> node_messages::workers_of(std::size_t first, std::size_t last,
                                                               std::size_t crossing_box::*sender_or_receiver) const {
  std::vector<std::size_t> workers;
  for (std::size_t k = first; k < last; ++k) workers.push_back(boxes[k].*sender_or_receiver);
  detail::stable_sort(workers, [](std::size_t worker) { return worker; });
  std::size_t n = 0;
  for (const std::size_t worker : workers)
    if (n == 0 || workers[n - 1] != worker) workers[n++] = worker;
  workers.resize(n);
  return workers;
}

PARTITA_DEF std::size_t node_messages::joint_message_worker(const node_message& m,
                                                            std::size_t crossing_box::*sender_or_receiver,
                                                            std::size_t other_node, std::size_t message_index) const {
  const auto workers = workers_of(m.first_box, m.end_box, sender_or_receiver);
  return workers[node_traffic::owner(workers.size(), other_node, message_index)];
}

}  // namespace partita
