// Which boxes of a plan travel between nodes in messages that the workers of both nodes share: worked out by every
// worker from the plans of its own node, so that nobody has to be asked.
#pragma once

#include <cstddef>
#include <partita/comm/detail/box_list.hpp>
#include <partita/comm/detail/lowered_plan.hpp>
#include <partita/plan/between_nodes.hpp>
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

/// A box that goes from or comes to a worker of this node, or a message of several.
struct joint_box {
  std::size_t key;                   // by which it is sorted
  std::size_t other_node, from, to;  // the number of the other node, and the workers
  std::size_t plan, box, elements;   // which of the node's plans, and which of its sends or receives
  std::size_t stage = 0;             // elements from the start of the owner's staging area
};

/// Splits the plan of a worker, given those of the workers of its node, ascending. `first_of` tells for any worker the
/// lowest one of its node.
class joint_planner {
 public:
  joint_planner(std::size_t worker, std::size_t element, std::vector<lowered_plan> plans,
                const std::vector<int>& first_of)
      : me_(worker), element_(element), first_of_(&first_of), plans_(std::move(plans)) {
    for (std::size_t k = 0; k < first_of.size(); ++k)
      if (first_of[k] == static_cast<int>(k)) nodes_.push_back(k);
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
  /// A worker's node as a number, and its place among the workers of this one.
  std::size_t node_of(std::size_t worker) const {
    const auto first = static_cast<std::size_t>((*first_of_)[worker]);
    return last_up_to(first, nodes_.size(), [&](std::size_t k) { return nodes_[k]; });
  }
  std::size_t place_of(std::size_t worker) const {
    return last_up_to(worker, plans_.size(), [&](std::size_t k) { return plans_[k].worker; });
  }
  /// The last of n ascending values that is not larger.
  template <class Value>
  static std::size_t last_up_to(std::size_t value, std::size_t n, Value value_of) {
    std::size_t low = 0, high = n;
    while (low + 1 < high) {
      const std::size_t middle = low + (high - low) / 2;
      (value_of(middle) <= value ? low : high) = middle;
    }
    return low;
  }
  static void sort(list& all) {
    stable_sort(all, [](const joint_box& m) { return m.key; });
  }

  /// All boxes of the node in one direction, those of each other node together, in an order that both nodes know.
  list all_moving(bool leaving) const {
    list all;
    const std::size_t here = node_of(me_);
    for (std::size_t k = 0; k < plans_.size(); ++k) {
      const box_list& boxes = leaving ? plans_[k].sends : plans_[k].receives;
      const std::size_t local = plans_[k].worker;
      for (std::size_t b = 0; b < boxes.size(); ++b) {
        const std::size_t other = boxes[b].worker, there = node_of(other), volume = boxes.volume(b);
        if (there == here || volume == 0) continue;
        const std::size_t from = leaving ? local : other;
        all.push_back({there << 32U | from, there, from, leaving ? other : local, k, b, volume});
      }
    }
    sort(all);
    return all;
  }

  /// The workers of one side of the boxes first, ..., last - 1, ascending.
  static std::vector<std::size_t> workers_of(const list& all, std::size_t first, std::size_t last,
                                             std::size_t joint_box::*side) {
    std::vector<std::size_t> workers;
    for (std::size_t k = first; k < last; ++k) {
      std::size_t worker = all[k].*side, low = workers.size();
      while (low > 0 && workers[low - 1] > worker) --low;
      if (low > 0 && workers[low - 1] == worker) continue;
      workers.push_back(worker);
      for (std::size_t at = workers.size() - 1; at > low; --at) workers[at] = workers[at - 1];
      workers[low] = worker;
    }
    return workers;
  }

  void divide(joint_plan& joint, bool leaving) {
    list all = all_moving(leaving);
    const std::size_t here = node_of(me_);
    std::vector<std::size_t> filled(plans_.size(), 0);  // elements in each member's staging area
    std::vector<char> joined(leaving ? own().sends.size() : own().receives.size(), 0);
    list written, read, messages;  // by the worker on the other side of the staging area, or of the network
    for (std::size_t k = 0, next = 0; k < all.size(); k = next) {
      node_traffic traffic;
      std::size_t elements = 0;
      for (next = k; next < all.size() && all[next].other_node == all[k].other_node; ++next) {
        elements += all[next].elements;
        traffic.pairs +=
            next == k || all[next].from != all[next - 1].from || all[next].to != all[next - 1].to ? 1U : 0U;
      }
      traffic.bytes = elements * element_;
      traffic.senders = workers_of(all, k, next, &joint_box::from).size();
      traffic.receivers = workers_of(all, k, next, &joint_box::to).size();
      const std::size_t lanes = traffic.joined();
      for (std::size_t m = k, at = 0; lanes != 0 && m < next;) {
        const std::size_t lane = at * lanes / elements;
        std::size_t end = m, reach = at;
        for (; end < next && reach * lanes / elements == lane; ++end) reach += all[end].elements;
        const auto owner = [&](std::size_t joint_box::*side, std::size_t other) {
          const auto workers = workers_of(all, m, end, side);
          return workers[node_traffic::owner(workers.size(), other, lane)];
        };
        const std::size_t there = all[k].other_node, sends = owner(&joint_box::from, leaving ? there : here),
                          receives = owner(&joint_box::to, leaving ? here : there),
                          owner_here = leaving ? sends : receives;
        std::size_t& stage = filled[place_of(owner_here)];
        if (owner_here == me_) messages.push_back({leaving ? receives : sends, 0, 0, 0, 0, 0, reach - at, stage});
        for (; m != end; ++m) {
          joint_box one = all[m];
          const std::size_t local = leaving ? one.from : one.to;
          one.stage = stage;
          one.key = owner_here;
          if (local == me_) joined[one.box] = 1, written.push_back(one);
          one.key = local;
          if (owner_here == me_) read.push_back(one);
          stage += one.elements;
        }
        at = reach;
      }
    }
    sort(written), sort(read), sort(messages);
    const std::size_t none[most_dimensions] = {};
    for (const joint_box& m : messages) {
      const std::size_t bytes = m.elements * element_;
      (leaving ? joint.leaving : joint.arriving).add(m.key, &bytes, none, m.stage * element_);
    }
    (leaving ? joint.leaving_bytes : joint.arriving_bytes) = filled[place_] * element_;
    if (leaving) leave(joint, written, read, joined);
    else arrive(joint, written, read, joined);
  }

  void leave(joint_plan& joint, const list& written, const list& read, const std::vector<char>& joined) const {
    for (const joint_box& l : written) {
      const listed_box b = own().sends[l.box];
      std::ptrdiff_t dense[most_dimensions] = {};
      dense_strides(b.shape, own().rank, dense);
      if (l.key == me_) joint.own_leaving.add(me_, b.shape, b.at, l.stage * element_);
      else joint.collecting.add_send(l.key, b.shape, b.at, static_cast<std::ptrdiff_t>(l.stage), dense);
    }
    const std::size_t none[most_dimensions] = {};
    for (const joint_box& l : read)
      if (l.key != me_)
        joint.collecting.receives.add(l.key, plans_[l.plan].sends[l.box].shape, none, l.stage * element_);
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
    const std::size_t none[most_dimensions] = {};
    for (const joint_box& l : read) {
      const lowered_plan& its = plans_[l.plan];
      const listed_box b = its.receives[l.box];
      const std::ptrdiff_t* const strides = its.received_strides.data();
      if (l.key != me_)
        joint.handing_out.add_send(l.key, b.shape, none, offset_of(b, strides, its.rank), strides, l.stage * element_);
    }
    for (std::size_t k = 0; k < own().receives.size(); ++k)
      if (joined[k] == 0) joint.direct.receives.add(own().receives[k]);
  }

  std::size_t me_, element_, place_ = 0;
  const std::vector<int>* first_of_;
  std::vector<std::size_t> nodes_;   // the lowest workers of all
  std::vector<lowered_plan> plans_;  // of the node's workers
};

}  // namespace partita::detail
