// Messages of elements whose type is known at run time only, and the algorithms by which groups of workers broadcast
// and sum blocks.
#pragma once

#include <cstddef>
#include <partita/comm/detail/message/posted_messages.hpp>
#include <partita/comm/element_operation.hpp>
#include <partita/comm/tree.hpp>
#include <partita/core/config.hpp>
#include <partita/plan/between_nodes.hpp>
#include <vector>

namespace partita::detail {

/// Messages of blocks of one element kind between the workers of a world. All messages carry the MPI tag `message_tag`.
class element_messages {
 public:
  /// Messages between the workers of `world`; `count` counts what is sent, `link` is the cost between nodes.
  element_messages(const world_state& world, const element_kind& of, tag message_tag, traffic& count,
                   const measured_link& link)
      : world_(&world), element_kind_(&of), tag_(message_tag), traffic_(&count), link_(&link) {}

  /// How the elements are copied and sent: their size, their copy function and their MPI datatype.
  const element_kind& of() const { return *element_kind_; }
  std::size_t bytes(std::size_t n) const { return n * element_kind_->bytes; }  ///< the bytes of n elements
  /// Sends n elements to a worker, and waits until `data` may change.
  PARTITA_DECL void send(const char* data, std::size_t n, std::size_t worker) const;
  /// Starts to send n elements to a worker; the messages are then pending in `sent`.
  void post_send(posted_messages& sent, const char* data, std::size_t n, std::size_t worker) const {
    sent.post_send(*world_, *element_kind_, data, n, message_bytes(n), worker, tag_, *traffic_);
  }
  /// Waits for n elements from a worker.
  PARTITA_DECL void receive(char* data, std::size_t n, std::size_t worker) const;
  /// Sends bytes whose number the receiver does not know; the number must fit in an int.
  PARTITA_DECL void send_bytes(const std::vector<char>& message, std::size_t worker) const;
  /// Waits for the message of send_bytes, and resizes `message`.
  PARTITA_DECL void receive_bytes(std::vector<char>& message, std::size_t worker) const;
  /// Counts a block of n elements that has passed through shared memory.
  void count_shared_bytes(std::size_t n) const { traffic_->bytes_shared += bytes(n); }

  /// Broadcasts the root's n elements to all members: along a binomial tree, directly from the root, or in parts, as
  /// block_routes chooses. When the function returns, all messages in `pending` are complete.
  PARTITA_DECL void spread(const worker_group& group, char* data, std::size_t n, posted_messages& pending) const;
  /// Starts a broadcast at its root: sends the root's messages and leaves them pending in `sent`.
  PARTITA_DECL void start_spread(posted_messages& sent, const worker_group& group, const char* data,
                                 std::size_t n) const;

  /// Reduces blocks to the root, in the order of a binomial tree, which depends on the group alone. `own_block` is the
  /// block of this member, or nullptr if the member contributes nothing. `into` is a buffer for partial results; the
  /// root and every member that combines blocks need it. `incoming(n)` returns a buffer for messages of n elements.
  template <class Incoming>
  void collect(const worker_group& group, const element_operation& op, const char* own_block, char* into, std::size_t n,
               std::vector<const char*>& blocks, Incoming incoming) const {
    if (choose_routes(group, n).sum_route() == block_route::direct)
      return reduce_from_blocks(group, op, own_block, into, n, blocks, incoming);
    const binomial_tree tree{group.members.size()};
    const std::size_t me = group.position;
    const char* together = own_block;
    tree.for_each_child_smallest_first(me, [&](std::size_t other) {
      char* const from = together != nullptr ? incoming(n) : into;
      receive(from, n, group.members[other]);
      if (together != nullptr) op.combine(into, together, from, n);
      together = into;
    });
    if (me != 0) send(together, n, group.members[tree.parent(me)]);
    else if (together != into) element_kind_->copy_row(into, together, n);
  }
  /// The position of the member to which this member sends its own block in a reduction; this member's own position if
  /// it first combines the blocks of other members.
  PARTITA_DECL std::size_t first_receiver(const worker_group& group, std::size_t n) const;

  /// Reduces the blocks of all members and gives all of them the same result (allreduce), in the order of `collect`.
  /// `own_block` may be the result `into`, unless scatter_parts has already sent `own_block` (`given`).
  template <class Incoming>
  void reduce_to_all(const worker_group& group, const element_operation& op, const char* own_block, char* into,
                     std::size_t n, posted_messages& pending, std::vector<const char*>& blocks, Incoming incoming,
                     bool given = false) const {
    switch (choose_routes(group, n).sum_to_all_route()) {
      case block_route::direct:
        return reduce_to_all_by_blocks(group, op, own_block, into, n, pending, blocks, incoming, given);
      case block_route::split:
        return reduce_to_all_by_parts(group, op, own_block, into, n, pending, blocks, incoming, given);
      default:
        collect(group, op, own_block, into, n, blocks, incoming);
        spread(group, into, n, pending);
    }
  }

  /// Sends, and leaves pending, the messages of an allreduce that need nothing from other members, for a block of one
  /// piece.
  PARTITA_DECL void scatter_parts(const worker_group& group, const char* own_block, std::size_t n,
                                  posted_messages& sent) const;

  /// Gathers whole blocks at the root, a piece at a time, and combines them there. `own_block` is the block of this
  /// member (nullptr: nothing), `into` is the root's result, `incoming(n)` returns a buffer for n elements, `blocks` is
  /// a buffer for the addresses of the blocks.
  /// Cost:     n elements from each member to the root; memory for one piece of each member's block.
  template <class Incoming>
  void reduce_from_blocks(const worker_group& group, const element_operation& op, const char* own_block, char* into,
                          std::size_t n, std::vector<const char*>& blocks, Incoming incoming) const {
    const std::size_t size = group.members.size(), element = element_kind_->bytes, part = piece_bytes / element;
    // chosen: pieces of 16 parts (64 KiB) are few messages, and small enough for a cache
    const std::size_t piece = (std::size_t{64} << 10) / element;
    const bool root = group.position == 0;
    char* const pieces = root ? incoming((size - 1) * (n < piece ? n : piece)) : nullptr;
    blocks.resize(size);
    for (std::size_t at = 0; at < n; at += piece) {
      const std::size_t length = n - at < piece ? n - at : piece;
      if (!root) {
        send(own_block + at * element, length, group.members[0]);
        continue;
      }
      for (std::size_t k = 1; k < size; ++k) receive(pieces + (k - 1) * length * element, length, group.members[k]);
      for (std::size_t i = 0; i < length; i += part) {
        const std::size_t now = length - i < part ? length - i : part;
        blocks[0] = own_block == nullptr ? nullptr : own_block + (at + i) * element;
        for (std::size_t k = 1; k < size; ++k) blocks[k] = pieces + ((k - 1) * length + i) * element;
        char* const to = into + (at + i) * element;
        const char* const together = combine_blocks(op, blocks.data(), own_block == nullptr ? 1 : 0, size, now, to);
        if (together != to) element_kind_->copy_row(to, together, now);
      }
    }
  }

 private:
  /// The fastest algorithms for a group and blocks of n elements.
  block_routes choose_routes(const worker_group& group, std::size_t n) const {
    return {group.members.size(), bytes(n), link_->cost};
  }
  /// The most bytes of each message in which n elements are sent.
  std::size_t message_bytes(std::size_t n) const { return link_->message_bytes(bytes(n)); }
  /// Posts the messages of a broadcast to this member's children in a binomial tree; if `route` is direct, to all.
  PARTITA_DECL void send_to_children(posted_messages& sent, const worker_group& group, block_route route,
                                     const char* data, std::size_t n) const;
  /// Posts the receives for n elements from a worker, in the messages that the worker's post_send() sends.
  void post_receive(posted_messages& pending, char* data, std::size_t n, std::size_t worker) const {
    pending.post_receive(*world_, *element_kind_, data, n, message_bytes(n), worker, tag_);
  }
  /// On every member but the root: receives the pieces that this member forwards from the root, and the other pieces
  /// from the members that forward them.
  PARTITA_DECL void forward_parts(const worker_group& group, const block_routes& routes, char* data, std::size_t n,
                                  posted_messages& pending) const;

  /// Sends this member's block to all others, a piece at a time; each member combines all blocks.
  template <class Incoming>
  void reduce_to_all_by_blocks(const worker_group& group, const element_operation& op, const char* own_block,
                               char* into, std::size_t n, posted_messages& pending, std::vector<const char*>& blocks,
                               Incoming incoming, bool given) const {
    const std::size_t size = group.members.size(), me = group.position;
    const std::size_t most = block_routes::exchanged_piece / element_kind_->bytes, piece = n < most ? n : most;
    char* const buffer = incoming(2 * (size - 1) * piece);  // the next piece arrives while this one is combined
    const auto begin = [&](std::size_t at) {
      const std::size_t length = n - at < piece ? n - at : piece;
      for (std::size_t turn = 1; turn < size; ++turn) {
        const std::size_t other = (me + turn) % size, place = other < me ? other : other - 1;
        post_receive(pending, buffer + bytes((at / piece % 2 * (size - 1) + place) * piece), length,
                     group.members[other]);
        if (!given) post_send(pending, own_block + bytes(at), length, group.members[other]);
      }
      return pending.size();
    };
    // [first, last): requests of the current piece; pending.wait() at the end completes the speculative sends
    std::size_t first = pending.size(), last = n == 0 ? first : begin(0), next = last;
    for (std::size_t at = 0; at < n; at += piece, first = last, last = next) {
      if (at + piece < n) next = begin(at + piece);
      pending.wait(first, last);
      combine_received(group, op, own_block, into, {at, n - at < piece ? n : at + piece},
                       buffer + bytes(at / piece % 2 * (size - 1) * piece), piece, blocks);
    }
    pending.wait();
  }
  /// An allreduce in which each member receives one part of every member's block, combines these parts, and sends the
  /// result to all members (reduce-scatter, then allgather).
  template <class Incoming>
  void reduce_to_all_by_parts(const worker_group& group, const element_operation& op, const char* own_block, char* into,
                              std::size_t n, posted_messages& pending, std::vector<const char*>& blocks,
                              Incoming incoming, bool given) const {
    const std::size_t size = group.members.size(), me = group.position;
    const interval own = block_routes::part(n, size, me);
    char* const buffer = incoming((size - 1) * own.size());
    for (std::size_t turn = 1; turn < size; ++turn) {
      const std::size_t from = (me + size - turn) % size;
      post_receive(pending, buffer + bytes((from < me ? from : from - 1) * own.size()), own.size(),
                   group.members[from]);
    }
    // Send to each member its part of this member's block, unless the part was sent speculatively.
    if (!given) scatter_parts(group, own_block, n, pending);
    pending.wait();
    // Combine the part of all members' blocks that this member is responsible for, and exchange the combined parts.
    combine_received(group, op, own_block, into, own, buffer, own.size(), blocks);
    for (std::size_t turn = 1; turn < size; ++turn) {
      const std::size_t to = (me + turn) % size, from = (me + size - turn) % size;
      const interval part = block_routes::part(n, size, from);
      post_receive(pending, into + bytes(part.start), part.size(), group.members[from]);
      post_send(pending, into + bytes(own.start), own.size(), group.members[to]);
    }
    pending.wait();
  }
  /// Combines the elements `range` of this member's block with those of the other members, which are in `buffer`,
  /// `distance` elements from each other. `into` may be `own_block`: an element is overwritten only after it was read.
  PARTITA_DECL void combine_received(const worker_group& group, const element_operation& op, const char* own_block,
                                     char* into, interval range, const char* buffer, std::size_t distance,
                                     std::vector<const char*>& blocks) const;

  const world_state* world_;          // the workers between which messages go
  const element_kind* element_kind_;  // the kind of the elements
  tag tag_;                           // the tag of all messages
  traffic* traffic_;                  // counts what is sent
  const measured_link* link_;         // the cost of messages between nodes
};

}  // namespace partita::detail

#ifndef PARTITA_CORE
#include <partita/comm/detail/message/impl/element_messages.ipp>
#endif
