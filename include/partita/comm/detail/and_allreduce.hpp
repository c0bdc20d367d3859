// The bitwise AND of four words over all workers of a world: through shared flags once those have been made, by one MPI
// collective before that and where nodes do not share memory.
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

  /// Once, by all workers together: from now on the words pass through shared flags, where there is memory for them.
  void make_flags() {
    const own_node& members = own_node::of(everyone_);
    flags_ = std::make_unique<shared_flags>(everyone_, members, arena::of_environment(members));
    if (!flags_->shared()) flags_.reset();
  }
  bool by_flags() const { return flags_ != nullptr; }
  /// Whether there are flags, of workers on several nodes; the same on all of them.
  bool by_flags_of_several_nodes() const { return flags_ && flags_->several_nodes(); }
  /// Somebody may still come and look at the flags.
  void keep_flags() { leak_on_purpose(std::move(flags_)); }

  /// Gives every worker the bitwise and of the words of all.
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
  /// The same with workers who may never come; false if they did not in time. Nobody meets here after that.
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
  /// Where those who meet by message read and write: on the heap, because MPI may still do so when a wait is given up,
  /// and made with the world, because a worker without memory must still be able to leave it.
  std::unique_ptr<std::array<words, 2>> said_;
};
using and_allreduce = basic_and_allreduce<>;

}  // namespace partita::detail
