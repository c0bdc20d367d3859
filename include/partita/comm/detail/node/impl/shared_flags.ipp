// Defines the functions that comm/detail/node/shared_flags.hpp declares.
#pragma once

#include <cstring>
#include <partita/comm/detail/node/shared_flags.hpp>

namespace partita::detail {

PARTITA_INLINE shared_flags::~shared_flags() {
  arena_->release_signals(own_words_, posted_words_count * sizeof(posted_words));
}

PARTITA_DEF shared_flags::shared_flags(MPI_Comm everyone, const own_node& members, arena& memory)
    : everyone_(everyone), arena_(&memory), oversubscribed_(members.oversubscribed()) {
  own_words_ = static_cast<posted_words*>(arena_->allocate_signals(posted_words_count * sizeof(posted_words)));
  check(MPI_Barrier(members.communicator()), "MPI_Barrier");  // no worker still reads the old content of this memory
  std::memset(static_cast<void*>(own_words_), 0, posted_words_count * sizeof(posted_words));
  const bool found = members.size() == 1 || arena_->is_in_own_part(own_words_);
  std::vector<unsigned long long> offsets(members.size());
  const unsigned long long offset = found ? arena_->offset(own_words_) : 0;
  check(MPI_Allgather(&offset, 1, MPI_UNSIGNED_LONG_LONG, offsets.data(), 1, MPI_UNSIGNED_LONG_LONG,
                      members.communicator()),
        "MPI_Allgather");
  int own = found ? 1 : 0, all = 0;
  check(MPI_Allreduce(&own, &all, 1, MPI_INT, MPI_MIN, everyone), "MPI_Allreduce");
  has_shared_memory_ = all != 0;
  if (!has_shared_memory_) return;
  is_two_level_ = members.has_other_nodes() || members.size() > max_direct_readers;
  const bool first = members.place() == 0;
  const auto lines_of = [&](std::size_t k) {
    return k == members.place() ? own_words_ : reinterpret_cast<posted_words*>(arena_->at(k, offsets[k]));
  };
  for (std::size_t k = 0; k < members.size(); ++k)
    if (k != members.place() && (first || !is_two_level_)) words_to_read_.push_back(lines_of(k));
  has_several_nodes_ = members.has_other_nodes();
  if (!has_several_nodes_) words_by_worker_.resize(members.size());
  for (std::size_t k = 0; k < words_by_worker_.size(); ++k) words_by_worker_[members.worker(k)] = lines_of(k);
  if (is_two_level_ && !first) result_to_read_ = lines_of(0) + 2;
  if (!has_several_nodes_ || !first) return;
  const std::vector<int> lowest_workers = members.lowest_workers();
  std::size_t node = 0;
  while (lowest_workers[node] != static_cast<int>(members.worker(0))) ++node;
  const auto next = [&](std::size_t distance) { return lowest_workers[(node + distance) % lowest_workers.size()]; };
  dissemination::choose_radix(lowest_workers.size(), members.link().cost)
      .for_each_message([&](std::size_t k, std::size_t distance) {
        rounds_.resize(k + 1);
        rounds_[k].messages.push_back({next(distance), next(lowest_workers.size() - distance), {}});
      });
  for (round& r : rounds_) r.requests.resize(2 * r.messages.size());
}

PARTITA_DEF bool shared_flags::all_and(const words& own, words& all, double max_seconds, listener* observer) {
  post_words(own_words_[++current_epoch_ % 2], own);
  all = own;
  if (observer != nullptr && !has_several_nodes_) observer->notify_own_words_written();
  // On a large node, or with several nodes, all workers but the first of the node read the result from the first.
  if (result_to_read_ != nullptr) {
    if (has_several_nodes_ && observer != nullptr) {
      if (!await_and_combine(result_to_read_[2 + current_epoch_ % 2], all, max_seconds)) return false;
      observer->receive_and_of_node_words(all);
    }
    return await_and_combine(result_to_read_[current_epoch_ % 2], all, max_seconds);
  }
  // Read the words of the workers of this node.
  for (const posted_words* both : words_to_read_)
    if (!await_and_combine(both[current_epoch_ % 2], all, max_seconds)) return false;
  if (has_several_nodes_) {
    post_words(own_words_[4 + current_epoch_ % 2], all);
    if (observer != nullptr) observer->receive_and_of_node_words(all);
  }
  // Exchange the combined words of this node with the first workers of other nodes.
  for (round& r : rounds_)
    if (!exchange_in_round(r, all, max_seconds)) return false;
  if (is_two_level_) post_words(own_words_[2 + current_epoch_ % 2], all);
  return true;
}

PARTITA_DEF void shared_flags::post_words(posted_words& place, const words& posted) const {
  place.posted = posted;
  place.epoch.store(current_epoch_, std::memory_order_release);
}

PARTITA_DEF void shared_flags::combine_words(words& all, const words& posted) {
  for (std::size_t k = 0; k < all.size(); ++k) all[k] &= posted[k];
}

PARTITA_DEF bool shared_flags::await_and_combine(const posted_words& there, words& all, double& seconds_left) const {
  backoff p(oversubscribed_);
  for (; there.epoch.load(std::memory_order_acquire) < current_epoch_; p.pause())
    if (p.seconds() > seconds_left) return false;
  seconds_left -= p.seconds();
  combine_words(all, there.posted);
  return true;
}

PARTITA_DEF bool shared_flags::exchange_in_round(round& r, words& all, double& seconds_left) {
  const auto count = static_cast<int>(all.size());
  MPI_Request* next = r.requests.data();
  r.sent = all;
  for (auto& m : r.messages)
    check(MPI_Irecv(m.received.data(), count, MPI_UINT64_T, m.from, agreement_tag, everyone_, next++), "MPI_Irecv");
  for (auto& m : r.messages)
    check(MPI_Isend(r.sent.data(), count, MPI_UINT64_T, m.to, agreement_tag, everyone_, next++), "MPI_Isend");
  backoff p(oversubscribed_);
  for (int done = 0;; p.pause()) {
    check(MPI_Testall(static_cast<int>(r.requests.size()), r.requests.data(), &done, MPI_STATUSES_IGNORE),
          "MPI_Testall");
    if (done != 0) break;
    if (p.seconds() > seconds_left) return false;
  }
  seconds_left -= p.seconds();
  for (const auto& m : r.messages) combine_words(all, m.received);
  return true;
}

}  // namespace partita::detail
