// What a repartition costs before anybody moves anything: elements and messages of each worker and of all, and how
// evenly the work is spread.
#pragma once

#include <cstddef>
#include <partita/plan/repartition_plan.hpp>

namespace partita {

/// The cost of one repartition over all workers.
struct movement_cost {
  std::size_t elements_moved = 0;  ///< that change their worker
  std::size_t elements_kept = 0;
  std::size_t messages = 0;   ///< pairs of workers that exchange something
  std::size_t most_sent = 0;  ///< elements, by the worker that sends most
  std::size_t most_received = 0;
  std::size_t most_messages = 0;  ///< sent or received, by the worker that has most
  std::size_t workers = 0;        ///< that send, receive or keep something

  /// How much longer the busiest worker is busy than if all were equally busy: 1 is even.
  double imbalance() const {
    const std::size_t most = most_sent > most_received ? most_sent : most_received;
    const auto all = static_cast<double>(elements_moved);
    return elements_moved == 0 ? 1.0 : static_cast<double>(most) * static_cast<double>(workers) / all;
  }
  /// Seconds by the simplest model there is: what the busiest worker's messages and bytes take.
  double seconds(std::size_t element_bytes, double seconds_per_message, double bytes_per_second) const {
    const std::size_t most = most_sent > most_received ? most_sent : most_received;
    return static_cast<double>(most_messages) * seconds_per_message +
           static_cast<double>(most * element_bytes) / bytes_per_second;
  }

  friend bool operator==(const movement_cost&, const movement_cost&) = default;
};

/// The cost of moving a tensor from `from` on `src` to `to` on `dst`, its dimensions in the order `axes`. Cost: O(all
/// overlaps); one plan at a time is held.
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
