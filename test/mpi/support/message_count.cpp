// Replaces MPI_Send and other calls by ones that count and pass the call on to PMPI (MPI standard, 15.2).
#include "message_count.hpp"

#include <array>
#include <boost/mpi/communicator.hpp>
#include <utility>

namespace {
std::size_t count = 0, bytes = 0;

std::size_t bytes_of(int n, MPI_Datatype type) {
  int size = 0;
  MPI_Type_size(type, &size);
  return static_cast<std::size_t>(n) * static_cast<std::size_t>(size);
}

/// The existing persistent send requests. It does not allocate, since allocations are counted, too.
class persistent_sends {
 public:
  void add(MPI_Request request, std::size_t bytes_each) {
    if (last_ < requests_.size()) requests_[last_] = request, bytes_[last_++] = bytes_each;
  }
  void remove(MPI_Request request) {
    for (std::size_t k = 0; k < last_; ++k)
      if (requests_[k] == request) {
        requests_[k] = requests_[--last_], bytes_[k] = bytes_[last_];
        return;
      }
  }
  bool start(MPI_Request request) const {
    for (std::size_t k = 0; k < last_; ++k)
      if (requests_[k] == request) {
        ++count, bytes += bytes_[k];
        return true;
      }
    return false;
  }

 private:
  std::array<MPI_Request, 4096> requests_{};
  std::array<std::size_t, 4096> bytes_{};
  std::size_t last_ = 0;
} sends;

std::array<char, 64> order{};
std::size_t started = 0;
}  // namespace

namespace test {
std::size_t messages() { return count; }
std::size_t bytes_sent() { return bytes; }
std::string order_of_starts() { return {order.data(), std::exchange(started, 0)}; }
}  // namespace test

extern "C" {

int MPI_Send(const void* data, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  ++count;
  bytes += bytes_of(n, type);
  return PMPI_Send(data, n, type, to, tag, comm);
}
int MPI_Isend(const void* data, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request* request) {
  ++count;
  bytes += bytes_of(n, type);
  return PMPI_Isend(data, n, type, to, tag, comm, request);
}
int MPI_Send_init(const void* data, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request* request) {
  const int result = PMPI_Send_init(data, n, type, to, tag, comm, request);
  sends.add(*request, bytes_of(n, type));
  return result;
}
int MPI_Start(MPI_Request* request) {
  const bool is_send = sends.start(*request);
  if (started < order.size()) order[started++] = is_send ? 's' : 'r';
  return PMPI_Start(request);
}
int MPI_Request_free(MPI_Request* request) {
  sends.remove(*request);
  return PMPI_Request_free(request);
}
int MPI_Bcast(void* data, int n, MPI_Datatype type, int root, MPI_Comm comm) {
  ++count;
  return PMPI_Bcast(data, n, type, root, comm);
}
int MPI_Allreduce(const void* mine, void* all, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  ++count;
  return PMPI_Allreduce(mine, all, n, type, op, comm);
}
int MPI_Iallreduce(const void* mine, void* all, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                   MPI_Request* request) {
  ++count;
  return PMPI_Iallreduce(mine, all, n, type, op, comm, request);
}
int MPI_Allgather(const void* mine, int n, MPI_Datatype type, void* all, int m, MPI_Datatype other, MPI_Comm comm) {
  ++count;
  return PMPI_Allgather(mine, n, type, all, m, other, comm);
}
int MPI_Reduce(const void* mine, void* all, int n, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm) {
  ++count;
  return PMPI_Reduce(mine, all, n, type, op, root, comm);
}

}  // extern "C"
