// Decides which message carries each box from one node to another: a message of one pair of workers, or a joint message
// of several pairs of workers. All workers of both nodes compute the same messages; box transports send them, and
// printed plans list them.
#pragma once

#include <cstddef>
#include <partita/core/config.hpp>
#include <partita/plan/between_nodes.hpp>
#include <partita/plan/exchange_plan.hpp>
#include <partita/plan/stable_sort.hpp>
#include <vector>

namespace partita {

/// A box that a worker of one node sends to a worker of another node.
struct crossing_box {
  std::size_t from = 0, to = 0, elements = 0;  ///< the sender's id, the receiver's id, the volume of the box
  std::size_t plan = 0, box = 0;               ///< the box's plan among the node's plans, and its index in the plan
  std::size_t other_node = 0;                  ///< the number of the node at the other end
};

/// A message from one node to another, which contains the boxes first_box, ..., end_box - 1 in sequence.
struct node_message {
  std::size_t from = 0, to = 0;  ///< the worker that posts the message, and the worker that receives it
  /// `other_node`: the number of the node at the other end; `elements`: in the boxes first_box, ..., end_box - 1.
  std::size_t other_node = 0, first_box = 0, end_box = 0, elements = 0;
  bool is_joint = false;  ///< whether the message may carry boxes of several pairs of workers
};

/// All messages that leave one node, or all messages that arrive at one node.
struct node_messages {
  std::vector<crossing_box> boxes;     ///< in the order of the messages, without empty boxes
  std::vector<node_message> messages;  ///< for one other node after another

  node_messages() = default;  ///< no messages
  /// `all` are the boxes of the workers of node `own_node` in one direction, plan by plan, those of each plan in
  /// ascending order of the peers; node_of(worker) is the number of a worker's node. If messages are not joined, each
  /// pair of workers has its own message.
  template <class NodeOf>
  node_messages(std::vector<crossing_box> all, bool sending, std::size_t own_node, std::size_t element_bytes,
                NodeOf node_of, bool join = true) {
    for (crossing_box& b : all) {
      b.other_node = node_of(sending ? b.to : b.from);
      if (b.other_node != own_node && b.elements != 0) boxes.push_back(b);
    }
    // Sort the boxes into an order that is the same on the workers of both nodes.
    detail::stable_sort(boxes, [](const crossing_box& b) { return b.other_node << 32U | b.from; });
    // For each other node, count the traffic, and decide whether joint messages are cheaper.
    for (std::size_t k = 0, next = 0; k < boxes.size(); k = next) {
      const std::size_t there = boxes[k].other_node;
      node_traffic traffic;
      std::size_t elements = 0;
      for (next = k; next < boxes.size() && boxes[next].other_node == there; ++next) {
        elements += boxes[next].elements;
        traffic.worker_pairs += next == k || !are_of_same_pair(next, next - 1) ? 1U : 0U;
      }
      traffic.bytes = elements * element_bytes;
      traffic.senders = workers_of(k, next, &crossing_box::from).size();
      traffic.receivers = workers_of(k, next, &crossing_box::to).size();
      const std::size_t lanes = join ? traffic.joint_message_count() : 0;
      // Cut the boxes into joint messages of about equal length, or into one message for each pair of workers.
      for (std::size_t m = k, done = 0; m < next; m = messages.back().end_box) {
        const std::size_t lane = done * lanes / elements;
        node_message one{boxes[m].from, boxes[m].to, there, m, m, 0, lanes != 0};
        const auto joins = [&](std::size_t b) {
          return lanes == 0 ? are_of_same_pair(b, m) : (done + one.elements) * lanes / elements == lane;
        };
        for (; one.end_box < next && joins(one.end_box); ++one.end_box) one.elements += boxes[one.end_box].elements;
        done += one.elements;
        if (one.is_joint) {
          one.from = joint_message_worker(one, &crossing_box::from, sending ? there : own_node, lane);
          one.to = joint_message_worker(one, &crossing_box::to, sending ? own_node : there, lane);
        }
        messages.push_back(one);
      }
    }
  }

  /// The number of messages that a worker posts, and the boxes and elements in these messages.
  struct posted_counts {
    std::size_t messages = 0, boxes = 0, elements = 0;  ///< boxes, elements: in these messages
    friend bool operator==(const posted_counts&, const posted_counts&) = default;
  };
  PARTITA_DECL posted_counts count_posted(std::size_t worker) const;  ///< Counts what a worker posts.

 private:
  /// Whether boxes a and b have the same sender and the same receiver.
  bool are_of_same_pair(std::size_t a, std::size_t b) const {
    return boxes[a].from == boxes[b].from && boxes[a].to == boxes[b].to;
  }
  /// The workers that send, or receive, the boxes first, ..., last - 1, in ascending order.
  PARTITA_DECL std::vector<std::size_t> workers_of(std::size_t first, std::size_t last,
                                                   std::size_t crossing_box::*sender_or_receiver) const;
  /// The worker that posts, or receives, joint message number `message_index` with another node.
  PARTITA_DECL std::size_t joint_message_worker(const node_message& m, std::size_t crossing_box::*sender_or_receiver,
                                                std::size_t other_node, std::size_t message_index) const;
};

/// The messages that leave the node of the workers `members` (in ascending order, all on one node), or that arrive at
/// it: `make_plan(worker)` is the exchange plan of a worker, node_of(worker) the number of its node. Cost: that of the
/// plans of the node and of a sort of their boxes.
template <class PlanOf, class NodeOf>
node_messages plan_node_messages(const std::vector<std::size_t>& members, bool sending, std::size_t element_bytes,
                                 PlanOf make_plan, NodeOf node_of, bool join = true) {
  std::vector<crossing_box> all;
  for (std::size_t k = 0; k < members.size(); ++k) {
    const auto plan = make_plan(members[k]);
    const auto& moves = sending ? plan.sends : plan.receives;
    for (std::size_t b = 0; b < moves.size(); ++b) {
      const std::size_t peer = moves[b].worker, member = members[k];
      all.push_back({sending ? member : peer, sending ? peer : member, moves[b].where.volume(), k, b});
    }
  }
  return {static_cast<std::vector<crossing_box>&&>(all), sending, node_of(members[0]), element_bytes, node_of, join};
}

}  // namespace partita

#ifndef PARTITA_CORE
#include <partita/plan/impl/node_messages.ipp>
#endif
