// The cost of a repartition, before anything moves: elements and messages, per worker and in total, and the imbalance.
#pragma once

#include <cstddef>
#include <partita/plan/repartition_plan.hpp>

namespace partita {

/// The cost of one repartition: sums over all workers, and the numbers of the busiest workers.
struct movement_cost {
  std::size_t elements_moved = 0;  ///< the number of elements that move to another worker
  std::size_t elements_kept = 0;   ///< the number of elements that stay on their worker
  std::size_t messages = 0;        ///< the number of messages: one for each pair of sender and receiver
  std::size_t most_sent = 0;       ///< the elements that the busiest sender sends
  std::size_t most_received = 0;   ///< the elements that the busiest receiver receives
  std::size_t most_messages = 0;   ///< the most messages that a worker sends, or that a worker receives
  std::size_t workers = 0;         ///< the number of workers that send, receive or keep elements

  /// The most elements that a worker sends, or receives, relative to the average: 1 if balanced, or if nothing moves.
  double imbalance() const {
    const std::size_t most = most_sent > most_received ? most_sent : most_received;
    const auto all = static_cast<double>(elements_moved);
    return elements_moved == 0 ? 1.0 : static_cast<double>(most) * static_cast<double>(workers) / all;
  }
  /// The time for the messages and bytes of the busiest worker, in seconds: the simplest model of the cost.
  double seconds(std::size_t element_bytes, double seconds_per_message, double bytes_per_second) const {
    const std::size_t most = most_sent > most_received ? most_sent : most_received;
    return static_cast<double>(most_messages) * seconds_per_message +
           static_cast<double>(most * element_bytes) / bytes_per_second;
  }

  friend bool operator==(const movement_cost&, const movement_cost&) = default;
};

/// The cost of moving a tensor from decomposition `from` on grid `src` to decomposition `to` on grid `dst`; `axes` is
/// the order of the result's dimensions.
/// Cost: time in O(all overlaps of blocks); memory for the plan of one worker at a time.
template <class Src, class Dst, class From, std::size_t Rank>
movement_cost cost_of(const grid<Src>& src, const From& from, const grid<Dst>& dst, const decomposition<Rank>& to,
                      const axes_order<Rank>& axes = same_axes<Rank>()) {
  movement_cost cost;
  const auto add = [&](std::size_t worker) {
    const auto plan = plan_repartition(src, from, dst, to, worker, axes);
    const std::size_t sent = plan.elements_sent(), received = plan.elements_received(), kept = plan.elements_kept();
    const std::size_t out = plan.messages_sent(), in = plan.messages_received();
    cost.elements_moved += sent, cost.elements_kept += kept, cost.messages += out;
    if (sent > cost.most_sent) cost.most_sent = sent;
    if (received > cost.most_received) cost.most_received = received;
    if (out > cost.most_messages) cost.most_messages = out;
    if (in > cost.most_messages) cost.most_messages = in;
    if (sent + received + kept > 0) ++cost.workers;
  };
  for (std::size_t k = 0; k < src.size(); ++k) add(src.workers()[k]);
  for (std::size_t k = 0; k < dst.size(); ++k)
    if (!src.contains(dst.workers()[k])) add(dst.workers()[k]);
  return cost;
}

}  // namespace partita
