// Defines the functions that comm/detail/exchange/joint_plan.hpp declares.
#pragma once

#include <partita/comm/detail/exchange/joint_plan.hpp>

namespace partita::detail {

PARTITA_DEF node_numbers::node_numbers(const std::vector<int>& node_table) : lowest_worker_of_each_(&node_table) {
  for (std::size_t k = 0; k < node_table.size(); ++k)
    if (node_table[k] == static_cast<int>(k)) lowest_workers_.push_back(k);
}

PARTITA_DEF std::size_t node_numbers::operator()(std::size_t worker) const {
  return find_last_index(static_cast<std::size_t>((*lowest_worker_of_each_)[worker]), lowest_workers_.size(),
                         [&](std::size_t k) { return lowest_workers_[k]; });
}

PARTITA_DEF joint_plan joint_planner::make_joint_plan() {
  const std::size_t rank = own_plan().rank;
  joint_plan joint{own_plan(), own_plan().make_empty_copy(), own_plan().make_empty_copy(), box_list(rank),
                   box_list(rank)};
  joint.direct_plan.sends.clear(), joint.direct_plan.peer_positions.clear(), joint.direct_plan.receives.clear();
  // a staging area needs no strides: each box in it is dense
  joint.collecting_boxes.received_shape.assign(rank, 1);
  plan_direction(joint, true);
  plan_direction(joint, false);
  return joint;
}

PARTITA_DEF node_messages joint_planner::messages_in_direction(bool is_leaving) const {
  std::vector<crossing_box> all;
  for (std::size_t k = 0; k < plans_.size(); ++k) {
    const box_list& boxes = is_leaving ? plans_[k].sends : plans_[k].receives;
    const std::size_t local = plans_[k].worker;
    for (std::size_t b = 0; b < boxes.size(); ++b) {
      const std::size_t other = boxes[b].worker;
      all.push_back({is_leaving ? local : other, is_leaving ? other : local, boxes.volume(b), k, b});
    }
  }
  return {std::move(all), is_leaving, node_numbers_(own_worker_), element_bytes_, node_numbers_};
}

PARTITA_DEF void joint_planner::plan_direction(joint_plan& joint, bool is_leaving) {
  const node_messages all = messages_in_direction(is_leaving);
  // for each worker of the node, the number of elements that its staging area already contains
  std::vector<std::size_t> filled(plans_.size(), 0);
  std::vector<char> joined(is_leaving ? own_plan().sends.size() : own_plan().receives.size(), 0);
  staged_joint_boxes written, read, messages;  // sorted by `key`: the other worker of the copy or of the message
  for (const node_message& m : all.messages) {
    if (!m.is_joint) continue;
    const std::size_t owner = is_leaving ? m.from : m.to;
    std::size_t& staging_offset = filled[place_of_worker(owner)];
    if (owner == own_worker_) messages.push_back({is_leaving ? m.to : m.from, 0, 0, m.elements, staging_offset});
    for (std::size_t b = m.first_box; b < m.end_box; ++b) {
      const crossing_box& one = all.boxes[b];
      const std::size_t local = is_leaving ? one.from : one.to;
      if (local == own_worker_)
        joined[one.box] = 1, written.push_back({owner, one.plan, one.box, one.elements, staging_offset});
      if (owner == own_worker_) read.push_back({local, one.plan, one.box, one.elements, staging_offset});
      staging_offset += one.elements;
    }
  }
  sort(written), sort(read), sort(messages);
  const std::vector<std::size_t> none(own_plan().rank, 0);
  for (const staged_joint_box& m : messages) {
    const std::size_t bytes = m.elements * element_bytes_;
    (is_leaving ? joint.leaving_messages : joint.arriving_messages)
        .add(m.key, &bytes, none.data(), m.staging_offset * element_bytes_);
  }
  (is_leaving ? joint.leaving_bytes : joint.arriving_bytes) = filled[place_] * element_bytes_;
  if (is_leaving) plan_leaving_messages(joint, written, read, joined);
  else plan_arriving_messages(joint, written, read, joined);
}

PARTITA_DEF void joint_planner::plan_leaving_messages(joint_plan& joint, const staged_joint_boxes& written,
                                                      const staged_joint_boxes& read,
                                                      const std::vector<char>& joined) const {
  for (const staged_joint_box& l : written) {
    const listed_box b = own_plan().sends[l.box];
    std::vector<std::ptrdiff_t> dense(own_plan().rank);
    dense_strides(b.shape, own_plan().rank, dense.data());
    if (l.key == own_worker_)
      joint.own_leaving_boxes.add(own_worker_, b.shape, b.at, l.staging_offset * element_bytes_);
    else
      joint.collecting_boxes.add_send(l.key, b.shape, b.at, static_cast<std::ptrdiff_t>(l.staging_offset),
                                      dense.data());
  }
  const std::vector<std::size_t> none(own_plan().rank, 0);
  for (const staged_joint_box& l : read)
    if (l.key != own_worker_)
      joint.collecting_boxes.receives.add(l.key, plans_[l.plan].sends[l.box].shape, none.data(),
                                          l.staging_offset * element_bytes_);
  for (std::size_t k = 0; k < own_plan().sends.size(); ++k) {
    const listed_box b = own_plan().sends[k];
    if (joined[k] == 0)
      joint.direct_plan.add_send(b.worker, b.shape, b.at, own_plan().peer_offset(k), own_plan().peer_strides(k));
  }
}

PARTITA_DEF void joint_planner::plan_arriving_messages(joint_plan& joint, const staged_joint_boxes& written,
                                                       const staged_joint_boxes& read,
                                                       const std::vector<char>& joined) const {
  for (const staged_joint_box& l : written) {
    const listed_box b = own_plan().receives[l.box];
    if (l.key == own_worker_)
      joint.own_arriving_boxes.add(own_worker_, b.shape, b.at, l.staging_offset * element_bytes_);
    else joint.distributing_boxes.receives.add(l.key, b.shape, b.at);
  }
  const std::vector<std::size_t> none(own_plan().rank, 0);
  for (const staged_joint_box& l : read) {
    const lowered_plan& its = plans_[l.plan];
    const listed_box b = its.receives[l.box];
    const std::ptrdiff_t* const strides = its.received_strides.data();
    if (l.key != own_worker_)
      joint.distributing_boxes.add_send(l.key, b.shape, none.data(), box_offset(b, strides, its.rank), strides,
                                        l.staging_offset * element_bytes_);
  }
  for (std::size_t k = 0; k < own_plan().receives.size(); ++k)
    if (joined[k] == 0) joint.direct_plan.receives.add(own_plan().receives[k]);
}

}  // namespace partita::detail
