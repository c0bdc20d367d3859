// What a worker does for the messages that the workers of two nodes share: where each box stands in them, and who
// writes and reads it. Which boxes share one is decided by plan/node_messages.hpp.
#pragma once

#include <cstddef>
#include <partita/comm/detail/box_list.hpp>
#include <partita/comm/detail/lowered_plan.hpp>
#include <partita/plan/node_messages.hpp>
#include <partita/plan/stable_sort.hpp>
#include <utility>
#include <vector>

namespace partita::detail {

/// What one worker does for joint messages. The owner of one that leaves has a staging area into which all who send by
/// it write their boxes; the owner of one that arrives writes the boxes from its staging area to their workers.
struct joint_plan {
  lowered_plan direct;                   ///< what does not travel so
  lowered_plan collecting, handing_out;  ///< on the node: boxes to staging areas, and from there
  box_list own_leaving, own_arriving;    ///< this worker's boxes in its own staging areas
  box_list leaving{1}, arriving{1};      ///< messages: bytes in a row, to and from the owner on the other node
  std::size_t leaving_bytes = 0, arriving_bytes = 0;

  bool empty() const {
    return collecting.sends.empty() && handing_out.receives.empty() && leaving.empty() && arriving.empty();
  }
};

/// A box on one side of a staging area.
struct joint_box {
  std::size_t key, plan, box, elements;  // the worker by which it is sorted, and where it is listed
  std::size_t stage;                     // elements from the start of the owner's staging area
};

/// The last of n ascending values that is not larger.
template <class Value>
std::size_t last_up_to(std::size_t value, std::size_t n, Value value_of) {
  std::size_t low = 0, high = n;
  while (low + 1 < high) {
    const std::size_t middle = low + (high - low) / 2;
    (value_of(middle) <= value ? low : high) = middle;
  }
  return low;
}

/// Nodes as numbers 0, 1, ..., given for each worker the lowest one of its node.
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
  std::vector<std::size_t> lowest_;  // workers of all nodes
};

/// Splits the plan of a worker, given those of the workers of its node, ascending. `first_of` tells for any worker the
/// lowest one of its node.
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
    // a staging area is no block: nothing is asked of its strides
    joint.collecting.received_shape.assign(rank, 1);
    divide(joint, true);
    divide(joint, false);
    return joint;
  }

 private:
  using list = std::vector<joint_box>;

  const lowered_plan& own() const { return plans_[place_]; }
  /// The place of a worker among those of this node.
  std::size_t place_of(std::size_t worker) const {
    return last_up_to(worker, plans_.size(), [&](std::size_t k) { return plans_[k].worker; });
  }
  static void sort(list& all) {
    stable_sort(all, [](const joint_box& m) { return m.key; });
  }

  /// What the plans of the node say of one direction.
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
    std::vector<std::size_t> filled(plans_.size(), 0);  // elements in each member's staging area
    std::vector<char> joined(leaving ? own().sends.size() : own().receives.size(), 0);
    list written, read, messages;  // by the worker on the other side of the staging area, or of the network
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
  std::vector<lowered_plan> plans_;  // of the node's workers
};

}  // namespace partita::detail
