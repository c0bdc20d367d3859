// Defines the functions that comm/detail/exchange/joint_plan.hpp declares.
#pragma once

#include <partita/comm/detail/exchange/joint_plan.hpp>

namespace partita::detail {

PARTITA_DEF node_numbers::node_numbers(const std::vector<int>& first_of) : first_of_(&first_of) {
  for (std::size_t k = 0; k < first_of.size(); ++k)
    if (first_of[k] == static_cast<int>(k)) lowest_.push_back(k);
}

PARTITA_DEF std::size_t node_numbers::operator()(std::size_t worker) const {
  return last_up_to(static_cast<std::size_t>((*first_of_)[worker]), lowest_.size(),
                    [&](std::size_t k) { return lowest_[k]; });
}

PARTITA_DEF joint_plan joint_planner::split() {
  const std::size_t rank = own().rank;
  joint_plan joint{own(), own().without_boxes(), own().without_boxes(), box_list(rank), box_list(rank)};
  joint.direct.sends.clear(), joint.direct.there.clear(), joint.direct.receives.clear();
  // a staging area is no block: its strides are not used
  joint.collecting.received_shape.assign(rank, 1);
  divide(joint, true);
  divide(joint, false);
  return joint;
}

PARTITA_DEF node_messages joint_planner::all_moving(bool leaving) const {
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

PARTITA_DEF void joint_planner::divide(joint_plan& joint, bool leaving) {
  const node_messages all = all_moving(leaving);
  // the elements that are already in the staging area of each worker of the node
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

PARTITA_DEF void joint_planner::leave(joint_plan& joint, const list& written, const list& read,
                                      const std::vector<char>& joined) const {
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

PARTITA_DEF void joint_planner::arrive(joint_plan& joint, const list& written, const list& read,
                                       const std::vector<char>& joined) const {
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

}  // namespace partita::detail
