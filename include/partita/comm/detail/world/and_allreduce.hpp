// The bitwise AND of four words over all workers of a world: through shared flags once these exist; before that, and
// if the workers of a node cannot share memory, by one MPI collective.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <partita/comm/detail/node/shared_flags.hpp>
#include <partita/comm/detail/world/finish_collective.hpp>
#include <partita/comm/detail/world/leak_on_purpose.hpp>
#include <partita/comm/detail/world/mpi_call.hpp>
#include <partita/comm/detail/world/speculative_send.hpp>
#include <partita/comm/mpi.hpp>
#include <partita/core/config.hpp>
#include <utility>

namespace partita::detail {

/// The communicator or the shared flags through which all workers of a world get an AND.
class and_allreduce {
 public:
  using words = shared_flags::words;  ///< what one worker passes, and the AND of all of them

  and_allreduce() = default;
  PARTITA_DECL and_allreduce(MPI_Comm everyone, std::size_t size);  ///< for `size` workers; without flags yet

  /// Makes the flags, through which later words pass, if there is memory for flags. Collective, called once.
  PARTITA_DECL void make_flags();
  bool has_flags() const { return flags_ != nullptr; }  ///< Whether make_flags() has made flags.
  /// Whether flags exist and the workers are on several nodes; the same on all workers.
  bool has_flags_between_nodes() const { return flags_ && flags_->has_several_nodes(); }
  /// Passes numbers with the words of the next AND, as shared_flags does. Returns false if there are no flags, or if
  /// the workers are on several nodes.
  bool publish_numbers(const std::uint64_t* numbers, std::size_t count) {
    return flags_ != nullptr && flags_->publish_numbers(numbers, count);
  }
  /// The numbers that a worker passed to publish_numbers() before the last AND, beside the four words; valid until the
  /// next AND.
  const std::uint64_t* published_numbers(std::size_t worker) const { return flags_->published_numbers(worker); }
  /// Keeps the memory of the flags until the process ends, because other workers may still read them.
  void leak_flags() { leak_on_purpose(std::move(flags_)); }

  /// Gives every worker the bitwise AND of the words of all workers.
  PARTITA_DECL void all_and(const words& own_words, words& all, speculative_send* ahead = nullptr);
  /// Computes the AND with a time limit, because some workers may never come: returns false if they did not come in
  /// time, and then no further AND is possible.
  PARTITA_DECL bool timed_all_and(const words& own_words, words& all, double max_seconds);

 private:
  /// Starts MPI's allreduce, and returns its error code.
  PARTITA_DECL int start_allreduce(const words& own_words, words& all, MPI_Request& request);

  MPI_Comm everyone_ = MPI_COMM_NULL;    // the communicator of all workers
  std::size_t size_ = 0;                 // the number of workers
  std::unique_ptr<shared_flags> flags_;  // null if there are none
  /// The buffers of the MPI collective are on the heap, because MPI may use them even after a wait is given up. The
  /// buffers are allocated with the world, because a worker without memory must still be able to leave the world.
  std::unique_ptr<std::array<words, 2>> allreduce_buffers_;
};

}  // namespace partita::detail

#ifndef PARTITA_CORE
#include <partita/comm/detail/world/impl/and_allreduce.ipp>
#endif
