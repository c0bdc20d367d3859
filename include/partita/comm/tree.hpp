// Messages of any length between two workers, and a broadcast and a reduction of small data along a binomial tree.
#pragma once

#include <cstddef>
#include <partita/comm/detail/world/world_state.hpp>
#include <partita/comm/element.hpp>
#include <partita/plan/binomial_tree.hpp>
#include <partita/plan/group_plan.hpp>

namespace partita::detail {

/// The kinds of messages, as MPI tags: `header` for extents of blocks, `block` for elements of blocks, `first_user_tag`
/// for numbers of kernels and layers. Messages with one tag between two workers arrive in the order of their sends.
enum class tag : int { header = 1, block = 2, first_user_tag = 4 };

/// Sends n elements to a worker. Blocking, like MPI_Send.
template <class T>
void send(const world_state& world, const T* data, std::size_t n, std::size_t worker, tag message_tag) {
  for_each_message<T>(n, [&](std::size_t first, int count) {
    check(MPI_Send(data + first, count, datatype<T>(), static_cast<int>(worker), static_cast<int>(message_tag),
                   world.communicator()),
          "MPI_Send");
  });
}

/// Receives n elements from a worker. Blocking.
template <class T>
void receive(const world_state& world, T* data, std::size_t n, std::size_t worker, tag message_tag) {
  for_each_message<T>(n, [&](std::size_t first, int count) {
    check(MPI_Recv(data + first, count, datatype<T>(), static_cast<int>(worker), static_cast<int>(message_tag),
                   world.communicator(), MPI_STATUS_IGNORE),
          "MPI_Recv");
  });
}

/// Broadcasts the root's n elements to all members along a binomial tree, in ceil(log2 g) steps for g members.
template <class T>
void tree_broadcast(const world_state& world, const worker_group& group, T* data, std::size_t n, tag message_tag) {
  const binomial_tree tree{group.members.size()};
  const std::size_t me = group.position;
  if (me != 0) receive(world, data, n, group.members[tree.parent(me)], message_tag);
  tree.for_each_child(
      me, [&](std::size_t other) { send(world, static_cast<const T*>(data), n, group.members[other], message_tag); });
}

/// Reduces values to the root along the binomial tree, in an order that depends on the group alone. `own_value` are
/// this member's n values, or nullptr if the member contributes nothing. `into` is a buffer for partial results; the
/// root and every member that combines values need it. `incoming` is a buffer for one message. combine(into, from)
/// combines one value into another.
template <class T, class Combine>
void tree_reduce(const world_state& world, const worker_group& group, const T* own_value, T* into, T* incoming,
                 std::size_t n, tag message_tag, Combine combine) {
  const binomial_tree tree{group.members.size()};
  const std::size_t me = group.position;
  bool filled = false;
  const auto begin = [&] {
    if (filled || own_value == nullptr) return;
    if (into != own_value)
      for (std::size_t i = 0; i < n; ++i) into[i] = own_value[i];
    filled = true;
  };
  tree.for_each_child_smallest_first(me, [&](std::size_t other) {
    begin();
    if (filled) {
      receive(world, incoming, n, group.members[other], message_tag);
      for (std::size_t i = 0; i < n; ++i) combine(into[i], incoming[i]);
    } else {
      receive(world, into, n, group.members[other], message_tag);
      filled = true;
    }
  });
  if (me != 0)
    send(world, filled ? static_cast<const T*>(into) : own_value, n, group.members[tree.parent(me)], message_tag);
  else begin();
}

}  // namespace partita::detail
