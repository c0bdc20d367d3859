// What one worker does for joint messages. A joint message combines boxes of several workers of one node for another
// node. This header computes the position of each box in these messages, and which workers write and read it.
// plan/node_messages.hpp decides which boxes share a message.
#pragma once

#include <cstddef>
#include <partita/comm/detail/box_list.hpp>
#include <partita/comm/detail/lowered_plan.hpp>
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
  box_list leaving{1}, arriving{1};      ///< the messages: contiguous bytes to and from the owner on the other node
  std::size_t leaving_bytes = 0, arriving_bytes = 0;

  bool empty() const {
    return collecting.sends.empty() && handing_out.receives.empty() && leaving.empty() && arriving.empty();
  }
};

/// A box on this worker's or the owner's side of a staging area.
struct joint_box {
  // key: the worker by which the box is sorted; plan, box: its place in the lists
  std::size_t key, plan, box, elements;
  std::size_t stage;  // offset in the owner's staging area, in elements
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

/// Numbers the nodes 0, 1, .... Made from a table that gives, for each worker, the lowest worker of its node.
class node_numbers {
 public:
  explicit node_numbers(const std::vector<int>& first_of) : first_of_(&first_of) {
    for (std::size_t k = 0; k < first_of.size(); ++k)
      if (first_of[k] == static_cast<int>(k)) lowest_.push_back(k);
  }
  std::size_t operator()(std::size_t worker) const {
    return last_up_to(static_cast<std::size_t>((*first_of_)[worker]), lowest_.size(),
                      [&](std::size_t k) { return lowest_[k]; });
  }

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

  joint_plan split() {
    const std::size_t rank = own().rank;
    joint_plan joint{own(), own().without_boxes(), own().without_boxes(), box_list(rank), box_list(rank)};
    joint.direct.sends.clear(), joint.direct.there.clear(), joint.direct.receives.clear();
    // a staging area is not a block: its strides are not used
    joint.collecting.received_shape.assign(rank, 1);
    divide(joint, true);
    divide(joint, false);
    return joint;
  }

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
  node_messages all_moving(bool leaving) const {
    std::vector<crossing_box> all;
    for (std::size_t k = 0; k < plans_.size(); ++k) {
      const box_list& boxes = leaving ? plans_[k].sends : plans_[k].receives;
      const std::size_t local = plans_[k].worker;
      for (std::size_t b = 0; b < boxes.size(); ++b) {
        const std::size_t other = boxes[b].worker;
        all.push_back({leaving ? local : other, leaving ? other : local, boxes.volume(b), k, b});
      }
    }
    return {std::move(all), leaving, node_of_(me_), element_, node_of_};
  }

  void divide(joint_plan& joint, bool leaving) {
    const node_messages all = all_moving(leaving);
    // elements so far in the staging area of each worker of the node
    std::vector<std::size_t> filled(plans_.size(), 0);
    std::vector<char> joined(leaving ? own().sends.size() : own().receives.size(), 0);
    list written, read, messages;  // sorted by the worker on the other side of the staging area, or of the network
    for (const node_message& m : all.messages) {
      if (!m.joined) continue;
      const std::size_t owner = leaving ? m.from : m.to;
      std::size_t& stage = filled[place_of(owner)];
      if (owner == me_) messages.push_back({leaving ? m.to : m.from, 0, 0, m.elements, stage});
      for (std::size_t b = m.first; b < m.last; ++b) {
        const crossing_box& one = all.boxes[b];
        const std::size_t local = leaving ? one.from : one.to;
        if (local == me_) joined[one.box] = 1, written.push_back({owner, one.plan, one.box, one.elements, stage});
        if (owner == me_) read.push_back({local, one.plan, one.box, one.elements, stage});
        stage += one.elements;
      }
    }
    sort(written), sort(read), sort(messages);
    const std::vector<std::size_t> none(own().rank, 0);
    for (const joint_box& m : messages) {
      const std::size_t bytes = m.elements * element_;
      (leaving ? joint.leaving : joint.arriving).add(m.key, &bytes, none.data(), m.stage * element_);
    }
    (leaving ? joint.leaving_bytes : joint.arriving_bytes) = filled[place_] * element_;
    if (leaving) leave(joint, written, read, joined);
    else arrive(joint, written, read, joined);
  }

  void leave(joint_plan& joint, const list& written, const list& read, const std::vector<char>& joined) const {
    for (const joint_box& l : written) {
      const listed_box b = own().sends[l.box];
      std::vector<std::ptrdiff_t> dense(own().rank);
      dense_strides(b.shape, own().rank, dense.data());
      if (l.key == me_) joint.own_leaving.add(me_, b.shape, b.at, l.stage * element_);
      else joint.collecting.add_send(l.key, b.shape, b.at, static_cast<std::ptrdiff_t>(l.stage), dense.data());
    }
    const std::vector<std::size_t> none(own().rank, 0);
    for (const joint_box& l : read)
      if (l.key != me_)
        joint.collecting.receives.add(l.key, plans_[l.plan].sends[l.box].shape, none.data(), l.stage * element_);
    for (std::size_t k = 0; k < own().sends.size(); ++k) {
      const listed_box b = own().sends[k];
      if (joined[k] == 0) joint.direct.add_send(b.worker, b.shape, b.at, own().offset_there(k), own().strides_there(k));
    }
  }
  void arrive(joint_plan& joint, const list& written, const list& read, const std::vector<char>& joined) const {
    for (const joint_box& l : written) {
      const listed_box b = own().receives[l.box];
      if (l.key == me_) joint.own_arriving.add(me_, b.shape, b.at, l.stage * element_);
      else joint.handing_out.receives.add(l.key, b.shape, b.at);
    }
    const std::vector<std::size_t> none(own().rank, 0);
    for (const joint_box& l : read) {
      const lowered_plan& its = plans_[l.plan];
      const listed_box b = its.receives[l.box];
      const std::ptrdiff_t* const strides = its.received_strides.data();
      if (l.key != me_)
        joint.handing_out.add_send(l.key, b.shape, none.data(), offset_of(b, strides, its.rank), strides,
                                   l.stage * element_);
    }
    for (std::size_t k = 0; k < own().receives.size(); ++k)
      if (joined[k] == 0) joint.direct.receives.add(own().receives[k]);
  }

  std::size_t me_, element_, place_ = 0;
  node_numbers node_of_;
  std::vector<lowered_plan> plans_;  // of this node's workers
};

}  // namespace partita::detail
