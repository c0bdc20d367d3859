// What a program of partita needs to run under SMPI, the MPI simulator of SimGrid, in which all workers are coroutines
// of one thread. Included before anything else; the library itself knows nothing of it.
//
// The simulator loads a copy of the program for each worker, so what is static is each worker's own. What a thread owns
// is not, so `thread_local` means static here. Waiting for a flag in shared memory lets simulated time pass, and copies
// take the simulated time that `copied_byte` says.
#pragma once

#include <mpi.h>
#include <sched.h>
#include <simgrid/actor.h>
#include <simgrid/engine.h>
#include <unistd.h>
#include <algorithm>
#include <cstdio>
#include <cstring>

namespace simulated {

inline double copied_byte = 1 / 4e9;    ///< seconds of a worker for each byte that it copies or adds
inline double seen_after = 0.1e-6;      ///< seconds after which a worker that waits looks at a flag again
inline double seen_after_part = 0.02;   ///< or that part of what it has waited, so that long waits are few events
inline double max_wait_seconds = 1e-3;  ///< but no longer
inline double unspent = 0, until = 0, began = 0;
inline int inside = 0;

inline void pass(double seconds) { sg_actor_sleep_for(seconds); }

/// A worker has copied so many bytes; little is collected.
inline void copied(std::size_t bytes) {
  unspent += static_cast<double>(bytes) * copied_byte;
  if (unspent < 0.5e-6) return;
  const double now = unspent;
  unspent = 0;
  pass(now);
}
/// A worker that waits lets others run.
inline void wait_a_little() {
  const double now = simgrid_get_clock();
  if (now > until + seen_after) began = now;
  pass(std::max(seen_after, std::min((now - began) * seen_after_part, max_wait_seconds)) + unspent);
  unspent = 0;
  until = simgrid_get_clock();
}

}  // namespace simulated

extern "C" inline int simulated_yield() { return simulated::wait_a_little(), 0; }
/// Every worker has a core of its own.
inline long simulated_sysconf(int name) { return name == _SC_NPROCESSORS_ONLN ? 1 << 20 : sysconf(name); }
/// No worker checks whether the processes of the others, which are this one, are still alive.
inline int simulated_gethostname(char* name, std::size_t size) {
  return std::snprintf(name, size, "%p", static_cast<void*>(&simulated::unspent)), 0;
}

// SMPI has no MPI_Comm_idup, says that MPI_REQUEST_NULL is not done, and simulates collectives that are begun as a
// message for each pair of workers. All of them are needed where kernels are made, and not by steady calls.
inline int simulated_at_once(int result, MPI_Request* request) {
  static char nothing = 0;
  MPI_Irecv(&nothing, 0, MPI_BYTE, 0, 1, MPI_COMM_SELF, request);
  MPI_Send(&nothing, 0, MPI_BYTE, 0, 1, MPI_COMM_SELF);
  return result;
}
inline int simulated_comm_idup(MPI_Comm given, MPI_Comm* made, MPI_Request* request) {
  return simulated_at_once(MPI_Comm_dup(given, made), request);
}
inline int simulated_iallgather(const void* x, int n, MPI_Datatype t, void* y, int m, MPI_Datatype u, MPI_Comm all,
                                MPI_Request* request) {
  return simulated_at_once(MPI_Allgather(x, n, t, y, m, u, all), request);
}
inline int simulated_iallreduce(const void* x, void* y, int n, MPI_Datatype t, MPI_Op op, MPI_Comm all,
                                MPI_Request* request) {
  return simulated_at_once(MPI_Allreduce(x, y, n, t, op, all), request);
}

inline int simulated_test(MPI_Request* request, int* done, MPI_Status* status) {
  if (*request != MPI_REQUEST_NULL) return MPI_Test(request, done, status);
  *done = 1;
  return MPI_SUCCESS;
}
inline int simulated_testall(int count, MPI_Request* requests, int* done, MPI_Status* statuses) {
  *done = std::all_of(requests, requests + count, [](MPI_Request r) { return r == MPI_REQUEST_NULL; }) ? 1 : 0;
  return *done != 0 ? MPI_SUCCESS : MPI_Testall(count, requests, done, statuses);
}

#define MPI_Test simulated_test
#define MPI_Testall simulated_testall
#define MPI_Comm_idup simulated_comm_idup
#define MPI_Iallgather simulated_iallgather
#define MPI_Iallreduce simulated_iallreduce
#define sched_yield simulated_yield
#define sysconf(name) simulated_sysconf(name)
#define gethostname(name, size) simulated_gethostname(name, size)
#include <chrono>
#include <condition_variable>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>
#undef sched_yield
#include <partita/array/xtensor.hpp>
#define thread_local

// The loops that move bytes, charged; their definitions come first, under other names.
#define copy_elements_of uncharged_copy_elements_of
#define add_side_by_side uncharged_add_side_by_side
#define stream_run uncharged_stream_run
#include <partita/array/copy.hpp>
#undef copy_elements_of
#undef add_side_by_side
#undef stream_run

namespace partita::detail {

template <std::size_t S>
void copy_elements_of(char* to, const std::ptrdiff_t* to_strides, const char* from, const std::ptrdiff_t* from_strides,
                      const std::size_t* shape, std::size_t rank, std::size_t element, stores, instruction_set set) {
  ++simulated::inside;
  uncharged_copy_elements_of<S>(to, to_strides, from, from_strides, shape, rank, element, stores::cached, set);
  --simulated::inside;
  std::size_t bytes = element;
  for (std::size_t d = 0; d < rank; ++d) bytes *= shape[d];
  simulated::copied(bytes);
}
template <class T>
void add_side_by_side(instruction_set set, T* to, const T* a, const T* b, std::size_t n) {
  uncharged_add_side_by_side(set, to, a, b, n);
  simulated::copied(n * sizeof(T));
}
inline void stream_run(instruction_set, char* to, const char* from, std::size_t n) { std::memcpy(to, from, n); }

}  // namespace partita::detail

// The linker brings every memcpy of the program here (--wrap=memcpy).
extern "C" void* __real_memcpy(void*, const void*, std::size_t);
extern "C" __attribute__((used)) inline void* __wrap_memcpy(void* to, const void* from, std::size_t n) {
  __real_memcpy(to, from, n);
  if (simulated::inside == 0 && n >= 256) simulated::copied(n);
  return to;
}
