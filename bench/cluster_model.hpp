// A model of a cluster: estimates how long an exchange plan takes on many nodes without running it. The model simulates
// the messages of one node at a time, through the cores of its workers and through its NIC, so a million workers need
// no more memory than one node.
#pragma once

#include <algorithm>
#include <cstddef>
#include <partita/plan/between_nodes.hpp>
#include <utility>
#include <vector>

namespace partita {

/// The parameters of the model. Workers are numbered node by node.
struct cluster_parameters {
  std::size_t workers_on_node = 64;
  double message = 0.8e-6;        ///< seconds that a worker spends on each message
  double copied_byte = 1 / 4e9;   ///< seconds that a worker spends on each byte that it packs or unpacks
  double latency = 1.5e-6;        ///< seconds that a message takes from NIC to NIC
  double nic_message = 1 / 15e6;  ///< seconds that the NIC of a node spends on each message
  double nic_byte = 1 / 25e9;     ///< seconds that the NIC of a node spends on each byte
  double flag_delay = 0.25e-6;    ///< seconds until a worker sees a flag that another worker of its node has set
};

/// The result of the model for one node. `seconds` is the time until the last byte has arrived; `bound` is the time
/// that the NIC needs for the bytes alone. Messages and bytes are those to other nodes.
struct node_exchange {
  double seconds = 0, bound = 0;
  std::size_t messages = 0, bytes = 0;

  friend bool operator==(const node_exchange&, const node_exchange&) = default;
};

namespace detail {

/// The bytes between worker `local` of the simulated node and another worker: one message, or a part of a joined one.
struct pair_bytes {
  std::size_t local, other, bytes;
};

/// One direction of a node's exchange, simulated in three steps. Pairs of workers whose messages go to the same node
/// may be joined into few messages; each worker packs its bytes and posts the messages that are not joined; the owners
/// of the joined messages post the joined messages. The NIC then sends all messages in the order of posting.
class nic_queue {
 public:
  nic_queue(const cluster_parameters& parameters, std::size_t node)
      : parameters_(parameters), node_(node), now_(parameters.workers_on_node) {}
  /// Adds the message of a pair of workers. The messages of one local worker must be added one after another.
  void add(const pair_bytes& one) { all_.push_back(one); }

  node_exchange run() {
    std::vector<pair_bytes> to_other_nodes;
    for (const pair_bytes& p : all_)
      if (node_of(p) != node_) to_other_nodes.push_back(p);
    std::stable_sort(to_other_nodes.begin(), to_other_nodes.end(),
                     [&](const auto& a, const auto& b) { return node_of(a) < node_of(b); });
    // for each other node the number of messages into which the traffic to the node is joined; 0 if it is not joined
    std::vector<std::size_t> joined;
    for (std::size_t first = 0, next = 0; first < to_other_nodes.size(); first = next) {
      while (next < to_other_nodes.size() && node_of(to_other_nodes[next]) == node_of(to_other_nodes[first])) ++next;
      const std::size_t joined_count = joined_count_of(to_other_nodes.data() + first, to_other_nodes.data() + next);
      joined.resize(node_of(to_other_nodes[first]) + 1, 0);
      joined.back() = joined_count;
      for (std::size_t joined_index = 0, k = first; joined_index < joined_count; ++joined_index)
        share(to_other_nodes, k, next, joined_index, joined_count);
    }
    for (const pair_bytes& p : all_) {
      double& now = now_[p.local];
      now += static_cast<double>(p.bytes) * parameters_.copied_byte;
      if (node_of(p) == node_ || joined[node_of(p)] != 0) continue;
      now += parameters_.message;
      queue_.emplace_back(now, p.bytes);
    }
    post_joined();
    return through_card();
  }

 private:
  struct joined_message {
    std::size_t owner, bytes;
    std::vector<std::size_t> workers;
  };

  std::size_t node_of(const pair_bytes& p) const { return p.other / parameters_.workers_on_node; }
  std::size_t joined_count_of(const pair_bytes* first, const pair_bytes* last) const {
    node_traffic t{0,
                   0,
                   static_cast<std::size_t>(last - first),
                   0,
                   {parameters_.latency, parameters_.message, parameters_.nic_byte}};
    std::vector<std::size_t> receivers_by_pair;
    for (const pair_bytes* p = first; p != last; ++p) {
      t.senders += p == first || p->local != p[-1].local ? 1 : 0;
      t.bytes += p->bytes;
      receivers_by_pair.push_back(p->other);
    }
    std::sort(receivers_by_pair.begin(), receivers_by_pair.end());
    t.receivers = static_cast<std::size_t>(std::unique(receivers_by_pair.begin(), receivers_by_pair.end()) -
                                           receivers_by_pair.begin());
    return t.joint_message_count();
  }
  /// Assigns pairs from k on to one joined message, until it has its share of all bytes.
  void share(const std::vector<pair_bytes>& to_other_nodes, std::size_t& k, std::size_t end, std::size_t joined_index,
             std::size_t joined_count) {
    std::size_t left = 0;
    for (std::size_t i = k; i < end; ++i) left += to_other_nodes[i].bytes;
    joined_message m{0, 0, {}};
    for (; k < end && (m.bytes < left / (joined_count - joined_index) || joined_index + 1 == joined_count); ++k) {
      m.bytes += to_other_nodes[k].bytes;
      if (m.workers.empty() || m.workers.back() != to_other_nodes[k].local)
        m.workers.push_back(to_other_nodes[k].local);
    }
    if (m.workers.empty()) return;
    m.owner = m.workers[node_traffic::owner(m.workers.size(), node_of(to_other_nodes[k - 1]), joined_index)];
    messages_.push_back(std::move(m));
  }
  /// Every worker sets one flag for each owner in whose messages it has a part. An owner posts its messages when it has
  /// seen the flags of all these workers.
  void post_joined() {
    const std::size_t n = parameters_.workers_on_node;
    std::vector<char> needs_flag(n * n, 0);
    for (const joined_message& m : messages_)
      for (const std::size_t worker : m.workers) needs_flag[worker * n + m.owner] = worker != m.owner ? 1 : 0;
    for (std::size_t k = 0; k < n * n; ++k) now_[k / n] += needs_flag[k] * parameters_.flag_delay;
    std::vector<double> ready = now_;
    for (std::size_t k = 0; k < n * n; ++k)
      if (needs_flag[k] != 0) ready[k % n] = std::max(ready[k % n], now_[k / n]) + parameters_.flag_delay;
    for (const joined_message& m : messages_) {
      now_[m.owner] = ready[m.owner] += parameters_.message;
      queue_.emplace_back(ready[m.owner], m.bytes);
    }
  }
  node_exchange through_card() {
    std::sort(queue_.begin(), queue_.end());
    node_exchange all;
    double free = 0;
    for (const auto& [ready, bytes] : queue_) {
      free =
          std::max(free, ready) + std::max(parameters_.nic_message, static_cast<double>(bytes) * parameters_.nic_byte);
      all.bytes += bytes;
    }
    all.messages = queue_.size();
    all.bound = static_cast<double>(all.bytes) * parameters_.nic_byte;
    all.seconds =
        std::max(*std::max_element(now_.begin(), now_.end()), queue_.empty() ? 0 : free + parameters_.latency);
    return all;
  }

  cluster_parameters parameters_;
  std::size_t node_;
  std::vector<double> now_;  // the current time of each worker
  std::vector<pair_bytes> all_;
  std::vector<joined_message> messages_;
  std::vector<std::pair<double, std::size_t>> queue_;
};

}  // namespace detail

/// Simulates one node of an exchange: `plan_of(worker)` is the exchange plan of a worker. Receives are modelled like
/// sends, and the slower direction counts. Cost: making the node's plans, and sorting its messages.
template <class PlanOf>
node_exchange simulate_node(const cluster_parameters& parameters, std::size_t node, std::size_t workers,
                            std::size_t element_bytes, PlanOf plan_of) {
  detail::nic_queue out(parameters, node), in(parameters, node);
  const std::size_t first = node * parameters.workers_on_node;
  for (std::size_t worker = first; worker < workers && worker < first + parameters.workers_on_node; ++worker) {
    const auto plan = plan_of(worker);
    const auto fill = [&](detail::nic_queue& card, const auto& transfers) {
      for (std::size_t k = 0; k < transfers.size();) {  // all boxes of a pair are one message
        const std::size_t other = transfers[k].worker;
        std::size_t elements = 0;
        for (; k < transfers.size() && transfers[k].worker == other; ++k) elements += transfers[k].where.volume();
        card.add({worker - first, other, elements * element_bytes});
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

/// The slowest of `simulated_nodes` nodes, which are evenly spaced among all nodes. If all workers have equal plans,
/// this is the slowest of all nodes.
template <class PlanOf>
node_exchange simulate_nodes(const cluster_parameters& parameters, std::size_t workers, std::size_t element_bytes,
                             PlanOf plan_of, std::size_t simulated_nodes = 16) {
  const std::size_t nodes = (workers + parameters.workers_on_node - 1) / parameters.workers_on_node;
  node_exchange slowest;
  for (std::size_t k = 0; k < std::min(nodes, simulated_nodes); ++k) {
    const auto one = simulate_node(parameters, nodes <= simulated_nodes ? k : k * (nodes - 1) / (simulated_nodes - 1),
                                   workers, element_bytes, plan_of);
    if (one.seconds > slowest.seconds) slowest = one;
  }
  return slowest;
}

}  // namespace partita
