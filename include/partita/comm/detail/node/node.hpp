// Which workers share memory with this one: its node, real or pretended.
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

/// The workers of a communicator that can map one memory, in ascending order, and which of the others share a node: a
/// table that all kernels use, so that none of them has to gather it.
///
/// `pretended` splits a machine into several nodes for tests and trials: workers that give different numbers do not
/// share memory although they could.
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

  /// The node of a communicator's workers, made at the first call and kept with the communicator. Collective at first.
  ///
  /// The environment may pretend: with PARTITA_NODES=3 the workers act as if they lived on three machines in turn.
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

  /// A number that tells one kernel's messages from another's. All workers count alike.
  int next_tag() { return 1000 + static_cast<int>(tags_++ % 30000); }

  /// After a call for which something was sent that is now nobody's: such messages have other tags from then on. All
  /// workers count alike. None are sent that would need more tags than MPI has for sure.
  void next_round() { ++round_; }
  int tag_in_this_round(int tag) const { return tag + tags_of_a_round * (round_ < rounds ? round_ : rounds); }
  bool is_last_round() const { return round_ >= rounds; }

  MPI_Comm communicator() const { return communicator_; }
  std::size_t size() const { return members_.size(); }
  /// This worker's place among the members.
  std::size_t place() const { return static_cast<std::size_t>(place_); }
  /// The worker at a place.
  std::size_t worker(std::size_t place) const { return static_cast<std::size_t>(members_[place]); }
  /// The place of a worker, or size() if it lives elsewhere.
  std::size_t place_of(std::size_t worker) const {
    std::size_t low = 0, high = members_.size();
    while (low < high) {
      const std::size_t middle = low + (high - low) / 2;
      if (static_cast<std::size_t>(members_[middle]) < worker) low = middle + 1;
      else high = middle;
    }
    return low < members_.size() && static_cast<std::size_t>(members_[low]) == worker ? low : members_.size();
  }
  /// Whether workers of the communicator live elsewhere; the same on all of them.
  bool is_one_of_many() const { return !first_.empty(); }
  /// What tells the node of any worker of the communicator from others: the lowest worker there.
  std::size_t node_of(std::size_t worker) const {
    return static_cast<std::size_t>(first_.empty() ? members_[0] : first_[worker]);
  }
  /// By worker, the same of all; empty if there is but one node.
  const std::vector<int>& first_of() const { return first_; }
  /// The lowest workers of all nodes, ascending; none if there is but one.
  std::vector<int> firsts() const {
    std::vector<int> all;
    for (std::size_t k = 0; k < first_.size(); ++k)
      if (first_[k] == static_cast<int>(k)) all.push_back(first_[k]);
    return all;
  }
  /// What messages to other nodes take; the same on all workers.
  const measured_link& link() const { return link_; }
  /// The arenas that were found for these workers, by the most that each worker may take.
  std::vector<std::pair<std::size_t, arena*>>& arenas() const { return arenas_; }
  /// What the kernels of the communicator share to carry messages that nodes share, once it is made.
  std::shared_ptr<joint_ways>& joint() const { return joint_; }
  /// Whether there are more workers on this machine than cores, so that one that waits must let another run.
  bool oversubscribed() const { return on_machine_ > ::sysconf(_SC_NPROCESSORS_ONLN); }

 private:
  static int forget(MPI_Comm, int, void* kept, void*) {
    delete static_cast<basic_node*>(kept);
    return MPI_SUCCESS;
  }

  MPI_Comm communicator_ = MPI_COMM_NULL;
  static constexpr int tags_of_a_round = 32768, rounds = 30;  // below 2^20, which all MPIs have
  unsigned tags_ = 0;
  int round_ = 0;
  int place_ = 0, on_machine_ = 1;
  measured_link link_;
  std::vector<int> members_, first_;  // first_: by worker, if there are several nodes
  mutable std::vector<std::pair<std::size_t, arena*>> arenas_;
  mutable std::shared_ptr<joint_ways> joint_;
};
using own_node = basic_node<>;

}  // namespace partita::detail
