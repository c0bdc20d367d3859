// A model of a cluster: estimates how long an exchange plan takes on many nodes without running it. It simulates the
// messages of one node at a time, through the cores of its workers and through its NIC, so a million workers need no
// more memory than one node does.
#pragma once

#include <algorithm>
#include <cstddef>
#include <partita/plan/between_nodes.hpp>
#include <utility>
#include <vector>

namespace partita {

/// The parameters of the model. Workers are numbered node by node.
struct cluster_facts {
  std::size_t workers_on_node = 64;
  double message = 0.8e-6;         ///< seconds that a worker spends on each message
  double copied_byte = 1 / 4e9;    ///< seconds that a worker spends on each byte that it packs or unpacks
  double latency = 1.5e-6;         ///< seconds from NIC to NIC
  double card_message = 1 / 15e6;  ///< seconds that the NIC of a node spends on each message
  double card_byte = 1 / 25e9;     ///< seconds that the NIC of a node spends on each byte
  double meeting = 0.25e-6;        ///< seconds until a worker sees a flag that another worker of its node has set
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
class card_queue {
 public:
  card_queue(const cluster_facts& facts, std::size_t node) : facts_(facts), node_(node), now_(facts.workers_on_node) {}
  /// Adds the message of a pair of workers. The messages of one local worker must be added one after another.
  void add(const pair_bytes& one) { all_.push_back(one); }

  node_exchange run() {
    std::vector<pair_bytes> leaving;
    for (const pair_bytes& p : all_)
      if (node_of(p) != node_) leaving.push_back(p);
    std::stable_sort(leaving.begin(), leaving.end(),
                     [&](const auto& a, const auto& b) { return node_of(a) < node_of(b); });
    // for each other node the number of messages into which the traffic to the node is joined; 0 if it is not joined
    std::vector<std::size_t> joined;
    for (std::size_t first = 0, next = 0; first < leaving.size(); first = next) {
      while (next < leaving.size() && node_of(leaving[next]) == node_of(leaving[first])) ++next;
      const std::size_t lanes = lanes_of(leaving.data() + first, leaving.data() + next);
      joined.resize(node_of(leaving[first]) + 1, 0);
      joined.back() = lanes;
      for (std::size_t lane = 0, k = first; lane < lanes; ++lane) share(leaving, k, next, lane, lanes);
    }
    for (const pair_bytes& p : all_) {
      double& now = now_[p.local];
      now += static_cast<double>(p.bytes) * facts_.copied_byte;
      if (node_of(p) == node_ || joined[node_of(p)] != 0) continue;
      now += facts_.message;
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

  std::size_t node_of(const pair_bytes& p) const { return p.other / facts_.workers_on_node; }
  std::size_t lanes_of(const pair_bytes* first, const pair_bytes* last) const {
    node_traffic t{0, 0, static_cast<std::size_t>(last - first), 0, {facts_.latency, facts_.message, facts_.card_byte}};
    std::vector<std::size_t> others;
    for (const pair_bytes* p = first; p != last; ++p) {
      t.senders += p == first || p->local != p[-1].local ? 1 : 0;
      t.bytes += p->bytes;
      others.push_back(p->other);
    }
    std::sort(others.begin(), others.end());
    t.receivers = static_cast<std::size_t>(std::unique(others.begin(), others.end()) - others.begin());
    return t.joined();
  }
  /// Assigns pairs from k on to one joined message, until it has its share of all bytes.
  void share(const std::vector<pair_bytes>& leaving, std::size_t& k, std::size_t end, std::size_t lane,
             std::size_t lanes) {
    std::size_t left = 0;
    for (std::size_t i = k; i < end; ++i) left += leaving[i].bytes;
    joined_message m{0, 0, {}};
    for (; k < end && (m.bytes < left / (lanes - lane) || lane + 1 == lanes); ++k) {
      m.bytes += leaving[k].bytes;
      if (m.workers.empty() || m.workers.back() != leaving[k].local) m.workers.push_back(leaving[k].local);
    }
    if (m.workers.empty()) return;
    m.owner = m.workers[node_traffic::owner(m.workers.size(), node_of(leaving[k - 1]), lane)];
    messages_.push_back(std::move(m));
  }
  /// Every worker sets one flag for each owner in whose messages it has a part. An owner posts its messages when it has
  /// seen the flags of all these workers.
  void post_joined() {
    const std::size_t n = facts_.workers_on_node;
    std::vector<char> meets(n * n, 0);
    for (const joined_message& m : messages_)
      for (const std::size_t worker : m.workers) meets[worker * n + m.owner] = worker != m.owner ? 1 : 0;
    for (std::size_t k = 0; k < n * n; ++k) now_[k / n] += meets[k] * facts_.meeting;
    std::vector<double> ready = now_;
    for (std::size_t k = 0; k < n * n; ++k)
      if (meets[k] != 0) ready[k % n] = std::max(ready[k % n], now_[k / n]) + facts_.meeting;
    for (const joined_message& m : messages_) {
      now_[m.owner] = ready[m.owner] += facts_.message;
      queue_.emplace_back(ready[m.owner], m.bytes);
    }
  }
  node_exchange through_card() {
    std::sort(queue_.begin(), queue_.end());
    node_exchange all;
    double free = 0;
    for (const auto& [ready, bytes] : queue_) {
      free = std::max(free, ready) + std::max(facts_.card_message, static_cast<double>(bytes) * facts_.card_byte);
      all.bytes += bytes;
    }
    all.messages = queue_.size();
    all.bound = static_cast<double>(all.bytes) * facts_.card_byte;
    all.seconds = std::max(*std::max_element(now_.begin(), now_.end()), queue_.empty() ? 0 : free + facts_.latency);
    return all;
  }

  cluster_facts facts_;
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
node_exchange simulate_node(const cluster_facts& facts, std::size_t node, std::size_t workers,
                            std::size_t element_bytes, PlanOf plan_of) {
  detail::card_queue out(facts, node), in(facts, node);
  const std::size_t first = node * facts.workers_on_node;
  for (std::size_t worker = first; worker < workers && worker < first + facts.workers_on_node; ++worker) {
    const auto plan = plan_of(worker);
    const auto fill = [&](detail::card_queue& card, const auto& transfers) {
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

/// The slowest of `looked_at` nodes, which are evenly spaced among all nodes. If all workers have equal plans, this is
/// the slowest of all nodes.
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
