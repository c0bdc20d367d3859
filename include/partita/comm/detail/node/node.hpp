// The workers that share memory with this one: its node, real or simulated.
#pragma once

#include <unistd.h>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <partita/comm/detail/environment.hpp>
#include <partita/comm/detail/mpi_call.hpp>
#include <partita/comm/detail/node/measured_link.hpp>
#include <partita/comm/mpi.hpp>
#include <utility>
#include <vector>

namespace partita::detail {

template <class>
class basic_arena;
using arena = basic_arena<void>;
template <class>
class basic_joint_ways;
using joint_ways = basic_joint_ways<void>;

/// The workers of a communicator that can map the same memory, in ascending order, and a table of which other workers
/// share a node. All kernels use this table, so that none has to gather it.
///
/// `pretended` splits a machine into several simulated nodes, for tests and trials: workers with different numbers do
/// not share memory, although they could.
template <class = void>
class basic_node {
 public:
  /// Collective over the communicator.
  explicit basic_node(MPI_Comm everyone, int pretended = 0) {
    int worker = 0, size = 0, all = 0;
    MPI_Comm_rank(everyone, &worker);
    MPI_Comm_size(everyone, &all);
    MPI_Comm real = MPI_COMM_NULL;
    check(MPI_Comm_split_type(everyone, MPI_COMM_TYPE_SHARED, worker, MPI_INFO_NULL, &real), "MPI_Comm_split_type");
    MPI_Comm_size(real, &on_machine_);
    check(MPI_Comm_split(real, pretended, worker, &communicator_), "MPI_Comm_split");
    MPI_Comm_free(&real);
    MPI_Comm_set_errhandler(communicator_, MPI_ERRORS_RETURN);
    MPI_Comm_size(communicator_, &size);
    MPI_Comm_rank(communicator_, &place_);
    members_.resize(static_cast<std::size_t>(size));
    check(MPI_Allgather(&worker, 1, MPI_INT, members_.data(), 1, MPI_INT, communicator_), "MPI_Allgather");
    if (size == all) return;
    first_.resize(static_cast<std::size_t>(all));
    check(MPI_Allgather(members_.data(), 1, MPI_INT, first_.data(), 1, MPI_INT, everyone), "MPI_Allgather");
  }
  basic_node(const basic_node&) = delete;
  basic_node& operator=(const basic_node&) = delete;
  ~basic_node() {
    int finalized = 0;
    MPI_Finalized(&finalized);
    if (finalized == 0) MPI_Comm_free(&communicator_);
  }

  /// The node of a communicator's workers. It is made at the first call and kept with the communicator. The first call
  /// is collective.
  ///
  /// PARTITA_NODES=3 in the environment makes the workers act as if they were on three machines, in turn.
  static basic_node& of(MPI_Comm everyone) {
    static const int key = [] {
      int made = MPI_KEYVAL_INVALID;
      check(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, &basic_node::forget, &made, nullptr),
            "MPI_Comm_create_keyval");
      return made;
    }();
    void* known = nullptr;
    int found = 0;
    check(MPI_Comm_get_attr(everyone, key, &known, &found), "MPI_Comm_get_attr");
    if (found != 0) return *static_cast<basic_node*>(known);
    int worker = 0;
    MPI_Comm_rank(everyone, &worker);
    const int nodes = nodes_said(std::getenv("PARTITA_NODES"));
    auto made = std::make_unique<basic_node>(everyone, worker % nodes);
    if (made->is_one_of_many()) made->link_ = learn_link(everyone, made->firsts(), nodes > 1, made->oversubscribed());
    check(MPI_Comm_set_attr(everyone, key, made.get()), "MPI_Comm_set_attr");
    return *made.release();
  }

  /// A number that distinguishes one kernel's messages from another's. All workers count in the same way.
  int next_tag() { return 1000 + static_cast<int>(tags_++ % 30000); }

  /// Called after a call whose speculative messages were discarded: from then on such messages use other tags. All
  /// workers count in the same way. When the tags that MPI guarantees are used up, nothing is sent speculatively any
  /// more.
  void next_round() { ++round_; }
  int tag_in_this_round(int tag) const { return tag + tags_of_a_round * (round_ < rounds ? round_ : rounds); }
  bool is_last_round() const { return round_ >= rounds; }

  MPI_Comm communicator() const { return communicator_; }
  std::size_t size() const { return members_.size(); }
  /// This worker's place among the members.
  std::size_t place() const { return static_cast<std::size_t>(place_); }
  /// The worker at a place.
  std::size_t worker(std::size_t place) const { return static_cast<std::size_t>(members_[place]); }
  /// The place of a worker, or size() if it is on another node.
  std::size_t place_of(std::size_t worker) const {
    std::size_t low = 0, high = members_.size();
    while (low < high) {
      const std::size_t middle = low + (high - low) / 2;
      if (static_cast<std::size_t>(members_[middle]) < worker) low = middle + 1;
      else high = middle;
    }
    return low < members_.size() && static_cast<std::size_t>(members_[low]) == worker ? low : members_.size();
  }
  /// Whether some workers of the communicator are on other nodes. The same on all workers.
  bool is_one_of_many() const { return !first_.empty(); }
  /// Identifies the node of any worker of the communicator: the lowest worker there.
  std::size_t node_of(std::size_t worker) const {
    return static_cast<std::size_t>(first_.empty() ? members_[0] : first_[worker]);
  }
  /// node_of for each worker, the same table on all workers; empty if there is only one node.
  const std::vector<int>& first_of() const { return first_; }
  /// The lowest workers of all nodes, in ascending order; empty if there is only one node.
  std::vector<int> firsts() const {
    std::vector<int> all;
    for (std::size_t k = 0; k < first_.size(); ++k)
      if (first_[k] == static_cast<int>(k)) all.push_back(first_[k]);
    return all;
  }
  /// The cost of messages to other nodes. The same on all workers.
  const measured_link& link() const { return link_; }
  /// The arenas of these workers, by the maximum for each worker.
  std::vector<std::pair<std::size_t, arena*>>& arenas() const { return arenas_; }
  /// The channels for joint messages, which all kernels of the communicator share; null until they are made.
  std::shared_ptr<joint_ways>& joint() const { return joint_; }
  /// Whether this machine has more workers than cores, so that a waiting worker must let another one run.
  bool oversubscribed() const { return on_machine_ > ::sysconf(_SC_NPROCESSORS_ONLN); }

 private:
  static int forget(MPI_Comm, int, void* kept, void*) {
    delete static_cast<basic_node*>(kept);
    return MPI_SUCCESS;
  }

  MPI_Comm communicator_ = MPI_COMM_NULL;
  static constexpr int tags_of_a_round = 32768, rounds = 30;  // below 2^20, which all MPI implementations allow
  unsigned tags_ = 0;
  int round_ = 0;
  int place_ = 0, on_machine_ = 1;
  measured_link link_;
  std::vector<int> members_, first_;  // first_: the lowest worker of each worker's node, if there are several nodes
  mutable std::vector<std::pair<std::size_t, arena*>> arenas_;
  mutable std::shared_ptr<joint_ways> joint_;
};
using own_node = basic_node<>;

}  // namespace partita::detail
