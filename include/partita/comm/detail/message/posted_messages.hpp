// Non-blocking messages of elements whose type is known at run time only.
#pragma once

#include <cstddef>
#include <partita/comm/detail/mpi_call.hpp>
#include <partita/comm/element_kind.hpp>
#include <partita/comm/tree.hpp>
#include <vector>

namespace partita::detail {

/// What one worker has moved: messages and bytes that it sent, and bytes of its blocks that went through shared memory.
struct traffic {
  std::size_t messages = 0, bytes_by_message = 0, bytes_shared = 0;
};

/// Calls f(first byte, count) for consecutive pieces of at most `most_bytes`, whose length fits in an int and that MPI
/// can send in one message.
template <class F>
void in_messages_of(const element_kind& of, std::size_t n, std::size_t most_bytes, F f) {
  const std::size_t most = most_bytes < of.bytes ? 1 : most_bytes / of.bytes;
  for (std::size_t first = 0; first < n; first += most)
    f(first * of.bytes, static_cast<int>(n - first < most ? n - first : most));
}

/// Pending messages: sends that may not have arrived yet, and receives.
class posted_messages {
 public:
  template <class = void>
  bool any() const {
    return !requests_.empty();
  }
  std::size_t size() const { return requests_.size(); }
  template <class = void>
  void send(const world_state& world, const element_kind& of, const char* data, std::size_t n, std::size_t most_bytes,
            std::size_t worker, tag about, traffic& count) {
    in_messages_of(of, n, most_bytes, [&](std::size_t first, int elements) {
      requests_.push_back(MPI_REQUEST_NULL);
      check(MPI_Isend(data + first, elements, of.datatype(), static_cast<int>(worker), static_cast<int>(about),
                      world.communicator(), &requests_.back()),
            "MPI_Isend");
      ++count.messages;
      count.bytes_by_message += static_cast<std::size_t>(elements) * of.bytes;
    });
  }
  template <class = void>
  void receive(const world_state& world, const element_kind& of, char* data, std::size_t n, std::size_t most_bytes,
               std::size_t worker, tag about) {
    in_messages_of(of, n, most_bytes, [&](std::size_t first, int elements) {
      requests_.push_back(MPI_REQUEST_NULL);
      check(MPI_Irecv(data + first, elements, of.datatype(), static_cast<int>(worker), static_cast<int>(about),
                      world.communicator(), &requests_.back()),
            "MPI_Irecv");
    });
  }
  /// Waits for the requests from index `first` up to, but not including, `last`.
  void wait(std::size_t first, std::size_t last) {
    if (first == last) return;
    check(MPI_Waitall(static_cast<int>(last - first), requests_.data() + first, MPI_STATUSES_IGNORE), "MPI_Waitall");
  }
  /// Waits for all of them. Afterwards the sent data may change.
  template <class = void>
  void wait() {
    wait(0, requests_.size());
    requests_.clear();
  }
  /// Ends messages that no receiver will take. They leave at once; a message that does not is left to MPI.
  template <class = void>
  void give_up() {
    int left = 0;
    for (const double start = MPI_Wtime(); left == 0 && MPI_Wtime() - start < 0.1;)
      check(MPI_Testall(static_cast<int>(requests_.size()), requests_.data(), &left, MPI_STATUSES_IGNORE),
            "MPI_Testall");
    for (MPI_Request& request : requests_)
      if (request != MPI_REQUEST_NULL) check(MPI_Request_free(&request), "MPI_Request_free");
    requests_.clear();
  }

 private:
  std::vector<MPI_Request> requests_;
};

}  // namespace partita::detail
