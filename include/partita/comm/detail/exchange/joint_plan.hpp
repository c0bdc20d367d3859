// What one worker does for joint messages. A joint message combines boxes of several workers of one node for another
// node. This header computes the position of each box in these messages, and which workers write and read the box.
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

/// One worker's work for joint messages. Each message has an owner on both nodes. All senders of the message write
/// their boxes into a staging area of its owner on their node; the owner on the other node receives the message into a
/// staging area, and writes the boxes from there to their workers.
struct joint_plan {
  lowered_plan direct;                   ///< the boxes that do not travel in joint messages
  lowered_plan collecting, handing_out;  ///< on this node: boxes into staging areas, and out of them
  box_list own_leaving, own_arriving;    ///< this worker's own boxes in its own staging areas
  box_list leaving{1}, arriving{1};  ///< the joint messages: contiguous bytes to and from the owner on the other node
  std::size_t leaving_bytes = 0, arriving_bytes = 0;

  bool empty() const {
    return collecting.sends.empty() && handing_out.receives.empty() && leaving.empty() && arriving.empty();
  }
};

/// A box on this worker's, or on the owner's, side of a staging area.
struct joint_box {
  // key: the worker by which the box is sorted; plan, box: the place of the box in the lists
  std::size_t key, plan, box, elements;
  std::size_t stage;  // the offset in the owner's staging area, in elements
};

/// The index of the last of n ascending values that is at most `value`.
template <class Value>
std::size_t last_up_to(std::size_t value, std::size_t n, Value value_of) {
  std::size_t low = 0, high = n;
  while (low + 1 < high) {
    const std::size_t middle = low + (high - low) / 2;
    (value_of(middle) <= value ? low : high) = middle;
  }
  return low;
}

/// Numbers the nodes 0, 1, …, from a table that gives the lowest worker of each worker's node.
class node_numbers {
 public:
  PARTITA_DECL explicit node_numbers(const std::vector<int>& first_of);
  PARTITA_DECL std::size_t operator()(std::size_t worker) const;

 private:
  const std::vector<int>* first_of_;
  std::vector<std::size_t> lowest_;  // the lowest worker of each node
};

/// Splits the plan of a worker into direct and joint messages. `plans` are the plans of all workers of its node, in
/// ascending order; `first_of` gives the lowest worker of the node of any worker.
class joint_planner {
 public:
  joint_planner(std::size_t worker, std::size_t element, std::vector<lowered_plan> plans,
                const std::vector<int>& first_of)
      : me_(worker), element_(element), node_of_(first_of), plans_(std::move(plans)) {
    place_ = place_of(worker);
  }

  PARTITA_DECL joint_plan split();

 private:
  using list = std::vector<joint_box>;

  const lowered_plan& own() const { return plans_[place_]; }
  /// The place of a worker among the workers of this node.
  std::size_t place_of(std::size_t worker) const {
    return last_up_to(worker, plans_.size(), [&](std::size_t k) { return plans_[k].worker; });
  }
  static void sort(list& all) {
    stable_sort(all, [](const joint_box& m) { return m.key; });
  }

  /// All messages of this node in one direction, from the plans of its workers.
  PARTITA_DECL node_messages all_moving(bool leaving) const;

  PARTITA_DECL void divide(joint_plan& joint, bool leaving);

  PARTITA_DECL void leave(joint_plan& joint, const list& written, const list& read,
                          const std::vector<char>& joined) const;
  PARTITA_DECL void arrive(joint_plan& joint, const list& written, const list& read,
                           const std::vector<char>& joined) const;

  std::size_t me_, element_, place_ = 0;
  node_numbers node_of_;
  std::vector<lowered_plan> plans_;  // the plans of this node's workers
};

}  // namespace partita::detail

#ifndef PARTITA_CORE
#include <partita/comm/detail/exchange/impl/joint_plan.ipp>
#endif
