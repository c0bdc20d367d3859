// Defines the functions that comm/detail/node/node.hpp declares.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <partita/comm/detail/node/node.hpp>

namespace partita::detail {

PARTITA_DEF node::node(MPI_Comm everyone, int simulated_node) {
  int worker = 0, size = 0, all = 0;
  MPI_Comm_rank(everyone, &worker);
  MPI_Comm_size(everyone, &all);
  MPI_Comm real = MPI_COMM_NULL;
  check(MPI_Comm_split_type(everyone, MPI_COMM_TYPE_SHARED, worker, MPI_INFO_NULL, &real), "MPI_Comm_split_type");
  int on_machine = 1;
  MPI_Comm_size(real, &on_machine);
  oversubscribed_ = on_machine > ::sysconf(_SC_NPROCESSORS_ONLN);  // called once, because it reads a file of the kernel
  check(MPI_Comm_split(real, simulated_node, worker, &communicator_), "MPI_Comm_split");
  MPI_Comm_free(&real);
  MPI_Comm_set_errhandler(communicator_, MPI_ERRORS_RETURN);
  MPI_Comm_size(communicator_, &size);
  MPI_Comm_rank(communicator_, &place_);
  members_.resize(static_cast<std::size_t>(size));
  check(MPI_Allgather(&worker, 1, MPI_INT, members_.data(), 1, MPI_INT, communicator_), "MPI_Allgather");
  if (size == all) return;
  node_table_.resize(static_cast<std::size_t>(all));
  check(MPI_Allgather(members_.data(), 1, MPI_INT, node_table_.data(), 1, MPI_INT, everyone), "MPI_Allgather");
}

node::~node() {
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (finalized == 0) MPI_Comm_free(&communicator_);
}

PARTITA_DEF node& node::of(MPI_Comm everyone) {
  static const int key = [] {
    int made = MPI_KEYVAL_INVALID;
    check(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, &node::delete_stored_node, &made, nullptr),
          "MPI_Comm_create_keyval");
    return made;
  }();
  void* known = nullptr;
  int found = 0;
  check(MPI_Comm_get_attr(everyone, key, &known, &found), "MPI_Comm_get_attr");
  if (found != 0) return *static_cast<node*>(known);
  int worker = 0;
  MPI_Comm_rank(everyone, &worker);
  const int nodes = parse_node_count(std::getenv("PARTITA_NODES"));
  auto made = std::make_unique<node>(everyone, worker % nodes);
  if (made->has_other_nodes())
    made->link_ = find_link(everyone, made->lowest_workers(), nodes > 1, made->oversubscribed());
  check(MPI_Comm_set_attr(everyone, key, made.get()), "MPI_Comm_set_attr");
  return *made.release();
}

PARTITA_DEF std::size_t node::place_of_worker(std::size_t worker) const {
  std::size_t low = 0, high = members_.size();
  while (low < high) {
    const std::size_t middle = low + (high - low) / 2;
    if (static_cast<std::size_t>(members_[middle]) < worker) low = middle + 1;
    else high = middle;
  }
  return low < members_.size() && static_cast<std::size_t>(members_[low]) == worker ? low : members_.size();
}

PARTITA_DEF std::vector<int> node::lowest_workers() const {
  std::vector<int> all;
  for (std::size_t k = 0; k < node_table_.size(); ++k)
    if (node_table_[k] == static_cast<int>(k)) all.push_back(node_table_[k]);
  return all;
}

PARTITA_DEF int node::delete_stored_node(MPI_Comm, int, void* kept, void*) {
  delete static_cast<node*>(kept);
  return MPI_SUCCESS;
}

}  // namespace partita::detail
