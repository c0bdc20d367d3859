// Defines the functions that plan/worker_groups.hpp declares.
#pragma once

#include <partita/plan/worker_groups.hpp>
#include <utility>

namespace partita {

PARTITA_DEF worker_groups::worker_groups(std::vector<std::vector<std::size_t>> groups) : members_(std::move(groups)) {
  for (std::size_t g = 0; g < members_.size(); ++g) {
    if (members_[g].empty())
      throw partition_error(text("partita::worker_groups: requires groups that have a worker, group ")
                            << g << " has none; leave it out");
    for (std::size_t worker : members_[g]) {
      if (worker > most_workers)
        throw partition_error(text("partita::worker_groups: requires ids of workers, got ")
                              << worker << " in group " << g);
      if (worker >= groups_.size()) groups_.resize(worker + 1, none);
      if (groups_[worker] != none)
        throw partition_error(text("partita::worker_groups: requires each worker in one group at most, worker ")
                              << worker << " is named in group " << groups_[worker] << " and again in group " << g);
      groups_[worker] = g;
    }
  }
}

PARTITA_DEF worker_groups worker_groups::by_colour(const std::vector<std::size_t>& colours) {
  std::vector<std::vector<std::size_t>> groups;
  std::vector<std::size_t> is_listed;
  for (std::size_t worker = 0; worker < colours.size(); ++worker) {
    if (colours[worker] == no_colour) continue;
    std::size_t g = 0;
    while (g < is_listed.size() && is_listed[g] != colours[worker]) ++g;
    if (g == is_listed.size()) {
      is_listed.push_back(colours[worker]);
      groups.emplace_back();
    }
    groups[g].push_back(worker);
  }
  return worker_groups(std::move(groups));
}

PARTITA_DEF const std::vector<std::size_t>& worker_groups::members(std::size_t group) const {
  if (group >= members_.size())
    throw partition_error(text("partita::worker_groups::members(group): requires a group below the number of groups ")
                          << members_.size() << ", got " << group);
  return members_[group];
}

PARTITA_DEF std::uint64_t worker_groups::fingerprint() const {
  hasher hash;
  for (const auto& list : members_) hash.mix(list);
  return hash.value();
}

PARTITA_DEF group_plan worker_groups::plan(std::size_t worker, group_plan::kind movement) const {
  group_plan own;
  own.movement = movement;
  own.worker = worker;
  const std::size_t number = group_of(worker);
  if (number == size()) return own;
  worker_group group;
  group.number = number;
  group.root_is_large = true;
  group.members = members_[number];
  while (group.members[group.position] != worker) ++group.position;
  own.large = true;
  own.small = group.position == 0;
  own.groups.push_back(std::move(group));
  return own;
}

}  // namespace partita
