// Messages between two workers, of any length, and the two trees that groups of workers move blocks along.
#pragma once

#include <algorithm>
#include <cstddef>
#include <partita/comm/datatype.hpp>
#include <partita/comm/summation.hpp>
#include <partita/comm/world.hpp>
#include <partita/plan/binomial_tree.hpp>
#include <partita/plan/group_plan.hpp>
#include <vector>

namespace partita::detail {

/// What a message is about; messages of a kind between two workers arrive in the order they were sent.
enum class tag : int { header = 1, block = 2, repartition = 3, user = 4 };

template <class T>
void send(const world_state& world, const T* data, std::size_t n, std::size_t worker, tag about) {
  in_messages<T>(n, [&](std::size_t first, int count) {
    check(MPI_Send(data + first, count, datatype<T>(), static_cast<int>(worker), static_cast<int>(about),
                   world.communicator()),
          "MPI_Send");
  });
}

template <class T>
void receive(const world_state& world, T* data, std::size_t n, std::size_t worker, tag about) {
  in_messages<T>(n, [&](std::size_t first, int count) {
    check(MPI_Recv(data + first, count, datatype<T>(), static_cast<int>(worker), static_cast<int>(about),
                   world.communicator(), MPI_STATUS_IGNORE),
          "MPI_Recv");
  });
}

/// Messages that have left and need not have arrived.
class departures {
 public:
  bool any() const { return !requests_.empty(); }
  template <class T>
  void send(const world_state& world, const T* data, std::size_t n, std::size_t worker, tag about) {
    in_messages<T>(n, [&](std::size_t first, int count) {
      requests_.push_back(MPI_REQUEST_NULL);
      check(MPI_Isend(data + first, count, datatype<T>(), static_cast<int>(worker), static_cast<int>(about), world.communicator(),
                      &requests_.back()),
            "MPI_Isend");
    });
  }
  /// What was sent may change afterwards.
  void wait() {
    check(MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE), "MPI_Waitall");
    requests_.clear();
  }

 private:
  std::vector<MPI_Request> requests_;
};

/// Copies the root's n elements to all members along a binomial tree: ceil(log2 g) steps.
template <class T>
void spread(const world_state& world, const worker_group& group, T* data, std::size_t n, tag about) {
  const binomial_tree tree{group.members.size()};
  const std::size_t me = group.position;
  if (me != 0) receive(world, data, n, group.members[tree.above(me)], about);
  tree.for_below(me, [&](std::size_t other) { send(world, static_cast<const T*>(data), n, group.members[other], about); });
}

/// Brings values together at the root along the same tree, in an order that depends on the group alone. `mine` is what this
/// member contributes (nullptr: nothing); `into` is where partial results are kept (needed by every member that has to
/// combine, and by the root); `incoming` a buffer for one message. combine(into, from) folds one value into another.
template <class T, class Combine>
void collect(const world_state& world, const worker_group& group, const T* mine, T* into, T* incoming, std::size_t n,
             tag about, Combine combine) {
  const binomial_tree tree{group.members.size()};
  const std::size_t me = group.position;
  bool filled = false;
  const auto begin = [&] {
    if (filled || mine == nullptr) return;
    if (into != mine)
      for (std::size_t i = 0; i < n; ++i) into[i] = mine[i];
    filled = true;
  };
  tree.for_below_smallest_first(me, [&](std::size_t other) {
    begin();
    if (filled) {
      receive(world, incoming, n, group.members[other], about);
      for (std::size_t i = 0; i < n; ++i) combine(into[i], incoming[i]);
    } else {
      receive(world, into, n, group.members[other], about);
      filled = true;
    }
  });
  if (me != 0)
    send(world, filled ? static_cast<const T*>(into) : mine, n, group.members[tree.above(me)], about);
  else
    begin();
}

/// Brings the blocks themselves together at the root, a piece at a time, and adds them up there as Sum does: `mine` is what
/// this member contributes (nullptr: nothing), `into` is the root's, `incoming(n)` gives a buffer for n elements.
/// Cost: n elements from each member to the root; room for a piece of each.
template <class Sum, class T, class Incoming>
void collect_blocks(const world_state& world, const worker_group& group, const T* mine, T* into, std::size_t n, tag about,
                    Incoming incoming) {
  constexpr std::size_t piece = (std::size_t{64} << 10) / sizeof(T), part = sum_buffer<T>::size;
  const std::size_t size = group.members.size();
  const bool root = group.position == 0;
  T* const pieces = root ? incoming((size - 1) * (n < piece ? n : piece)) : nullptr;
  for (std::size_t at = 0; at < n; at += piece) {
    const std::size_t length = n - at < piece ? n - at : piece;
    if (!root) {
      send(world, mine + at, length, group.members[0], about);
      continue;
    }
    for (std::size_t k = 1; k < size; ++k) receive(world, pieces + (k - 1) * length, length, group.members[k], about);
    for (std::size_t i = 0; i < length; i += part) {
      const std::size_t now = length - i < part ? length - i : part;
      const auto block = [&](std::size_t k) { return k == 0 ? mine + at + i : pieces + (k - 1) * length + i; };
      const T* const sum = Sum::template sum<T>(block, mine == nullptr ? 1 : 0, size, now, into + at + i);
      if (sum != into + at + i) std::copy_n(sum, now, into + at + i);
    }
  }
}

}  // namespace partita::detail
