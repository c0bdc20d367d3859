// How long a plan takes on a cluster that is not there: its messages, one after another, through the processors and the
// network cards of one node at a time, so that a million workers need no more memory than one node's.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace partita {

/// What nodes are made of. Workers are numbered node by node.
struct cluster_facts {
  std::size_t workers_on_node = 64;
  double message = 0.8e-6;         ///< seconds of a worker for each message
  double copied_byte = 1 / 4e9;    ///< seconds of a worker for each byte that it packs or unpacks
  double latency = 1.5e-6;         ///< seconds from card to card
  double card_message = 1 / 15e6;  ///< seconds of a node's card for each message
  double card_byte = 1 / 25e9;     ///< and for each byte
};

/// What one node does in an exchange.
struct node_exchange {
  double seconds = 0,
         bound = 0;  ///< until its last byte is where it has to be; what its card takes for the bytes alone
  std::size_t messages = 0, bytes = 0;  ///< to other nodes

  friend bool operator==(const node_exchange&, const node_exchange&) = default;
};

namespace detail {

/// The messages of a node in the order in which its card gets them: when that is, and how many bytes.
class card_queue {
 public:
  explicit card_queue(const cluster_facts& facts) : facts_(facts) {}
  /// A worker begins: it hands its messages over one after another.
  void next_worker() { now_ = 0; }
  void add(std::size_t bytes, bool leaves) {
    now_ += static_cast<double>(bytes) * facts_.copied_byte + (leaves ? facts_.message : 0);
    last_ = std::max(last_, now_);
    if (leaves) queue_.emplace_back(now_, bytes);
  }
  node_exchange run() {
    std::sort(queue_.begin(), queue_.end());
    node_exchange all;
    double free = 0;
    for (const auto& [ready, bytes] : queue_) {
      free = std::max(free, ready) + std::max(facts_.card_message, static_cast<double>(bytes) * facts_.card_byte);
      all.bytes += bytes;
    }
    all.messages = queue_.size();
    all.bound = static_cast<double>(all.bytes) * facts_.card_byte;
    all.seconds = std::max(last_, queue_.empty() ? 0 : free + facts_.latency);
    return all;
  }

 private:
  cluster_facts facts_;
  double now_ = 0, last_ = 0;
  std::vector<std::pair<double, std::size_t>> queue_;
};

}  // namespace detail

/// Simulates one node of an exchange: `plan_of(worker)` is the exchange plan of a worker. What it receives is taken to
/// come as what it sends goes, so it is told as well. Cost: that of the node's plans and a sort of its messages.
template <class PlanOf>
node_exchange simulate_node(const cluster_facts& facts, std::size_t node, std::size_t workers,
                            std::size_t element_bytes, PlanOf plan_of) {
  detail::card_queue out(facts), in(facts);
  const std::size_t first = node * facts.workers_on_node;
  for (std::size_t worker = first; worker < workers && worker < first + facts.workers_on_node; ++worker) {
    const auto plan = plan_of(worker);
    out.next_worker(), in.next_worker();
    const auto fill = [&](detail::card_queue& card, const auto& transfers) {
      for (std::size_t k = 0; k < transfers.size();) {  // the boxes of a pair are one message
        const std::size_t other = transfers[k].worker;
        std::size_t elements = 0;
        for (; k < transfers.size() && transfers[k].worker == other; ++k) elements += transfers[k].where.volume();
        card.add(elements * element_bytes, other / facts.workers_on_node != node);
      }
    };
    fill(out, plan.sends), fill(in, plan.receives);
  }
  node_exchange sent = out.run();
  const node_exchange received = in.run();
  sent.seconds = std::max(sent.seconds, received.seconds);
  sent.bound = std::max(sent.bound, received.bound);
  return sent;
}

/// The slowest of some nodes, evenly spread over all of them: where all workers do alike, of all.
template <class PlanOf>
node_exchange simulate_nodes(const cluster_facts& facts, std::size_t workers, std::size_t element_bytes, PlanOf plan_of,
                             std::size_t looked_at = 16) {
  const std::size_t nodes = (workers + facts.workers_on_node - 1) / facts.workers_on_node;
  node_exchange slowest;
  for (std::size_t k = 0; k < std::min(nodes, looked_at); ++k) {
    const auto one = simulate_node(facts, nodes <= looked_at ? k : k * (nodes - 1) / (looked_at - 1), workers,
                                   element_bytes, plan_of);
    if (one.seconds > slowest.seconds) slowest = one;
  }
  return slowest;
}

}  // namespace partita
