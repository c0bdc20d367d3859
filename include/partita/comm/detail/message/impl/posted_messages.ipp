// Defines the functions that comm/detail/message/posted_messages.hpp declares.
#pragma once

#include <partita/comm/detail/message/posted_messages.hpp>

namespace partita::detail {

PARTITA_DEF void posted_messages::post_send(const world_state& world, const element_kind& of, const char* data,
                                            std::size_t n, std::size_t max_bytes, std::size_t worker, tag message_tag,
                                            traffic& count) {
  for_each_message_part(of, n, max_bytes, [&](std::size_t first, int elements) {
    mpi_requests_.push_back(MPI_REQUEST_NULL);
    check(MPI_Isend(data + first, elements, of.datatype(), static_cast<int>(worker), static_cast<int>(message_tag),
                    world.communicator(), &mpi_requests_.back()),
          "MPI_Isend");
    ++count.messages;
    count.bytes_by_message += static_cast<std::size_t>(elements) * of.bytes;
  });
}

PARTITA_DEF void posted_messages::post_receive(const world_state& world, const element_kind& of, char* data,
                                               std::size_t n, std::size_t max_bytes, std::size_t worker,
                                               tag message_tag) {
  for_each_message_part(of, n, max_bytes, [&](std::size_t first, int elements) {
    mpi_requests_.push_back(MPI_REQUEST_NULL);
    check(MPI_Irecv(data + first, elements, of.datatype(), static_cast<int>(worker), static_cast<int>(message_tag),
                    world.communicator(), &mpi_requests_.back()),
          "MPI_Irecv");
  });
}

PARTITA_DEF void posted_messages::wait(std::size_t first, std::size_t last) {
  if (first == last) return;
  check(MPI_Waitall(static_cast<int>(last - first), mpi_requests_.data() + first, MPI_STATUSES_IGNORE), "MPI_Waitall");
}

PARTITA_DEF void posted_messages::wait() {
  wait(0, mpi_requests_.size());
  mpi_requests_.clear();
}

PARTITA_DEF void posted_messages::end_discarded_sends() {
  int left = 0;
  for (const double start = MPI_Wtime(); left == 0 && MPI_Wtime() - start < 0.1;)
    check(MPI_Testall(static_cast<int>(mpi_requests_.size()), mpi_requests_.data(), &left, MPI_STATUSES_IGNORE),
          "MPI_Testall");
  for (MPI_Request& request : mpi_requests_)
    if (request != MPI_REQUEST_NULL) check(MPI_Request_free(&request), "MPI_Request_free");
  mpi_requests_.clear();
}

}  // namespace partita::detail
