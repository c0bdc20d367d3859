// Defines the functions that comm/detail/world/and_allreduce.hpp declares.
#pragma once

#include <partita/comm/detail/world/and_allreduce.hpp>

namespace partita::detail {

PARTITA_DEF and_allreduce::and_allreduce(MPI_Comm everyone, std::size_t size)
    : everyone_(everyone), size_(size), allreduce_buffers_(std::make_unique<std::array<words, 2>>()) {}

PARTITA_DEF void and_allreduce::make_flags() {
  const own_node& members = own_node::of(everyone_);
  flags_ = std::make_unique<shared_flags>(everyone_, members, arena::arena_by_environment(members));
  if (!flags_->shared()) flags_.reset();
}

PARTITA_DEF void and_allreduce::all_and(const words& own_words, words& all, speculative_send* ahead) {
  if (size_ == 1) {
    all = own_words;
  } else if (flags_) {
    flags_->all_and(own_words, all, 1e300, ahead);
  } else {
    MPI_Request request = MPI_REQUEST_NULL;
    (*allreduce_buffers_)[0] = own_words;
    check(start_allreduce((*allreduce_buffers_)[0], (*allreduce_buffers_)[1], request), "MPI_Iallreduce");
    finish_collective(request, allreduce_buffers_);
    all = (*allreduce_buffers_)[1];
  }
}

PARTITA_DEF bool and_allreduce::timed_all_and(const words& own_words, words& all, double max_seconds) {
  if (!allreduce_buffers_) return false;
  (*allreduce_buffers_)[0] = own_words;
  bool met = false;
  if (flags_) {
    met = flags_->all_and((*allreduce_buffers_)[0], (*allreduce_buffers_)[1], max_seconds);
  } else {
    MPI_Request request = MPI_REQUEST_NULL;
    met = start_allreduce((*allreduce_buffers_)[0], (*allreduce_buffers_)[1], request) == MPI_SUCCESS &&
          wait_with_time_limit(request, max_seconds) == wait_result::completed_in_time;
  }
  if (met) all = (*allreduce_buffers_)[1];
  else leak_on_purpose(std::move(allreduce_buffers_));
  return met;
}

PARTITA_DEF int and_allreduce::start_allreduce(const words& own_words, words& all, MPI_Request& request) {
  return MPI_Iallreduce(own_words.data(), all.data(), static_cast<int>(own_words.size()), MPI_UINT64_T, MPI_BAND,
                        everyone_, &request);
}

}  // namespace partita::detail
