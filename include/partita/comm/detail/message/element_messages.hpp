// Messages of elements whose type is known at run time only, and the trees that groups of workers move blocks along.
#pragma once

#include <cstddef>
#include <partita/comm/element_operation.hpp>
#include <partita/comm/tree.hpp>
#include <vector>

namespace partita::detail {

/// What one worker has moved: the messages that it sent, and the bytes of its blocks that went through shared memory.
struct traffic {
  std::size_t messages = 0, bytes_by_message = 0, bytes_shared = 0;
};

/// Calls f(first byte, count) for consecutive pieces that an int can count and MPI can take in one message.
template <class F>
void in_messages_of(const element_kind& of, std::size_t n, F f) {
  const std::size_t most = (std::size_t{1} << 30U) / of.bytes;
  for (std::size_t first = 0; first < n; first += most)
    f(first * of.bytes, static_cast<int>(n - first < most ? n - first : most));
}

/// Messages that have left and need not have arrived.
class departures {
 public:
  bool any() const { return !requests_.empty(); }
  void send(const world_state& world, const element_kind& of, const char* data, std::size_t n, std::size_t worker,
            tag about, traffic& count) {
    in_messages_of(of, n, [&](std::size_t first, int elements) {
      requests_.push_back(MPI_REQUEST_NULL);
      check(MPI_Isend(data + first, elements, of.datatype(), static_cast<int>(worker), static_cast<int>(about),
                      world.communicator(), &requests_.back()),
            "MPI_Isend");
      ++count.messages;
      count.bytes_by_message += static_cast<std::size_t>(elements) * of.bytes;
    });
  }
  /// What was sent may change afterwards.
  void wait() {
    if (requests_.empty()) return;
    check(MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE), "MPI_Waitall");
    requests_.clear();
  }

 private:
  std::vector<MPI_Request> requests_;
};

/// Blocks of one kind of elements between the workers of a world; `about` tells its messages from others.
class element_messages {
 public:
  element_messages(const world_state& world, const element_kind& of, tag about, traffic& count)
      : world_(&world), of_(&of), about_(about), count_(&count) {}

  const element_kind& of() const { return *of_; }
  std::size_t bytes(std::size_t n) const { return n * of_->bytes; }
  void send(const char* data, std::size_t n, std::size_t worker) const {
    in_messages_of(*of_, n, [&](std::size_t first, int elements) {
      check(MPI_Send(data + first, elements, of_->datatype(), static_cast<int>(worker), static_cast<int>(about_),
                     world_->communicator()),
            "MPI_Send");
      ++count_->messages;
      count_->bytes_by_message += static_cast<std::size_t>(elements) * of_->bytes;
    });
  }
  void send_ahead(departures& sent, const char* data, std::size_t n, std::size_t worker) const {
    sent.send(*world_, *of_, data, n, worker, about_, *count_);
  }
  void receive(char* data, std::size_t n, std::size_t worker) const {
    in_messages_of(*of_, n, [&](std::size_t first, int elements) {
      check(MPI_Recv(data + first, elements, of_->datatype(), static_cast<int>(worker), static_cast<int>(about_),
                     world_->communicator(), MPI_STATUS_IGNORE),
            "MPI_Recv");
    });
  }
  /// Bytes of which the receiver does not know how many they are; fewer than MPI can count.
  void send_bytes(const std::vector<char>& message, std::size_t worker) const {
    check(MPI_Send(message.data(), static_cast<int>(message.size()), MPI_BYTE, static_cast<int>(worker),
                   static_cast<int>(about_), world_->communicator()),
          "MPI_Send");
    ++count_->messages;
    count_->bytes_by_message += message.size();
  }
  void receive_bytes(std::vector<char>& message, std::size_t worker) const {
    const int from = static_cast<int>(worker), about = static_cast<int>(about_);
    MPI_Status status;
    int bytes = 0;
    check(MPI_Probe(from, about, world_->communicator(), &status), "MPI_Probe");
    check(MPI_Get_count(&status, MPI_BYTE, &bytes), "MPI_Get_count");
    message.resize(static_cast<std::size_t>(bytes));
    check(MPI_Recv(message.data(), bytes, MPI_BYTE, from, about, world_->communicator(), MPI_STATUS_IGNORE),
          "MPI_Recv");
  }
  void through_shared_memory(std::size_t n) const { count_->bytes_shared += bytes(n); }

  /// Copies the root's n elements to all members along a binomial tree: ceil(log2 g) steps.
  void spread(const worker_group& group, char* data, std::size_t n) const {
    const binomial_tree tree{group.members.size()};
    const std::size_t me = group.position;
    if (me != 0) receive(data, n, group.members[tree.above(me)]);
    tree.for_below(me, [&](std::size_t other) { send(data, n, group.members[other]); });
  }
  /// The root's part of that, left under way.
  void spread_ahead(departures& sent, const worker_group& group, const char* data, std::size_t n) const {
    binomial_tree{group.members.size()}.for_below(
        0, [&](std::size_t other) { send_ahead(sent, data, n, group.members[other]); });
  }

  /// Brings blocks together at the root along the same tree, in an order that depends on the group alone. `mine` is
  /// what this member contributes (nullptr: nothing); `into` is where partial results are kept (needed by every member
  /// that has to combine, and by the root); `incoming` a buffer for one message.
  void collect(const worker_group& group, const element_operation& how, const char* mine, char* into, char* incoming,
               std::size_t n) const {
    const binomial_tree tree{group.members.size()};
    const std::size_t me = group.position;
    const char* together = mine;
    tree.for_below_smallest_first(me, [&](std::size_t other) {
      char* const from = together != nullptr ? incoming : into;
      receive(from, n, group.members[other]);
      if (together != nullptr) how.combine(into, together, incoming, n);
      together = into;
    });
    if (me != 0) send(together, n, group.members[tree.above(me)]);
    else if (together != into) of_->copy_row(into, together, n);
  }

  /// Brings the blocks themselves together at the root, a piece at a time, and makes them one there: `mine` is what
  /// this member contributes (nullptr: nothing), `into` is the root's, `incoming(n)` gives a buffer for n elements,
  /// `blocks` is room for where they are.
  /// Cost: n elements from each member to the root; room for a piece of each.
  template <class Incoming>
  void collect_blocks(const worker_group& group, const element_operation& how, const char* mine, char* into,
                      std::size_t n, std::vector<const char*>& blocks, Incoming incoming) const {
    const std::size_t size = group.members.size(), element = of_->bytes, part = piece_bytes / element;
    const std::size_t piece = (std::size_t{64} << 10) / element;  // 16 parts: few messages, and small enough to cache
    const bool root = group.position == 0;
    char* const pieces = root ? incoming((size - 1) * (n < piece ? n : piece)) : nullptr;
    blocks.resize(size);
    for (std::size_t at = 0; at < n; at += piece) {
      const std::size_t length = n - at < piece ? n - at : piece;
      if (!root) {
        send(mine + at * element, length, group.members[0]);
        continue;
      }
      for (std::size_t k = 1; k < size; ++k) receive(pieces + (k - 1) * length * element, length, group.members[k]);
      for (std::size_t i = 0; i < length; i += part) {
        const std::size_t now = length - i < part ? length - i : part;
        blocks[0] = mine == nullptr ? nullptr : mine + (at + i) * element;
        for (std::size_t k = 1; k < size; ++k) blocks[k] = pieces + ((k - 1) * length + i) * element;
        char* const to = into + (at + i) * element;
        const char* const together = combine_blocks(how, blocks.data(), mine == nullptr ? 1 : 0, size, now, to);
        if (together != to) of_->copy_row(to, together, now);
      }
    }
  }

 private:
  const world_state* world_;
  const element_kind* of_;
  tag about_;
  traffic* count_;
};

}  // namespace partita::detail
