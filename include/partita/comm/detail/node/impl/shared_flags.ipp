// Defines the functions that comm/detail/node/shared_flags.hpp declares.
#pragma once

#include <cstring>
#include <partita/comm/detail/node/shared_flags.hpp>

namespace partita::detail {

PARTITA_INLINE shared_flags::~shared_flags() { arena_->release_signals(mine_, lines * sizeof(posted_words)); }

PARTITA_DEF shared_flags::shared_flags(MPI_Comm everyone, const own_node& members, arena& memory)
    : everyone_(everyone), arena_(&memory), oversubscribed_(members.oversubscribed()) {
  mine_ = static_cast<posted_words*>(arena_->allocate_signals(lines * sizeof(posted_words)));
  check(MPI_Barrier(members.communicator()), "MPI_Barrier");  // no worker still reads the old content of this memory
  std::memset(static_cast<void*>(mine_), 0, lines * sizeof(posted_words));
  const bool found = members.size() == 1 || arena_->holds(mine_);
  std::vector<unsigned long long> offsets(members.size());
  const unsigned long long offset = found ? arena_->offset(mine_) : 0;
  check(MPI_Allgather(&offset, 1, MPI_UNSIGNED_LONG_LONG, offsets.data(), 1, MPI_UNSIGNED_LONG_LONG,
                      members.communicator()),
        "MPI_Allgather");
  int own = found ? 1 : 0, all = 0;
  check(MPI_Allreduce(&own, &all, 1, MPI_INT, MPI_MIN, everyone), "MPI_Allreduce");
  shared_ = all != 0;
  if (!shared_) return;
  by_first_ = members.is_one_of_many() || members.size() > most_readers;
  const bool first = members.place() == 0;
  const auto lines_of = [&](std::size_t k) {
    return k == members.place() ? mine_ : reinterpret_cast<posted_words*>(arena_->at(k, offsets[k]));
  };
  for (std::size_t k = 0; k < members.size(); ++k)
    if (k != members.place() && (first || !by_first_)) others_.push_back(lines_of(k));
  several_ = members.is_one_of_many();
  if (!several_) by_worker_.resize(members.size());
  for (std::size_t k = 0; k < by_worker_.size(); ++k) by_worker_[members.worker(k)] = lines_of(k);
  if (by_first_ && !first) result_ = lines_of(0) + 2;
  if (!several_ || !first) return;
  const std::vector<int> firsts = members.firsts();
  std::size_t node = 0;
  while (firsts[node] != static_cast<int>(members.worker(0))) ++node;
  const auto next = [&](std::size_t distance) { return firsts[(node + distance) % firsts.size()]; };
  dissemination::over(firsts.size(), members.link().cost).for_messages([&](std::size_t k, std::size_t distance) {
    rounds_.resize(k + 1);
    rounds_[k].messages.push_back({next(distance), next(firsts.size() - distance), {}});
  });
  for (round& r : rounds_) r.requests.resize(2 * r.messages.size());
}

PARTITA_DEF bool shared_flags::all_and(const words& own, words& all, double most_seconds, listener* who) {
  post(mine_[++epoch_ % 2], own);
  all = own;
  if (who != nullptr && !several_) who->hear_nobody_yet();
  // On a large node, or with several nodes, all workers but the first of the node read the result from the first.
  if (result_ != nullptr) {
    if (several_ && who != nullptr) {
      if (!seen(result_[2 + epoch_ % 2], all, most_seconds)) return false;
      who->hear_node(all);
    }
    return seen(result_[epoch_ % 2], all, most_seconds);
  }
  // Read the words of the workers of this node.
  for (const posted_words* both : others_)
    if (!seen(both[epoch_ % 2], all, most_seconds)) return false;
  if (several_) {
    post(mine_[4 + epoch_ % 2], all);
    if (who != nullptr) who->hear_node(all);
  }
  // Exchange these words with the first workers of other nodes.
  for (round& r : rounds_)
    if (!meet_in_round(r, all, most_seconds)) return false;
  if (by_first_) post(mine_[2 + epoch_ % 2], all);
  return true;
}

PARTITA_DEF void shared_flags::post(posted_words& place, const words& said) const {
  place.said = said;
  place.epoch.store(epoch_, std::memory_order_release);
}

PARTITA_DEF void shared_flags::keep_common(words& all, const words& said) {
  for (std::size_t k = 0; k < all.size(); ++k) all[k] &= said[k];
}

PARTITA_DEF bool shared_flags::seen(const posted_words& there, words& all, double& seconds_left) const {
  backoff p(oversubscribed_);
  for (; there.epoch.load(std::memory_order_acquire) < epoch_; p.pause())
    if (p.seconds() > seconds_left) return false;
  seconds_left -= p.seconds();
  keep_common(all, there.said);
  return true;
}

PARTITA_DEF bool shared_flags::meet_in_round(round& r, words& all, double& seconds_left) {
  const auto count = static_cast<int>(all.size());
  MPI_Request* next = r.requests.data();
  r.out = all;
  for (auto& m : r.messages)
    check(MPI_Irecv(m.in.data(), count, MPI_UINT64_T, m.from, tag_of_agreements, everyone_, next++), "MPI_Irecv");
  for (auto& m : r.messages)
    check(MPI_Isend(r.out.data(), count, MPI_UINT64_T, m.to, tag_of_agreements, everyone_, next++), "MPI_Isend");
  backoff p(oversubscribed_);
  for (int done = 0;; p.pause()) {
    check(MPI_Testall(static_cast<int>(r.requests.size()), r.requests.data(), &done, MPI_STATUSES_IGNORE),
          "MPI_Testall");
    if (done != 0) break;
    if (p.seconds() > seconds_left) return false;
  }
  seconds_left -= p.seconds();
  for (const auto& m : r.messages) keep_common(all, m.in);
  return true;
}

}  // namespace partita::detail
