// Non-blocking messages of elements whose type is known at run time only.
#pragma once

#include <cstddef>
#include <partita/comm/detail/world/mpi_call.hpp>
#include <partita/comm/element_kind.hpp>
#include <partita/comm/tree.hpp>
#include <partita/core/config.hpp>
#include <vector>

namespace partita::detail {

/// The traffic of one worker: messages and bytes that it sent, and bytes of its blocks that went through shared memory.
struct traffic {
  std::size_t messages = 0, bytes_by_message = 0, bytes_shared = 0;
};

/// Calls f(first byte, count) for consecutive pieces of at most `most_bytes`; the length of a piece fits in an int, and
/// MPI can send it in one message.
template <class F>
void in_messages_of(const element_kind& of, std::size_t n, std::size_t most_bytes, F f) {
  const std::size_t most = most_bytes < of.bytes ? 1 : most_bytes / of.bytes;
  for (std::size_t first = 0; first < n; first += most)
    f(first * of.bytes, static_cast<int>(n - first < most ? n - first : most));
}

/// Pending messages: sends that may not have arrived yet, and receives.
class posted_messages {
 public:
  bool any() const { return !requests_.empty(); }
  std::size_t size() const { return requests_.size(); }
  PARTITA_DECL void send(const world_state& world, const element_kind& of, const char* data, std::size_t n,
                         std::size_t most_bytes, std::size_t worker, tag about, traffic& count);
  PARTITA_DECL void receive(const world_state& world, const element_kind& of, char* data, std::size_t n,
                            std::size_t most_bytes, std::size_t worker, tag about);
  /// Waits for the requests from index `first` up to, but not including, `last`.
  PARTITA_DECL void wait(std::size_t first, std::size_t last);
  /// Waits for all pending messages, so that the sent data may change.
  PARTITA_DECL void wait();
  /// Ends messages that no receiver will take: messages leave at once, or are left to MPI.
  PARTITA_DECL void give_up();

 private:
  std::vector<MPI_Request> requests_;
};

}  // namespace partita::detail

#ifndef PARTITA_CORE
#include <partita/comm/detail/message/impl/posted_messages.ipp>
#endif
