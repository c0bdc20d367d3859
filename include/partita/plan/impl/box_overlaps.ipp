// Defines the functions that plan/box_overlaps.hpp declares.
#pragma once

#include <cstdint>
#include <partita/plan/box_overlaps.hpp>
#include <utility>

namespace partita {

PARTITA_DEF box_overlaps::box_overlaps(std::vector<worker_box> held, std::vector<worker_box> wanted)
    : held_(std::move(held)), wanted_(std::move(wanted)), copy_ranges_(held_.size()), holders_(held_.size()) {
  // Sort the workers by a hash of their boxes, so that equal boxes are adjacent, in the order of their replica numbers.
  std::vector<std::uint64_t> number(held_.size());
  for (std::size_t k = 0; k < holders_.size(); ++k) {
    holders_[k] = k;
    hasher all(held_[k].summand_index);
    for (const interval& one : held_[k].box) all.mix(one.start).mix(one.stop);
    number[k] = all.mix(held_[k].has_box).value();
  }
  detail::stable_sort(holders_, [&](std::size_t worker) { return held_[worker].replica; });
  detail::stable_sort(holders_, [&](std::size_t worker) { return number[worker]; });
  // Find the ranges of workers with equal boxes: these workers hold copies.
  for (std::size_t k = 0; k < holders_.size();) {
    std::size_t end = k + 1;
    while (end < holders_.size() && held_[holders_[end]] == held_[holders_[k]]) ++end;
    for (std::size_t i = k; i < end; ++i) copy_ranges_[holders_[i]] = {k, end};
    k = end;
  }
}

PARTITA_DEF std::vector<box_overlap> box_overlaps::receives(std::size_t worker) const {
  std::vector<box_overlap> all;
  short_list<interval> where;
  for (std::size_t k = 0; k < holders_.size(); k = copy_ranges_[holders_[k]].end)
    if (intersect(held_[holders_[k]], wanted_[worker], where)) all.push_back(find_transfer(holders_[k], worker, where));
  detail::stable_sort(all, [](const box_overlap& o) { return o.worker; });
  return all;
}

PARTITA_DEF std::vector<box_overlap> box_overlaps::sends(std::size_t worker) const {
  std::vector<box_overlap> all;
  short_list<interval> where;
  const auto give = [&](std::size_t holder, std::size_t other, bool is_forwarded) {
    if (!intersect(held_[holder], wanted_[other], where)) return;
    const box_overlap one = find_transfer(holder, other, where);
    if (one.worker == worker && one.is_forwarded == is_forwarded) all.push_back({other, where, is_forwarded});
  };
  for (std::size_t other = 0; other < wanted_.size() && held_[worker].has_box; ++other) give(worker, other, false);
  // List the boxes that this worker receives from other nodes and passes on.
  for (std::size_t k = 0; k < holders_.size() && nodes_.nodes() > 0; k = copy_ranges_[holders_[k]].end)
    if (intersect(held_[holders_[k]], wanted_[worker], where))
      for (const std::size_t neighbour : nodes_.members(nodes_.node_of(worker)))
        if (neighbour != worker) give(holders_[k], neighbour, true);
  detail::stable_sort(all, [](const box_overlap& o) { return o.worker; });
  return all;
}

PARTITA_DEF std::size_t box_overlaps::max_received_elements() const {
  const auto volume = [](const short_list<interval>& box) {
    std::size_t n = 1;
    for (const interval& one : box) n *= one.size();
    return n;
  };
  std::size_t most = 0;
  for (std::size_t worker = 0; worker < wanted_.size(); ++worker) {
    if (!wanted_[worker].has_box) continue;
    short_list<interval> own;
    const std::size_t kept = intersect(held_[worker], wanted_[worker], own) ? volume(own) : 0;
    if (const std::size_t taken = volume(wanted_[worker].box) - kept; taken > most) most = taken;
  }
  return most;
}

PARTITA_DEF bool box_overlaps::intersect(const worker_box& a, const worker_box& b, short_list<interval>& where) {
  where = {};
  bool all = a.has_box && b.has_box && a.summand_index == b.summand_index;
  for (std::size_t d = 0; all && d < a.box.size(); ++d) {
    where.push_back({a.box[d].start > b.box[d].start ? a.box[d].start : b.box[d].start,
                     a.box[d].stop < b.box[d].stop ? a.box[d].stop : b.box[d].stop});
    all = where[d].stop > where[d].start;
  }
  return all;
}

PARTITA_DEF box_overlap box_overlaps::find_transfer(std::size_t holder, std::size_t receiver,
                                                    const short_list<interval>& where) const {
  if (held_[receiver] == held_[holder]) return {receiver, where};
  const range all = copy_ranges_[holder];
  const std::size_t number = wanted_[receiver].replica == worker_box::by_worker ? receiver : wanted_[receiver].replica;
  if (nodes_.nodes() > 0) {
    std::vector<std::size_t> copies, equal_receivers;  // on the receiver's node
    short_list<interval> wanted;
    for (const std::size_t neighbour : nodes_.members(nodes_.node_of(receiver))) {
      if (copy_ranges_[neighbour].first == all.first) copies.push_back(neighbour);
      if (intersect(held_[holder], wanted_[neighbour], wanted) && wanted == where) equal_receivers.push_back(neighbour);
    }
    if (!copies.empty()) return {copies[number % copies.size()], where};
    // The receiver that is paired with the first holder gets the box from another node, and passes it on to the rest.
    const std::size_t chosen = equal_receivers[nodes_.peer_index(holders_[all.first], equal_receivers.size())];
    if (chosen != receiver) return {chosen, where, true};
  }
  return {holders_[all.first + number % (all.end - all.first)], where};
}

}  // namespace partita
