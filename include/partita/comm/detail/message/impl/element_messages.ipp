// Defines the functions that comm/detail/message/element_messages.hpp declares.
#pragma once

#include <partita/comm/detail/message/element_messages.hpp>

namespace partita::detail {

PARTITA_DEF void element_messages::send(const char* data, std::size_t n, std::size_t worker) const {
  for_each_message_part(*element_kind_, n, message_bytes(n), [&](std::size_t first, int elements) {
    check(MPI_Send(data + first, elements, element_kind_->datatype(), static_cast<int>(worker), static_cast<int>(tag_),
                   world_->communicator()),
          "MPI_Send");
    ++traffic_->messages;
    traffic_->bytes_by_message += static_cast<std::size_t>(elements) * element_kind_->bytes;
  });
}

PARTITA_DEF void element_messages::receive(char* data, std::size_t n, std::size_t worker) const {
  for_each_message_part(*element_kind_, n, message_bytes(n), [&](std::size_t first, int elements) {
    check(MPI_Recv(data + first, elements, element_kind_->datatype(), static_cast<int>(worker), static_cast<int>(tag_),
                   world_->communicator(), MPI_STATUS_IGNORE),
          "MPI_Recv");
  });
}

PARTITA_DEF void element_messages::send_bytes(const std::vector<char>& message, std::size_t worker) const {
  check(MPI_Send(message.data(), static_cast<int>(message.size()), MPI_BYTE, static_cast<int>(worker),
                 static_cast<int>(tag_), world_->communicator()),
        "MPI_Send");
  ++traffic_->messages;
  traffic_->bytes_by_message += message.size();
}

PARTITA_DEF void element_messages::receive_bytes(std::vector<char>& message, std::size_t worker) const {
  const int from = static_cast<int>(worker), message_tag = static_cast<int>(tag_);
  MPI_Status status;
  int bytes = 0;
  check(MPI_Probe(from, message_tag, world_->communicator(), &status), "MPI_Probe");
  check(MPI_Get_count(&status, MPI_BYTE, &bytes), "MPI_Get_count");
  message.resize(static_cast<std::size_t>(bytes));
  check(MPI_Recv(message.data(), bytes, MPI_BYTE, from, message_tag, world_->communicator(), MPI_STATUS_IGNORE),
        "MPI_Recv");
}

PARTITA_DEF void element_messages::spread(const worker_group& group, char* data, std::size_t n,
                                          posted_messages& pending) const {
  const std::size_t me = group.position;
  const block_routes routes = choose_routes(group, n);
  const block_route route = routes.broadcast_route();
  if (route == block_route::split) {
    if (me == 0) start_spread(pending, group, data, n);
    else forward_parts(group, routes, data, n, pending);
    return pending.wait();
  }
  const binomial_tree tree{group.members.size()};
  if (me != 0) receive(data, n, group.members[route == block_route::direct ? 0 : tree.parent(me)]);
  if (me == 0 || route == block_route::along_tree) send_to_children(pending, group, route, data, n);
  pending.wait();
}

PARTITA_DEF void element_messages::start_spread(posted_messages& sent, const worker_group& group, const char* data,
                                                std::size_t n) const {
  const block_routes routes = choose_routes(group, n);
  const block_route route = routes.broadcast_route();
  if (route != block_route::split) return send_to_children(sent, group, route, data, n);
  for (std::size_t k = 0, piece_count = routes.piece_count(); k < piece_count; ++k) {
    const interval part = routes.part(n, piece_count, k);
    post_send(sent, data + bytes(part.start), part.size(), group.members[routes.forwarding_member(k)]);
  }
}

PARTITA_DEF std::size_t element_messages::first_receiver(const worker_group& group, std::size_t n) const {
  const binomial_tree tree{group.members.size()};
  const std::size_t me = group.position;
  if (me == 0 || choose_routes(group, n).sum_route() == block_route::direct) return 0;
  return tree.is_leaf(me) ? tree.parent(me) : me;
}

PARTITA_DEF void element_messages::scatter_parts(const worker_group& group, const char* own_block, std::size_t n,
                                                 posted_messages& sent) const {
  const std::size_t size = group.members.size();
  const block_route route = choose_routes(group, n).sum_to_all_route();
  for (std::size_t turn = 1; turn < size && route != block_route::along_tree; ++turn) {
    const std::size_t to = (group.position + turn) % size;
    const interval part = route == block_route::direct ? interval{0, n} : block_routes::part(n, size, to);
    post_send(sent, own_block + bytes(part.start), part.size(), group.members[to]);
  }
}

PARTITA_DEF void element_messages::send_to_children(posted_messages& sent, const worker_group& group, block_route route,
                                                    const char* data, std::size_t n) const {
  const std::size_t size = group.members.size();
  const auto give = [&](std::size_t other) { post_send(sent, data, n, group.members[other]); };
  if (route == block_route::along_tree) return binomial_tree{size}.for_each_child(group.position, give);
  for (std::size_t k = 1; k < size; ++k) give(k);
}

PARTITA_DEF void element_messages::forward_parts(const worker_group& group, const block_routes& routes, char* data,
                                                 std::size_t n, posted_messages& pending) const {
  const std::size_t me = group.position, piece_count = routes.piece_count();
  const auto each = [&](bool own, auto f) {
    for (std::size_t k = 0; k < piece_count; ++k)
      if ((routes.forwarding_member(k) == me) == own) f(k, routes.part(n, piece_count, k));
  };
  each(true, [&](std::size_t, interval part) {
    post_receive(pending, data + bytes(part.start), part.size(), group.members[0]);
  });
  std::size_t next = 0;  // the index of the next message from the root
  each(false, [&](std::size_t k, interval part) {
    post_receive(pending, data + bytes(part.start), part.size(), group.members[routes.forwarding_member(k)]);
  });
  each(true, [&](std::size_t, interval part) {
    const std::size_t first = next;
    for_each_message_part(*element_kind_, part.size(), message_bytes(part.size()), [&](std::size_t, int) { ++next; });
    pending.wait(first, next);
    for (std::size_t turn = 1; turn + 1 < group.members.size(); ++turn) {
      const std::size_t other = 1 + (me - 1 + turn) % (group.members.size() - 1);
      post_send(pending, data + bytes(part.start), part.size(), group.members[other]);
    }
  });
}

PARTITA_DEF void element_messages::combine_received(const worker_group& group, const element_operation& op,
                                                    const char* own_block, char* into, interval range,
                                                    const char* buffer, std::size_t distance,
                                                    std::vector<const char*>& blocks) const {
  const std::size_t size = group.members.size(), me = group.position, most = piece_bytes / element_kind_->bytes;
  piece_buffer part;
  blocks.resize(size);
  for (std::size_t at = 0; at < range.size(); at += most) {
    const std::size_t length = range.size() - at < most ? range.size() - at : most;
    for (std::size_t k = 0; k < size; ++k)
      blocks[k] = k == me ? own_block + bytes(range.start + at) : buffer + bytes((k < me ? k : k - 1) * distance + at);
    element_kind_->copy_row(into + bytes(range.start + at),
                            combine_blocks(op, blocks.data(), 0, size, length, part.bytes), length);
  }
}

}  // namespace partita::detail
