// Non-blocking messages of elements whose type is known at run time only.
#pragma once

#include <cstddef>
#include <partita/comm/detail/world/mpi_call.hpp>
#include <partita/comm/element_kind.hpp>
#include <partita/comm/tree.hpp>
#include <partita/core/config.hpp>
#include <vector>

namespace partita::detail {

/// The traffic of one worker: messages and bytes that it sent, and bytes of blocks that it passed or got in shared
/// memory.
struct traffic {
  /// the messages that were sent, the bytes in them, and the bytes that went through shared memory
  std::size_t messages = 0, bytes_by_message = 0, bytes_shared = 0;
};

/// Divides n elements into consecutive pieces of at most `max_bytes` bytes, but at least one element, and calls f(first
/// byte, number of elements) for each piece. MPI can send each piece in one message.
template <class F>
void for_each_message_part(const element_kind& of, std::size_t n, std::size_t max_bytes, F f) {
  const std::size_t most = max_bytes < of.bytes ? 1 : max_bytes / of.bytes;
  for (std::size_t first = 0; first < n; first += most)
    f(first * of.bytes, static_cast<int>(n - first < most ? n - first : most));
}

/// The messages that this worker has posted and that may still be pending: its sends and its receives.
class posted_messages {
 public:
  bool any() const { return !mpi_requests_.empty(); }        ///< whether size() is not 0
  std::size_t size() const { return mpi_requests_.size(); }  ///< messages posted since wait() or end_discarded_sends()
  /// Starts to send n elements in messages of at most `max_bytes` bytes (at least one element each), and adds the
  /// messages to `count`.
  PARTITA_DECL void post_send(const world_state& world, const element_kind& of, const char* data, std::size_t n,
                              std::size_t max_bytes, std::size_t worker, tag message_tag, traffic& count);
  /// Posts the receives for n elements that the other worker sends with the same `max_bytes`.
  PARTITA_DECL void post_receive(const world_state& world, const element_kind& of, char* data, std::size_t n,
                                 std::size_t max_bytes, std::size_t worker, tag message_tag);
  /// Waits for the requests from index `first` up to, but not including, `last`.
  PARTITA_DECL void wait(std::size_t first, std::size_t last);
  /// Waits for all pending messages, so that the sent data may change.
  PARTITA_DECL void wait();
  /// Ends messages that no receiver will take: waits at most 0.1 s until MPI has sent them, and leaves the rest to MPI.
  PARTITA_DECL void end_discarded_sends();

 private:
  std::vector<MPI_Request> mpi_requests_;  ///< of all messages since the last wait(), in their order; null if complete
};

}  // namespace partita::detail

#ifndef PARTITA_CORE
#include <partita/comm/detail/message/impl/posted_messages.ipp>
#endif
