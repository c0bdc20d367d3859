// Defines the functions that comm/detail/world/and_allreduce.hpp declares.
#pragma once

#include <partita/comm/detail/world/and_allreduce.hpp>
#include <partita/comm/detail/world/leak_on_purpose.hpp>
#include <utility>

namespace partita::detail {

PARTITA_DEF and_allreduce::and_allreduce(MPI_Comm everyone, std::size_t size)
    : everyone_(everyone), size_(size), said_(std::make_unique<std::array<words, 2>>()) {}

PARTITA_DEF void and_allreduce::keep_flags() { leak_on_purpose(std::move(flags_)); }

PARTITA_DEF void and_allreduce::make_flags() {
  const own_node& members = own_node::of(everyone_);
  flags_ = std::make_unique<shared_flags>(everyone_, members, arena::of_environment(members));
  if (!flags_->shared()) flags_.reset();
}

PARTITA_DEF void and_allreduce::all_and(const words& mine, words& all, speculative_send* ahead) {
  if (size_ == 1) {
    all = mine;
  } else if (flags_) {
    flags_->all_and(mine, all, 1e300, ahead);
  } else {
    MPI_Request request = MPI_REQUEST_NULL;
    (*said_)[0] = mine;
    check(start_allreduce((*said_)[0], (*said_)[1], request), "MPI_Iallreduce");
    finish_collective(request, said_);
    all = (*said_)[1];
  }
}

PARTITA_DEF bool and_allreduce::all_and_within(const words& mine, words& all, double most_seconds) {
  if (!said_) return false;
  (*said_)[0] = mine;
  bool met = false;
  if (flags_) {
    met = flags_->all_and((*said_)[0], (*said_)[1], most_seconds);
  } else {
    MPI_Request request = MPI_REQUEST_NULL;
    met = start_allreduce((*said_)[0], (*said_)[1], request) == MPI_SUCCESS &&
          finish_in_time(request, most_seconds) == ending::in_time;
  }
  if (met) all = (*said_)[1];
  else leak_on_purpose(std::move(said_));
  return met;
}

PARTITA_DEF int and_allreduce::start_allreduce(const words& mine, words& all, MPI_Request& request) {
  return MPI_Iallreduce(mine.data(), all.data(), static_cast<int>(mine.size()), MPI_UINT64_T, MPI_BAND, everyone_,
                        &request);
}

}  // namespace partita::detail
