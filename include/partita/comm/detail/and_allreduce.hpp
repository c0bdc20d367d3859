// The bitwise AND of four words over all workers of a world: through shared flags once those exist; before that, and
// where nodes do not share memory, by one MPI collective.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <partita/comm/detail/finish_collective.hpp>
#include <partita/comm/detail/leak_on_purpose.hpp>
#include <partita/comm/detail/mpi_call.hpp>
#include <partita/comm/detail/node/shared_flags.hpp>
#include <partita/comm/detail/speculative_send.hpp>
#include <partita/comm/mpi.hpp>
#include <utility>

namespace partita::detail {

template <class = void>
class basic_and_allreduce {
 public:
  using words = shared_flags::words;

  basic_and_allreduce() = default;
  basic_and_allreduce(MPI_Comm everyone, std::size_t size)
      : everyone_(everyone), size_(size), said_(std::make_unique<std::array<words, 2>>()) {}

  /// Collective, called once: from now on the words pass through shared flags, if there is memory for them.
  void make_flags() {
    const own_node& members = own_node::of(everyone_);
    flags_ = std::make_unique<shared_flags>(everyone_, members, arena::of_environment(members));
    if (!flags_->shared()) flags_.reset();
  }
  bool by_flags() const { return flags_ != nullptr; }
  /// Whether there are flags, and the workers are on several nodes. The same on all workers.
  bool by_flags_of_several_nodes() const { return flags_ && flags_->several_nodes(); }
  /// Never frees the flags, because other workers may still read them.
  void keep_flags() { leak_on_purpose(std::move(flags_)); }

  /// Every worker gets the bitwise AND of the words of all workers.
  void all_and(const words& mine, words& all, speculative_send* ahead = nullptr) {
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
  /// The same, but with a time limit, because some workers may never come: false if they did not come in time. After
  /// that no further AND is possible.
  bool all_and_within(const words& mine, words& all, double most_seconds) {
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

 private:
  int start_allreduce(const words& mine, words& all, MPI_Request& request) {
    return MPI_Iallreduce(mine.data(), all.data(), static_cast<int>(mine.size()), MPI_UINT64_T, MPI_BAND, everyone_,
                          &request);
  }

  MPI_Comm everyone_ = MPI_COMM_NULL;
  std::size_t size_ = 0;
  std::unique_ptr<shared_flags> flags_;
  /// The buffers of the MPI collective. They are on the heap, because MPI may still use them after a wait was given up.
  /// They are allocated with the world, because a worker without memory must still be able to leave it.
  std::unique_ptr<std::array<words, 2>> said_;
};
using and_allreduce = basic_and_allreduce<>;

}  // namespace partita::detail
