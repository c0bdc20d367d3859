// What one worker does for joint messages. A joint message combines boxes of several workers of one node for another
// node. This header computes the position of each box in the joint messages, and which workers write and read the box.
#pragma once

#include <cstddef>
#include <partita/comm/detail/exchange/box_list.hpp>
#include <partita/comm/detail/exchange/lowered_plan.hpp>
#include <partita/core/config.hpp>
#include <partita/plan/node_messages.hpp>
#include <partita/plan/stable_sort.hpp>
#include <utility>
#include <vector>

namespace partita::detail {

/// What one worker copies, sends and receives for joint messages. Each joint message has an owner on the sending node
/// and an owner on the receiving node. All senders of the message write their boxes into a staging area of its owner on
/// their node; the owner on the other node receives the message into a staging area, and writes the boxes from there to
/// their workers.
struct joint_plan {
  lowered_plan direct_plan;                            ///< the boxes that do not travel in joint messages
  lowered_plan collecting_boxes, distributing_boxes;   ///< on this node: boxes into staging areas, and out of them
  box_list own_leaving_boxes, own_arriving_boxes;      ///< this worker's own boxes in its own staging areas
  box_list leaving_messages{1}, arriving_messages{1};  ///< of this worker: bytes to and from owners on other nodes
  std::size_t leaving_bytes = 0, arriving_bytes = 0;   ///< sizes of this worker's staging areas

  /// Whether this worker has nothing to do for joint messages.
  bool empty() const {
    return collecting_boxes.sends.empty() && distributing_boxes.receives.empty() && leaving_messages.empty() &&
           arriving_messages.empty();
  }
};

/// A box, or a whole joint message, and where it is in the staging area of the message's owner on this node.
struct staged_joint_box {
  /// key: the other worker, the sort key; plan, box: indices of a box's plan and of the box in it; elements: how many
  std::size_t key, plan, box, elements;
  std::size_t staging_offset;  ///< the offset in the owner's staging area, in elements
};

/// The index of the last of n ascending values that is at most `value`.
template <class Value>
std::size_t find_last_index(std::size_t value, std::size_t n, Value ascending_value) {
  std::size_t low = 0, high = n;
  while (low + 1 < high) {
    const std::size_t middle = low + (high - low) / 2;
    (ascending_value(middle) <= value ? low : high) = middle;
  }
  return low;
}

/// Numbers the nodes 0, 1, …, from a table that gives the lowest worker of each worker's node.
class node_numbers {
 public:
  PARTITA_DECL explicit node_numbers(const std::vector<int>& node_table);  ///< `node_table` must outlive this object.
  PARTITA_DECL std::size_t operator()(std::size_t worker) const;

 private:
  const std::vector<int>* lowest_worker_of_each_;  ///< for each worker, the lowest worker of its node
  std::vector<std::size_t> lowest_workers_;        ///< the lowest worker of each node
};

/// Splits the plan of a worker into direct and joint messages. `plans` are the plans of all workers of that worker's
/// node, in ascending order; `node_table` gives, for each worker, the lowest worker of its node.
class joint_planner {
 public:
  /// `element` is the number of bytes of an element; the other parameters are those of the class.
  joint_planner(std::size_t worker, std::size_t element, std::vector<lowered_plan> plans,
                const std::vector<int>& node_table)
      : own_worker_(worker), element_bytes_(element), node_numbers_(node_table), plans_(std::move(plans)) {
    place_ = place_of_worker(worker);
  }

  PARTITA_DECL joint_plan make_joint_plan();  ///< Returns what the worker does for direct and joint messages.

 private:
  using staged_joint_boxes = std::vector<staged_joint_box>;  ///< boxes, or messages, in staging areas

  const lowered_plan& own_plan() const { return plans_[place_]; }  ///< The plan that is split.
  /// The number of a worker among the workers of this node, from 0 on.
  std::size_t place_of_worker(std::size_t worker) const {
    return find_last_index(worker, plans_.size(), [&](std::size_t k) { return plans_[k].worker; });
  }
  /// Sorts boxes or messages by `key`, the other worker; those of equal keys keep their order.
  static void sort(staged_joint_boxes& all) {
    stable_sort(all, [](const staged_joint_box& m) { return m.key; });
  }

  /// All messages of this node in one direction, from the plans of its workers.
  PARTITA_DECL node_messages messages_in_direction(bool is_leaving) const;

  PARTITA_DECL void plan_direction(joint_plan& joint, bool is_leaving);  ///< Plans the messages that leave, or arrive.
  /// Plans the copies for the messages that leave the node: `written` are this worker's own boxes in joint messages,
  /// `read` the boxes in its staging area; joined[k] is 1 if the k-th box that it sends is in a joint message. Adds the
  /// other boxes to the direct plan.
  PARTITA_DECL void plan_leaving_messages(joint_plan& joint, const staged_joint_boxes& written,
                                          const staged_joint_boxes& read, const std::vector<char>& joined) const;
  /// As plan_leaving_messages(), for the messages that arrive on the node and for the boxes that this worker receives.
  PARTITA_DECL void plan_arriving_messages(joint_plan& joint, const staged_joint_boxes& written,
                                           const staged_joint_boxes& read, const std::vector<char>& joined) const;

  std::size_t own_worker_, element_bytes_, place_ = 0;  ///< place_: the worker's number on its node, from 0 on
  node_numbers node_numbers_;                           ///< gives the number of each worker's node
  std::vector<lowered_plan> plans_;                     ///< the plans of this node's workers
};

}  // namespace partita::detail

#ifndef PARTITA_CORE
#include <partita/comm/detail/exchange/impl/joint_plan.ipp>
#endif
