// The workers that can share memory with this worker: those of its node, real or simulated.
#pragma once

#include <cstddef>
#include <memory>
#include <partita/comm/detail/node/measured_link.hpp>
#include <partita/comm/detail/world/environment.hpp>
#include <partita/comm/detail/world/mpi_call.hpp>
#include <partita/comm/mpi.hpp>
#include <partita/core/config.hpp>
#include <utility>
#include <vector>

namespace partita::detail {

class arena;
class joint_channels;

/// The workers of a communicator that can map the same memory, in ascending order, and a table of the nodes of all
/// workers. All kernels use this table, so that no kernel has to gather it.
///
/// `simulated_node` splits a machine into several simulated nodes, for tests and trials: workers with different numbers
/// do not share memory, although they could.
class node {
 public:
  /// Finds the workers of the node. Collective over the communicator.
  PARTITA_DECL explicit node(MPI_Comm everyone, int simulated_node = 0);
  node(const node&) = delete;
  node& operator=(const node&) = delete;
  PARTITA_INLINE ~node();

  /// This worker's node among the workers of a communicator. The node is found at the first call and kept with the
  /// communicator. The first call for a communicator is collective.
  ///
  /// PARTITA_NODES=3 in the environment makes the workers act as if they were on three machines: worker k on machine k
  /// mod 3.
  PARTITA_DECL static node& of(MPI_Comm everyone);

  /// Returns the MPI tag of a new kernel, one of 30000 in turn. All workers call next_tag in the same order.
  int next_tag() { return 1000 + static_cast<int>(tag_count_++ % 30000); }

  /// Called after a call whose speculative messages were discarded: later speculative messages use other tags. All
  /// workers call this function in the same order. After `round_count` calls the tags are used up, and no message is
  /// sent speculatively any more.
  void next_round() { ++tag_round_; }
  /// The tag that speculative messages use now instead of `tag`.
  int tag_in_this_round(int tag) const {
    return tag + tags_per_round * (tag_round_ < round_count ? tag_round_ : round_count);
  }
  /// Whether the tags are used up, so that no further message may be sent speculatively.
  bool is_last_round() const { return tag_round_ >= round_count; }

  /// The communicator of the workers of this node.
  MPI_Comm communicator() const { return communicator_; }
  std::size_t size() const { return members_.size(); }  ///< the number of workers of this node
  /// The number of this worker among the workers of its node, from 0 on.
  std::size_t place() const { return static_cast<std::size_t>(place_); }
  /// The id of the worker that has this number on the node.
  std::size_t worker(std::size_t place) const { return static_cast<std::size_t>(members_[place]); }
  /// The place of a worker on this node, or size() for a worker of another node.
  PARTITA_DECL std::size_t place_of_worker(std::size_t worker) const;
  /// Whether some workers of the communicator are on other nodes; the same on all workers.
  bool has_other_nodes() const { return !node_table_.empty(); }
  /// The lowest worker on the node of a given worker, which identifies that node.
  std::size_t node_of(std::size_t worker) const {
    return static_cast<std::size_t>(node_table_.empty() ? members_[0] : node_table_[worker]);
  }
  /// The table of node_of for all workers, the same on all workers; empty if there is only one node.
  const std::vector<int>& node_table() const { return node_table_; }
  /// The lowest workers of all nodes, in ascending order; empty if there is only one node.
  PARTITA_DECL std::vector<int> lowest_workers() const;
  /// The cost of messages to other nodes; the same on all workers.
  const measured_link& link() const { return link_; }
  /// The arenas of this node's workers that were made so far, one for each limit of bytes per worker.
  std::vector<std::pair<std::size_t, arena*>>& arenas_by_limit() const { return arenas_by_limit_; }
  /// The channels for joint messages, which all kernels of the communicator share; null until they are made.
  std::shared_ptr<joint_channels>& joint() const { return joint_channels_; }
  /// Whether this machine has more workers than cores, so that a waiting worker must let another one run.
  bool oversubscribed() const { return oversubscribed_; }

 private:
  /// Called when the communicator is freed: deletes the node that of() has stored with it.
  PARTITA_DECL static int delete_stored_node(MPI_Comm, int, void* kept, void*);

  MPI_Comm communicator_ = MPI_COMM_NULL;                         // of the workers of this node
  static constexpr int tags_per_round = 32768, round_count = 30;  // all tags < 2^20; usual MPIs allow these
  unsigned tag_count_ = 0;                                        // how many tags next_tag() has given
  int tag_round_ = 0;                                             // how often speculative messages were discarded
  int place_ = 0;                                                 // this worker's place on the node
  bool oversubscribed_ = false;                                   // see oversubscribed()
  measured_link link_;                                            // see link()
  std::vector<int> members_;                                      // the workers of this node, in ascending order
  std::vector<int> node_table_;  // the lowest worker of each worker's node, if there are several nodes
  mutable std::vector<std::pair<std::size_t, arena*>> arenas_by_limit_;  // see arenas_by_limit()
  mutable std::shared_ptr<joint_channels> joint_channels_;               // see joint()
};
using own_node = node;  ///< this worker's node

}  // namespace partita::detail

#ifndef PARTITA_CORE
#include <partita/comm/detail/node/impl/node.ipp>
#endif
